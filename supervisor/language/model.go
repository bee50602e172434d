package language

import (
	"embed"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed models
var files embed.FS

// A model knows how probable sequences of letters are in each of its languages. Costs are quarters of a bit: of the last letter,
// when those before it are given.
type model struct {
	tags  []string
	costs map[string][]uint8 // by sequence of up to three letters; 0 is none, else one more than the cost
	none  []uint8
	small map[string]uint64 // by small word: a bit for each language that has it
}

// text1 is read once in a process.
var text1 = sync.OnceValues(func() (*model, error) { return readModel("models/" + Text1) }) //nolint:gochecknoglobals // it is read once

// neutral is Latin: names of species and of what is bought at a pharmacy, which every language uses.
const neutral = "la"

func readModel(folder string) (*model, error) {
	entries, err := files.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the languages of the program: %w", err)
	}
	m := &model{costs: map[string][]uint8{}, small: map[string]uint64{}}
	for _, entry := range entries {
		if tag, found := strings.CutSuffix(entry.Name(), ".txt"); found {
			m.tags = append(m.tags, tag)
		}
	}
	m.none = make([]uint8, len(m.tags))
	for at, tag := range m.tags {
		body, err := files.ReadFile(path.Join(folder, tag+".txt"))
		if err == nil {
			err = m.add(at, string(body))
		}
		if err != nil {
			return nil, fmt.Errorf("read language %s of the program: %w", tag, err)
		}
	}
	return m, nil
}

// add reads one language: a line of its small words, then a line for each cost.
func (m *model) add(at int, body string) error {
	for line := range strings.Lines(body) {
		words := strings.Fields(line)
		if words[0] == "words" {
			for _, word := range words[1:] {
				m.small[word] |= 1 << at
			}
			continue
		}
		cost, err := strconv.ParseUint(words[0], 10, 8)
		if err != nil {
			return err
		}
		for _, sequence := range words[1:] {
			if m.costs[sequence] == nil {
				m.costs[sequence] = make([]uint8, len(m.tags))
			}
			m.costs[sequence][at] = uint8(min(cost, mostCost)) + 1
		}
	}
	return nil
}

const (
	mostCost    = 48 // of a letter
	pairInstead = 8  // what it costs more where only the letter before is known with it
	oneInstead  = 16 // where it is known alone
	smallCost   = 28 // of a small word at most: it is frequent as a whole
)

// cost computes what a word costs in each language: little where it is probable.
func (m *model) cost(word string, costs []int) {
	clear(costs)
	letters := []rune(word)
	for i := range letters {
		one, two, three := m.row(letters[i:i+1]), m.none, m.none
		if i > 0 {
			two = m.row(letters[i-1 : i+1])
		}
		if i > 1 {
			three = m.row(letters[i-2 : i+1])
		}
		instead, alone := pairInstead*min(1, max(0, i-1)), oneInstead*min(1, i)
		for at := range costs {
			cost := mostCost
			switch { // by the longest sequence that is known
			case three[at] > 0:
				cost = int(three[at]) - 1
			case two[at] > 0:
				cost = int(two[at]) - 1 + instead
			case one[at] > 0:
				cost = int(one[at]) - 1 + alone
			}
			costs[at] += min(mostCost, cost)
		}
	}
	if in := m.small[word]; in != 0 {
		for at := range costs {
			if in&(1<<at) != 0 {
				costs[at] = min(costs[at], smallCost)
			}
		}
	}
}

// row returns the costs of a sequence of letters, or those of none.
func (m *model) row(sequence []rune) []uint8 {
	if costs := m.costs[string(sequence)]; costs != nil {
		return costs
	}
	return m.none
}
