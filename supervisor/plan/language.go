package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/approval"
	"podium/supervisor/arguments"
	"podium/supervisor/language"
	"podium/supervisor/phrase"
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

// languageFault says what is wrong with the language of a result that a person is to read; none is nil. What was done
// outside is not done again for it.
func languageFault(v *View, task *workflow.Task, result schemas.Result) []schemas.Reason {
	if v.Profile.CheckLanguage == "" || task.Permit != "" || v.Profile.builtOn(v.Run, task) {
		return nil
	}
	found := otherLanguage(v, cmp.Or(v.Profile.Tell(v.Run, task, result).Text, result.Text))
	if v.Profile.CheckLanguage == schemas.CheckWords {
		found = v.Profile.OtherLanguage(result.Text, v.Run.Message.Language)
	}
	if found == "" {
		return nil
	}
	return wrongLanguage(v, found)
}

func wrongLanguage(v *View, found string) []schemas.Reason {
	return []schemas.Reason{schemas.Because(schemas.ResultLanguage, "found", found, "wanted", v.Run.Message.Language)}
}

// otherLanguage returns the language of a text that a person is to read, or of a part of it, if that is surely another one than theirs and
// the profile judges texts.
func otherLanguage(v *View, text string) string {
	if v.Profile.detector == nil {
		return ""
	}
	return v.Profile.detector.Other(text, v.Run.Message.Language, said(v))
}

// fits reports whether what an agent says beside its result may be told in its own words: where the profile judges texts, only what is rather in
// the requester's language than in any other.
func fits(v *View, text string) bool {
	return v.Profile.detector == nil || v.Profile.detector.Fits(text, v.Run.Message.Language, said(v))
}

// said is what the requester has written. It is read once in a turn: an agent may say as much as it likes in pieces of a line.
func said(v *View) language.Said {
	known := v.known()
	if known.requested == nil {
		said := language.SaidIn(RequestText(&v.Run.Message, v.Read))
		known.requested = &said
	}
	return *known.requested
}

// compileLanguage makes ready what judges the texts of agents.
func (p *Profile) compileLanguage() []error {
	if !p.CheckLanguage.Texts() {
		return nil
	}
	detector, err := language.Find(string(p.CheckLanguage))
	if err != nil {
		return []error{fmt.Errorf("check_language: %w", err)}
	}
	p.detector = detector
	var faults []error
	for i := range p.Languages {
		if tag := p.Languages[i].Tag; (p.Language == tag || p.Language == schemas.LanguageOfWriter) && !detector.Knows(tag) {
			faults = append(faults, fmt.Errorf("check_language: %q cannot judge texts in %q", p.CheckLanguage, tag))
		}
	}
	return faults
}

// askableNeeds are the needs of an agent as people may be asked for them, in its own words where these are in their language. It also returns
// the names of those for which it has no words that are.
func askableNeeds(v *View, needs []schemas.Need) (asked []schemas.Need, wordless []string) {
	if v.Profile.detector == nil {
		return needs, nil
	}
	asked = slices.Clone(needs)
	for i := range asked {
		need, tag := &asked[i], v.Run.Message.Language
		if !fits(v, need.Question[tag]) {
			need.Question = maps.Clone(need.Question)
			delete(need.Question, tag)
		}
		if need.Question[tag] == "" && (need.Title == "" || !fits(v, need.Title)) {
			wordless = append(wordless, need.Name)
		}
	}
	return asked, wordless
}

