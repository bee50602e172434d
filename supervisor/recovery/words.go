package recovery

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/supervisor/phrase"
)

// Read reads what somebody says who is asked about a failure: the first line has to be one of the words that choose, of any language of the profile, or the
// name of the choice itself. A result, and what is done instead, follow it: below, or behind a colon. It reports false for anything else.
func Read(languages []schemas.Language, text string) (choice schemas.InquiryChoice, rest string, chosen bool) {
	line, below, _ := strings.Cut(strings.TrimSpace(text), "\n")
	const longest = 100 // bytes
	if line = strings.TrimSpace(line); len(line) <= longest {
		if choice = chosenBy(languages, line); choice != "" && !hasWords(choice) {
			return choice, "", true
		}
	}
	if fault.Is("any words are a result") {
		return schemas.ChoiceAnswer, strings.TrimSpace(text), true
	}
	head, beside, _ := strings.Cut(line, ":")
	if len(head) > longest {
		return "", "", false
	}
	choice = chosenBy(languages, head)
	rest = strings.TrimSpace(beside + "\n" + below)
	return choice, rest, hasWords(choice) && rest != ""
}

// hasWords reports whether something has to follow a choice.
func hasWords(choice schemas.InquiryChoice) bool {
	return choice == schemas.ChoiceAnswer || choice == schemas.ChoiceReplan
}

// chosenBy is what words choose, alone; empty when that is nothing, or more than one thing.
func chosenBy(languages []schemas.Language, words string) schemas.InquiryChoice {
	said, found := phrase.Bare(words), schemas.InquiryChoice("")
	for _, choice := range schemas.HumanTaskFailure.Choices() {
		is := said == string(choice) || slices.ContainsFunc(languages, func(l schemas.Language) bool { return slices.Contains(l.Choices[choice], said) })
		switch {
		case !is:
		case found != "":
			return ""
		default:
			found = choice
		}
	}
	return found
}

// Word is the word of a language that people are told to choose by.
func Word(language *schemas.Language, choice schemas.InquiryChoice) string {
	if words := language.Choices[choice]; len(words) > 0 {
		return words[0]
	}
	return string(choice)
}

// A Failure is what people are told who are asked about one.
type Failure struct {
	Work     string
	Agents   string // whoever has tried
	Attempts int
	Detail   string // why
}

// Question asks people what is done about a failure.
func Question(language *schemas.Language, choices []schemas.InquiryChoice, failure Failure) string {
	lines := make([]string, len(choices))
	for i, choice := range choices {
		line := cmp.Or(told(&language.Texts, choice), "{word}")
		lines[i] = strings.ReplaceAll(line, "{word}", Word(language, choice))
	}
	asks := cmp.Or(language.Texts.Escalation, "{work}\n\n{agent} ({attempts}): {detail}\n\n{choices}")
	return strings.NewReplacer("{work}", failure.Work, "{agent}", failure.Agents, "{attempts}", strconv.Itoa(failure.Attempts),
		"{detail}", failure.Detail, "{choices}", strings.Join(lines, "\n")).Replace(asks)
}

func told(texts *schemas.Texts, choice schemas.InquiryChoice) string {
	switch choice {
	case schemas.ChoiceRetry:
		return texts.ChoiceRetry
	case schemas.ChoiceSkip:
		return texts.ChoiceSkip
	case schemas.ChoiceAnswer:
		return texts.ChoiceAnswer
	case schemas.ChoiceReplan:
		return texts.ChoiceReplan
	case schemas.ChoiceEnd:
		return texts.ChoiceEnd
	case schemas.ChoiceApprove, schemas.ChoiceReject, schemas.ChoiceRaise:
	}
	return ""
}

// Steps are the lines of what is to be done instead.
func Steps(text string) []string {
	var steps []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			steps = append(steps, line)
		}
	}
	return steps
}
