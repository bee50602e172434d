package calculator

import (
	"testing"
)

func TestVocabularyLeadsToWhatExists(t *testing.T) {
	t.Parallel()
	known, err := loadVocabulary()
	if err != nil {
		t.Fatal(err)
	}
	for other, name := range known.Functions {
		if _, exists := known.callable[name]; !exists {
			t.Errorf("%q leads to %q, which does not exist", other, name)
		}
		if _, exists := known.callable[other]; exists {
			t.Errorf("%q hides a function", other)
		}
	}
	for words, operator := range known.Operators {
		switch operator {
		case "+", "-", "*", "/", "^", "mod":
		default:
			t.Errorf("%q leads to the operator %q, which does not exist", words, operator)
		}
	}
}
