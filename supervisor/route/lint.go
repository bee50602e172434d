package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"podium/schemas"
)

// A Finding is something about a keyword that a person should look at. It need
// not be a mistake.
type Finding struct {
	Kind    FindingKind `json:"kind"`
	Router  int         `json:"router"` // index in the profile's routers
	Group   string      `json:"group"`
	Keyword string      `json:"keyword"`
	// OtherGroup and OtherKeyword are what it is in conflict with, if it is one
	// keyword.
	OtherGroup   string `json:"other_group,omitzero"`
	OtherKeyword string `json:"other_keyword,omitzero"`
	// Texts counts the texts of the history that it concerns, Words the words of
	// theirs: the five most frequent, folded.
	Texts int         `json:"texts,omitzero"`
	Words []WordCount `json:"words,omitzero"`
}

// A WordCount is a word and how often it was found.
type WordCount struct {
	Word  string `json:"word"`
	Count int    `json:"count"`
}

// FindingKind says what a finding is about.
type FindingKind string

// The kinds of finding.
const (
	// FindingInside: the keyword counts inside a longer word, which is a keyword
	// of a group that leads to another agent, or stands in the history. There,
	// endings of up to three letters are not worth a finding.
	FindingInside FindingKind = "inside"
	// FindingOverlap: a keyword of a group that leads to another agent is the
	// same, or holds it as words of their own, or hits the same words of the
	// history; and neither of the two is marked as shared.
	FindingOverlap FindingKind = "overlap"
	// FindingSilent: the keyword hits none of the texts of the history.
	FindingSilent FindingKind = "silent"
)

// Conflict reports whether it is about two keywords that lead to two agents.
func (f Finding) Conflict() bool { return f.OtherKeyword != "" }

// String tells a finding to a person, but for the kind.
func (f Finding) String() string {
	text := fmt.Sprintf("router %d, group %q: %q ", f.Router+1, f.Group, f.Keyword)
	other := fmt.Sprintf("keyword %q of group %q", f.OtherKeyword, f.OtherGroup)
	switch {
	case f.Kind == FindingSilent:
		return text + "hits nothing of the history"
	case f.Kind == FindingInside && f.OtherKeyword != "":
		return text + "counts inside the " + other + f.seen()
	case f.Kind == FindingOverlap && f.Texts == 0:
		return text + "counts wherever the " + other + " does"
	case f.Kind == FindingOverlap:
		return text + "hits the same words as the " + other + f.seen()
	}
	return text + "counts inside longer words" + f.seen()
}

// seen says where in the history it is seen.
func (f Finding) seen() string {
	if f.Texts == 0 {
		return ""
	}
	return fmt.Sprintf(", in %d of the texts: %s", f.Texts, wordList(f.Words))
}

func wordList(words []WordCount) string {
	named := make([]string, len(words))
	for i, w := range words {
		named[i] = fmt.Sprintf("%q (%d)", w.Word, w.Count)
	}
	return strings.Join(named, ", ")
}

// Lint looks for keywords that hit what they should not, that two groups of one
// router compete for, or that hit nothing. History is what people have asked
// before; without any, only the keywords are compared with each other. Findings
// come in the order of routers, groups and keywords.
func (r *Router) Lint(history []string) []Finding {
	texts := make([]*folded, len(history))
	for i, text := range history {
		texts[i] = r.folder.fold(text)
	}
	var findings []Finding
	for i := range r.routers {
		if r.routers[i].kind == schemas.RouterKeywords {
			l := linter{router: &r.routers[i], index: i, pairs: map[[2]int]*tally{}}
			findings = append(findings, l.lint(texts)...)
		}
	}
	return findings
}

// A linter looks at one router.
type linter struct {
	router *router
	index  int
	found  []placed
	pairs  map[[2]int]*tally // of keywords that are in conflict
	hits   []tally           // of keywords
	inside []tally           // of keywords inside longer words
}

// A placed finding knows its keyword, and what is still being counted for it.
type placed struct {
	keyword int
	tally   *tally
	Finding
}

// A tally counts words of the history.
type tally struct {
	texts  int
	last   int // the last of those texts, from 1
	counts []WordCount
	index  map[string]int
}

// seen counts a text, once.
func (t *tally) seen(text int) {
	if t.last != text {
		t.last = text
		t.texts++
	}
}

func (t *tally) count(text int, found []byte) {
	t.seen(text)
	word := head(string(found), textLimit)
	at, known := t.index[word]
	if !known {
		if t.index == nil {
			t.index = map[string]int{}
		}
		at = len(t.counts)
		t.index[word] = at
		t.counts = append(t.counts, WordCount{Word: word})
	}
	t.counts[at].Count++
}

