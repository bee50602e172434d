package llm

import (
	"regexp"
	"strings"
	"sync/atomic"
)

// reasoningMark finds the marks around what a model writes as its reasoning. The chat template of some models has
// put the opening mark into the prompt already: their answers hold the closing one alone.
var reasoningMark = regexp.MustCompile(`(?i)<(/?)(?:think|thinks|thinking|thought|thoughts|reasoning|reason)\s*>|\[(/?)THINK\]`)

// A mark is the place of one of them.
type mark struct {
	start, end int
	closes     bool
}

// reasoningMarks returns the marks of a text. One in quotes or code marks is spoken of, and is none.
func reasoningMarks(text string) []mark {
	if strings.IndexByte(text, '<') < 0 && strings.IndexByte(text, '[') < 0 {
		return nil
	}
	var found []mark
	for _, at := range reasoningMark.FindAllStringSubmatchIndex(text, -1) {
		start, end := at[0], at[1]
		if start > 0 && end < len(text) && text[start-1] == text[end] && strings.IndexByte("`\"'", text[end]) >= 0 {
			continue
		}
		found = append(found, mark{start, end, at[2] < at[3] || at[4] >= 0 && at[4] < at[5]})
	}
	return found
}

// withoutThoughts leaves out the reasoning of a model: what stands between two marks, before a closing mark that no
// mark opens, and behind an opening mark at the beginning of a line that no mark closes. unopened reports a closing
// mark that no mark opens.
func withoutThoughts(text string) (answer string, unopened bool) {
	marks := reasoningMarks(text)
	if len(marks) == 0 || composite([]byte(strings.TrimSpace(text))) {
		return text, false // the marks in data belong to its strings
	}
	var kept strings.Builder
	read, opened := 0, -1 // opened is where the reasoning begins that a mark has opened
	for _, found := range marks {
		switch {
		case !found.closes && opened < 0:
			opened = found.start
		case found.closes && opened >= 0:
			kept.WriteString(text[read:opened])
			read, opened = found.end, -1
		case found.closes:
			kept.Reset()
			read, unopened = found.end, true
		}
	}
	if opened >= 0 && !beginsLine(text[read:opened]) {
		opened = -1
	}
	if opened >= 0 {
		kept.WriteString(text[read:opened])
	} else {
		kept.WriteString(text[read:])
	}
	return strings.TrimSpace(kept.String()), unopened
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
	if _, unopened := withoutThoughts(text); unopened {
		h.unopened.Store(true)
	}
	h.answered.Store(true)
}

// canShow reports whether the beginning of an answer may be shown: it is the answer, and not reasoning.
func (h *habit) canShow(text string) bool {
	if h.answered.Load() && !h.unopened.Load() {
		return true
	}
	for _, found := range reasoningMarks(text) {
		if found.closes {
			return true
		}
	}
	return false
}
