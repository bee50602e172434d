package charset

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"podium/ingest/mime/transfer"
)

// decodeUTF7 decodes UTF-7 (RFC 2152), which mailboxes modify and mail does not.
// What the RFC forbids becomes one replacement character each: a byte above ASCII,
// half of a surrogate pair, an encoded stretch that ends within a character.
func decodeUTF7(data []byte) string {
	var out strings.Builder
	for i := 0; i < len(data); {
		if c := data[i]; c != '+' {
			if i++; c < utf8.RuneSelf {
				out.WriteByte(c)
			} else {
				out.WriteRune(utf8.RuneError)
			}
			continue
		}
		end := i + 1
		for end < len(data) && transfer.StandardBase64Value(data[end]) < 64 {
			end++
		}
		switch minus := end < len(data) && data[end] == '-'; {
		case end > i+1:
			writeUTF16(&out, data[i+1:end])
		case minus:
			out.WriteByte('+')
		default:
			out.WriteRune(utf8.RuneError)
		}
		if i = end; i < len(data) && data[i] == '-' {
			i++
		}
	}
	return out.String()
}

// writeUTF16 writes the characters of a stretch of base64 without padding.
func writeUTF16(out *strings.Builder, stretch []byte) {
	bits, have, first := uint32(0), 0, rune(0) // first is that of a surrogate pair
	for _, c := range stretch {
		bits = bits<<6 | uint32(transfer.StandardBase64Value(c))
		if have += 6; have < 16 {
			continue
		}
		have -= 16
		unit := rune(bits >> have & 0xffff)
		bits &= 1<<have - 1
		switch {
		case first != 0 && unit >= 0xdc00 && unit < 0xe000:
			out.WriteRune(utf16.DecodeRune(first, unit))
			first = 0
			continue
		case first != 0:
			out.WriteRune(utf8.RuneError)
		}
		if first = 0; unit >= 0xd800 && unit < 0xdc00 {
			first = unit
		} else {
			out.WriteRune(unit) // half of a pair becomes a replacement character
		}
	}
	if first != 0 || have >= 6 || bits != 0 {
		out.WriteRune(utf8.RuneError)
	}
}