// most returns the five most frequent words.
func (t *tally) most() []WordCount {
	const limit = 5
	counts := slices.Clone(t.counts)
	slices.SortFunc(counts, func(a, b WordCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Word, b.Word))
	})
	return counts[:min(len(counts), limit)]
}

func (l *linter) lint(history []*folded) []Finding {
	l.hits, l.inside = make([]tally, len(l.keywords())), make([]tally, len(l.keywords()))
	for other := range l.keywords() {
		l.compare(other)
	}
	for i, text := range history {
		l.read(text, i+1)
	}
	for keyword := range l.keywords() {
		if len(history) > 0 && l.hits[keyword].texts == 0 {
			l.add(keyword, Finding{Kind: FindingSilent})
		}
		if inside := &l.inside[keyword]; inside.texts > 0 {
			l.add(keyword, Finding{Kind: FindingInside, Texts: inside.texts, Words: inside.most()})
		}
	}
	findings := make([]Finding, len(l.found))
	slices.SortStableFunc(l.found, func(a, b placed) int { return cmp.Compare(a.keyword, b.keyword) })
	for i, p := range l.found {
		if p.tally != nil {
			p.Texts, p.Words = p.tally.texts, p.tally.most()
		}
		findings[i] = p.Finding
	}
	return findings
}

func (l *linter) keywords() []keyword { return l.router.matcher.keywords }

func (l *linter) add(keyword int, f Finding) *placed {
	k := &l.keywords()[keyword]
	f.Router, f.Group, f.Keyword = l.index, l.router.groups[k.group].name, k.word
	l.found = append(l.found, placed{keyword: keyword, Finding: f})
	return &l.found[len(l.found)-1]
}

// conflict returns the tally of two keywords, and adds a finding if there is
// none about them.
func (l *linter) conflict(keyword, other int, kind FindingKind) *tally {
	pair := [2]int{min(keyword, other), max(keyword, other)}
	t := l.pairs[pair]
	if t == nil {
		t = &tally{}
		l.pairs[pair] = t
		o := &l.keywords()[other]
		l.add(keyword, Finding{Kind: kind, OtherGroup: l.router.groups[o.group].name, OtherKeyword: o.word}).tally = t
	}
	return t
}

// compete says whether a hit of both keywords is a conflict.
func (l *linter) compete(a, b int) bool {
	one, other := &l.keywords()[a], &l.keywords()[b]
	return l.router.groups[one.group].agent != l.router.groups[other.group].agent && !one.shared && !other.shared
}

// compare finds the keywords that count in the words of another one. What an
// expression matches is seen in the history only.
func (l *linter) compare(other int) {
	if l.keywords()[other].expression != nil {
		return
	}
	f := &folded{text: []byte(l.keywords()[other].folded)}
	var around span
	for _, o := range l.router.matcher.all(f) {
		if !l.compete(o.keyword, other) {
			continue
		}
		kind := FindingOverlap
		if from, to := f.within(o, &around); from < o.at || to > o.at+o.letters {
			kind = FindingInside
		}
		l.conflict(o.keyword, other, kind)
	}
}

// read counts what the keywords hit in a text of the history.
func (l *linter) read(f *folded, text int) {
	found := l.router.matcher.all(f)
	slices.SortFunc(found, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.keyword, b.keyword))
	})
	var around span
	for i, o := range found {
		end := o.at + o.letters
		l.hits[o.keyword].seen(text)
		from, to := f.within(o, &around)
		if from < o.at || utf8.RuneCount(f.text[end:min(to, end+utf8.UTFMax*(endingLetters+1))]) > endingLetters {
			l.inside[o.keyword].count(text, f.text[from:to])
		}
		for _, other := range found[i+1:] {
			if other.at >= end {
				break
			}
			if l.compete(o.keyword, other.keyword) {
				l.conflict(o.keyword, other.keyword, FindingOverlap).count(text, f.text[other.start:min(o.end, other.end)])
			}
		}
	}
}

// within returns the limits of the words that the keyword of an occurrence
// begins and ends in.
func (f *folded) within(o occurrence, around *span) (from, to int) {
	from, to = o.at, o.at+o.letters
	if f.wordAt(from) {
		around.reach(f, from)
		from = around.start
	}
	if f.wordBefore(to) {
		around.reach(f, to)
		to = around.end
	}
	return from, to
}
