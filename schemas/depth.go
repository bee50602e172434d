package schemas

// MaxDepth bounds the nesting of an agent's data, which later messages carry
// inside their own.
const MaxDepth = 256

// Deep reports whether JSON is nested deeper than MaxDepth.
func Deep(value []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
