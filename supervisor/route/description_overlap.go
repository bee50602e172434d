package route

import (
	"unicode"
	"unicode/utf8"

	"podium/schemas"
)

// A vocabulary counts the words that a text has in common with the description of each agent of a
// profile.
// It is immutable and may be shared.
type vocabulary struct {
	agents []string
	stop   map[string]bool // folded small words that say nothing
	terms  map[string][]term
}

// A term is one word that describes agents.
type term struct {
	word   string // folded
	shown  string // as first written
	agents []int
}

// vocabulary reads the descriptions of the profile's agents. The small words are
// the markers of all languages that the profile has words in.
func (f *folder) vocabulary(profile *schemas.Profile) *vocabulary {
	v := &vocabulary{stop: map[string]bool{}, terms: map[string][]term{}}
	for i := range profile.Languages {
		for _, marker := range profile.Languages[i].Markers {
			v.stop[f.foldWord(marker)] = true
		}
	}
	for i, use := range profile.Agents {
		v.agents = append(v.agents, use.Name)
		read := f.fold(use.Description)
		for at := 0; at < len(read.text); {
			start, end := read.nextWord(at)
			if word := read.text[start:end]; v.counts(word) {
				v.add(term{word: string(word), shown: read.source[read.start(start):read.end(end)], agents: []int{i}})
			}
			at = end
		}
	}
	return v
}

func (v *vocabulary) add(found term) {
	key := string(beginning([]byte(found.word)))
	agent := found.agents[0]
	for i := range v.terms[key] {
		if t := &v.terms[key][i]; t.word == found.word {
			if t.agents[len(t.agents)-1] != agent {
				t.agents = append(t.agents, agent)
			}
			return
		}
	}
	v.terms[key] = append(v.terms[key], found)
}

// counts says whether a folded word says something: it has two characters or
// more, a letter among them, and is not a small word.
func (v *vocabulary) counts(word []byte) bool {
	if utf8.RuneCount(word) < 2 || v.stop[string(word)] {
		return false
	}
	for at := 0; at < len(word); {
		r, size := utf8.DecodeRune(word[at:])
		if unicode.IsLetter(r) {
			return true
		}
		at += size
	}
	return false
}

// An overlap is what the words of a text and of an agent's description have in
// common.
type overlap struct {
	agent string
	share float64 // of the distinct words of the text, 0–1; four decimals
	found []schemas.Match
	words int // of the text that were found
	last  int // the last of them, from 1
}

// overlaps compares a text with every description. The words of a text are the
// distinct ones, folded, of what it asks for, if the profile has action verbs and
// there are any; else of all of it. Two words agree if they are equal; or share
// their first five letters, or all four of a shorter one, and then differ in no
// more than three letters each: "calculate" and "calculations". Each word of a description is listed where it
// is first found. Limit is where those words end.
func (v *vocabulary) overlaps(q *question) (overlaps []overlap, limit int) {
	f := q.text
	limit = len(f.text)
	if q.router.complexity != nil {
		read := q.router.complexity.outline(f)
		limit = read.request()
	}
	overlaps, distinct := v.compare(f, limit)
	if distinct == 0 && limit < len(f.text) {
		limit = len(f.text)
		overlaps, distinct = v.compare(f, limit)
	}
	if distinct > 0 {
		for i := range overlaps {
			overlaps[i].share = rounded(float64(overlaps[i].words) / float64(distinct))
		}
	}
	return overlaps, limit
}

// compare counts the words before limit.
func (v *vocabulary) compare(f *folded, limit int) (overlaps []overlap, distinct int) {
	overlaps = make([]overlap, len(v.agents))
	for i, agent := range v.agents {
		overlaps[i].agent = agent
	}
	seen := map[string]bool{}
	listed := map[string]bool{}
	for at := 0; at < limit; {
		start, end := f.nextWord(at)
		at = end
		word := f.text[start:end]
		if start >= limit || !v.counts(word) || seen[string(word)] {
			continue
		}
		seen[string(word)] = true
		distinct++
		terms := v.terms[string(beginning(word))]
		for i := range terms {
			if !agree(word, terms[i].word) {
				continue
			}
			for _, agent := range terms[i].agents {
				o := &overlaps[agent]
				if o.last != distinct {
					o.last = distinct
					o.words++
				}
				if !listed[terms[i].word] {
					o.found = append(o.found, f.match(terms[i].shown, occurrence{start: start, end: end}))
				}
			}
			listed[terms[i].word] = true
		}
	}
	return overlaps, distinct
}

// nextWord returns the next word from at on; it is empty at the end of the text.
func (f *folded) nextWord(at int) (start, end int) {
	for at < len(f.text) {
		if end = f.wordEnd(at); end > at {
			return at, end
		}
		_, size := utf8.DecodeRune(f.text[at:])
		at += size
	}
	return at, at
}

const (
	indexLetters  = 4 // by which words are looked up
	sharedLetters = 5 // that words which agree begin with, unless one of them is shorter
	endingLetters = 3 // that they may differ in at the end
)

// beginning returns the letters that words which agree have in common: the
// first ones, or all of a shorter word.
func beginning(word []byte) []byte {
	at := 0
	for range indexLetters {
		_, size := utf8.DecodeRune(word[at:])
		at += size
	}
	return word[:at]
}

// agree compares two words with the same beginning.
func agree(word []byte, other string) bool {
	at := 0
	for at < len(word) && at < len(other) && word[at] == other[at] {
		at++
	}
	for at > 0 && at < len(word) && !utf8.RuneStart(word[at]) {
		at--
	}
	mine, others := utf8.RuneCount(word[at:]), utf8.RuneCountInString(other[at:])
	shared := mine == 0 || others == 0 || utf8.RuneCount(word[:at]) >= sharedLetters
	return shared && mine <= endingLetters && others <= endingLetters
}
