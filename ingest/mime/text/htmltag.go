package text

import "strings"

// An elementKind says what an element does to the text around it.
type elementKind int

const (
	kindInline elementKind = iota
	kindBlock
	kindParagraph
	kindCell
	kindBreak   // ends the line and has no content
	kindVoid    // has no content
	kindRaw     // content is no markup and no text
	kindDropped // content is markup but no text
)

// kindOf returns the kind of the element of a name, which is lower case.
func kindOf(name string) elementKind {
	switch name {
	case "address", "article", "aside", "blockquote", "center", "dd", "div", "dl", "dt", "fieldset", "figure", "footer",
		"form", "header", "li", "listing", "main", "menu", "nav", "ol", "pre", "section", "table", "tbody", "textarea",
		"tr", "ul", "xmp":
		return kindBlock
	case "p", "h1", "h2", "h3", "h4", "h5", "h6":
		return kindParagraph
	case "td", "th":
		return kindCell
	case "br", "hr":
		return kindBreak
	case "area", "base", "col", "embed", "img", "input", "link", "meta", "source", "wbr":
		return kindVoid
	case "script", "style", "noembed", "noframes", "iframe":
		return kindRaw
	case "head", "title", "template", "object", "svg", "select", "audio", "video":
		return kindDropped
	}
	return kindInline
}

// parseTag reads a tag from its name on and returns its size up to and
// including ">". Names are lower case.
func parseTag(text string) (name string, attributes map[string]string, size int) {
	end := 0
	for end < len(text) && !strings.ContainsRune(" \t\r\n\f/>", rune(text[end])) {
		end++
	}
	name = strings.ToLower(text[:end])
	for end < len(text) && text[end] != '>' {
		if strings.IndexByte(" \t\r\n\f/", text[end]) >= 0 {
			end++
			continue
		}
		key, value, used := parseAttribute(text[end:])
		end += used
		if attributes == nil {
			attributes = map[string]string{}
		}
		if _, known := attributes[key]; !known && len(attributes) < 50 {
			attributes[key] = value
		}
	}
	return name, attributes, min(end+1, len(text))
}

// parseAttribute reads one attribute and returns how many bytes it takes, at
// least one.
func parseAttribute(text string) (key, value string, used int) {
	end := 1
	for end < len(text) && strings.IndexByte(" \t\r\n\f/>=", text[end]) < 0 {
		end++
	}
	key = strings.ToLower(text[:end])
	rest := strings.TrimLeft(text[end:], " \t\r\n\f")
	if !strings.HasPrefix(rest, "=") {
		return key, "", end
	}
	rest = strings.TrimLeft(rest[1:], " \t\r\n\f")
	used = len(text) - len(rest)
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		if closing := strings.IndexByte(rest[1:min(len(rest), maxAttribute)], rest[0]); closing >= 0 {
			return key, rest[1 : 1+closing], used + closing + 2
		}
		rest = rest[1:]
		used++
	}
	length := strings.IndexAny(rest, " \t\r\n\f>")
	if length < 0 {
		length = len(rest)
	}
	return key, rest[:length], used + length
}

const maxAttribute = 16 << 10 // bytes; a longer one has lost its closing quote
