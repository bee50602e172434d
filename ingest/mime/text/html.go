package text

import (
	"html"
	"strings"

	"podium/ingest/mime/charset"
)

// htmlToText returns the words of a page as a reader sees them, and apart from
// them the words that the page hides: hidden words are a sign of an attempt to
// speak to a program behind the reader's back. Quotations (blockquote) get "> "
// before their lines. Scripts, styles and comments are dropped. The style of an
// element itself is read, and of style sheets the rules for one class or one id.
func htmlToText(page string) (visible, hidden string) {
	shown := readPage(page)
	return shown.visible, shown.hidden
}

// A shownPage is what a reader sees of a page and what the page hides.
type shownPage struct {
	visible, hidden string

	struck, scripts bool // there are words that are struck out; numbers that are raised or lowered
}

func readPage(page string) shownPage {
	c := htmlReader{page: page, sheet: readSheets(page), lookAhead: maxLookAhead}
	c.form = c.formOf()
	c.visible.breaks, c.hidden.breaks = 2, 2
	for c.position < len(c.page) {
		c.step()
	}
	shown := shownPage{visible: c.visible.finishText(), hidden: strings.TrimSpace(c.hidden.finishText())}
	shown.struck, shown.scripts = c.visible.hasStruck, c.visible.hasScripts
	return shown
}

// An htmlReader walks over a page once, from left to right. The tokenizer of
// golang.org/x/net/html is not used: it drops words, as a browser does, behind a
// quotation mark that is never closed and behind "</3", and takes twice the time.
type htmlReader struct {
	page            string
	position        int
	visible, hidden textBuilder
	dropped         nesting // inside an element that is no text
	concealed       nesting // inside an element that a reader does not see
	open            []openElement
	form            wordForm // of words inside the open elements
	sheet           sheet
	link            string
	linkStart       int
	lookAhead       int // bytes that may still be read twice
	inserted        int // where an element ended that says what was changed, or 0
	skipLineEnd     bool
}

// A nesting counts elements of one name inside each other.
type nesting struct {
	name  string
	depth int
}

func (n *nesting) start(name string) {
	switch {
	case n.depth == 0:
		n.name, n.depth = name, 1
	case n.name == name:
		n.depth++
	}
}

func (n *nesting) end(name string) {
	if n.depth > 0 && n.name == name {
		n.depth--
	}
}

func (c *htmlReader) step() {
	rest := c.page[c.position:]
	next := strings.IndexByte(rest, '<')
	if next != 0 {
		if next < 0 {
			next = len(rest)
		}
		c.text(rest[:next])
		c.position += next
		return
	}
	switch {
	case strings.HasPrefix(rest, "<!--"):
		c.skipPast("-->", 4)
	case strings.HasPrefix(rest, "<!"), strings.HasPrefix(rest, "<?"):
		c.skipPast(">", 2)
	case len(rest) > 2 && rest[1] == '/' && charset.IsLetter(rest[2]):
		name, _, size := parseTag(rest[2:])
		c.position += 2 + size
		c.endTag(name)
	case len(rest) > 1 && charset.IsLetter(rest[1]):
		name, attributes, size := parseTag(rest[1:])
		c.position += 1 + size
		c.startTag(name, attributes)
	default:
		c.text("<")
		c.position++
	}
}

func (c *htmlReader) skipPast(end string, from int) {
	at := strings.Index(c.page[min(len(c.page), c.position+from):], end)
	if at < 0 {
		c.position = len(c.page)
		return
	}
	c.position += from + at + len(end)
}

func (c *htmlReader) target() *textBuilder {
	switch {
	case c.dropped.depth > 0:
		return nil
	case c.concealed.depth > 0:
		return &c.hidden
	}
	return &c.visible
}

func (c *htmlReader) text(raw string) {
	if out := c.target(); out != nil {
		if c.skipLineEnd {
			raw = strings.TrimPrefix(strings.TrimPrefix(raw, "\r"), "\n")
		}
		out.text(html.UnescapeString(raw), c.form)
	}
	c.skipLineEnd = false
}

func (c *htmlReader) startTag(name string, attributes map[string]string) {
	kind := kindOf(name)
	switch {
	case kind == kindRaw:
		c.skipElement(name)
		return
	case name == "body":
		c.dropped = nesting{}
	case kind == kindDropped:
		c.dropped.start(name)
	}
	c.skipLineEnd = isPreformatted(name) // the first line end is none
	var own style
	if kind != kindVoid && kind != kindBreak {
		own = c.openElement(name, attributes, kind)
	}
	out := c.target()
	if out == nil {
		return
	}
	switch name {
	case "br":
		out.newline()
	case "blockquote":
		out.flushItem()
		out.breakLine(1)
		out.quoted++
	case "textarea":
		out.breakLine(1)
		c.rawText(name)
	case "li":
		c.startItem(out, attributes, own)
	case "ol", "ul":
		out.flushItem()
		out.breakLine(1)
	case "img", "input":
		if name == "img" || strings.EqualFold(attributes["type"], "image") {
			c.writePicture(attributes)
		}
	case "ins", "del":
		if c.inserted > 0 && c.inserted == len(out.out) {
			out.addBlank() // what was changed does not join what it was before
		}
	case "a":
		c.link, c.linkStart = attributes["href"], len(out.out)
		c.form.footnote = strings.HasPrefix(c.link, "#")
	default:
		out.boundary(kind)
	}
}

// openElement notes what an element does to the words inside: its background, its
// visibility and how it shows them.
func (c *htmlReader) openElement(name string, attributes map[string]string, kind elementKind) style {
	own := c.sheet.apply(parseStyle(attributes), name, attributes)
	if c.concealed.depth > 0 && c.concealed.name == name && kind == kindParagraph {
		c.concealed = nesting{} // a paragraph ends where the next one begins
	}
	if c.concealed.depth > 0 || own.conceals(c.isOnBackground()) {
		c.concealed.start(name)
	}
	footnote := c.form.footnote
	c.pushElement(openElement{
		name: name, kind: kind, background: own.background(), struck: own.strikesOut(name), script: own.scriptOf(name, kind),
		space: own.whiteSpaceOf(name), list: c.newList(name, attributes, own),
	})
	c.form.footnote = footnote
	return own
}

func (c *htmlReader) endTag(name string) {
	footnote := c.form.footnote
	c.popElement(name)
	c.form.footnote = footnote
	c.skipLineEnd = false
	if out := c.target(); out != nil {
		switch name {
		case "blockquote":
			if out.breakLine(1); out.quoted > 0 {
				out.quoted--
			}
		case "li":
			out.flushItem()
			out.breakLine(1)
		case "ins", "del":
			c.inserted = len(out.out)
		case "a":
			c.endLink(out)
		default:
			out.boundary(kindOf(name))
		}
	}
	c.dropped.end(name)
	c.concealed.end(name)
}

// rawText reads the words of an element in which there are no tags, up to its end.
func (c *htmlReader) rawText(name string) {
	rest := c.page[c.position:]
	end := indexFold(rest, "</"+name)
	if end < 0 {
		end = len(rest)
	}
	c.text(rest[:end])
	c.position += end
}

// skipElement passes over an element whose content is no markup, such as script.
func (c *htmlReader) skipElement(name string) {
	rest := c.page[c.position:]
	for offset := 0; ; {
		at := strings.Index(rest[offset:], "</")
		if at < 0 {
			c.position = len(c.page)
			return
		}
		offset += at + 2
		if len(rest) >= offset+len(name) && strings.EqualFold(rest[offset:offset+len(name)], name) {
			c.position += offset
			c.skipPast(">", 0)
			return
		}
	}
}
