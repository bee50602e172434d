package text

import (
	"cmp"
	"encoding/hex"
	"html"
	"slices"
	"strconv"
	"strings"
)

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

func (s style) backgroundColor() string { return cmp.Or(s["background-color"], s["background"]) }

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
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	channels, err := hex.DecodeString(digits)
	return err == nil && len(channels) == 3 && slices.Min(channels) >= nearWhite
}

const nearWhite = 0xf5 // of 255, in each channel
