package exec

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
