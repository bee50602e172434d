// Package keyword is how words to look for stand in a file.
package keyword

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"podium/schemas"
)

// A Keyword is words to look for: "cation*" is the beginning of a word, "*termin"
// the end of one, "*lager*" any part of one, "~invoices" its beginning with a
// slip, and "/rechnung \d+/" a regular expression; "dft" is what the group or router says, else a whole word. The long
// form says more.
type Keyword struct {
	Word   string              `yaml:"word" required:"true" doc:"What is looked for, in any case of letters; with mode: regex an expression."`
	Mode   schemas.KeywordMode `yaml:"mode" enum:"word prefix suffix compound substring near regex" doc:"word: a whole word. prefix: its beginning. suffix: its end. compound: its end behind another word, its beginning before one, or all of it. substring: any part of it. near: its beginning, in which one letter may be missing, too many, another, or swapped with the next; it needs seven letters. regex: a regular expression (RE2) on the text in lower case. Default: the match of its group or router, else word."`
	Except []string            `yaml:"except" min:"1" doc:"Words in which it does not count."`
	Shared bool                `yaml:"shared" doc:"It belongs to several groups and does not decide alone."`
}

// Shorten implements strictyaml.Shorthand.
func (k *Keyword) Shorten(text string) error {
	if len(text) > len("//") && strings.HasPrefix(text, "/") && strings.HasSuffix(text, "/") {
		k.Word, k.Mode = text[1:len(text)-1], schemas.ModeRegex
		return nil
	}
	if near, is := strings.CutPrefix(text, "~"); is {
		if near == "" || strings.ContainsAny(near, "*~") {
			return errors.New(`"~" may only stand before a word, as in "~invoices"`)
		}
		k.Word, k.Mode = near, schemas.ModeNear
		return nil
	}
	word, prefix := strings.CutSuffix(text, "*")
	word, suffix := strings.CutPrefix(word, "*")
	if word == "" || strings.Contains(word, "*") {
		return errors.New(`"*" may only stand at the ends of a keyword, as in "cation*", "*termin" or "*lager*"`)
	}
	k.Word = word
	switch {
	case prefix && suffix:
		k.Mode = schemas.ModeSubstring
	case prefix:
		k.Mode = schemas.ModePrefix
	case suffix:
		k.Mode = schemas.ModeSuffix
	}
	return nil
}

// Default returns keywords of which those without a mode have this one.
func Default(keywords []Keyword, mode schemas.KeywordMode) []Keyword {
	keywords = slices.Clone(keywords)
	for i := range keywords {
		keywords[i].Mode = cmp.Or(keywords[i].Mode, mode)
	}
	return keywords
}

// Build returns keywords as a profile pins them.
func Build(written []Keyword) []schemas.Keyword {
	keywords := make([]schemas.Keyword, len(written))
	for i, word := range written {
		keywords[i] = schemas.Keyword(word)
	}
	return keywords
}

// Check tells of each mistake in a list of keywords, with its path.
func Check(path string, keywords []Keyword, problem func(path, format string, args ...any)) {
	for i, word := range keywords {
		at := fmt.Sprintf("%s[%d]", path, i)
		if strings.TrimSpace(word.Word) == "" {
			problem(at, "the keyword is empty")
		}
		if word.Mode == schemas.ModeRegex {
			if fault := ExpressionFault(word.Word); fault != "" {
				problem(at, "%s", fault)
			}
		} else if strings.Contains(word.Word, "*") {
			problem(at+".word", `write mode: prefix, suffix or substring instead of "*"`)
		}
	}
}

// ExpressionFault says what is wrong with a regular expression; empty is nothing.
func ExpressionFault(pattern string) string {
	_, err := regexp.Compile(pattern)
	if found, ok := errors.AsType[*syntax.Error](err); ok {
		return fmt.Sprintf("it is no regular expression (RE2): %s at %q", found.Code, found.Expr)
	}
	if err != nil {
		return "it is no regular expression (RE2)"
	}
	return ""
}
