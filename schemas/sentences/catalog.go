// Package sentences holds what agents and adapters themselves say to people, in every
// language that they know.
package sentences

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"podium/schemas"
)

// Sentences are what an agent itself says to people: by language tag, then by
// key. They are read from an embedded JSON resource.
type Sentences map[string]map[string]string

// ErrIncompleteSentences reports a language that does not say what another says.
var ErrIncompleteSentences = errors.New("a language does not have every sentence")

// ReadSentences reads the resource. Every language has to have the same keys.
func ReadSentences(resource []byte) (Sentences, error) {
	var sentences Sentences
	if err := schemas.Unmarshal(resource, &sentences); err != nil {
		return nil, err
	}
	want := slices.Sorted(maps.Keys(sentences[schemas.FallbackLanguage]))
	for _, language := range slices.Sorted(maps.Keys(sentences)) {
		if have := slices.Sorted(maps.Keys(sentences[language])); !slices.Equal(want, have) {
			return nil, fmt.Errorf("%w: %s has %q, %s has %q", ErrIncompleteSentences, schemas.FallbackLanguage, want, language, have)
		}
	}
	return sentences, nil
}

// Say returns a sentence in a language, or in schemas.FallbackLanguage when there is
// none in that one, with the places filled in: place, value, place, value.
func (s Sentences) Say(language, key string, places ...string) string {
	sentences, known := s[language]
	if !known {
		sentences = s[schemas.FallbackLanguage]
	}
	return strings.NewReplacer(places...).Replace(sentences[key])
}
