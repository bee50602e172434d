package calculator

import "testing"

func TestEveryLanguageSaysEverySentence(t *testing.T) {
	t.Parallel()
	loaded, err := loadWords()
	if err != nil {
		t.Fatal(err)
	}
	for language, sentences := range loaded {
		for key := range loaded[fallback] {
			if sentences[key] == "" {
				t.Errorf("%s has no sentence %q", language, key)
			}
		}
		if len(sentences) != len(loaded[fallback]) {
			t.Errorf("%s has sentences that %s has not", language, fallback)
		}
	}
}

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
