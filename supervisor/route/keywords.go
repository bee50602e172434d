package route

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"podium/schemas"
)

// A keyword is one word to look for, ready to be compared.
type keyword struct {
	word   string // as configured
	folded string
	group  int
	shared bool
	whole  bool // it must end where a word ends
	// Whether it begins and ends with a letter of a word; else no word limits it.
	startsWord, endsWord bool
	except               []exception
}

// An exception is a wording in which a keyword does not count.
type exception struct {
	folded string
	at     int // of the keyword in it
}

// An occurrence is a keyword that counts, in offsets of the folded text.
type occurrence struct {
	keyword    int
	start, end int // end is the end of the word that the keyword ends in
}

// A matcher finds keywords. It is immutable and may be shared.
type matcher struct {
	keywords  []keyword
	automaton *automaton
}

func newMatcher(keywords []keyword) *matcher {
	words := make([]string, len(keywords))
	for i, k := range keywords {
		words[i] = k.folded
	}
	return &matcher{keywords: keywords, automaton: newAutomaton(words)}
}

// first returns the first occurrence of every keyword that counts somewhere, so
// that a long text makes no longer list than a short one.
func (m *matcher) first(f *folded) []occurrence {
	var all []occurrence
	seen := make([]bool, len(m.keywords))
	m.automaton.scan(f.text, func(word, end int) {
		if seen[word] {
			return
		}
		if o, counts := m.keywords[word].at(f, end); counts {
			o.keyword = word
			seen[word] = true
			all = append(all, o)
		}
	})
	return all
}

// longest returns every occurrence in text order; of those that overlap, the one
// that begins first, and of those the longest.
func (m *matcher) longest(f *folded) []occurrence {
	var all []occurrence
	m.automaton.scan(f.text, func(word, end int) {
		if o, counts := m.keywords[word].at(f, end); counts {
			o.keyword = word
			all = append(all, o)
		}
	})
	slices.SortFunc(all, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.start, b.start),
			cmp.Compare(len(m.keywords[b.keyword].folded), len(m.keywords[a.keyword].folded)))
	})
	kept := all[:0]
	for _, o := range all {
		if len(kept) == 0 || o.start >= kept[len(kept)-1].end {
			kept = append(kept, o)
		}
	}
	return kept
}

// at says whether the keyword, whose letters end at end, counts there.
func (k *keyword) at(f *folded, end int) (occurrence, bool) {
	start := end - len(k.folded)
	if k.startsWord && f.wordBefore(start) {
		return occurrence{}, false
	}
	wordEnd := end
	if k.endsWord {
		wordEnd = f.wordEnd(end)
	}
	if k.whole && wordEnd != end {
		return occurrence{}, false
	}
	for _, e := range k.except {
		if e.covers(f, start) {
			return occurrence{}, false
		}
	}
	return occurrence{start: start, end: wordEnd}, true
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

// keyword makes ready what a profile configures.
func (f *folder) keyword(configured schemas.Keyword, group int) (keyword, error) {
	k := keyword{
		word:   configured.Word,
		folded: f.foldWord(configured.Word),
		group:  group,
		shared: configured.Shared,
	}
	if k.folded == "" {
		return k, errors.New("nothing to look for")
	}
	k.startsWord, k.endsWord = startsWithWord(k.folded), endsWithWord(k.folded)
	switch configured.Mode {
	case schemas.ModeWord:
		k.whole = true
	case schemas.ModePrefix:
	default:
		return k, fmt.Errorf("unknown mode %q, want %q or %q",
			configured.Mode, schemas.ModeWord, schemas.ModePrefix)
	}
	for _, wording := range configured.Except {
		exceptions, err := f.exceptions(k, wording)
		if err != nil {
			return k, err
		}
		k.except = append(k.except, exceptions...)
	}
	return k, nil
}

// exceptions finds each place of a wording in which the keyword would count.
func (f *folder) exceptions(k keyword, wording string) ([]exception, error) {
	text := f.foldWord(wording)
	k.except = nil
	var places []exception
	for end := len(k.folded); end <= len(text); end++ {
		if text[end-len(k.folded):end] != k.folded {
			continue
		}
		if o, counts := k.at(&folded{text: []byte(text)}, end); counts {
			places = append(places, exception{folded: text, at: o.start})
		}
	}
	if len(places) == 0 {
		return nil, fmt.Errorf("exception %q: the keyword would not be found in it", wording)
	}
	return places, nil
}
