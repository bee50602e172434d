package retrieval

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxWord     = 64 // letters of one that is taken apart
	leastPart   = 3  // letters
	maxCompound = 100_000
)

// Compounds are the words of which others are made, in their basic form.
type Compounds struct{ words map[string]bool }

// ParseCompounds reads a list: a word a line, with comments behind #.
func ParseCompounds(text []byte) (*Compounds, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("it is not UTF-8")
	}
	read := &Compounds{words: map[string]bool{}}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		word, _, _ := strings.Cut(line, "#")
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		if strings.ContainsFunc(word, func(c rune) bool { return !unicode.IsLetter(c) }) || utf8.RuneCountInString(word) < leastPart {
			return nil, fmt.Errorf("line %d: %q is not a word of at least %d letters", number, word, leastPart)
		}
		read.words[fold(word)] = true
	}
	if len(read.words) > maxCompound {
		return nil, fmt.Errorf("it has %d words; it may have %d", len(read.words), maxCompound)
	}
	return read, nil
}

// fold writes a word so that its vowels are the same in all forms.
func fold(word string) string {
	return strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ß", "ss").Replace(strings.ToLower(norm.NFC.String(word)))
}

// parts are those of all compounds in a text, one after the other.
func (c *Compounds) parts(text string) string {
	if c == nil || len(c.words) == 0 {
		return ""
	}
	var found []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) }) {
		folded := fold(word)
		if len(folded) >= 2*leastPart && len(folded) <= maxWord {
			if parts := c.split(folded, map[string]bool{}); len(parts) > 1 {
				found = append(found, parts...)
			}
		}
	}
	return strings.Join(found, " ")
}

// split takes a word apart, longest parts first; nothing if they are not all of it. Tried holds ends that cannot be.
func (c *Compounds) split(word string, tried map[string]bool) []string {
	if c.known(word) {
		return []string{word}
	}
	if tried[word] {
		return nil
	}
	for end := len(word) - leastPart; end >= leastPart; end-- {
		if !utf8.RuneStart(word[end]) || !c.known(word[:end]) {
			continue
		}
		for _, link := range []string{"", "s", "es", "n", "en", "er", "e"} {
			if rest, has := strings.CutPrefix(word[end:], link); has && len(rest) >= leastPart {
				if parts := c.split(rest, tried); parts != nil {
					return append([]string{word[:end]}, parts...)
				}
			}
		}
	}
	tried[word] = true
	return nil
}

// known reports whether a part is a form of a word on the list.
func (c *Compounds) known(part string) bool {
	return c.words[part] || slices.ContainsFunc([]string{"e", "en", "n", "s", "es", "er", "ern", "em"}, func(ending string) bool {
		word, has := strings.CutSuffix(part, ending)
		return has && c.words[word]
	})
}
