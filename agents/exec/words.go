package exec

import (
	_ "embed"
	"strings"

	"podium/schemas"
)

//go:embed words.json
var wordsFile []byte

// fallback is the language of a request that names none of ours.
const fallback = "en"

// words are the sentences for people, by language tag and key.
type words map[string]map[string]string

func loadWords() (words, error) {
	var loaded words
	err := schemas.Unmarshal(wordsFile, &loaded)
	return loaded, err
}

// say returns a sentence with the named places filled in: place, value, place, value.
func (w words) say(language, key string, places ...string) string {
	sentences, known := w[language]
	if !known {
		sentences = w[fallback]
	}
	return strings.NewReplacer(places...).Replace(sentences[key])
}

// languageOf returns the language that the request wants its answer in.
func languageOf(task *schemas.Task) string {
	var constraints struct {
		Language string `json:"language"`
	}
	if err := schemas.Unmarshal(task.Context.Constraints, &constraints); err != nil {
		return fallback
	}
	primary, _, _ := strings.Cut(constraints.Language, "-")
	return primary
}
