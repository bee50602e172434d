package text

import (
	"slices"
	"strings"
)

// An openElement is an element that has begun, with what it does to the words inside.
type openElement struct {
	name       string
	kind       elementKind
	background bool // of its own, on which white words can be read
	struck     bool
	script     scriptKind
	space      whiteSpace
	list       *list // of ol and ul
}

const maxOpen = 256 // elements remembered for what they do to the words inside

// isPlain tells whether an element changes nothing.
func (e *openElement) isPlain() bool {
	return !e.background && !e.struck && e.script == scriptNone && e.space == spaceInherited && e.list == nil
}

// pushElement remembers an element. Once one that matters is open, all inside are remembered,
// so that their ends are not taken for its own.
func (c *htmlReader) pushElement(one openElement) {
	if len(c.open) > 0 {
		c.closeImplied(one.name, one.kind)
	}
	if len(c.open) < maxOpen && (len(c.open) > 0 || !one.isPlain()) {
		c.open = append(c.open, one)
		c.form = c.formOf()
	}
}

// closeImplied ends the elements that end where another one begins: a paragraph before
// a block, an item before the next one, a cell before the next one.
func (c *htmlReader) closeImplied(name string, kind elementKind) {
	for i, open := range slices.Backward(c.open) {
		ends := open.name == "p" && (kind == kindBlock || kind == kindParagraph) ||
			name == "li" && open.name == "li" || kind == kindCell && open.kind == kindCell ||
			name == "tr" && (open.name == "tr" || open.kind == kindCell)
		switch {
		case ends:
			c.closeFrom(i)
			return
		case open.list != nil, open.name == "table":
			return
		case open.kind != kindInline && name != "li" && name != "tr":
			return
		}
	}
}

// popElement ends the innermost element of a name. An element between words ends alone, as
// browsers do with wrongly nested ones; any other ends all inside.
func (c *htmlReader) popElement(name string) {
	for i, open := range slices.Backward(c.open) {
		if open.name != name {
			continue
		}
		if open.kind == kindInline {
			c.open = append(c.open[:i], c.open[i+1:]...)
			c.form = c.formOf()
		} else {
			c.closeFrom(i)
		}
		return
	}
}

func (c *htmlReader) closeFrom(to int) {
	c.open = c.open[:to]
	c.form = c.formOf()
}

// formOf returns the form of words inside the open elements.
func (c *htmlReader) formOf() wordForm {
	form := wordForm{space: spaceCollapsed}
	for i := range c.open {
		one := &c.open[i]
		form.struck = form.struck || one.struck
		if one.space != spaceInherited {
			form.space = one.space
		}
		if one.script != scriptNone {
			form.script = scriptID{kind: one.script, depth: form.script.depth + 1}
		}
	}
	return form
}

// isOnBackground tells whether an open element has a background of its own.
func (c *htmlReader) isOnBackground() bool {
	for i := range c.open {
		if c.open[i].background {
			return true
		}
	}
	return false
}

// isPreformatted is true of elements whose blanks and lines stay.
func isPreformatted(name string) bool {
	return name == "pre" || name == "textarea" || name == "listing" || name == "xmp"
}

// strikesOut tells whether an element strikes its words out, by itself or by its style.
func (s style) strikesOut(name string) bool {
	decoration := s["text-decoration"] + s["text-decoration-line"]
	if decoration == "" {
		return name == "s" || name == "strike" || name == "del"
	}
	return strings.Contains(decoration, "line-through")
}

// scriptOf tells whether an element raises or lowers its words.
func (s style) scriptOf(name string, kind elementKind) scriptKind {
	switch {
	case name == "sup":
		return scriptRaised
	case name == "sub":
		return scriptLowered
	case kind != kindInline:
		return scriptNone
	}
	switch align := s["vertical-align"]; align {
	case "super", "text-top":
		return scriptRaised
	case "sub", "text-bottom":
		return scriptLowered
	default:
		if shift := s.shiftBy("vertical-align"); shift != scriptNone {
			return shift
		}
	}
	switch s["font-variant-position"] {
	case "super":
		return scriptRaised
	case "sub":
		return scriptLowered
	}
	if s["position"] != "relative" {
		return scriptNone
	}
	if shift := s.shiftBy("bottom"); shift != scriptNone {
		return shift
	}
	switch s.shiftBy("top") {
	case scriptRaised:
		return scriptLowered
	case scriptLowered:
		return scriptRaised
	case scriptNone:
	}
	return scriptNone
}

// shiftBy says where a length moves words, upwards from their line. One far away hides them.
func (s style) shiftBy(name string) scriptKind {
	switch length := s.length(name); {
	case length > 0 && length < 500:
		return scriptRaised
	case length < 0 && length > -500:
		return scriptLowered
	}
	return scriptNone
}

// whiteSpaceOf says what an element does to blanks and line ends.
func (s style) whiteSpaceOf(name string) whiteSpace {
	value := s["white-space"] + s["white-space-collapse"]
	switch {
	case strings.Contains(value, "pre-line"), strings.Contains(value, "preserve-breaks"):
		return spaceLines
	case strings.Contains(value, "pre"), strings.Contains(value, "break-spaces"):
		return spaceKept
	case strings.Contains(value, "normal"), strings.Contains(value, "nowrap"), strings.Contains(value, "collapse"):
		return spaceCollapsed
	case isPreformatted(name):
		return spaceKept
	}
	return spaceInherited
}
