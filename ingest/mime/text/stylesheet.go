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
	if len(s) >= maxRules || len(selector) < 2 || selector[0] != '.' && selector[0] != '#' || strings.ContainsAny(selector[1:], " .#:>+~[*") {
		return
	}
	if s[selector] == nil {
		s[selector] = style{}
	}
	s[selector].declare(declarations)
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
func (s sheet) apply(own style, attributes map[string]string) {
	if len(s) == 0 || len(attributes) == 0 {
		return
	}
	add := func(selector string) {
		for name, value := range s[strings.ToLower(selector)] {
			if _, known := own[name]; !known {
				own[name] = value
			}
		}
	}
	if id := attributes["id"]; id != "" {
		add("#" + id)
	}
	names := strings.Fields(attributes["class"])
	for _, name := range names[:min(len(names), maxSelectors)] {
		add("." + name)
	}
}
