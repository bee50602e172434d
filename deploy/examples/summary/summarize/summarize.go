// Package summarize picks the most telling sentences of a text. It makes up
// nothing: every sentence of a summary stands in the text.
package summarize

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

//go:embed words.json
var wordsFile []byte

// words are what the languages have of their own.
type words struct {
	Instructions  []string `json:"instructions"`  // parts of words that ask for a summary
	Abbreviations []string `json:"abbreviations"` // without the last point
	StopWords     []string `json:"stop_words"`    // say nothing about the subject
}

// A Summarizer summarizes texts in two languages. It is safe for use by
// several goroutines at once.
type Summarizer struct {
	instructions  []string
	abbreviations map[string]bool
	stopWords     map[string]bool
}

// New returns a Summarizer.
func New() (*Summarizer, error) {
	var loaded words
	if err := json.Unmarshal(wordsFile, &loaded); err != nil {
		return nil, fmt.Errorf("read the words: %w", err)
	}
	return &Summarizer{
		instructions:  loaded.Instructions,
		abbreviations: set(loaded.Abbreviations),
		stopWords:     set(loaded.StopWords),
	}, nil
}

func set(members []string) map[string]bool {
	made := make(map[string]bool, len(members))
	for _, member := range members {
		made[member] = true
	}
	return made
}

// A sentence is one sentence with its place and worth.
type sentence struct {
	text  string
	place int
	score float64
}

// Summarize returns the most telling sentences of a text, at most so many, in
// the order of the text. The same text gives the same summary. A text with no
// more sentences than that is returned whole, its white space tidied.
func (s *Summarizer) Summarize(text string, sentences int) string {
	all := s.Sentences(text)
	frequency := make(map[string]float64)
	for _, one := range all {
		for _, word := range s.content(one) {
			frequency[word]++
		}
	}
	ranked := make([]sentence, len(all))
	for i, one := range all {
		ranked[i] = sentence{text: one, place: i, score: s.score(one, i, frequency)}
	}
	slices.SortStableFunc(ranked, func(a, b sentence) int { return cmp.Compare(b.score, a.score) })
	ranked = ranked[:min(max(sentences, 0), len(ranked))]
	slices.SortFunc(ranked, func(a, b sentence) int { return cmp.Compare(a.place, b.place) })
	chosen := make([]string, len(ranked))
	for i := range ranked {
		chosen[i] = ranked[i].text
	}
	return strings.Join(chosen, " ")
}

// score sums how often the words of a sentence occur in the text, each word
// once. Dividing by the root of the length favors long sentences less than the
// sum and short ones less than the mean would. The first sentence mostly names
// the subject and counts a quarter more.
func (s *Summarizer) score(text string, place int, frequency map[string]float64) float64 {
	content := s.content(text)
	if len(content) == 0 {
		return 0
	}
	total := 0.0
	for _, word := range slices.Compact(slices.Sorted(slices.Values(content))) {
		total += frequency[word]
	}
	total /= math.Sqrt(float64(len(content)))
	if place == 0 {
		total *= 1.25
	}
	return total
}

// content returns the words of a text that say something about its subject.
func (s *Summarizer) content(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	return slices.DeleteFunc(fields, func(word string) bool { return s.stopWords[word] || len(word) < 2 })
}

// Sentences cuts a text into its sentences. A blank line ends one as well.
func (s *Summarizer) Sentences(text string) []string {
	var found []string
	for _, paragraph := range paragraphs(text) {
		fields := strings.Fields(paragraph)
		begin := 0
		for i := range fields {
			if i+1 == len(fields) || s.ends(fields[i], fields[i+1]) {
				found = append(found, strings.Join(fields[begin:i+1], " "))
				begin = i + 1
			}
		}
	}
	return found
}

// paragraphs cuts a text at its blank lines.
func paragraphs(text string) []string {
	var found []string
	var lines []string
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
			continue
		}
		found, lines = append(found, strings.Join(lines, "")), nil
	}
	return append(found, strings.Join(lines, ""))
}

// ends reports whether a sentence ends between two words.
func (s *Summarizer) ends(word, next string) bool {
	bare := strings.TrimRight(word, `"'”“’»«)]`)
	last := strings.TrimRight(bare, ".!?…")
	if last == bare {
		return false
	}
	if strings.HasSuffix(bare, "!") || strings.HasSuffix(bare, "?") {
		return true
	}
	lower := strings.ToLower(strings.TrimLeft(last, `"'“„‚»«([`))
	if s.abbreviations[lower] || isOrdinal(lower) || isInitial(last) {
		return false
	}
	first := []rune(strings.TrimLeft(next, `"'“„‚»«([`))
	return len(first) == 0 || !unicode.IsLower(first[0])
}

// isOrdinal reports whether a number before a point may be one of a list, a day
// or a century, as in "am 3. Mai".
func isOrdinal(word string) bool {
	return word != "" && len(word) <= 2 && strings.Trim(word, "0123456789") == ""
}

// isInitial reports whether a word is the first letter of a name.
func isInitial(word string) bool {
	letters := []rune(word)
	return len(letters) == 1 && unicode.IsUpper(letters[0])
}

// Subject returns the text that is to be summarized: what follows the words
// that ask for it, when a colon or a blank line separates them.
func (s *Summarizer) Subject(text string) string {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		lower = text // a letter that changes its length: offsets would not fit
	}
	asked := -1
	for _, instruction := range s.instructions {
		if at := wordAt(lower, instruction); at >= 0 && (asked < 0 || at < asked) {
			asked = at
		}
	}
	if asked < 0 {
		return strings.TrimSpace(text)
	}
	behind := text[asked:]
	cut := -1
	for i := 0; i < len(behind) && cut < 0; i++ {
		if behind[i] == ':' && (i+1 == len(behind) || isSpace(behind[i+1])) {
			cut = i + 1
		}
		if behind[i] == '\n' {
			if line, _, _ := strings.Cut(behind[i+1:], "\n"); strings.TrimSpace(line) == "" {
				cut = i + 1
			}
		}
	}
	if cut < 0 || strings.TrimSpace(behind[cut:]) == "" {
		return strings.TrimSpace(text)
	}
	return strings.TrimSpace(behind[cut:])
}

// wordAt returns where a word begins with a prefix, or -1.
func wordAt(text, prefix string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], prefix)
		if at < 0 {
			return -1
		}
		at += from
		before := []rune(text[max(0, at-4):at])
		if len(before) == 0 || !unicode.IsLetter(before[len(before)-1]) {
			return at
		}
		from = at + len(prefix)
	}
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }
