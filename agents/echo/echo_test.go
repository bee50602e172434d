package echo_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/echo"
	"podium/bus/agent"
	"podium/schemas"
)

func TestEchoReturnsWordsAndArguments(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		task schemas.Task
		want schemas.Result
	}{
		"the person's words come first": {
			task: schemas.Task{Description: "step", Context: schemas.TaskContext{Request: "Grüße"}},
			want: schemas.Result{Text: "Grüße"},
		},
		"the description stands in for them": {
			task: schemas.Task{Description: "step"},
			want: schemas.Result{Text: "step"},
		},
		"arguments come back unchanged": {
			task: schemas.Task{Description: "step", Context: schemas.TaskContext{Arguments: jsontext.Value(`{"a":[1,2]}`)}},
			want: schemas.Result{Text: "step", Data: jsontext.Value(`{"a":[1,2]}`)},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tested, err := echo.New()
			if err != nil {
				t.Fatal(err)
			}
			request := &agent.Request{ExecutionRequest: schemas.ExecutionRequest{
				Payload: schemas.RequestPayload{Tasks: []schemas.Task{test.task}},
			}}
			reported := -1
			got, err := tested.Handle(t.Context(), request, func(percentage int, _ string) { reported = percentage })
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != test.want.Text || string(got.Data) != string(test.want.Data) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if reported != 100 {
				t.Errorf("reported %d %%, want 100 %%", reported)
			}
		})
	}
}

func TestDescriptionNamesNoAgent(t *testing.T) {
	t.Parallel()
	agent, err := echo.New()
	if err != nil {
		t.Fatal(err)
	}
	entry := agent.Description()
	if entry.Name != "" || entry.Kind != "echo" || entry.SideEffects != "" || !entry.InputSchema.IsValid() {
		t.Errorf("unexpected entry %+v", entry)
	}
}
