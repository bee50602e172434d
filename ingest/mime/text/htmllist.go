package text

import (
	"fmt"
	"strconv"
	"strings"

	"podium/ingest/mime/charset"
)

// A list counts the items of ol or ul.
type list struct {
	style string // how numbers are written; "" is not at all
	next  int
	step  int
}

const (
	maxItemNumber = 1_000_000_000
	maxLookAhead  = 256 << 10 // bytes of a page that are read twice, to count items
	maxRoman      = 3999
	listBlanks    = 2 // before the items of a list inside another one, for each list around
)

// numberStyles are the ways in which items are numbered, longer names before those that
// they contain. The last three number nothing.
func numberStyles() []string {
	return []string{
		"decimal-leading-zero", "decimal", "lower-alpha", "lower-latin", "upper-alpha", "upper-latin",
		"lower-roman", "upper-roman",
		"disc", "circle", "square",
	}
}

// numberStyle returns how an element has its items numbered, and whether it says so.
func (s style) numberStyle(attributes map[string]string) (numbers string, stated bool) {
	declared := s["list-style-type"] + s["list-style"]
	if declared == "none" {
		return "", true
	}
	for i, known := range numberStyles() {
		if strings.Contains(declared, known) {
			if i >= len(numberStyles())-3 {
				return "", true
			}
			return known, true
		}
	}
	switch attributes["type"] {
	case "1":
		return "decimal", true
	case "a":
		return "lower-alpha", true
	case "A":
		return "upper-alpha", true
	case "i":
		return "lower-roman", true
	case "I":
		return "upper-roman", true
	}
	return "", false
}

// newList returns the list that an element begins, or nil.
func (c *htmlReader) newList(name string, attributes map[string]string, s style) *list {
	if name != "ol" && name != "ul" && name != "menu" && name != "dir" {
		return nil
	}
	one := &list{next: 1, step: 1}
	numbers, stated := s.numberStyle(attributes)
	switch {
	case stated:
		one.style = numbers
	case name == "ol":
		one.style = "decimal"
	}
	start, hasStart := itemNumber(attributes["start"])
	if _, reversed := attributes["reversed"]; reversed && name == "ol" {
		one.step = -1
		if !hasStart {
			var counted bool
			if one.next, counted = c.countItems(); !counted {
				one.style = ""
			}
		}
	}
	if hasStart {
		one.next = start
	}
	return one
}

func itemNumber(text string) (number int, valid bool) {
	number, err := strconv.Atoi(strings.TrimSpace(text))
	return number, err == nil && number <= maxItemNumber && number >= -maxItemNumber
}

// countItems counts the items of the list that begins here, within what may be read twice.
func (c *htmlReader) countItems() (count int, counted bool) {
	rest := c.page[c.position:]
	depth := 0
	for offset := 0; ; {
		at := strings.IndexByte(rest[offset:min(len(rest), offset+c.lookAhead)], '<')
		if at < 0 {
			c.lookAhead -= min(len(rest)-offset, c.lookAhead)
			return count, c.lookAhead > 0
		}
		offset += at + 1
		c.lookAhead -= at + 1
		switch name := tagNameAt(rest[offset:]); {
		case name == "li" && depth == 0:
			count++
		case name == "ol", name == "ul":
			depth++
		case name == "/ol", name == "/ul":
			if depth--; depth < 0 {
				return count, true
			}
		}
	}
}

// tagNameAt returns the short name, with the slash of an end tag, at the beginning of a text.
func tagNameAt(text string) string {
	end := 0
	for end < min(len(text), 4) && (charset.IsLetter(text[end]) || end == 0 && text[end] == '/') {
		end++
	}
	return strings.ToLower(text[:end])
}

// startItem begins an item of the innermost list.
func (c *htmlReader) startItem(out *textBuilder, attributes map[string]string, s style) {
	var around *list
	depth := 0
	for i := range c.open {
		if c.open[i].list != nil {
			around = c.open[i].list
			depth++
		}
	}
	marker := "- "
	if around != nil {
		numbers := around.style
		if own, stated := s.numberStyle(attributes); stated {
			numbers = own
		}
		if number, valid := itemNumber(attributes["value"]); valid && attributes["value"] != "" {
			around.next = number
		}
		if numbers != "" {
			marker = itemMarker(around.next, numbers)
		}
		if c.concealed.depth == 0 {
			around.next += around.step
		}
	}
	out.startItem(strings.Repeat(" ", listBlanks*max(0, min(depth, maxIndent)-1)) + marker)
}

const maxIndent = 20 // lists inside each other that are indented

// itemMarker writes the number of an item.
func itemMarker(number int, numbers string) string {
	var written string
	switch {
	case strings.HasSuffix(numbers, "-alpha"), strings.HasSuffix(numbers, "-latin"):
		written = formatAlphabetic(number)
	case strings.HasSuffix(numbers, "-roman"):
		written = formatRoman(number)
	case numbers == "decimal-leading-zero":
		written = fmt.Sprintf("%02d", number)
	}
	if written == "" {
		written = strconv.Itoa(number)
	}
	if strings.HasPrefix(numbers, "upper-") {
		written = strings.ToUpper(written)
	}
	return written + ". "
}

// formatAlphabetic writes 1 as a, 27 as aa; "" is no such number.
func formatAlphabetic(number int) string {
	written := ""
	for ; number > 0; number = (number - 1) / 26 {
		written = string(rune('a'+(number-1)%26)) + written
	}
	return written
}

// formatRoman writes 4 as iv; "" is no such number.
func formatRoman(number int) string {
	if number < 1 || number > maxRoman {
		return ""
	}
	var written strings.Builder
	for i, value := range []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1} {
		for ; number >= value; number -= value {
			written.WriteString([]string{"m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"}[i])
		}
	}
	return written.String()
}
