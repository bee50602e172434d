package charset

import (
	"strings"
	"unicode/utf8"
)

// RepairUTF8 reads bytes as UTF-8 and puts one replacement character for each sequence
// that is damaged, as long as it is right (Unicode, section 3.9, as browsers do).
// likely tells whether they are UTF-8 at all: characters that are whole, or cut
// short, are at least as many as bytes that belong to none.
func RepairUTF8(data []byte) (text string, likely bool) {
	if hasISO2022JPEscape(data) {
		return "", false
	}
	var out strings.Builder
	fitting, foreign := 0, 0
	for i := 0; i < len(data); {
		end := i
		for end < len(data) && data[end] < utf8.RuneSelf {
			end++
		}
		out.Write(data[i:end])
		if i = end; i == len(data) {
			break
		}
		length, whole := sequence(data[i:])
		switch {
		case whole:
			out.Write(data[i : i+length])
		default:
			out.WriteRune(utf8.RuneError)
		}
		switch {
		case whole, length > 1:
			fitting++
		case i+length < len(data): // at the end, a character was cut off
			foreign++
		}
		i += length
	}
	return out.String(), fitting > 0 && fitting >= foreign
}

// sequence returns how many bytes at the beginning belong to one character, at
// least one, and whether they are all of it.
func sequence(data []byte) (length int, whole bool) {
	if _, size := utf8.DecodeRune(data); size > 1 {
		return size, true
	}
	low, high, wanted := byte(0x80), byte(0xbf), 0
	switch lead := data[0]; {
	case lead >= 0xc2 && lead <= 0xdf:
		wanted = 1
	case lead >= 0xe0 && lead <= 0xef:
		wanted = 2
		if lead == 0xe0 {
			low = 0xa0
		} else if lead == 0xed {
			high = 0x9f
		}
	case lead >= 0xf0 && lead <= 0xf4:
		wanted = 3
		if lead == 0xf0 {
			low = 0x90
		} else if lead == 0xf4 {
			high = 0x8f
		}
	}
	length = 1
	for length <= wanted && length < len(data) && data[length] >= low && data[length] <= high {
		length, low, high = length+1, 0x80, 0xbf
	}
	return length, false
}

// TrimIncompleteRune leaves out the beginning of a character of UTF-8 at the end.
func TrimIncompleteRune(data []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if tail := data[len(data)-back:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return data[:len(data)-back]
			}
			break
		}
	}
	return data
}
