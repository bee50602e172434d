package llm

import (
	"slices"
	"strings"
)

// A span is a part of a text: from its start up to its end.
type span struct{ start, end int }

// A code holds the parts of a text in Markdown that are code, in their order, and where a fence begins that no other
// one ends, or -1.
type code struct {
	spans []span
	open  int
}

// holds reports whether a place is in code.
func (c code) holds(at int) bool {
	_, found := slices.BinarySearchFunc(c.spans, at, func(one span, at int) int {
		switch {
		case one.end <= at:
			return -1
		case one.start > at:
			return 1
		}
		return 0
	})
	return found
}

// codeSpans finds code between fences, and between code marks within a line.
func codeSpans(text string) code {
	found := code{open: -1}
	fence, at := "", 0
	for line := range strings.Lines(text) {
		marks := fenceOf(line)
		switch {
		case fence == "" && marks != "":
			fence, found.open = marks, at
			found.spans = append(found.spans, span{at, at})
		case fence != "" && strings.HasPrefix(marks, fence) && strings.Trim(line, " \t\r\n"+fence[:1]) == "":
			found.spans[len(found.spans)-1].end = at + len(line)
			fence, found.open = "", -1
		case fence == "":
			found.spans = appendInline(found.spans, line, at)
		}
		at += len(line)
	}
	if found.open < 0 {
		return found
	}
	found.spans = found.spans[:len(found.spans)-1] // it fences nothing in
	at = found.open
	for line := range strings.Lines(text[found.open:]) {
		if fenceOf(line) == "" {
			found.spans = appendInline(found.spans, line, at)
		}
		at += len(line)
	}
	return found
}

// fenceOf returns the marks of a line that is a fence, or "".
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t")
	for _, sign := range [...]string{"`", "~"} {
		marks := line[:len(line)-len(strings.TrimLeft(line, sign))]
		if len(marks) >= 3 && !strings.Contains(line[len(marks):], sign) {
			return marks
		}
	}
	return ""
}

// appendInline adds the code within a line: between two runs of as many code marks, of which the first has no blank
// behind it, and the second none before it.
func appendInline(spans []span, line string, at int) []span {
	begin, size := -1, 0
	for i := 0; i < len(line); {
		run := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		switch {
		case run == 0:
			i++
			continue
		case begin >= 0 && run == size && !isBlank(line, i-1):
			spans = append(spans, span{at + begin, at + i + run})
			begin = -1
		case (begin < 0 || run == size) && !isBlank(line, i+run):
			begin, size = i, run
		}
		i += run
	}
	return spans
}

// isBlank reports whether a byte of a line is a blank, or beyond it.
func isBlank(line string, at int) bool {
	return at < 0 || at >= len(line) || strings.IndexByte(" \t\r\n", line[at]) >= 0
}
