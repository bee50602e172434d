package text

import (
	"html"
	"slices"
	"strings"

	"podium/ingest/mime/charset"
)

// htmlToText returns the words of a page as a reader sees them, and apart from
// them the words that the page hides: hidden words are a sign of an attempt to
// speak to a program behind the reader's back. Quotations (blockquote) get "> "
// before their lines. Scripts, styles and comments are dropped. The style of an
// element itself is read, and of style sheets the rules for one class or one id.
func htmlToText(page string) (visible, hidden string) {
	c := htmlReader{page: page, sheet: readSheets(page)}
	c.visible.breaks, c.hidden.breaks = 2, 2
	for c.position < len(c.page) {
		c.step()
	}
	return strings.TrimSpace(c.visible.out.String()), strings.TrimSpace(c.hidden.out.String())
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
	sheet           sheet
	link            string
	linkStart       int
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

// An openElement remembers whether an element has a background of its own, on
// which white words can be read.
type openElement struct {
	name       string
	background bool
}

const maxOpen = 256 // elements remembered for their background

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
		out.text(html.UnescapeString(raw))
	}
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
	if kind != kindVoid && kind != kindBreak {
		c.conceal(name, attributes, kind)
	}
	out := c.target()
	if out == nil {
		return
	}
	switch {
	case name == "br":
		out.newline()
	case name == "blockquote":
		out.breakLine(1)
		out.quoted++
	case name == "pre":
		out.breakLine(1)
		out.literal++
	case name == "li":
		out.breakLine(1)
		out.text("- ")
	case name == "a":
		c.link, c.linkStart = attributes["href"], out.out.Len()
	default:
		out.boundary(kind)
	}
}

// conceal notes the background and the visibility of an element.
func (c *htmlReader) conceal(name string, attributes map[string]string, kind elementKind) {
	style := parseStyle(attributes)
	c.sheet.apply(style, attributes)
	if c.concealed.depth > 0 && c.concealed.name == name && kind == kindParagraph {
		c.concealed = nesting{} // a paragraph ends where the next one begins
	}
	onBackground := slices.ContainsFunc(c.open, func(one openElement) bool { return one.background })
	if c.concealed.depth > 0 || style.conceals(onBackground) {
		c.concealed.start(name)
	}
	if background := style.background(); len(c.open) < maxOpen && (background || len(c.open) > 0) {
		c.open = append(c.open, openElement{name: name, background: background})
	}
}

func (c *htmlReader) endTag(name string) {
	for i, element := range slices.Backward(c.open) {
		if element.name == name {
			c.open = c.open[:i]
			break
		}
	}
	if out := c.target(); out != nil {
		switch {
		case name == "blockquote" && out.quoted > 0:
			out.breakLine(1)
			out.quoted--
		case name == "pre" && out.literal > 0:
			out.breakLine(1)
			out.literal--
		case name == "a":
			c.endLink(out)
		default:
			out.boundary(kindOf(name))
		}
	}
	c.dropped.end(name)
	c.concealed.end(name)
}

// endLink writes where a link leads, unless its words say so.
func (c *htmlReader) endLink(out *textBuilder) {
	link := html.UnescapeString(c.link)
	c.link = ""
	if !strings.HasPrefix(link, "http://") && !strings.HasPrefix(link, "https://") || len(link) > 500 {
		return
	}
	if c.linkStart <= out.out.Len() && strings.Contains(out.out.String()[c.linkStart:], link) {
		return
	}
	out.text(" <" + link + ">")
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
