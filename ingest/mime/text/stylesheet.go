package text

import "strings"

// A sheet is what the style sheets of a page say about single classes (".name")
// and ids ("#name").
type sheet map[string]style

const (
	maxRules     = 500
	maxSheets    = 64 << 10 // bytes
	maxSelectors = 20       // of one rule
)

// readSheets reads the style elements of a page. Rules inside others, such as
// those for narrow screens, apply to some readers only and are left out.
func readSheets(page string) sheet {
	rules := sheet{}
	left := maxSheets
	for rest := page; left > 0; {
		start := indexFold(rest, "<style")
		if start < 0 {
			break
		}
		_, rest, _ = strings.Cut(rest[start:], ">")
		end := indexFold(rest, "</style")
		if end < 0 {
			end = len(rest)
		}
		rules.read(rest[:min(end, left)])
		left -= min(end, left)
		rest = rest[end:]
	}
	return rules
}

// indexFold finds an ASCII text in any letter case.
func indexFold(text, lower string) int {
	for offset := 0; ; {
		at := strings.IndexByte(text[offset:], lower[0])
		if at < 0 || offset+at+len(lower) > len(text) {
			return -1
		}
		offset += at
		if strings.EqualFold(text[offset:offset+len(lower)], lower) {
			return offset
		}
		offset++
	}
}

func (s sheet) read(css string) {
	for css != "" {
		selectors, rest, found := strings.Cut(css, "{")
		if !found {
			return
		}
		selectors = withoutCSSComments(selectors)
		if strings.HasPrefix(selectors, "@") {
			css = behindBlock(rest)
			continue
		}
		declarations, after, _ := strings.Cut(rest, "}")
		css = after
		names := strings.SplitN(selectors, ",", maxSelectors)
		for _, name := range names {
			s.add(strings.ToLower(strings.TrimSpace(name)), declarations)
		}
	}
}

func (s sheet) add(selector, declarations string) {
	if at := strings.IndexAny(selector, ".#"); at > 0 {
		selector = selector[at:] // "div.name" is read as ".name"
	}
	if len(s) >= maxRules || selector == "" {
		return
	}
	if isElementName(selector) {
		s.addShape(selector, declarations)
		return
	}
	if len(selector) < 2 || selector[0] != '.' && selector[0] != '#' || strings.ContainsAny(selector[1:], " .#:>+~[*") {
		return
	}
	if s[selector] == nil {
		s[selector] = style{}
	}
	s[selector].declare(declarations)
}

// addShape adds of a rule for all elements of a name what says how words are shown. What
// hides words is left out: pages undo it further inside.
func (s sheet) addShape(name, declarations string) {
	all := style{}
	all.declare(declarations)
	for _, property := range []string{
		"text-decoration", "text-decoration-line", "vertical-align", "white-space", "list-style", "list-style-type",
	} {
		value, declared := all[property]
		if !declared {
			continue
		}
		if s[name] == nil {
			s[name] = style{}
		}
		s[name][property] = value
	}
}

// isElementName is true of letters and digits alone.
func isElementName(selector string) bool {
	return !strings.ContainsFunc(selector, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// behindBlock returns what follows a block with blocks inside.
func behindBlock(css string) string {
	depth := 1
	for i := range len(css) {
		switch css[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return css[i+1:]
			}
		}
	}
	return ""
}

func withoutCSSComments(css string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(css, "/*")
		out.WriteString(before)
		if !found {
			break
		}
		_, css, _ = strings.Cut(rest, "*/")
	}
	return strings.TrimSpace(strings.NewReplacer("<!--", "", "-->", "").Replace(out.String()))
}

// apply adds what the sheet says about an element to what it says itself, which wins.
func (s sheet) apply(own style, element string, attributes map[string]string) style {
	if len(s) == 0 {
		return own
	}
	add := func(selector string) {
		for name, value := range s[selector] {
			if own == nil {
				own = style{}
			}
			if _, known := own[name]; !known {
				own[name] = value
			}
		}
	}
	if id := attributes["id"]; id != "" {
		add("#" + strings.ToLower(id))
	}
	names := strings.Fields(attributes["class"])
	for _, name := range names[:min(len(names), maxSelectors)] {
		add("." + strings.ToLower(name))
	}
	add(element)
	return own
}
