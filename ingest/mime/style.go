package mime

import (
	"html"
	"strconv"
	"strings"
)

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
		"form", "header", "li", "main", "nav", "ol", "pre", "section", "table", "tbody", "tr", "ul":
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

// A style is the declarations of one element.
type style map[string]string

func parseStyle(attributes map[string]string) style {
	if len(attributes) == 0 {
		return nil
	}
	declared := style{}
	declared.declare(html.UnescapeString(attributes["style"]))
	if _, hidden := attributes["hidden"]; hidden {
		declared["display"] = "none"
	}
	if color := attributes["color"]; color != "" {
		declared["color"] = strings.ToLower(color)
	}
	if color := attributes["bgcolor"]; color != "" {
		declared["background-color"] = strings.ToLower(color)
	}
	return declared
}

// declare adds declarations such as "color: white; font-size: 0"; the last of a
// name wins.
func (s style) declare(declarations string) {
	for declaration := range strings.SplitSeq(declarations, ";") {
		if name, value, found := strings.Cut(declaration, ":"); found && len(s) < maxDeclarations {
			value = strings.ToLower(strings.Join(strings.Fields(value), ""))
			s[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSuffix(value, "!important")
		}
	}
}

const maxDeclarations = 100

func (s style) backgroundColor() string {
	if color := s["background-color"]; color != "" {
		return color
	}
	return s["background"]
}

// background tells whether the element has a background that is not white.
func (s style) background() bool {
	color := s.backgroundColor()
	return color != "" && color != "transparent" && color != "none" && !white(color)
}

// conceals tells whether a reader does not see the element's words.
func (s style) conceals(onBackground bool) bool {
	if len(s) == 0 {
		return false
	}
	switch {
	case s["display"] == "none", s["visibility"] == "hidden", s["visibility"] == "collapse", s["mso-hide"] == "all":
		return true
	case s.length("opacity") < 0.05, s.length("font-size") <= 1:
		return true
	case s["overflow"] == "hidden" && min(s.length("height"), s.length("max-height"), s.length("width"), s.length("max-width")) <= 1:
		return true
	case s.length("text-indent") <= -500, s.length("left") <= -500, s.length("top") <= -500, s.length("margin-left") <= -500,
		s.length("right") <= -500, s.length("margin-top") <= -500:
		return true
	case strings.HasPrefix(s["clip"], "rect(0"), strings.HasPrefix(s["clip-path"], "inset(100%"), strings.Contains(s["transform"], "scale(0)"):
		return true
	}
	color, behind := s["color"], s.backgroundColor()
	if color == "" {
		return false
	}
	return color == "transparent" || color == behind || white(color) && (white(behind) || behind == "" && !onBackground)
}

// length returns the number of a declaration without its unit, or a large one
// when there is none.
func (s style) length(name string) float64 {
	const none = 1e9
	value, found := s[name]
	if !found {
		return none
	}
	digits := strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz%")
	number, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return none
	}
	if unit := value[len(digits):]; unit == "em" || unit == "rem" || unit == "%" {
		return number * 16
	}
	return number
}

// white tells whether a color cannot be told from a white background.
func white(color string) bool {
	switch color = strings.ToLower(color); color {
	case "white", "snow", "ivory", "ghostwhite", "floralwhite", "whitesmoke", "mintcream", "azure":
		return true
	}
	if numbers, found := strings.CutPrefix(color, "rgb"); found {
		channels := strings.Split(strings.Trim(strings.TrimPrefix(numbers, "a"), "()"), ",")
		if len(channels) < 3 {
			return false
		}
		for _, channel := range channels[:3] {
			if n, err := strconv.Atoi(channel); err != nil || n < nearWhite {
				return false
			}
		}
		return true
	}
	digits := strings.TrimPrefix(color, "#")
	switch len(digits) {
	case 3:
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	case 6:
	default:
		return false
	}
	for i := 0; i < 6; i += 2 {
		if n, err := strconv.ParseUint(digits[i:i+2], 16, 8); err != nil || n < nearWhite {
			return false
		}
	}
	return true
}

const nearWhite = 0xf5 // of 255, in each channel

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
