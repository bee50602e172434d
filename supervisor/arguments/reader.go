package arguments

import (
	"slices"
	"time"
)

// A reader recognizes what stands in one text.
type reader struct {
	*lexicon
	text   string
	tokens []token
	fold   func(string) string
	today  time.Time // midnight, UTC
	hours  clockHours
	// degrees are a part of names.
	degrees bool
	dates   []found // as for what is to come
	times   []found
}

// A found is something recognized, with what it may mean. Without a reading, or behind a bound, it
// is something of its kind that says nothing for certain.
type found struct {
	from, to int // tokens
	alone    int // the day of a month that nobody has named
	named    int // the month of a date with its year
	readings []string
	day      int  // of a date without a year: its day and month, to be read anew
	month    int  // when the past is meant
	short    int  // the two digits of its year, or -1
	bound    bool // a range begins or ends there
	degree   bool // of a person: with a degree, and no other title
	owner    bool // of a person: something of theirs is spoken of
	self     bool // of a person: who has written
	aside    int  // of a time: the word for the part of the day, if it stands elsewhere; else its own beginning
}

func (f *Filler) read(text string, x *lexicon, today time.Time) *reader {
	r := &reader{lexicon: x, text: text, fold: f.fold, today: today, hours: f.hours}
	r.tokens = tokenize(text, f.fold)
	r.dates = r.findDates()
	r.times = r.findTimes()
	return r
}

func (r *reader) at(i int) *token {
	if i < 0 || i >= len(r.tokens) {
		return &token{kind: tokenMark, newline: true}
	}
	return &r.tokens[i]
}

func (r *reader) word(i int, words []string) bool {
	t := r.at(i)
	return t.kind == tokenWord && has(words, t.fold)
}

func (r *reader) mark(i int, mark string) bool {
	t := r.at(i)
	return t.kind == tokenMark && t.fold == mark
}

// written is the text from one token to before another.
func (r *reader) written(from, to int) string {
	if from >= to {
		return ""
	}
	return r.text[r.tokens[from].start:r.tokens[to-1].end]
}

// spanEnding is the date or time that ends before the token.
func (r *reader) spanEnding(i int) (int, bool) {
	for _, spans := range [][]found{r.dates, r.times} {
		at, ok := slices.BinarySearchFunc(spans, i, func(f found, end int) int { return f.to - end })
		if ok {
			return spans[at].from, true
		}
	}
	return 0, false
}

// governor is the nearest of the words before a token that is one of those wanted. Dates,
// times and fillers may stand between, nothing else.
func (r *reader) governor(from int, wanted ...[]string) string {
	const farthest = 8
	for i, steps := from, 0; i > 0 && steps < farthest; steps++ {
		before := r.at(i - 1)
		if before.kind == tokenWord {
			for _, words := range wanted {
				if has(words, before.fold) {
					return before.fold
				}
			}
		}
		if start, ok := r.spanEnding(i); ok {
			i = start
			continue
		}
		switch {
		case before.kind == tokenWord && has(r.Fillers, before.fold):
		case before.kind == tokenMark && (before.fold == "," || before.fold == ":"):
		default:
			return ""
		}
		i--
	}
	return ""
}

// ranged says whether what begins at a token is the end of a range, or one of two.
func (r *reader) ranged(from int) bool {
	joint := from - 1
	if !r.mark(joint, "-") && !r.mark(joint, "/") && !r.word(joint, r.Joiners) {
		return false
	}
	before := r.at(joint - 1)
	if before.kind == tokenMark && before.fold == "." {
		before = r.at(joint - 2)
	}
	_, weekday := r.weekdays[before.fold]
	_, spelled := r.Numbers[before.fold]
	return before.kind == tokenNumber || weekday || spelled && !r.mark(joint, "-") || r.word(joint-1, r.HourAfter)
}

// spelled is a small whole number in digits or in words.
func (r *reader) spelled(i int) (int, bool) {
	t := r.at(i)
	if n, ok := t.number(); ok {
		return n, true
	}
	if word, ok := r.Numbers[t.fold]; ok && t.kind == tokenWord {
		n := token{kind: tokenNumber, fold: word}
		return n.number()
	}
	return 0, false
}
