package schemas

import "strings"

// TraceParent returns a trace parent as it is, and nothing instead of what is none of the
// version that is defined (W3C Trace Context, section 3.2): a recipient ignores it.
func TraceParent(value string) string {
	parts := strings.Split(value, "-")
	lengths := [...]int{2, 32, 16, 2} // of version, trace, parent and flags
	if len(parts) != len(lengths) || parts[0] != "00" {
		return ""
	}
	for i, part := range parts {
		if len(part) != lengths[i] || strings.Trim(part, "0123456789abcdef") != "" {
			return ""
		}
	}
	if strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return ""
	}
	return value
}
