package header

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
