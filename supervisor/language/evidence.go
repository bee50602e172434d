package language

import "slices"

// What words may tell, in quarters of a bit. An error of this size would be one word in sixty-four.
const (
	mostTold = 24
	// mostOfName is what a word may tell that begins with a capital letter, since it may be a name.
	mostOfName = 8
	// mostDoubt is what all words of a text that fits may tell for another language: three bits.
	mostDoubt = 12
	// leastOfWord is from when on a word tells something at all.
	leastOfWord = 5
	// nameParticles is how many small words may follow each other in a name: de la.
	nameParticles = 2
	// capitalNouns is the language in which a capital letter makes no name.
	capitalNouns = "de"
)

// An evidence is what the words of a text tell: for each language, rather than for the one that the text should be in.
type evidence struct {
	told  [][]int  // by word and language
	small []uint64 // by word: the languages that have it among their small words, and the own one has not
	plain []bool   // by word: it is no small word, and no name
}

// A part is a row of words that speaks for another language.
type part struct {
	sum, words   int
	small, plain int // of the words, small ones and plain ones that tell something
	own          int // what all other words tell for the own language
}

// evidence weighs the words of a text. Those that Latin explains as well tell nothing for another language, unless in doubt they do.
func (m *model) evidence(judged []word, own int, doubt bool) *evidence {
	e := &evidence{told: make([][]int, len(judged)), small: make([]uint64, len(judged)), plain: make([]bool, len(judged))}
	latin, costs := slices.Index(m.tags, neutral), make([]int, len(m.tags))
	for i := range judged {
		m.cost(judged[i].text, costs)
		small, ownCost, most := m.small[judged[i].text], costs[own], mostTold
		if small == 0 {
			if !doubt {
				ownCost = min(ownCost, costs[latin])
			}
			if judged[i].capital {
				most = mostOfName
			}
		}
		e.told[i] = make([]int, len(costs))
		for at, cost := range costs {
			e.told[i][at] = max(-most, min(most, ownCost-cost))
		}
		e.plain[i] = small == 0 && !judged[i].capital
		if small&(1<<own) == 0 {
			e.small[i] = small
		}
	}
	m.passNames(judged, e)
	return e
}

// passNames keeps the small words of names, as in Bank of America, from telling anything for another language.
func (m *model) passNames(judged []word, e *evidence) {
	nouns := slices.Index(m.tags, capitalNouns)
	particle := func(i int) bool { return m.small[judged[i].text] != 0 && !judged[i].capital }
	for i := range judged {
		if m.small[judged[i].text] == 0 {
			continue
		}
		before, after := i-1, i+1
		for before >= 0 && i-before <= nameParticles && particle(before) {
			before--
		}
		for after < len(judged) && after-i <= nameParticles && particle(after) {
			after++
		}
		opened := judged[i].capital || before >= 0 && judged[before].capital
		if !opened || after == len(judged) || !judged[after].capital {
			continue
		}
		for at := range e.told[i] {
			if at != nouns {
				e.told[i][at] = min(e.told[i][at], 0)
			}
		}
		e.small[i] &= 1 << nouns
	}
}

// longest returns the row of words that tells most for a language.
func (e *evidence) longest(at int) part {
	var best, now part
	total := 0
	for i := range e.told {
		told := e.told[i][at]
		total += told
		if now.sum+told <= 0 {
			now = part{}
			continue
		}
		now.sum += told
		now.words++
		if e.small[i]&(1<<at) != 0 {
			now.small++
		}
		if e.plain[i] && told >= leastOfWord {
			now.plain++
		}
		if now.sum > best.sum {
			best = now
		}
	}
	best.own = best.sum - total
	return best
}

// total returns what all words tell for a language.
func (e *evidence) total(at int) int {
	total := 0
	for i := range e.told {
		total += e.told[i][at]
	}
	return total
}

// enough reports whether a part is surely in the other language. A whole text needs less than a part of one that is else in its own language,
// and words that are neither small ones nor names tell it alone only when they are many.
func (p *part) enough() bool {
	whole := p.own < mostTold && p.words >= 3 &&
		(p.sum >= 36 && p.small >= 1 && p.small+p.plain >= 2 || p.sum >= 64 && p.plain >= 3)
	sentence := p.sum >= 72 && p.words >= 5 && p.small >= 2 && p.sum >= 7*p.words
	many := p.sum >= 200 && p.plain >= 8
	return whole || sentence || many
}
