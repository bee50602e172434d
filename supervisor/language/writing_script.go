package language

import "unicode"

// A script is a writing system in which no language of the models is written.
type script struct {
	code  string // ISO 15924
	table *unicode.RangeTable
	least int // letters in one word that count: a single Greek letter is of a formula
}

func scripts() []script {
	return []script{
		{"Arab", unicode.Arabic, 3},
		{"Armn", unicode.Armenian, 3},
		{"Beng", unicode.Bengali, 2},
		{"Cyrl", unicode.Cyrillic, 3},
		{"Deva", unicode.Devanagari, 2},
		{"Geor", unicode.Georgian, 3},
		{"Grek", unicode.Greek, 3},
		{"Hang", unicode.Hangul, 1},
		{"Hani", unicode.Han, 1},
		{"Hebr", unicode.Hebrew, 3},
		{"Hira", unicode.Hiragana, 1},
		{"Kana", unicode.Katakana, 1},
		{"Taml", unicode.Tamil, 2},
		{"Thai", unicode.Thai, 2},
	}
}

// leastLetters is how many letters of another script a text may have less than: somebody's name, for example.
const leastLetters = 8

// otherScript returns the script of most of the letters that are of none of the languages, when these are more than a name; else it is empty.
func otherScript(judged []word) string {
	letters, most, code := 0, 0, ""
	for _, script := range scripts() {
		here := 0
		for i := range judged {
			in := 0
			for _, r := range judged[i].text {
				if unicode.Is(script.table, r) {
					in++
				}
			}
			if in >= script.least {
				here += in
			}
		}
		if letters += here; here > most {
			most, code = here, script.code
		}
	}
	if letters < leastLetters {
		return ""
	}
	return code
}
