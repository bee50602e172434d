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

// A Catalog holds what one agent or adapter says: by language tag, then by key. It is
// read from an embedded JSON resource.
type Catalog map[string]map[string]string

// ErrIncomplete reports a language that does not say what another says.
var ErrIncomplete = errors.New("a language does not have every sentence")

// Read reads the resource. Every language has to have the same keys.
func Read(resource []byte) (Catalog, error) {
	var catalog Catalog
	if err := schemas.Unmarshal(resource, &catalog); err != nil {
		return nil, err
	}
	want := slices.Sorted(maps.Keys(catalog[schemas.FallbackLanguage]))
	for _, language := range slices.Sorted(maps.Keys(catalog)) {
		if have := slices.Sorted(maps.Keys(catalog[language])); !slices.Equal(want, have) {
			return nil, fmt.Errorf("%w: %s has %q, %s has %q", ErrIncomplete, schemas.FallbackLanguage, want, language, have)
		}
	}
	return catalog, nil
}

// Say returns a sentence in a language, or in schemas.FallbackLanguage when there is
// none in that one, with the places filled in: place, value, place, value.
func (c Catalog) Say(language, key string, places ...string) string {
	sentences, known := c[language]
	if !known {
		sentences = c[schemas.FallbackLanguage]
	}
	return strings.NewReplacer(places...).Replace(sentences[key])
}
