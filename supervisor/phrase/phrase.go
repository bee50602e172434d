// Package phrase reads messages that are no more than a few known words: an assent, a withdrawal, a decision. It is pure.
//
//	Bare(text)         a text without marks and capital letters
//	Lead(text, words)  whether a text begins with a phrase, and its rest
//	Only(text, words)  whether there is nothing else in it
//	Asks(text)         whether it asks something
package phrase

import (
	"slices"
	"strings"
	"unicode"
)

// Bare is a text in lower case, its words with a space between, without marks.
func Bare(text string) string {
	text = strings.ReplaceAll(strings.ToLower(text), "\u2019", "'")
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) && c != '\'' }), " ")
}

// Words are what a message may hold that is to be no more than a phrase. All are in lower case, without marks.
type Words struct {
	Phrases  []string // one of them has to be there
	Courtesy []string // words around it that say nothing
	Closings []string // behind one of them a name may stand
}

// How many words a closing has at most, and the name behind one.
const (
	longestClosing = 6
	longestName    = 4
)

// Only reports whether a text is nothing but phrases and what may stand around them.
func Only(text string, known Words) bool {
	words, found := wordsOf(text), false
	for at := 0; at < len(words); {
		phrase := startsWith(words[at:], known.Phrases)
		closing := startsWith(words[at:], known.Closings)
		if n := max(phrase, closing, startsWith(words[at:], known.Courtesy)); n > 0 {
			found = found || phrase == n
			at += n
			if closing == n && phrase < n && len(words)-at <= longestName {
				return found
			}
			continue
		}
		return false
	}
	return found
}

// Lead takes phrases and courtesies from the beginning of a text, and a closing with a name from its end. It reports whether a phrase was among
// them; rest is what stands between.
func Lead(text string, known Words) (rest string, found bool) {
	words, at := wordsOf(text), 0
	for at < len(words) {
		phrase := startsWith(words[at:], known.Phrases)
		n := max(phrase, startsWith(words[at:], known.Courtesy))
		if n == 0 {
			break
		}
		found = found || phrase == n
		at += n
	}
	if !found {
		return text, false
	}
	end := len(text)
	for i := len(words) - 1; i >= at && i >= len(words)-longestName-longestClosing; i-- {
		if n := startsWith(words[i:], known.Closings); n > 0 && len(words)-i-n <= longestName {
			end = words[i].begin
		}
	}
	between := func(c rune) bool { return unicode.IsSpace(c) || unicode.IsPunct(c) }
	return strings.TrimRightFunc(strings.TrimLeftFunc(text[words[at-1].end:max(end, words[at-1].end)], between), unicode.IsSpace), true
}

// A word of a text, and where it stands.
type word struct {
	fold       string
	begin, end int
}

// wordsOf takes a text apart. Numbers are words too: they are more than a phrase.
func wordsOf(text string) []word {
	inside := func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsDigit(c) || c == '\'' || c == '\u2019'
	}
	var all []word
	begin := -1
	for at, c := range text + " " {
		switch {
		case inside(c) && begin < 0:
			begin = at
		case !inside(c) && begin >= 0:
			all = append(all, word{fold: fold(text[begin:at]), begin: begin, end: at})
			begin = -1
		}
	}
	return all
}

// fold writes a word as everybody may write it: without capital letters, with ae for ä.
func fold(text string) string {
	return strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "\u2019", "'").Replace(strings.ToLower(text))
}

// startsWith is how many words the longest phrase takes that words begin with; 0 is none.
func startsWith(words []word, phrases []string) int {
	longest := 0
	for _, phrase := range phrases {
		of := strings.Fields(fold(phrase))
		begins := len(of) <= len(words) && slices.EqualFunc(words[:len(of)], of, func(w word, text string) bool { return w.fold == text })
		if begins && len(of) > longest {
			longest = len(of)
		}
	}
	return longest
}
