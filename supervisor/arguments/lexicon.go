package arguments

import (
	"maps"
	"slices"
	"strings"
)

// A lexicon is a language that is ready to be looked up.
type lexicon struct {
	language
	months, weekdays map[string]int // from 1 and from 0
	days             phrases
	vagueDays        phrases
	forenoon         phrases
	afternoon        phrases
	hourAfter        phrases
	introductions    phrases
	closings         phrases
	plainWords       phrases
	requestWords     phrases
	doubtWords       phrases
	reservations     phrases
	notNames         map[string]bool
}

func newLexicon(l *language, fold func(string) string) *lexicon {
	x := &lexicon{language: *l, months: map[string]int{}, weekdays: map[string]int{}, notNames: map[string]bool{}}
	for i, names := range l.Months {
		for _, name := range names {
			x.months[name] = i + 1
			x.notNames[name] = true
		}
	}
	for i, names := range l.Weekdays {
		for _, name := range names {
			x.weekdays[name] = i
			x.notNames[name] = true
		}
	}
	for _, name := range slices.Concat(l.NotNames, l.Spans, l.Titles, l.Degrees, l.Salutations) {
		x.notNames[name] = true
	}
	x.vagueDays, x.forenoon, x.afternoon = newPhrases(l.VagueDays, fold), newPhrases(l.Forenoon, fold), newPhrases(l.Afternoon, fold)
	x.days = newPhrases(slices.Sorted(maps.Keys(l.Days)), fold)
	x.hourAfter = newPhrases(l.HourAfter, fold)
	x.plainWords, x.requestWords, x.doubtWords = newPhrases(l.Plain, fold), newPhrases(l.Requests, fold), newPhrases(l.Doubts, fold)
	x.reservations = newPhrases(l.Reservations, fold)
	x.introductions, x.closings = newPhrases(l.Introductions, fold), newPhrases(l.Closings, fold)
	return x
}

// Phrases are sequences of tokens, by their first one; the longest is first.
type phrases map[string][][]string

func newPhrases(wordings []string, fold func(string) string) phrases {
	known := phrases{}
	for _, wording := range wordings {
		var words []string
		for _, t := range tokenize(wording, fold) {
			words = append(words, t.fold)
		}
		if len(words) == 0 {
			continue
		}
		known[words[0]] = append(known[words[0]], words)
		slices.SortStableFunc(known[words[0]], func(a, b []string) int { return len(b) - len(a) })
	}
	return known
}

// at returns how many tokens the longest phrase takes that stands there; 0 if none does.
func (p phrases) at(tokens []token, at int) int {
	if at < 0 || at >= len(tokens) {
		return 0
	}
	for _, words := range p[tokens[at].fold] {
		if len(tokens)-at < len(words) {
			continue
		}
		fits := true
		for i, word := range words {
			fits = fits && tokens[at+i].fold == word
		}
		if fits {
			return len(words)
		}
	}
	return 0
}

// before returns how many tokens the phrase takes that ends there.
func (p phrases) before(tokens []token, end int) int {
	const longest = 4
	for size := min(longest, end); size > 0; size-- {
		if p.at(tokens, end-size) == size {
			return size
		}
	}
	return 0
}

func has(words []string, word string) bool { return slices.Contains(words, word) }

func isCapital(word string) bool {
	for _, r := range word {
		return strings.ToUpper(string(r)) == string(r) && strings.ToLower(string(r)) != string(r)
	}
	return false
}
