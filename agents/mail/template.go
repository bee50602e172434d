package mail

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Template stands around every answer in one language. In both parts
// "{subject}" is the subject of the letter that is answered, "{name}" the name of
// its sender and "{run}" the id of the run; other braces are an error.
type Template struct {
	Before string // greeting
	After  string // closing, signature, disclaimer
}

// OtherLanguages is the key of the template for languages without one of their own.
const OtherLanguages = "default"

// templateLimit bounds one part of a template, in bytes.
const templateLimit = 16 << 10

// CheckTemplate says what is wrong with one part of a template.
func CheckTemplate(part string) error {
	if len(part) > templateLimit || !utf8.ValidString(part) {
		return fmt.Errorf("it is longer than %d bytes or not UTF-8", templateLimit)
	}
	rest := placesOf("", "", "").Replace(part)
	if open := strings.IndexAny(rest, "{}"); open >= 0 {
		return fmt.Errorf("%.20q is not a place that it may have: {name}, {run} or {subject}; the answer stands between before and after", rest[open:])
	}
	return nil
}

func checkTemplates(templates map[string]Template) error {
	for _, language := range slices.Sorted(maps.Keys(templates)) {
		if language != OtherLanguages && (languageTag(language) == "" || strings.Contains(language, "-")) {
			return fmt.Errorf("templates: %q is neither a language such as en nor %s", language, OtherLanguages)
		}
		for _, part := range [...]string{templates[language].Before, templates[language].After} {
			if err := CheckTemplate(part); err != nil {
				return fmt.Errorf("templates: %s: %w", language, err)
			}
		}
	}
	return nil
}

// placesOf fills in the places. Without a name the space before it goes as well,
// so that "Hello {name}," is a greeting all the same.
func placesOf(name, subject, run string) *strings.Replacer {
	places := []string{"{name}", name, "{subject}", subject, "{run}", run}
	if name == "" {
		places = append([]string{" {name}", ""}, places...)
	}
	return strings.NewReplacer(places...)
}

// around returns the words of a letter: the answer with the template of its
// language around it.
func (s *sender) around(answer, language, name, subject, run string) string {
	template, known := s.account.Templates[language]
	if !known {
		template = s.account.Templates[OtherLanguages]
	}
	places := placesOf(plainName(name), oneLine(subject, subjectLimit), run)
	var parts []string
	for _, part := range [...]string{places.Replace(template.Before), answer, places.Replace(template.After)} {
		if part = strings.Trim(plainWords(part), "\n"); strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// plainName is a name that may stand in a sentence: what could be an address or a
// link is none.
func plainName(name string) string {
	name = oneLine(name, nameLimit)
	if strings.ContainsAny(name, ":/<>@{}\\") || strings.Contains(strings.ToLower(name), "www.") {
		return ""
	}
	return name
}

// plainWords are words with proper line ends and nothing that a program could
// take for a command to it.
func plainWords(words string) string {
	words = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(words, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, words)
}
