package exec_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestProgramStartsWhateverTheRequestSays: what a request says of its language goes into the program's environment, and keeps no
// program from its start.
func TestProgramStartsWhateverTheRequestSays(t *testing.T) {
	t.Parallel()
	for name, language := range map[string]string{"a zero byte": `de\u0000`, "more than a variable holds": strings.Repeat("de", 100_000)} {
		request := newRequest()
		request.Payload.Tasks[0].Context.Constraints = jsontext.Value(`{"language": "` + language + `"}`)
		outcome, err := program(t, "print:done").Handle(t.Context(), request, new(journal).report)
		if err != nil || outcome.Text != "done" {
			t.Errorf("%s: %q, %v", name, outcome.Text, err)
		}
	}
}
