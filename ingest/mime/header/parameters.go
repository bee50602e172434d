package header

import (
	"sort"
	"strconv"
	"strings"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/ingest/mime/transfer"
)

// A Parameterized is the value of a field such as Content-Type: a word and parameters.
type Parameterized struct {
	Value      string // lower case
	Parameters map[string]string
}

// ParseParameters reads such a value. It tolerates blanks around the equals
// sign, values that want quotes, quotes that are not closed, repeated
// semicolons, 8-bit characters and encoded words in values; it joins the
// continuations of RFC 2231. mime.ParseMediaType gives up at most of these.
func ParseParameters(text string, found *defect.List) Parameterized {
	pieces := SplitQuoted(text, ';')
	parsed := Parameterized{Value: strings.ToLower(strings.TrimSpace(StripTrailingComment(pieces[0])))}
	sections := map[string][]section{}
	for _, piece := range pieces[1:min(len(pieces), 100)] {
		name, value, ok := strings.Cut(piece, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if !ok || name == "" {
			continue
		}
		base, part := parseSection(name, Unquote(strings.TrimSpace(value)))
		sections[base] = append(sections[base], part)
	}
	parsed.Parameters = make(map[string]string, len(sections))
	for name, parts := range sections {
		parsed.Parameters[name] = joinSections(parts, found)
	}
	return parsed
}

// A section is one piece of a parameter (RFC 2231, section 3).
type section struct {
	number  int // -1 is a plain parameter
	encoded bool
	value   string
}

func parseSection(name, value string) (string, section) {
	part := section{number: -1, value: value}
	base, encoded := strings.CutSuffix(name, "*")
	part.encoded = encoded
	if base, number, found := strings.Cut(base, "*"); found {
		if n, err := strconv.ParseUint(number, 10, 8); err == nil {
			part.number = int(n)
			return base, part
		}
	}
	return base, part
}

// joinSections prefers numbered sections, then an encoded value, then a plain one.
func joinSections(parts []section, found *defect.List) string {
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].number < parts[j].number })
	numbered := parts[len(parts)-1].number >= 0
	var data []byte
	label, anyEncoded := "", false
	for _, part := range parts {
		if numbered != (part.number >= 0) {
			continue
		}
		if !numbered && len(data) > 0 && !part.encoded {
			continue
		}
		if !numbered {
			data = data[:0]
		}
		value := part.value
		if part.encoded {
			if pieces := strings.SplitN(value, "'", 3); len(pieces) == 3 && !anyEncoded {
				label, value = pieces[0], pieces[2]
			}
			anyEncoded = true
			value = unescape(value, '%')
		}
		data = append(data, value...)
	}
	if anyEncoded {
		return charset.ToUTF8(data, label, found)
	}
	return DecodeWords(string(data), found)
}

// unescape makes octets of a mark with two hexadecimal digits behind it, and leaves all else.
func unescape(text string, mark byte) string {
	if strings.IndexByte(text, mark) < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == mark {
			if octet, ok := transfer.Octet([]byte(text[i+1 : min(i+3, len(text))])); ok {
				c = octet
				i += 2
			}
		}
		out = append(out, c)
	}
	return string(out)
}
