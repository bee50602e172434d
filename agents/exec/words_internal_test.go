package exec

import (
	"testing"

	"podium/schemas"
)

func TestEveryLanguageSaysEverySentence(t *testing.T) {
	t.Parallel()
	loaded, err := schemas.ReadSentences(wordsFile)
	if err != nil {
		t.Fatal(err)
	}
	for language, sentences := range loaded {
		for key := range loaded[schemas.FallbackLanguage] {
			if sentences[key] == "" {
				t.Errorf("%s has no sentence %q", language, key)
			}
		}
		if len(sentences) != len(loaded[schemas.FallbackLanguage]) {
			t.Errorf("%s has sentences that %s has not", language, schemas.FallbackLanguage)
		}
	}
}
