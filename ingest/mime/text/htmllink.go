package text

import (
	"html"
	"net/url"
	"strings"
	"unicode"
)

const (
	maxLink       = 500 // bytes
	maxLinkWords  = 4 << 10
	maxAlternate  = 500 // bytes of the words of a picture
	minPhoneWords = 6   // digits of a number that is written in another form
)

// endLink writes where a link leads, unless its words say so.
func (c *htmlReader) endLink(out *textBuilder) {
	link := strings.TrimSpace(html.UnescapeString(c.link))
	c.link = ""
	c.form = c.formOf()
	target, phone := linkTarget(link)
	if target == "" {
		return
	}
	words := ""
	if c.linkStart <= len(out.out) {
		words = string(out.out[c.linkStart:])
	}
	switch {
	case strings.Contains(words, link), phone && saysNumber(words, target), !isWebLink(link) && saysAddress(words, target):
		return
	}
	out.text(" <"+target+">", c.form)
}

func isWebLink(link string) bool {
	return strings.HasPrefix(link, "http://") || strings.HasPrefix(link, "https://")
}

// linkTarget returns what a reader needs of a link: a page, the addresses of a mail
// without its subject, or a number; "" is nothing.
func linkTarget(link string) (target string, phone bool) {
	switch {
	case len(link) > maxLink:
		return "", false
	case isWebLink(link):
		return link, false
	}
	scheme, rest, _ := strings.Cut(link, ":")
	switch strings.ToLower(scheme) {
	case "mailto":
	case "tel", "sms", "smsto", "callto", "sip", "sips", "facetime":
		phone = true
		rest, _, _ = strings.Cut(rest, ";")
	default:
		return "", false
	}
	rest, _, _ = strings.Cut(rest, "?")
	if decoded, err := url.PathUnescape(rest); err == nil {
		rest = decoded
	}
	rest = strings.TrimPrefix(rest, "//")
	return strings.Join(strings.Fields(strings.NewReplacer("<", " ", ">", " ").Replace(rest)), " "), phone
}

// saysAddress tells whether words hold all addresses of a link.
func saysAddress(words, target string) bool {
	if len(words) > maxLinkWords {
		return false
	}
	words = strings.ToLower(words)
	isBetween := func(r rune) bool { return r == ',' || r == ';' || r == ' ' }
	for address := range strings.FieldsFuncSeq(strings.ToLower(target), isBetween) {
		if !strings.Contains(words, address) {
			return false
		}
	}
	return true
}

// saysNumber tells whether words hold the number of a link, in any form, with or
// without the prefix of its country.
func saysNumber(words, target string) bool {
	if len(words) > maxLinkWords {
		return false
	}
	digits := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, text)
	}
	said, meant := digits(words), digits(target)
	if meant == "" {
		return false
	}
	local := strings.TrimLeft(said, "0")
	return strings.Contains(said, meant) || len(local) >= minPhoneWords && strings.HasSuffix(meant, local)
}

// writePicture writes the words that stand for a picture, unless a reader does not see it.
func (c *htmlReader) writePicture(attributes map[string]string) {
	words := strings.Join(strings.Fields(html.UnescapeString(attributes["alt"])), " ")
	if words == "" || len(words) > maxAlternate || c.target() != &c.visible {
		return
	}
	if seen := c.sheet.apply(parseStyle(attributes), "img", attributes); seen.conceals(true) || isTiny(seen, attributes) {
		return
	}
	if strings.ContainsFunc(words, isWordRune) {
		words = "[" + words + "]"
	}
	c.visible.text(words, c.form)
}

// isTiny tells whether a picture is one pixel or less in one direction.
func isTiny(s style, attributes map[string]string) bool {
	size := style{"width": attributes["width"], "height": attributes["height"]}
	for name, value := range size {
		if value == "" {
			delete(size, name)
		}
	}
	return min(s.length("width"), s.length("height"), size.length("width"), size.length("height")) <= 1
}
