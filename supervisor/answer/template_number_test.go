package answer_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/supervisor/answer"
)

// TestTemplateTellsNumbersAsTheyAreWritten: nobody pays 1.25e+06 euros, and an order has the number that it has.
func TestTemplateTellsNumbersAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	template, err := answer.ParseTemplate("{{.total}} {{.order}} {{.said}}")
	if err != nil {
		t.Fatal(err)
	}
	told, err := template.Tell(jsontext.Value(`{"total": 1250000, "order": 9007199254740993, "said": "<no value>"}`))
	if want := "1250000 9007199254740993 <no value>"; err != nil || told != want {
		t.Errorf("%q (%v), want %q", told, err, want)
	}
}
