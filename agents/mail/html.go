package mail

import (
	"html"
	"net/url"
	"strconv"
	"strings"
)

// htmlOf returns the words as a small HTML document: paragraphs, lists, and links
// for the http and https addresses that stand in them as they are. All else is
// escaped. It refers to nothing else: no image, style, font or script.
func htmlOf(words, language string) string {
	w := htmlWriter{}
	w.out.WriteString("<!DOCTYPE html>\n<html")
	if tag := languageTag(language); tag != "" {
		w.out.WriteString(` lang="` + tag + `"`)
	}
	w.out.WriteString("><head><meta charset=\"utf-8\"></head><body>\n")
	for line := range strings.SplitSeq(words, "\n") {
		w.line(strings.TrimRight(line, " \t"))
	}
	w.end()
	w.out.WriteString("</body></html>\n")
	return w.out.String()
}

// languageTag returns the tag when it has the form of one (RFC 5646), else "".
func languageTag(tag string) string {
	if tag == "" || len(tag) > 35 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return ""
	}
	return tag
}

// A htmlWriter turns lines into blocks.
type htmlWriter struct {
	out   strings.Builder
	block string // the element that is open: p, ul, ol or none
}

// end closes the open block.
func (w *htmlWriter) end() {
	switch w.block {
	case "p":
		w.out.WriteString("</p>\n")
	case "ul", "ol":
		w.out.WriteString("</li>\n</" + w.block + ">\n")
	}
	w.block = ""
}

func (w *htmlWriter) line(line string) {
	kind, number, rest := listItem(line)
	inList := w.block == "ul" || w.block == "ol"
	switch {
	case line == "":
		w.end()
		return
	case kind != "" && kind == w.block:
		w.out.WriteString("</li>\n<li>")
	case kind != "":
		w.end()
		w.block = kind
		w.out.WriteString("<" + kind)
		if number > 1 {
			w.out.WriteString(` start="` + strconv.Itoa(number) + `"`)
		}
		w.out.WriteString(">\n<li>")
	case inList && strings.TrimLeft(line, " \t") != line: // indented: it goes on with the item
		w.out.WriteString("<br>\n")
	case w.block == "p":
		w.out.WriteString("<br>\n")
	default:
		w.end()
		w.block = "p"
		w.out.WriteString("<p>")
	}
	w.inline(strings.TrimLeft(rest, " \t"))
}

// listItem takes the mark off a line such as "- words", "• words" or "2. words".
func listItem(line string) (kind string, number int, rest string) {
	trimmed := strings.TrimLeft(line, " \t")
	for _, mark := range [...]string{"- ", "* ", "• "} {
		if rest, found := strings.CutPrefix(trimmed, mark); found {
			return "ul", 0, rest
		}
	}
	digits := len(trimmed) - len(strings.TrimLeft(trimmed, "0123456789"))
	if digits > 0 && digits <= 3 {
		rest, found := strings.CutPrefix(trimmed[digits:], ". ")
		if number, err := strconv.Atoi(trimmed[:digits]); found && err == nil {
			return "ol", number, rest
		}
	}
	return "", 0, line
}

// inline writes words with their links.
func (w *htmlWriter) inline(words string) {
	for words != "" {
		start, end := nextLink(words)
		if end == 0 {
			break
		}
		address := html.EscapeString(words[start:end])
		w.out.WriteString(html.EscapeString(words[:start]))
		w.out.WriteString(`<a href="` + address + `" rel="noopener noreferrer">` + address + `</a>`)
		words = words[end:]
	}
	w.out.WriteString(html.EscapeString(words))
}

// linkLimit bounds the address of a link, in bytes; a longer one stays words.
const linkLimit = 2048

// nextLink finds the first address that becomes a link; end is 0 when there is none.
func nextLink(words string) (start, end int) {
	for from := 0; ; {
		at := strings.Index(words[from:], "http")
		if at < 0 {
			return 0, 0
		}
		start = from + at
		length := linkLength(words[start:])
		if length > 0 && (start == 0 || !isWordByte(words[start-1])) {
			return start, start + length
		}
		from = start + max(length, len("http"))
	}
}

func isWordByte(c byte) bool {
	return c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// linkLength returns how many bytes of the words are an address, or 0. Only ASCII
// counts, so that no address looks like another one.
func linkLength(words string) int {
	if !strings.HasPrefix(words, "http://") && !strings.HasPrefix(words, "https://") {
		return 0
	}
	length := strings.IndexFunc(words, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("<>\"'`\\^{|}", r)
	})
	if length < 0 {
		length = len(words)
	}
	for length > 0 && strings.IndexByte(".,;:!?*_~([", words[length-1]) >= 0 {
		length--
	}
	for _, pair := range [...][2]string{{"(", ")"}, {"[", "]"}} {
		for length > 0 && words[length-1:length] == pair[1] && strings.Count(words[:length], pair[1]) > strings.Count(words[:length], pair[0]) {
			length = len(strings.TrimRight(words[:length-1], ".,;:!?"))
		}
	}
	parsed, err := url.Parse(words[:length])
	if err != nil || parsed.Hostname() == "" || parsed.User != nil || length > linkLimit {
		return 0
	}
	return length
}
