package sentences_test

import (
	"errors"
	"testing"

	"podium/schemas/sentences"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	catalog, err := sentences.Read([]byte(`{"de":{"greet":"Guten Tag, {name}."},"en":{"greet":"Hello, {name}."}}`))
	if err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string]string{"de": "Guten Tag, Ana.", "en": "Hello, Ana.", "fr": "Hello, Ana."} {
		if said := catalog.Say(language, "greet", "{name}", "Ana"); said != want {
			t.Errorf("%s: %q", language, said)
		}
	}
	_, err = sentences.Read([]byte(`{"de":{"greet":"Guten Tag."},"en":{"greet":"Hello.","part":"Goodbye."}}`))
	if !errors.Is(err, sentences.ErrIncomplete) {
		t.Errorf("a language without a sentence: %v", err)
	}
}