// fitting returns the lines of what an agent says of a failure that a person may read. All of it stands with the task on record.
func fitting(v *View, detail string) string {
	var lines []string
	for line := range strings.Lines(detail) {
		if fits(v, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// findings are those of what agents have said beside their results that may be told in their words.
func findings(v *View, said schemas.Findings) schemas.Findings {
	if v.Profile.detector == nil {
		return said
	}
	var told schemas.Findings
	for _, issue := range said.Issues {
		if fits(v, issue.Description) {
			told.Issues = append(told.Issues, issue)
		}
	}
	for _, verdict := range said.ValidationResults {
		if !fits(v, verdict.Details) {
			verdict.Details = ""
		}
		verdict.Issues = slices.DeleteFunc(slices.Clone(verdict.Issues), func(issue schemas.ValidationIssue) bool { return !fits(v, issue.Message) })
		told.ValidationResults = append(told.ValidationResults, verdict)
	}
	for _, advice := range said.Recommendations {
		if fits(v, advice) {
			told.Recommendations = append(told.Recommendations, advice)
		}
	}
	return told
}

// untold is what is told of a result that was not to be repeated, or not made for people, and is in another language than theirs; empty
// when the result may be told.
func untold(v *View, part *schemas.AnswerPart) string {
	if v.Profile.detector == nil || otherLanguage(v, cmp.Or(part.Told, v.content(part.Body).Text)) == "" {
		return ""
	}
	return cmp.Or(v.texts().Untold, v.texts().Empty)
}

// builtOn reports whether another task builds on one, so that no person is to read its result.
func (p *Profile) builtOn(run *workflow.Run, task *workflow.Task) bool {
	return p.Execution.Mode == schemas.ExecutionDAG &&
		slices.ContainsFunc(run.Tasks, func(other *workflow.Task) bool {
			return other.Recovers() == "" && slices.Contains(other.Dependencies(), task.Origin())
		})
}

// Withdraws reports whether a message is nothing but words by which a requester takes back what is asked about. Where the word is one of
// those that are asked for, it is the answer.
func (p *Profile) Withdraws(text string, inquiry *workflow.Inquiry, agent string) bool {
	const longest = 200 // bytes
	if len(inquiry.People) > 0 || len(text) > longest {
		return false
	}
	said := phrase.Bare(text)
	withdraws := func(language schemas.Language) bool {
		if len(language.Courtesy) == 0 {
			return slices.Contains(language.Withdraw, said)
		}
		return phrase.Only(text, phrase.Words{Phrases: language.Withdraw, Courtesy: language.Courtesy, Closings: language.Closings})
	}
	filler := p.fillers[agent]
	chosen := func(need schemas.Need) bool {
		if offers(&need, said) {
			return true
		}
		if inquiry.Attempt != 0 || filler == nil {
			return false
		}
		means := filler.Chosen(need.Name, said)
		if filler.Offers(need.Name, need.Readings) { // another choice than the one that is offered is none of those that are asked for
			return slices.Contains(means, need.Readings[0])
		}
		return len(means) > 0
	}
	return said != "" && slices.ContainsFunc(p.Languages, withdraws) && !slices.ContainsFunc(inquiry.Needs, chosen)
}

// Lead reads what an answer begins with, in any language of the profile: that what was offered is so, or is not.
func (p *Profile) Lead(text string) (lead arguments.Lead, rest string) {
	for i := range p.Languages {
		language := &p.Languages[i]
		of := phrase.Words{Phrases: language.Decline, Courtesy: language.Courtesy, Closings: language.Closings}
		if rest, found := phrase.Lead(text, of); found {
			return arguments.LeadDecline, rest
		}
		of.Phrases = language.Assent
		if rest, found := phrase.Lead(text, of); found {
			return arguments.LeadAssent, rest
		}
	}
	return "", text
}

// Decides reads what somebody says who is asked to agree: the first line that says anything has to be one of the words for it, whole and alone, of any language of the
// profile. It reports false for anything else, and for a word that means both. A question is no decision, in that line; and who asks
// something below it does not agree.
func (p *Profile) Decides(text string) (schemas.InquiryChoice, bool) {
	line, below, _ := strings.Cut(strings.TrimSpace(text), "\n")
	const longest = 100 // bytes
	said := phrase.Bare(line)
	if first, _, more := strings.Cut(said, " "); more && fault.Is("free text approves") {
		said = first
	}
	if said == "" || len(line) > longest {
		return "", false
	}
	approves := slices.ContainsFunc(p.Languages, func(l schemas.Language) bool { return slices.Contains(l.Approve, said) })
	rejects := slices.ContainsFunc(p.Languages, func(l schemas.Language) bool { return slices.Contains(l.Reject, said) })
	switch {
	case approves == rejects, phrase.Asks(line), approves && phrase.Asks(approval.WithoutEdit(below)):
		return "", false
	case approves:
		return schemas.ChoiceApprove, true
	}
	return fault.Either("who says no has agreed", schemas.ChoiceApprove, schemas.ChoiceReject), true
}

// Asks reports whether words ask something, which decides nothing.
func (p *Profile) Asks(words string) bool { return phrase.Asks(words) }

// decidingWords are those that people are told to decide by.
func (p *Profile) decidingWords(tag string) (approve, reject string) {
	own := p.language(tag)
	if len(own.Approve) > 0 {
		approve = own.Approve[0]
	}
	if len(own.Reject) > 0 {
		reject = own.Reject[0]
	}
	return approve, reject
}

// offers reports whether a phrase is one of those that are to be chosen from.
func offers(need *schemas.Need, said string) bool {
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
	return slices.ContainsFunc(choices, func(choice string) bool { return phrase.Bare(choice) == said })
}
