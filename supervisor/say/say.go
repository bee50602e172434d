// Package say has a sentence for each code in an event, in each language that Podium offers. A profile may have
// sentences of its own instead (schemas.Language).
package say

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"podium/schemas"
	"podium/schemas/sentences"
)

//go:embed words.json
var resource []byte

var catalog = read() //nolint:gochecknoglobals // it is never changed

func read() sentences.Catalog {
	catalog, err := sentences.Read(resource)
	if err != nil {
		panic("say: " + err.Error())
	}
	return catalog
}

// English is the language that programs, and whoever runs Podium, are told things in.
func English() *schemas.Language { return &schemas.Language{Tag: schemas.FallbackLanguage} }

// Sentence returns the sentence of a key in a language, with the places filled in: place, value, place, value. A place
// is a name in braces. For a language without sentences it returns the sentence in schemas.FallbackLanguage, and for an
// unknown key the key.
func Sentence(language *schemas.Language, key string, places ...string) string {
	if own := language.Sentences[key]; own != "" {
		return strings.NewReplacer(places...).Replace(own)
	}
	if _, known := catalog[schemas.FallbackLanguage][key]; !known {
		return key
	}
	primary, _, _ := strings.Cut(strings.ToLower(language.Tag), "-")
	return catalog.Say(primary, key, places...)
}

// Check returns what is wrong with the profile's own sentences of a language: each has a key of the catalog, and only
// places that the sentence of that key has.
func Check(language *schemas.Language) []error {
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(language.Sentences)) {
		known, is := catalog[schemas.FallbackLanguage][key]
		if !is {
			faults = append(faults, fmt.Errorf("languages %q: sentences: %q is no key of a sentence", language.Tag, key))
			continue
		}
		if strings.TrimSpace(language.Sentences[key]) == "" {
			faults = append(faults, fmt.Errorf("languages %q: sentences: %q is empty", language.Tag, key))
		}
		for rest := language.Sentences[key]; ; {
			_, behind, begins := strings.Cut(rest, "{")
			name, after, ends := strings.Cut(behind, "}")
			if !begins || !ends {
				break
			}
			if !strings.Contains(known, "{"+name+"}") {
				faults = append(faults, fmt.Errorf("languages %q: sentences: %q has no place {%s}", language.Tag, key, name))
			}
			rest = after
		}
	}
	return faults
}

// Reason returns the sentence of a reason.
func Reason(language *schemas.Language, reason schemas.Reason) string {
	places := make([]string, 0, 2*len(reason.Values))
	for _, name := range slices.Sorted(maps.Keys(reason.Values)) {
		places = append(places, "{"+name+"}", flattenValue(reason.Values[name]))
	}
	return Sentence(language, string(reason.Code), places...)
}

// flattenValue returns a value on one line, without marks that change how it reads and without the quotation marks that
// sentences put around it: an agent may have written it.
func flattenValue(value string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsControl(c) || unicode.Is(unicode.Zl, c) || unicode.Is(unicode.Zp, c):
			return ' '
		case unicode.Is(unicode.Cf, c):
			return -1
		case strings.ContainsRune("“”„", c):
			return '"'
		}
		return c
	}, value)
}

// Reasons returns the sentences of reasons, in their order. After the heading of a list of faults each of them has a
// line.
func Reasons(language *schemas.Language, reasons []schemas.Reason) string {
	var told strings.Builder
	between := " "
	for i := range reasons {
		sentence := Reason(language, reasons[i])
		if i > 0 {
			told.WriteString(between)
		}
		told.WriteString(sentence)
		if reasons[i].Code == schemas.PlanHasFaults {
			between = "\n- "
		}
	}
	return told.String()
}

// A Teller tells reasons in one language.
type Teller struct{ Language *schemas.Language }

// Failure calls the function Failure.
func (t Teller) Failure(failed *schemas.TaskFailed) string { return Failure(t.Language, failed) }

// Issue calls the function Issue.
func (t Teller) Issue(issue *schemas.ReviewIssue) string { return Issue(t.Language, issue) }

// Failure returns why an attempt of a task has failed: what its agent has said, verbatim, and what Podium says.
func Failure(language *schemas.Language, failed *schemas.TaskFailed) string {
	return join(failed.Detail, Reasons(language, failed.Reasons), "\n")
}

// Issue returns what a review has found: what Podium says, and what an agent has said, verbatim.
func Issue(language *schemas.Language, issue *schemas.ReviewIssue) string {
	return join(Reasons(language, issue.Reasons), issue.Message, " ")
}

func join(first, second, between string) string {
	if first == "" || second == "" {
		between = ""
	}
	return first + between + second
}

// Issues returns issues of a review as agents and other programs are told them: each has a message.
func Issues(language *schemas.Language, issues []schemas.ReviewIssue) []schemas.ReviewIssue {
	told := slices.Clone(issues)
	for i := range told {
		told[i].Message, told[i].Reasons = Issue(language, &told[i]), nil
	}
	return told
}

// Error returns the error of a run as programs are told it: with details in English (G-28).
func Error(failure *schemas.Error) *schemas.Error {
	if failure == nil {
		return nil
	}
	told := *failure
	told.InternalDetails = Reasons(English(), failure.Reasons)
	return &told
}
