package text

import (
	"slices"
	"strings"
)

// A Segment is a stretch of the mail's text, in one or two forms. Of either form
// there may be several parts, each of which a reader sees for itself.
type Segment struct {
	Alternative int // the multipart/alternative that it belongs to; 0 is none
	Plain, HTML []string
}

// Empty tells whether there are no words in it.
func (s *Segment) Empty() bool {
	return !slices.ContainsFunc(slices.Concat(s.Plain, s.HTML), func(text string) bool { return strings.TrimSpace(text) != "" })
}

// Join returns the words of all segments, of each in its better form, and the
// hidden words of all of them.
func (l *Languages) Join(segments []Segment) (text, hidden string) {
	var visible, concealed []string
	for _, one := range segments {
		plain := paragraphs(one.Plain)
		pages := make([]string, 0, len(one.HTML))
		for _, page := range one.HTML {
			seen, unseen := htmlToText(page)
			if unseen != "" {
				concealed = append(concealed, unseen)
			}
			pages = append(pages, seen)
		}
		if seen := paragraphs(pages); seen != "" && (plain == "" || l.stub(plain)) {
			plain = seen
		}
		if plain != "" {
			visible = append(visible, plain)
		}
	}
	return strings.Join(slices.Clip(visible), "\n\n"), strings.Join(concealed, "\n")
}

// paragraphs joins texts with a blank line between them, without empty ones.
func paragraphs(texts []string) string {
	var kept []string
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, "\n\n")
}
