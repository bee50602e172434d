package runs

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// TestNoFactShowsWhatIsNotForReaders: whatever fact has it, what is sealed for the agent that
// delivers an answer and what is meant for the log is shown to nobody, and stays in the fact.
func TestNoFactShowsWhatIsNotForReaders(t *testing.T) {
	t.Parallel()
	body, err := schemas.Schema("record")
	if err != nil {
		t.Fatal(err)
	}
	var record struct {
		Defs struct {
			Fact struct {
				Properties map[string]jsontext.Value `json:"properties"`
			} `json:"fact"`
		} `json:"$defs"`
	}
	if err = schemas.Unmarshal(body, &record); err != nil {
		t.Fatal(err)
	}
	written := func(facts ...schemas.Fact) string {
		body, err := schemas.Marshal(schemas.Facts(facts))
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	const secret = "not for readers"
	held := 0
	for name := range record.Defs.Fact.Properties {
		for member, value := range map[string]string{
			"message": `{"id":"m","reply":{"agent":"chat","reply_ref":"` + secret + `"}}`,
			"error":   `{"error_type":"system_error","internal_details":"` + secret + `","reasons":[{"code":"run_task_failed","values":{"agent":"` + secret + `"}}]}`,
		} {
			var facts schemas.Facts
			if err := schemas.Unmarshal([]byte(`[{"`+name+`":{"run":1,"`+member+`":`+value+`}}]`), &facts); err != nil {
				continue // what it calls so is something else
			}
			before := written(facts...)
			if !strings.Contains(before, secret) {
				continue
			}
			held++
			if told := written(shownFact(facts[0])); strings.Contains(told, secret) || !strings.Contains(told, `"`+member+`"`) {
				t.Errorf("%s is shown as %s", name, told)
			}
			if after := written(facts...); after != before {
				t.Errorf("showing %s has made it %s", before, after)
			}
		}
	}
	if held < 5 {
		t.Errorf("only %d members of facts hold something that is not for readers", held)
	}
}
