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

// ReadPage returns the words of a page as a reader sees them: with the addresses of its links, the numbers of its lists,
// and marks of what is raised, lowered or struck out.
func ReadPage(page string) string { return readPage(page).visible }

// Join returns the words of all segments, of each in its better form, and the
// hidden words of all of them.
func (l *Languages) Join(segments []Segment) (text, hidden string) {
	var visible, concealed []string
	for _, one := range segments {
		plain := paragraphs(one.Plain)
		pages := make([]string, 0, len(one.HTML))
		seenAs := shownPage{}
		for _, page := range one.HTML {
			shown := readPage(page)
			if shown.hidden != "" {
				concealed = append(concealed, shown.hidden)
			}
			pages = append(pages, shown.visible)
			seenAs.struck, seenAs.scripts = seenAs.struck || shown.struck, seenAs.scripts || shown.scripts
		}
		if seen := paragraphs(pages); seen != "" && (plain == "" || l.stub(plain) || seenAs.saysMore(plain)) {
			plain = seen
		}
		if plain != "" {
			visible = append(visible, plain)
		}
	}
	return strings.Join(slices.Clip(visible), "\n\n"), strings.Join(concealed, "\n")
}

// saysMore tells whether a page says of its words what the plain text of the same mail does
// not: that some are struck out, or that a number is raised or lowered.
func (p *shownPage) saysMore(plain string) bool {
	return p.struck && !strings.Contains(plain, struckMark) ||
		p.scripts && !strings.ContainsAny(plain, "^_⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉")
}

// paragraphs joins texts with a blank line between them, without empty ones.
func paragraphs(texts []string) string {
	var kept []string
	for _, text := range texts {
		if text = trimText(text); text != "" {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, "\n\n")
}
