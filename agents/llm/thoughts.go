package llm

import (
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// A markKind is what a mark around the reasoning or the answer of a model does.
type markKind uint8

const (
	opensReasoning markKind = iota
	closesReasoning
	opensAnswer
	closesAnswer
)

// reasoningNames are how models name their reasoning in tags, and answerNames what they put around what follows it.
const (
	reasoningNames = `(?:seed:)?(?:thinking|think|thinks|thoughts|thought|reasoning|reason|reflection|scratchpad)`
	answerNames    = `(?:answer|response|output|final|final_answer)`
	thoughtTokens  = `(?:of_)?(?:thinking|think|thoughts|thought|reasoning)`
	answerTokens   = `(?:of_)?(?:solution|response|answer)`
	harmonyHead    = `(?:<\|end\|>\s*)?(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*`
	harmonyTail    = `[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>`
)

// markForms find the marks: tags in the brackets of several models, the tokens of Cohere, Sky-T1 and MedGemma, and
// the channels of gpt-oss (harmony) and Gemma. The chat template of some models has put the opening mark into the
// prompt already: their answers hold the closing one alone.
var markForms = [...]*regexp.Regexp{ //nolint:gochecknoglobals // never changed
	opensReasoning: regexp.MustCompile(`(?i)<\|?` + reasoningNames + `\s*\|?>|\[THINK\]|◁think▷|<\|(?:begin|start)_` + thoughtTokens +
		`\|>|<unused94>(?:thought\b)?|<\|channel>\s*(?:thought|analysis)\b|` + harmonyHead + `(?:analysis|commentary)` + harmonyTail),
	closesReasoning: regexp.MustCompile(`(?i)<\|?/` + reasoningNames + `\s*\|?>|\[/THINK\]|◁/think▷|<\|end_` + thoughtTokens +
		`\|>|<unused95>|<channel\|>|` + harmonyHead + `final` + harmonyTail),
	opensAnswer:  regexp.MustCompile(`(?i)<` + answerNames + `>|<\|(?:begin|start)_` + answerTokens + `\|>`),
	closesAnswer: regexp.MustCompile(`(?i)</` + answerNames + `>|<\|end_` + answerTokens + `\|>|<\|(?:return|end)\|>`),
}

// bareAnalysis and bareFinal are the channels of gpt-oss where a server has taken their tokens away.
var bareAnalysis = regexp.MustCompile(`^\s*analysis["'(\p{Lu}]`)

const bareFinal = "assistantfinal"

// A mark is the place of one of them.
type mark struct {
	start, end int
	kind       markKind
}

// reasoningMarks returns the marks of a text in their order, without those in code, and where a fence begins that
// does not end, or -1. A mark in quotes or code marks is spoken of, and is none.
func reasoningMarks(text string) (found []mark, openFence int) {
	if !strings.ContainsAny(text, "<[◁") && !bareAnalysis.MatchString(text) {
		return nil, -1
	}
	for kind, form := range markForms {
		for _, at := range form.FindAllStringIndex(text, -1) {
			found = append(found, mark{at[0], at[1], markKind(kind)})
		}
	}
	if bare := bareAnalysis.FindString(text); bare != "" {
		end := len(bare) - len(strings.TrimLeft(bare, " \t\r\n")) + len("analysis")
		found = append(found, mark{0, end, opensReasoning})
		if at := strings.LastIndex(text, bareFinal); at >= end {
			found = append(found, mark{at, at + len(bareFinal), closesReasoning})
		}
	}
	if len(found) == 0 {
		return nil, -1
	}
	slices.SortStableFunc(found, func(a, b mark) int { return a.start - b.start })
	code := codeSpans(text)
	found = slices.DeleteFunc(found, func(one mark) bool { return isQuoted(text, one) || code.holds(one.start) })
	return found, code.open
}

// isQuoted reports whether quotes or code marks stand directly around a mark.
func isQuoted(text string, one mark) bool {
	for _, quotes := range [...][2]string{{"`", "`"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"‘", "’"}} {
		if strings.HasSuffix(text[:one.start], quotes[0]) && strings.HasPrefix(text[one.end:], quotes[1]) {
			return true
		}
	}
	return false
}

// A reading is what an answer is without its reasoning.
type reading struct {
	answer   string
	unopened bool // a mark closes reasoning that no mark opens
	ended    bool // reasoning has ended
}

// withoutThoughts leaves out the reasoning of a model: what stands between two marks, before a closing mark that no
// mark opens, and behind an opening mark that no mark closes. Where a mark stands tells whether it counts. An opening
// mark does at the beginning of the answer or of a line, and behind another mark. Within a line it does if its
// closing mark is in a later line, ends the line, or has a letter or a digit directly behind it: "write
// <think>..</think> around it" tells of the marks. A closing mark counts anywhere. None counts in code or in data.
// Of a text that goes on, what follows a mark that is not decided yet is left out too.
func withoutThoughts(text string, goesOn bool) reading {
	marks, openFence := reasoningMarks(text)
	if len(marks) == 0 || composite([]byte(strings.TrimSpace(text))) {
		return reading{answer: text}
	}
	s := stripper{text: text, goesOn: goesOn, opened: -1, aside: -1, counted: -1}
	for _, found := range marks {
		if goesOn && openFence >= 0 && found.start > openFence { // in code, if the fence ends
			if s.aside < 0 {
				s.aside = found.start
			}
			break
		}
		s.take(found)
	}
	end := len(text)
	switch {
	case s.opened >= 0:
		end = s.opened
	case goesOn && s.aside >= 0:
		end = s.aside
	}
	s.kept.WriteString(text[s.read:max(s.read, end)])
	return reading{answer: strings.TrimSpace(s.kept.String()), unopened: s.unopened, ended: s.ended}
}

// A stripper goes through the marks of a text and keeps what is no reasoning.
type stripper struct {
	text            string
	goesOn          bool // more of the text may follow
	kept            strings.Builder
	read            int  // where what is not kept yet begins
	opened          int  // where reasoning begins that is not closed, or -1
	aside           int  // where a mark within a line is that may be spoken of, or -1
	counted         int  // the end of the last mark that counts, or -1
	answers         bool // a mark around the answer is open
	unopened, ended bool
}

// take goes on to the next mark.
func (s *stripper) take(m mark) {
	if m.start < s.read {
		return // within one that was longer
	}
	begins := beginsLine(s.text[s.read:m.start])
	switch m.kind {
	case opensReasoning:
		switch {
		case s.opened >= 0:
		case begins:
			s.opened, s.aside = m.start, -1
		case s.aside < 0:
			s.aside = m.start
		}
	case closesReasoning:
		switch {
		case s.opened >= 0:
			s.leaveOut(s.opened, m)
		case s.aside >= 0:
			s.takePair(m)
		default:
			s.kept.Reset()
			s.read, s.unopened = m.start, true
			s.leaveOut(m.start, m)
		}
		s.answers = s.answers || s.counted == m.end && strings.Contains(s.text[m.start:m.end], "|>")
	case opensAnswer:
		switch token := strings.HasPrefix(s.text[m.start:], "<|"); {
		case s.opened >= 0 && token && begins:
			s.leaveOut(s.opened, m)
			s.answers = true
		case s.opened < 0 && (token && begins || s.isBehindMark(m)):
			s.drop(m)
			s.answers = true
		}
	case closesAnswer:
		if s.answers && s.opened < 0 {
			s.drop(m)
			s.answers = false
		}
	}
}

// takePair takes a closing mark behind one within a line. The pair is spoken of where the line goes on behind it with
// a blank or a sign, and is reasoning else.
func (s *stripper) takePair(m mark) {
	line, _, ended := strings.Cut(s.text[m.end:], "\n")
	isWithinLine := !strings.Contains(s.text[s.aside:m.start], "\n")
	switch isLast := strings.TrimSpace(line) == ""; {
	case isWithinLine && isLast && !ended && s.goesOn: // what follows decides
	case isWithinLine && !isLast && !wordBegins.MatchString(line):
		s.aside = -1
	default:
		s.leaveOut(s.aside, m)
	}
}

var wordBegins = regexp.MustCompile(`^[\pL\pN]`)

// isBehindMark reports whether nothing but blanks is between a mark and the last one that counts.
func (s *stripper) isBehindMark(m mark) bool {
	return s.counted >= 0 && strings.TrimSpace(s.text[s.counted:m.start]) == ""
}

// leaveOut keeps what stands before reasoning, which the mark ends.
func (s *stripper) leaveOut(from int, m mark) {
	s.kept.WriteString(s.text[s.read:from])
	s.read, s.opened, s.aside, s.counted, s.ended = m.end, -1, -1, m.end, true
}

// drop keeps what stands before a mark around the answer.
func (s *stripper) drop(m mark) {
	s.kept.WriteString(s.text[s.read:m.start])
	s.read, s.counted = m.end, m.end
}

// beginsLine reports whether what follows the text stands at the beginning of a line.
func beginsLine(before string) bool {
	return strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:]) == ""
}

// A habit is what the answers of a model have shown so far: whether they begin inside of its reasoning. While that
// is not known, and for a model that does so, nothing of an answer is shown before its reasoning has ended.
type habit struct {
	answered atomic.Bool // at least one answer is known
	unopened atomic.Bool // one of them held a closing mark that no mark opens
}

// learn takes note of a complete answer.
func (h *habit) learn(text string) {
	if withoutThoughts(text, false).unopened {
		h.unopened.Store(true)
	}
	h.answered.Store(true)
}

// canShow reports whether the beginning of an answer may be shown: it is the answer, and not reasoning.
func (h *habit) canShow(text string) bool {
	return h.answered.Load() && !h.unopened.Load() || withoutThoughts(text, true).ended
}
