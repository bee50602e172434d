package plan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
)

const (
	// languageSample is how many bytes of a text are looked at for its language.
	languageSample = 2 << 10
	// A text is in another language when so many of that one's markers stand in it, and
	// so many times as many as of its own. A short text gives no language away.
	wrongMarkers = 4
	wrongTimes   = 3
)

// LanguageFor returns the language of the answer to a text: the profile's, else
// what the writer says, else the one most of whose markers stand in the text,
// else the profile's first.
func (p *Profile) LanguageFor(text, said string) string {
	if p.Language != schemas.LanguageOfWriter {
		return p.Language
	}
	if primary, _, _ := strings.Cut(strings.ToLower(said), "-"); primary != "" && p.language(primary).Tag == primary {
		return primary
	}
	words := wordsOf(text)
	best, most := p.Languages[0].Tag, 0
	for i := range p.Languages {
		if n := count(words, p.Languages[i].Markers); n > most {
			best, most = p.Languages[i].Tag, n
		}
	}
	return best
}

// OtherLanguage returns the language that a text gives away, if that is surely not the one that it
// should be in; empty when it is, or when nobody can tell.
func (p *Profile) OtherLanguage(text, tag string) string {
	own := p.language(tag)
	if own.Tag != tag {
		return "" // there are no words to tell it by
	}
	words := wordsOf(text)
	least := max(wrongMarkers, wrongTimes*count(words, own.Markers))
	for i := range p.Languages {
		if other := &p.Languages[i]; other.Tag != tag && count(words, other.Markers) >= least {
			return other.Tag
		}
	}
	return ""
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(truncate(text, languageSample)), func(c rune) bool { return !unicode.IsLetter(c) })
}

func count(words, markers []string) int {
	n := 0
	for _, word := range words {
		if slices.Contains(markers, word) {
			n++
		}
	}
	return n
}

// languageFault says what is wrong with the language of a result that a person is to read; empty is
// nothing. What was done outside is not done again for it.
func (d *Decision) languageFault(task *workflow.Task, result schemas.Result) string {
	if !d.Profile.CheckLanguage || task.Permit != "" || d.Profile.builtOn(d.Run, task) {
		return ""
	}
	if found := d.Profile.OtherLanguage(result.Text, d.Run.Message.Language); found != "" {
		return "The text is in the language " + found + ", and has to be in " + d.Run.Message.Language + "."
	}
	return ""
}

// builtOn reports whether another task builds on one, so that no person is to read its result.
func (p *Profile) builtOn(run *workflow.Run, task *workflow.Task) bool {
	return p.Execution.Mode == schemas.ExecutionDAG &&
		slices.ContainsFunc(run.Tasks, func(other *workflow.Task) bool { return slices.Contains(other.Dependencies(), task.ID) })
}

// Withdraws reports whether a message is nothing but words by which a requester takes back what is asked about. Where the word is one of
// those that are asked for, it is the answer.
func (p *Profile) Withdraws(text string, inquiry *workflow.Inquiry, agent string) bool {
	const longest = 200 // bytes
	if len(inquiry.People) > 0 || len(text) > longest {
		return false
	}
	said := barePhrase(text)
	withdraws := func(language schemas.Language) bool { return slices.Contains(language.Withdraw, said) }
	filler := p.fillers[agent]
	chosen := func(need schemas.Need) bool {
		return offers(&need, said) || inquiry.Attempt == 0 && filler != nil && filler.Chooses(need.Name, said)
	}
	return said != "" && slices.ContainsFunc(p.Languages, withdraws) && !slices.ContainsFunc(inquiry.Needs, chosen)
}

// barePhrase is a text in lower case, its words with a space between, without marks.
func barePhrase(text string) string {
	text = strings.ReplaceAll(strings.ToLower(text), "\u2019", "'")
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) && c != '\'' }), " ")
}

// offers reports whether a phrase is one of those that are to be chosen from.
func offers(need *schemas.Need, phrase string) bool {
	var schema struct {
		Enum []jsontext.Value `json:"enum"`
	}
	choices := slices.Clone(need.Readings)
	if len(need.Schema) > 0 && schemas.Unmarshal(need.Schema, &schema) == nil {
		for _, choice := range schema.Enum {
			if text, err := jsontext.AppendUnquote(nil, choice); err == nil {
				choices = append(choices, string(text))
			}
		}
	}
	return slices.ContainsFunc(choices, func(choice string) bool { return barePhrase(choice) == phrase })
}
