package mime

// A field is one header field as it stood, unfolded and not yet decoded.
type field struct {
	name  string // lower case
	value string
}

// A header is the fields of a mail or a part, in order.
type header []field

// first returns the value of the first field of a name, which is lower case.
func (h header) first(name string) string {
	for i := range h {
		if h[i].name == name {
			return h[i].value
		}
	}
	return ""
}

// has tells whether there is a field of a name.
func (h header) has(name string) bool { return h.count(name) > 0 }

func (h header) count(name string) int {
	n := 0
	for i := range h {
		if h[i].name == name {
			n++
		}
	}
	return n
}
