package schemas

import "strings"

// FallbackLanguage is the language of a request that names none.
const FallbackLanguage = "en"

// Language returns the primary tag of the language that an answer is wanted in:
// the constraint "language" of the request.
func (c *TaskContext) Language() string {
	var constraints struct {
		Language string `json:"language"`
	}
	if err := Unmarshal(c.Constraints, &constraints); err != nil || constraints.Language == "" {
		return FallbackLanguage
	}
	primary, _, _ := strings.Cut(constraints.Language, "-")
	return primary
}

// Sentences are what an agent itself says to people: by language tag, then by
// key. They are read from an embedded JSON resource.
type Sentences map[string]map[string]string

// ReadSentences reads the resource.
func ReadSentences(resource []byte) (Sentences, error) {
	var sentences Sentences
	err := Unmarshal(resource, &sentences)
	return sentences, err
}

// Say returns a sentence in a language, or in FallbackLanguage when there is
// none in that one, with the places filled in: place, value, place, value.
func (s Sentences) Say(language, key string, places ...string) string {
	sentences, known := s[language]
	if !known {
		sentences = s[FallbackLanguage]
	}
	return strings.NewReplacer(places...).Replace(sentences[key])
}
