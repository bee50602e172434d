package header

import "strings"

// A Field is one header field as it stood, unfolded and not yet decoded.
type Field struct {
	Name  string // lower case
	Value string
}

// A Header is the fields of a mail or a part, in order.
type Header []Field

// First returns the value of the first field of a name, which is lower case.
func (h Header) First(name string) string {
	for i := range h {
		if h[i].Name == name {
			return h[i].Value
		}
	}
	return ""
}

// Has tells whether there is a field of a name.
func (h Header) Has(name string) bool { return h.Count(name) > 0 }

// Count returns how many fields of a name there are.
func (h Header) Count(name string) int {
	n := 0
	for i := range h {
		if h[i].Name == name {
			n++
		}
	}
	return n
}

// Parse reads a header from lines of fields and of what goes on with them, as words of a mail hold
// one. The first line that is neither ends it.
func Parse(block string) Header {
	var fields Header
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, " \t\r\n")
		name, value, found := strings.Cut(line, ":")
		switch {
		case line != "" && (line[0] == ' ' || line[0] == '\t') && len(fields) > 0:
			last := &fields[len(fields)-1]
			last.Value = strings.TrimSpace(last.Value + " " + strings.TrimSpace(line))
		case !found || strings.ContainsAny(strings.TrimRight(name, " \t"), " \t<>@"):
			return fields
		default:
			fields = append(fields, Field{Name: strings.ToLower(strings.TrimSpace(name)), Value: strings.TrimSpace(value)})
		}
	}
	return fields
}
