package route

import (
	"bytes"
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"podium/schemas"
)

// A keyword is one word to look for, ready to be compared.
type keyword struct {
	word       string // as configured
	folded     string
	expression *regexp.Regexp // in mode regex, instead of folded
	mode       schemas.KeywordMode
	group      int
	shared     bool
	// Whether it begins and ends with a letter of a word; else no word limits it.
	startsWord, endsWord bool
	except               []exception
}

// An exception is a wording in which a keyword does not count.
type exception struct {
	folded string
	at     int // of the keyword in it
}

// An occurrence is a keyword that counts, in offsets of the folded text. It
// reaches to the limits of the words that the keyword begins and ends in.
type occurrence struct {
	keyword    int
	start, end int
	at         int // of the keyword itself
	letters    int // of it; bytes
}

// A matcher finds keywords. It is immutable, but for what it remembers of long texts, and may be shared.
type matcher struct {
	recent      recent
	keywords    []keyword
	literals    []int // keywords that the automaton knows, by its own index
	automaton   *automaton
	expressions []int // these and the next: each is a pass over the text of its own
	sieve       sieve // spares those passes of expressions that cannot match
	nears       []int
}

func newMatcher(keywords []keyword) *matcher {
	m := &matcher{keywords: keywords}
	var words, sources []string
	for i, k := range keywords {
		switch {
		case k.expression != nil:
			m.expressions, sources = append(m.expressions, i), append(sources, k.expression.String())
			continue
		case k.mode == schemas.ModeNear:
			m.nears = append(m.nears, i)
			continue
		}
		m.literals = append(m.literals, i)
		words = append(words, k.folded)
	}
	m.automaton, m.sieve = newAutomaton(words), newSieve(sources)
	return m
}

// first returns the first occurrence of every keyword that counts somewhere, so
// that a long text makes no longer list than a short one.
func (m *matcher) first(f *folded) []occurrence {
	return m.recent.first(f.source, func() []occurrence { return m.find(f, 1) })
}

// all returns every occurrence.
func (m *matcher) all(f *folded) []occurrence { return m.find(f, math.MaxInt) }

// find returns at most so many occurrences of each keyword.
func (m *matcher) find(f *folded, most int) []occurrence {
	var all []occurrence
	found := make([]int, len(m.keywords))
	var around span
	m.automaton.scan(f.text, func(literal, end int) {
		index := m.literals[literal]
		if found[index] == most {
			return
		}
		if o, counts := m.keywords[index].literal(f, &around, end); counts {
			o.keyword = index
			found[index]++
			all = append(all, o)
		}
	})
	may := m.sieve.may(f.text)
	for i, index := range m.expressions {
		if !may[i] {
			continue
		}
		for _, o := range m.keywords[index].expressed(f, most) {
			o.keyword = index
			all = append(all, o)
		}
	}
	for _, index := range m.nears {
		for _, o := range m.keywords[index].nearby(f, most) {
			o.keyword = index
			all = append(all, o)
		}
	}
	return all
}

// longest returns every occurrence in text order; of those that overlap, the one
// that begins first, and of those the longest.
func (m *matcher) longest(f *folded) []occurrence {
	all := m.all(f)
	slices.SortFunc(all, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.letters, a.letters), cmp.Compare(a.keyword, b.keyword))
	})
	kept := all[:0]
	for _, o := range all {
		if len(kept) == 0 || o.start >= kept[len(kept)-1].end {
			kept = append(kept, o)
		}
	}
	return kept
}

// literal says whether the keyword, whose letters end at end, counts there.
// Around remembers the last word of the text that was looked at.
func (k *keyword) literal(f *folded, around *span, end int) (occurrence, bool) {
	start := end - len(k.folded)
	if !k.fits(f, start, end) || k.excepted(f, start) {
		return occurrence{}, false
	}
	o := occurrence{start: start, end: end, at: start, letters: end - start}
	if k.startsWord {
		around.reach(f, start)
		o.start = around.start
	}
	if k.endsWord {
		around.reach(f, end)
		o.end = around.end
	}
	return o, true
}

// expressed returns at most so many of the places where the keyword's expression
// matches one character or more.
func (k *keyword) expressed(f *folded, most int) []occurrence {
	limit := -1
	if most == 1 && len(k.except) == 0 {
		limit = 1
	}
	var found []occurrence
	for _, at := range k.expression.FindAllIndex(f.text, limit) {
		if at[0] < at[1] && !k.excepted(f, at[0]) {
			found = append(found, occurrence{start: at[0], end: at[1], at: at[0], letters: at[1] - at[0]})
		}
		if len(found) == most {
			break
		}
	}
	return found
}

// excepted says whether the keyword at start is a part of an exception.
func (k *keyword) excepted(f *folded, start int) bool {
	return slices.ContainsFunc(k.except, func(e exception) bool { return e.covers(f, start) })
}

// covers says whether the keyword at start is a part of the exception.
func (e exception) covers(f *folded, start int) bool {
	from := start - e.at
	to := from + len(e.folded)
	if from < 0 || to > len(f.text) || string(f.text[from:to]) != e.folded {
		return false
	}
	return (!startsWithWord(e.folded) || !f.wordBefore(from)) &&
		(!endsWithWord(e.folded) || f.wordEnd(to) == to)
}

func startsWithWord(text string) bool {
	f := folded{text: []byte(text[:min(len(text), 4)])}
	return f.wordEnd(0) > 0
}

func endsWithWord(text string) bool {
	f := folded{text: []byte(text)}
	return f.wordBefore(len(text))
}

// foldWord folds what a profile says to look for.
func (f *folder) foldWord(word string) string {
	return strings.ReplaceAll(string(bytes.TrimSpace(f.fold(word).text)), "\n\n", " ")
}

const (
	// longText is the size in bytes from which on a matcher remembers what it found in a text: to look through a message of
	// 1 MiB takes seconds with the keywords of a large profile.
	longText = 16 << 10
	// maxRecent bounds the texts that a matcher remembers: a message, and the steps that it falls into.
	maxRecent = DefaultMaxSteps + 1
)

// A recent remembers what a matcher found in the long texts that it was asked about last. The same text leads to the same
// occurrences, so that it changes no decision: a text that was read beside the loop of a shard is not read again in it.
type recent struct {
	mu    sync.Mutex
	found []firstOccurrences // the newest last
}

// firstOccurrences are what matcher.first returns for a text.
type firstOccurrences struct {
	text        string
	occurrences []occurrence
}

// first returns what find returns for a text, without a call of it when the text is remembered.
func (r *recent) first(text string, find func() []occurrence) []occurrence {
	if len(text) < longText {
		return find()
	}
	r.mu.Lock()
	at := slices.IndexFunc(r.found, func(f firstOccurrences) bool { return f.text == text })
	if at >= 0 {
		defer r.mu.Unlock()
		return slices.Clone(r.found[at].occurrences) // the caller sorts them
	}
	r.mu.Unlock()
	found := find()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.found) == maxRecent {
		r.found = slices.Delete(r.found, 0, 1)
	}
	r.found = append(r.found, firstOccurrences{text, slices.Clone(found)})
	return found
}
