package route

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

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

// A matcher finds keywords. It is immutable and may be shared.
type matcher struct {
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
func (m *matcher) first(f *folded) []occurrence { return m.find(f, 1) }

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
	// longText is the size in bytes from which on it is remembered what was found in a text: to look through MaxRead takes half
	// a second with the keywords of a large profile.
	longText = 8 << 10
	// maxFound bounds the texts of which it is remembered: the oldest is forgotten first.
	maxFound = 1024
)

// Found is what was found in long texts before they are decided about. The same text leads to the same occurrences, so that it
// changes no decision: what was read ahead is not looked through again. Nil is nothing. It is not safe for use by several goroutines
// at once while ReadAhead or Add works on it.
type Found struct {
	texts map[textKey]map[*matcher][]occurrence
	order []textKey // the oldest first
	open  bool      // what is looked for is added
}

// A textKey is what a text is remembered by: its size, and the hash of what is read of it.
type textKey struct {
	size int
	hash [sha256.Size]byte
}

func keyOf(text string) textKey {
	return textKey{size: len(text), hash: sha256.Sum256([]byte(Excerpt(text)))}
}

// first returns the first occurrence of every keyword, as matcher.first does.
func (f *Found) first(m *matcher, text *folded) []occurrence {
	if f == nil || len(text.source) < longText {
		return m.first(text)
	}
	key := keyOf(text.source)
	found, known := f.texts[key][m]
	if !known {
		found = m.first(text)
		if f.open {
			f.add(key, m, found)
		}
	}
	return slices.Clone(found) // the caller sorts them
}

func (f *Found) add(key textKey, m *matcher, found []occurrence) {
	f.remember(key, map[*matcher][]occurrence{})
	f.texts[key][m] = found
}

// remember adds a text that is not known, and forgets the oldest where there are too many.
func (f *Found) remember(key textKey, found map[*matcher][]occurrence) {
	if f.texts == nil {
		f.texts = map[textKey]map[*matcher][]occurrence{}
	}
	if _, known := f.texts[key]; known {
		return
	}
	f.texts[key], f.order = found, append(f.order, key)
	if len(f.order) > maxFound {
		delete(f.texts, f.order[0])
		f.order = slices.Delete(f.order, 0, 1)
	}
}

// Add adds what was found in other texts.
func (f *Found) Add(others *Found) {
	for _, key := range others.order {
		f.remember(key, map[*matcher][]occurrence{})
		maps.Copy(f.texts[key], others.texts[key])
	}
}
