package schemas_test

import (
	"errors"
	"testing"

	"podium/schemas"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	sentences, err := schemas.ReadSentences([]byte(`{"de":{"greet":"Guten Tag, {name}."},"en":{"greet":"Hello, {name}."}}`))
	if err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string]string{"de": "Guten Tag, Ana.", "en": "Hello, Ana.", "fr": "Hello, Ana."} {
		if said := sentences.Say(language, "greet", "{name}", "Ana"); said != want {
			t.Errorf("%s: %q", language, said)
		}
	}
	_, err = schemas.ReadSentences([]byte(`{"de":{"greet":"Guten Tag."},"en":{"greet":"Hello.","part":"Goodbye."}}`))
	if !errors.Is(err, schemas.ErrIncompleteSentences) {
		t.Errorf("a language without a sentence: %v", err)
	}
}

func TestLanguageOfARequest(t *testing.T) {
	t.Parallel()
	for constraints, want := range map[string]string{
		`{"language":"de"}`: "de", `{"language":"pt-BR"}`: "pt", `{}`: "en", ``: "en", `[]`: "en",
	} {
		context := schemas.TaskContext{Constraints: []byte(constraints)}
		if language := context.Language(); language != want {
			t.Errorf("%s: %q", constraints, language)
		}
	}
}
