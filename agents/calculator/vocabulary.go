package calculator

import (
	_ "embed"
	"slices"
	"strings"

	"podium/schemas"
)

//go:embed vocabulary.json
var vocabularyFile []byte

// A vocabulary is the words that mean something in a calculation, of all
// languages together: a text need not be in the language of its answer.
type vocabulary struct {
	Triggers  []string          `json:"triggers"`   // announce a calculation
	Operators map[string]string `json:"operators"`  // words for operators
	PercentOf []string          `json:"percent_of"` // "15 % of 80"
	Percent   []string          `json:"percent"`    // words for the percent sign
	Functions map[string]string `json:"functions"`  // other names of functions
	Unread    []string          `json:"unread"`     // words of calculations that are not understood

	triggers  [][]string
	operators []phrase
	callable  map[string]function
}

// A phrase is several words that are one operator.
type phrase struct {
	words    []string
	operator string
}

func loadVocabulary() (*vocabulary, error) {
	v := &vocabulary{callable: make(map[string]function)}
	if err := schemas.Unmarshal(vocabularyFile, v); err != nil {
		return nil, err
	}
	for _, f := range functions() {
		if !f.hidden {
			v.callable[f.name] = f
		}
	}
	for _, trigger := range v.Triggers {
		v.triggers = append(v.triggers, strings.Fields(trigger))
	}
	for words, operator := range v.Operators {
		v.operators = append(v.operators, phrase{strings.Fields(words), operator})
	}
	return v, nil
}

// isUnread reports whether a word belongs to a calculation and is not understood.
func (v *vocabulary) isUnread(word string) bool { return slices.Contains(v.Unread, word) }

// isOf reports whether a word joins a function to what it is of, as in "root of 16".
func (v *vocabulary) isOf(word string) bool {
	return word == "aus" || slices.Contains(v.PercentOf, word)
}
