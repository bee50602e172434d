package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxShapedWords = 22 // of an attribution in a language that has no file
	maxBehind      = 6  // of its words behind the address or the date
	maxBeforeSure  = 3  // of its words before the date, above lines that are not marked
)

// shape tells whether a line that no template knows has the shape of an attribution, in any
// language: a date, one address in brackets, few words around them, and a colon at the end. A
// word of which attributions of a known language are made shows a sentence in that language,
// because its attributions have templates. sure is whether the line needs no marked lines
// below: it has the year and the time. Between dashes such a line may have words of any language.
func (s *splitter) shape(text string, written writtenLines, dashed bool) (sure, is bool) {
	before, behind, found := cutAddress(text)
	if !found || !written.areWrapped() {
		return false, false
	}
	s.steps++
	before, behind = plainDigits(before), plainDigits(behind)
	words := strings.Fields(before + " " + behind)
	known, year, clock := false, false, false
	for _, word := range words {
		known = known || s.words.attributionWords[strings.Trim(word, ",.:;()\"")]
		year = year || hasYear(word)
		clock = clock || isClock(word)
	}
	first, fits := fewWordsAround(before, behind)
	if !fits || known && !(dashed && year && clock) || !year && !clock || len(words) > maxShapedWords {
		return false, false
	}
	return year && clock && first <= maxBeforeSure, true
}

// What a line shows of a program that wrote it, which people leave out.
const (
	evidenceYear    = 1
	evidenceClock   = 1
	evidenceAddress = 2
	evidenceAll     = evidenceYear + evidenceClock + evidenceAddress
)

// evidenceOf adds up what a normalized line shows of a program that wrote it.
func evidenceOf(line string) (evidence int) {
	year, clock := false, false
	for word := range strings.FieldsSeq(plainDigits(line)) {
		year, clock = year || hasYear(word), clock || isClock(word)
	}
	if year {
		evidence += evidenceYear
	}
	if clock {
		evidence += evidenceClock
	}
	if strings.Contains(line, "@") {
		evidence += evidenceAddress
	}
	return evidence
}

// fewWordsAround tells whether few words stand around the date of an attribution and its
// address, of which the parts of the line before and behind are given. first counts the words
// with which the line begins, before its date; a name before the address counts as none.
func fewWordsAround(before, behind string) (first int, fits bool) {
	if at := strings.IndexFunc(before, isPlainDigit); at >= 0 {
		first = wordCount(before[:at])
		last := strings.LastIndexFunc(before, isPlainDigit)
		return first, first <= maxBeforeDigit && wordCount(before[last+1:]) <= maxAddressedWords &&
			wordCount(behind) <= maxBehind
	}
	at, last := strings.IndexFunc(behind, isPlainDigit), strings.LastIndexFunc(behind, isPlainDigit)
	return 0, at >= 0 && wordCount(before) <= maxNameWords && wordCount(behind[:at]) <= maxBeforeDigit &&
		wordCount(behind[last+1:]) <= maxBehind
}

// cutAddress cuts a line around its only address in brackets.
func cutAddress(text string) (before, behind string, found bool) {
	for _, brackets := range []string{"<>", "()"} {
		open := strings.IndexByte(text, brackets[0])
		end := strings.LastIndexByte(text, brackets[1])
		if open < 0 || end < open {
			continue
		}
		before, behind = text[:open], text[end+1:]
		address := strings.TrimSpace(text[open+1 : end])
		if strings.Contains(address, "@") && !strings.ContainsAny(address, " \"") && !strings.Contains(before+behind, "@") {
			return before, behind, true
		}
	}
	return "", "", false
}

// areWrapped tells whether each line but the last is one that a program wraps: the first word
// of the next would make it too long, or the bracket of an address is open at its end.
func (w writtenLines) areWrapped() bool {
	line := w.first
	for _, next := range w.others {
		word, _, _ := strings.Cut(strings.TrimSpace(next), " ")
		open := strings.LastIndexByte(line, '<') > strings.LastIndexByte(line, '>')
		if !open && utf8.RuneCountInString(line)+utf8.RuneCountInString(word) < minWrapped {
			return false
		}
		line = next
	}
	return true
}

// plainDigits writes the digits of other scripts as those of ASCII.
func plainDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.IsDigit(r) {
			return r
		}
		for _, zero := range "٠۰०০০๐၀០０" {
			if r >= zero && r <= zero+9 {
				return '0' + r - zero
			}
		}
		return r
	}, text)
}

func isPlainDigit(r rune) bool { return r >= '0' && r <= '9' }

// hasYear tells whether a word holds a year in four digits, of this calendar or of those of
// Thailand and Iran, or is a date in three numbers.
func hasYear(word string) bool {
	digits, numbers := 0, 0
	for i := 0; i <= len(word); i++ {
		if i < len(word) && isDigit(word[i]) {
			digits++
			continue
		}
		if digits == 4 {
			switch word[i-4 : i-2] {
			case "13", "14", "19", "20", "25":
				return true
			}
		}
		switch {
		case digits == 0 || digits > 2:
			numbers = 0
		case i < len(word) && strings.IndexByte("./-", word[i]) >= 0:
			numbers++
		default:
			return numbers == 2
		}
		digits = 0
	}
	return false
}

// isClock tells whether a word is a time of the day: "13:09", "13.09", "1:09pm", "13h09".
func isClock(word string) bool {
	word = strings.TrimLeftFunc(word, func(r rune) bool { return !isPlainDigit(r) })
	hours := 0
	for hours < len(word) && isDigit(word[hours]) {
		hours++
	}
	if hours == 0 || hours > 2 || hours+2 >= len(word) || strings.IndexByte(":.h", word[hours]) < 0 ||
		!isDigit(word[hours+1]) || !isDigit(word[hours+2]) {
		return false
	}
	rest := word[hours+3:]
	return rest == "" || !isDigit(rest[0]) && (word[hours] != '.' || rest[0] != '.' && rest[0] != '/')
}
