package http

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// headerValue reads a ce-* header (HTTP binding, section 3.1.3.2): double-quoted
// parts are unescaped, then one round of percent-decoding follows. What is not UTF-8
// then, an overlong form or a surrogate included, is refused, and so are half an
// escape and an open quote.
func headerValue(value string) (string, bool) {
	value = strings.Trim(value, " \t")
	if !strings.ContainsAny(value, `"%`) {
		return value, utf8.ValidString(value)
	}
	plain, ok := unquote(value)
	if !ok {
		return "", false
	}
	decoded, ok := percentDecode(plain)
	return decoded, ok && utf8.ValidString(decoded)
}

// unquote unescapes quoted strings (RFC 9110, section 5.6.4).
func unquote(value string) (string, bool) {
	var plain strings.Builder
	quoted := false
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '"':
			quoted = !quoted
			continue
		case c == '\\' && quoted:
			if i++; i == len(value) {
				return "", false
			}
			c = value[i]
		}
		plain.WriteByte(c)
	}
	return plain.String(), !quoted
}

func percentDecode(value string) (string, bool) {
	decoded := make([]byte, 0, len(value))
	for i := 0; i < len(value); i++ {
		if value[i] != '%' {
			decoded = append(decoded, value[i])
			continue
		}
		if i+2 >= len(value) {
			return "", false
		}
		var err error
		if decoded, err = hex.AppendDecode(decoded, []byte(value[i+1:i+3])); err != nil {
			return "", false
		}
		i += 2
	}
	return string(decoded), true
}
