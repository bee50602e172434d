package schemas_test

import (
	"testing"

	"podium/schemas"
)

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
