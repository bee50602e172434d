package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// mostJudged is how many bytes of a text are judged.
	mostJudged = 32 << 10
	// longestQuotation is how many words between quotation marks count as a title or as somebody's words.
	longestQuotation = 12
	// leastRepeated is how many words in a row are words of the person, when that one has written them.
	leastRepeated = 3
	// longestAbbreviation is how many capital letters are not judged as a word.
	longestAbbreviation = 5
	// longestWord is how many letters a word has, in the scripts that separate words.
	longestWord = 40
)

// A word is a word of a text that tells something of its language.
type word struct {
	text    string // in lower case
	capital bool   // it may be a name
}

// words returns what is to be judged of a text: no code, quotations, addresses, numbers and abbreviations, and nothing that the
// person has written whom it answers.
func words(text string, said Said) []word {
	var judged []word
	for _, line := range prose(text) {
		judged = append(judged, unquoted(line)...)
	}
	return withoutRepeated(judged, said.rows)
}

// Said is what a person has written, read once for all texts that answer it. The zero value is nothing.
type Said struct {
	rows map[string]struct{} // of leastRepeated words
}

// SaidIn reads what a person has written.
func SaidIn(text string) Said {
	words := plainWords(text)
	said := Said{rows: map[string]struct{}{}}
	for i := range len(words) - leastRepeated + 1 {
		said.rows[strings.Join(words[i:i+leastRepeated], " ")] = struct{}{}
	}
	return said
}

// prose returns the lines of a text without code and quoted lines.
func prose(text string) []string {
	if len(text) > mostJudged {
		text = strings.ToValidUTF8(text[:mostJudged], "")
	}
	var lines []string
	code := false
	for line := range strings.Lines(norm.NFC.String(text)) {
		line = strings.TrimSpace(line)
		fence := strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
		if fence {
			code = !code
		}
		if fence || code || strings.HasPrefix(line, ">") {
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// closes returns the marks that may close what a mark opens: a quotation, code in a line, or a tag. It is empty for any other letter.
func closes(opening rune) string {
	switch opening {
	case '"', '`':
		return string(opening)
	case '“':
		return "”"
	case '„':
		return "“”"
	case '«':
		return "»"
	case '»':
		return "«"
	case '‚':
		return "‘"
	case '<':
		return ">"
	}
	return ""
}

// unquoted returns the words of a line but for short quotations, code and tags in it. What has no closing mark once has none
// later in the line, so that it is looked for once: a line of nothing but opening marks costs what any other does.
func unquoted(line string) []word {
	var found []word
	unclosed := ""
	for line != "" {
		open := strings.IndexFunc(line, func(r rune) bool { return closes(r) != "" })
		if open < 0 {
			return append(found, wordsOf(line)...)
		}
		mark, size := utf8.DecodeRuneInString(line[open:])
		inside := line[open+size:]
		found = append(found, wordsOf(line[:open])...)
		end := -1
		if !strings.ContainsRune(unclosed, mark) {
			end = strings.IndexAny(inside, closes(mark))
		}
		if end >= 0 {
			if quoted := wordsOf(inside[:end]); len(quoted) > longestQuotation {
				found = append(found, quoted...)
			}
			_, size = utf8.DecodeRuneInString(inside[end:])
			line = inside[end+size:]
			continue
		}
		if !strings.ContainsRune(unclosed, mark) {
			unclosed += string(mark)
		}
		line = inside
	}
	return found
}

// wordsOf returns the words of a piece of text, without what holds anything but letters.
func wordsOf(text string) []word {
	var found []word
	for token := range strings.FieldsSeq(text) {
		if strings.HasPrefix(token, "--") { // an option of a program
			continue
		}
		token = strings.TrimFunc(token, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
		if token == "" || strings.ContainsFunc(token, strange) || strings.Contains(strings.Trim(token, "."), ".") {
			continue
		}
		for part := range strings.FieldsFuncSeq(token, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
			letters := []rune(part)
			if abbreviates(letters) || len(letters) > longestWord && unicode.Is(unicode.Latin, letters[0]) {
				continue
			}
			found = append(found, word{text: lower(part), capital: unicode.IsUpper(letters[0])})
		}
	}
	return found
}

func abbreviates(letters []rune) bool {
	return 1 < len(letters) && len(letters) <= longestAbbreviation && !slices.ContainsFunc(letters, func(r rune) bool { return !unicode.IsUpper(r) })
}

// lower writes a word as the models have it: a capital I with a dot is an i, as in Turkish.
func lower(word string) string {
	return strings.ReplaceAll(strings.ToLower(word), "i\u0307", "i")
}

// strange reports what is in addresses, paths, names of programs, numbers and formulas, and in no word.
func strange(r rune) bool {
	return unicode.IsDigit(r) || strings.ContainsRune(`@/\_=<>{}[]#$%^*+|~:;&`, r)
}

func plainWords(text string) []string {
	if len(text) > mostJudged {
		text = strings.ToValidUTF8(text[:mostJudged], "")
	}
	said := wordsOf(norm.NFC.String(text))
	plain := make([]string, len(said))
	for i := range said {
		plain[i] = said[i].text
	}
	return plain
}

// withoutRepeated leaves out what the person has said.
func withoutRepeated(judged []word, known map[string]struct{}) []word {
	if len(known) == 0 {
		return judged
	}
	repeated := make([]bool, len(judged))
	for i := range len(judged) - leastRepeated + 1 {
		row := make([]string, leastRepeated)
		for k := range row {
			row[k] = judged[i+k].text
		}
		if _, said := known[strings.Join(row, " ")]; said {
			for k := range row {
				repeated[i+k] = true
			}
		}
	}
	kept := judged[:0]
	for i := range judged {
		if !repeated[i] {
			kept = append(kept, judged[i])
		}
	}
	return slices.Clip(kept)
}
