package document

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer/html"
)

// A span is text in one style; one that is an end has none, and ends its line.
type span struct {
	text         string
	bold, italic bool
	code         bool
	link         string
	end          bool
}

func (s *span) face() face {
	switch {
	case s.code:
		return monospaced
	case s.bold && s.italic:
		return boldItalic
	case s.bold:
		return bold
	case s.italic:
		return italic
	}
	return regular
}

// spans are what stands inside of a node, in a style.
func (p *page) spans(node ast.Node, style span) []span {
	var found []span
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		inner := style
		switch n := child.(type) {
		case *ast.Text:
			inner.text = unescaped(n.Segment.Value(p.source))
			if style.code || n.IsRaw() {
				inner.text = string(bytes.ReplaceAll(n.Segment.Value(p.source), []byte("\n"), []byte(" ")))
			}
			if n.SoftLineBreak() && !n.HardLineBreak() {
				inner.text += " "
			}
			found = append(found, inner)
			if n.HardLineBreak() {
				found = append(found, span{end: true})
			}
			continue
		case *ast.String:
			inner.text = string(n.Value)
			found = append(found, inner)
			continue
		case *ast.AutoLink:
			inner.text, inner.link = string(n.Label(p.source)), address(n.URL(p.source))
			if n.AutoLinkType == ast.AutoLinkEmail && inner.link != "" {
				inner.link = "mailto:" + inner.link
			}
			found = append(found, inner)
			continue
		case *ast.Emphasis:
			inner.bold, inner.italic = style.bold || n.Level == 2, style.italic || n.Level != 2
		case *ast.CodeSpan:
			inner.code = true
		case *ast.Link:
			inner.link = address(n.Destination)
		}
		found = append(found, p.spans(child, inner)...)
	}
	return found
}

// address is where a link leads, if it may be followed: what HTML leaves out is left out here.
func address(target []byte) string {
	leads := unescaped(target)
	if html.IsDangerousURL([]byte(leads)) { // as it is read: a backslash or a reference may stand in its scheme
		return ""
	}
	return leads
}
