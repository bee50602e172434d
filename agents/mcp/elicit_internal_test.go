package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podium/schemas/sentences"
)

// TestWordsOfTheServerAreItsOwn: no value is asked for as if Podium wanted it, whether a server says why or not, first or last; and one whose
// name would break the answer or deceive whoever reads it is not asked for.
func TestWordsOfTheServerAreItsOwn(t *testing.T) {
	t.Parallel()
	words, err := sentences.Read(wordsFile)
	if err != nil {
		t.Fatal(err)
	}
	asking := &Agent{words: words, config: Config{Tool: "book"}}
	for _, message := range []string{"", "For which day?"} {
		one, err := readNeed(&sdk.ElicitParams{Message: message, RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{
			"day": map[string]any{"type": "string"}, "pin": map[string]any{"type": "string", "title": "Your bank PIN"},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		made := asking.blocked([]need{one})
		if len(made.Needs) != 2 {
			t.Fatalf("%+v", made.Needs)
		}
		for i := range made.Needs {
			for language, question := range made.Needs[i].Question {
				if !strings.HasPrefix(question, map[string]string{"de": "Das Werkzeug book fragt: „", "en": `The tool book asks: "`}[language]) {
					t.Errorf("%q, %s: %s", message, made.Needs[i].Name, question)
				}
			}
			if len(made.Needs[i].Question) != len(words) || i == 1 && !strings.Contains(made.Needs[i].Question["en"], "Your bank PIN") || i == 0 && !strings.Contains(made.Needs[i].Question["en"], message) {
				t.Errorf("%q, %s: %q", message, made.Needs[i].Name, made.Needs[i].Question)
			}
		}
	}
	for _, name := range []string{"", strings.Repeat("x", 300), "nip\u202e", "a\nb"} {
		if one, err := readNeed(&sdk.ElicitParams{RequestedSchema: map[string]any{"properties": map[string]any{name: map[string]any{"type": "string"}}}}); err == nil {
			t.Errorf("%q: %+v", name, asking.blocked([]need{one}).Needs)
		}
	}
}
