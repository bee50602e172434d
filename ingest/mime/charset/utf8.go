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
		if whole {
			out.Write(data[i : i+length])
		} else {
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
	length = min(len(data), utf8.UTFMax-1)
	for length > 1 && utf8.FullRune(data[:length]) {
		length--
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
