package scripted_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/scripted"
	"podium/bus"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/schemas"
)

func template(t *testing.T, text string) *scripted.Template {
	t.Helper()
	parsed, err := scripted.ParseTemplate(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func open(t *testing.T, script *scripted.Script) *scripted.Agent {
	t.Helper()
	opened, err := scripted.New(scripted.Config{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func asked(words string, change func(*agent.Request)) *agent.Request {
	request := &agent.Request{Attempt: 1, ExecutionRequest: schemas.ExecutionRequest{
		Payload: schemas.RequestPayload{Tasks: []schemas.Task{{Description: words, Context: schemas.TaskContext{Request: words}}}},
	}}
	if change != nil {
		change(request)
	}
	return request
}

func silent(int, string) {}

// says is an answer of nothing but words.
func says(t *testing.T, text string) scripted.Answer {
	t.Helper()
	return scripted.Answer{Place: "here", Text: template(t, text)}
}

func contains(part string) func(string) bool {
	return func(words string) bool { return strings.Contains(words, part) }
}

// TestFirstThatFits: each condition counts, and the first case of which all hold.
func TestFirstThatFits(t *testing.T) {
	t.Parallel()
	otherwise := says(t, "otherwise")
	tested := open(t, &scripted.Script{Otherwise: &otherwise, Cases: []scripted.Case{
		{Attempt: 2, Words: contains("tea"), Answer: says(t, "tea, at last")},
		{Words: contains("tea"), Answer: says(t, "tea")},
		{Words: contains("green tea"), Answer: says(t, "never reached")},
		{Arguments: jsontext.Value(`{"a":1,"b":{"c":[true],"d":"x"}}`), Answer: says(t, "arguments")},
		{Words: contains("step"), Answer: says(t, "a step")},
		{Kind: schemas.KindPlan, Words: contains("cake"), Answer: says(t, "cake first")},
		{Kind: schemas.KindPlan, Answer: says(t, "a plan")},
	}})
	for name, test := range map[string]struct {
		request *agent.Request
		want    string
	}{
		"words":              {asked("green tea", nil), "tea"},
		"attempt":            {asked("tea", func(r *agent.Request) { r.Attempt = 2 }), "tea, at last"},
		"another attempt":    {asked("tea", func(r *agent.Request) { r.Attempt = 3 }), "tea"},
		"a task of its own":  {asked("tea", func(r *agent.Request) { r.Task().Description = "a step" }), "a step"},
		"no task":            {asked("tea", func(r *agent.Request) { r.Task().Description = "" }), "tea"},
		"plan of words":      {asked("cake", plans), "cake first"},
		"kind":               {asked("tea", plans), "a plan"},
		"a kind without any": {asked("tea", func(r *agent.Request) { r.Task().Context.Kind = schemas.KindRoute }), "otherwise"},
		"work by its name":   {asked("tea", func(r *agent.Request) { r.Task().Context.Kind = schemas.KindWork }), "tea"},
		"arguments":          {asked("x", arguments(`{"more":0,"b":{"d":"x","c":[true]},"a":1.0}`)), "arguments"},
		"an argument less":   {asked("x", arguments(`{"a":1}`)), "otherwise"},
		"another argument":   {asked("x", arguments(`{"a":2,"b":{"c":[true],"d":"x"}}`)), "otherwise"},
		"no arguments":       {asked("x", nil), "otherwise"},
		"no object":          {asked("x", arguments(`[1]`)), "otherwise"},
	} {
		for range 2 { // it remembers nothing
			if made, err := tested.Handle(t.Context(), test.request, silent); err != nil || made.Text != test.want {
				t.Errorf("%s: %q, %v; want %q", name, made.Text, err, test.want)
			}
		}
	}
}

// TestAnswersOfPeople: a case is for what somebody has answered, in words or in what they say by name; the newest counts.
func TestAnswersOfPeople(t *testing.T) {
	t.Parallel()
	tested := open(t, &scripted.Script{Cases: []scripted.Case{
		{Values: jsontext.Value(`{"day":"2030-12-03","for":{"count":2}}`), Answer: says(t, "both at once")},
		{Values: jsontext.Value(`{"day":"2030-12-03"}`), Answer: says(t, "that day")},
		{Answered: contains("tea"), Answer: says(t, "tea, as you say: {{.answer.text}}")},
		{Answered: func(string) bool { return true }, Answer: says(t, "{{.answer.question}} {{range .answers}}[{{.text}}]{{end}}")},
		{Answer: says(t, "nobody was asked{{.answer.text}}{{.answer.values.day}}{{range .answers}}!{{end}}")},
	}})
	one := func(text, values string) schemas.InquiryAnswer {
		answer := schemas.InquiryAnswer{Question: text + "?", Text: text}
		if values != "" {
			answer.Values = jsontext.Value(values)
		}
		return answer
	}
	for name, test := range map[string]struct {
		answers []schemas.InquiryAnswer
		want    string
	}{
		"nobody was asked":      {nil, "nobody was asked"},
		"words":                 {[]schemas.InquiryAnswer{one("green tea", "")}, "tea, as you say: green tea"},
		"the newest words":      {[]schemas.InquiryAnswer{one("green tea", ""), one("coffee", "")}, "coffee? [green tea][coffee]"},
		"a value":               {[]schemas.InquiryAnswer{one("the third", `{"day":"2030-12-03"}`)}, "that day"},
		"the newest value":      {[]schemas.InquiryAnswer{one("the third", `{"day":"2030-12-03"}`), one("the fourth", `{"day":"2030-12-04"}`)}, "the fourth? [the third][the fourth]"},
		"values of two answers": {[]schemas.InquiryAnswer{one("the third", `{"day":"2030-12-03"}`), one("two", `{"for":{"count":2.0}}`)}, "both at once"},
		"no object":             {[]schemas.InquiryAnswer{one("the third", `["2030-12-03"]`)}, "the third? [the third]"},
	} {
		request := asked("an appointment", func(r *agent.Request) { r.Task().Context.Answers = test.answers })
		if made, err := tested.Handle(t.Context(), request, silent); err != nil || made.Text != test.want {
			t.Errorf("%s: %q, %v; want %q", name, made.Text, err, test.want)
		}
	}
}

func plans(r *agent.Request) {
	r.Task().Context.Kind, r.Task().Description = schemas.KindPlan, "Divide the request into tasks."
}

func arguments(object string) func(*agent.Request) {
	return func(r *agent.Request) { r.Task().Context.Arguments = jsontext.Value(object) }
}

// TestNothingFits: without an otherwise no other attempt can help, and the person is told for which words.
func TestNothingFits(t *testing.T) {
	t.Parallel()
	tested := open(t, &scripted.Script{Cases: []scripted.Case{{Words: contains("tea"), Answer: says(t, "tea")}}})
	for words, want := range map[string]string{
		"coffee":                  "The script has nothing for: coffee",
		"":                        "The script has nothing for: ",
		strings.Repeat("ä", 1000): "The script has nothing for: " + strings.Repeat("ä", 200) + "…",
	} {
		_, err := tested.Handle(t.Context(), asked(words, nil), silent)
		failure, ok := errors.AsType[*agent.Failure](err)
		if !ok || !failure.Permanent || failure.Message != want || strings.Contains(err.Error(), "coffee") {
			t.Errorf("%q: %+v, %v", words, failure, err)
		}
	}
	german := asked("Kaffee", func(r *agent.Request) { r.Task().Context.Constraints = jsontext.Value(`{"language":"de-AT"}`) })
	_, err := tested.Handle(t.Context(), german, silent)
	if failure, ok := errors.AsType[*agent.Failure](err); !ok || failure.Message != "Im Drehbuch steht nichts zu: Kaffee" {
		t.Errorf("in German: %+v", failure)
	}
}

// TestOutcomes: what a case says comes back whole.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	whole := agent.Outcome{
		Status: schemas.StatusBlocked, Result: schemas.Result{Data: jsontext.Value(`{"a":1}`), MediaType: "text/markdown"},
		Findings: schemas.Findings{
			Issues: []schemas.Issue{{Severity: "low", Description: "it is late"}}, Recommendations: []string{"sleep"},
			ValidationResults: []schemas.ValidationResult{{Validator: "v", Status: schemas.ValidationPassed}},
		},
		Usage: &schemas.ResourceUsage{TokensUsed: new(7)}, Needs: []schemas.Need{{Name: "day"}}, Operation: &schemas.Operation{Name: "book"},
	}
	tested := open(t, &scripted.Script{Cases: []scripted.Case{{Answer: scripted.Answer{Text: template(t, "wait"), Made: whole}}}})
	made, err := tested.Handle(t.Context(), asked("x", nil), silent)
	whole.Text = "wait"
	if err != nil || !reflect.DeepEqual(made, whole) {
		t.Errorf("%v\n%+v, want\n%+v", err, made, whole)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	usage := &schemas.ResourceUsage{TokensUsed: new(5)}
	for fails, want := range map[scripted.Failing]agent.Failure{
		scripted.FailsTemporary: {},
		scripted.FailsPermanent: {Permanent: true},
		scripted.FailsResource:  {Category: schemas.CategoryResource},
		scripted.FailsUnknown:   {Unknown: true},
	} {
		for text, message := range map[string]string{"{{.words}} is out": "tea is out", "": "The script has this fail."} {
			tested := open(t, &scripted.Script{Cases: []scripted.Case{{Answer: scripted.Answer{
				Place: "cases[0]", Text: template(t, text), Fails: fails, Made: agent.Outcome{Usage: usage},
			}}}})
			made, err := tested.Handle(t.Context(), asked("tea", nil), silent)
			got, ok := errors.AsType[*agent.Failure](err)
			if !ok || got.Message != message || got.Permanent != want.Permanent || got.Unknown != want.Unknown || got.Category != want.Category {
				t.Errorf("%s: %+v", fails, got)
			}
			if made.Usage != usage || made.Text != "" || strings.Contains(err.Error(), "tea") {
				t.Errorf("%s: beside it %+v; in the log %v", fails, made, err)
			}
		}
	}
}

// TestDelay: it takes its time, says how much of it has passed, and ends when nobody waits any more.
func TestDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tested := open(t, &scripted.Script{Cases: []scripted.Case{{Answer: scripted.Answer{Text: template(t, "done"), Delay: time.Minute}}}})
		var told []int
		started := time.Now()
		made, err := tested.Handle(t.Context(), asked("x", nil), func(percentage int, _ string) { told = append(told, percentage) })
		if err != nil || made.Text != "done" || time.Since(started) != time.Minute {
			t.Errorf("%q after %s, %v", made.Text, time.Since(started), err)
		}
		if len(told) < 19 || told[0] != 5 || told[18] != 95 {
			t.Errorf("progress %v", told)
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		started = time.Now()
		if _, err = tested.Handle(ctx, asked("x", nil), silent); !errors.Is(err, gone) || time.Since(started) != time.Second {
			t.Errorf("cancelled: %v after %s", err, time.Since(started))
		}
	})
}

// TestActs: a permit is asked for right before the end, and what is refused is returned as it is.
func TestActs(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for name, test := range map[string]struct {
		acts   bool
		permit error
		want   error
		asked  int
	}{
		"permitted": {true, nil, nil, 1}, "refused": {true, refused, refused, 1}, "does not act": {false, refused, nil, 0},
	} {
		count := 0
		tested := open(t, &scripted.Script{Cases: []scripted.Case{{Answer: scripted.Answer{Text: template(t, "done"), Acts: test.acts}}}})
		request := asked("x", nil).WithPermit(func(context.Context) error {
			count++
			return test.permit
		})
		if _, err := tested.Handle(t.Context(), request, silent); !errors.Is(err, test.want) || count != test.asked {
			t.Errorf("%s: %v, asked %d times", name, err, count)
		}
	}
}

// TestFiles: a file is kept for the request, and the deliverable has its artifact.
func TestFiles(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	if err := ledger.Declare(t.Context(), "web", bus.Pool{Size: 1, AckWait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	about := schemas.Deliverable{Type: schemas.DeliverableReport, Path: "offer.csv", Description: "An offer."}
	tested := open(t, &scripted.Script{Cases: []scripted.Case{{Answer: scripted.Answer{
		Place: "cases[0]", Files: []scripted.File{{MediaType: "text/csv", Content: []byte("a;b\n"), About: about}},
	}}}})
	request := asked("x", func(r *agent.Request) { r.Artifacts = ledger.Artifacts() })
	made, err := tested.Handle(t.Context(), request, silent)
	if err != nil || len(made.Deliverables) != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	var kept schemas.Artifact
	if err = schemas.Unmarshal(made.Deliverables[0].Metadata, &kept); err != nil || kept.Size != 4 || kept.MediaType != "text/csv" {
		t.Errorf("%+v, %v", kept, err)
	}
	content, err := ledger.Artifacts().Get(t.Context(), kept)
	if err != nil {
		t.Fatal(err)
	}
	_ = content.Close()
	if made.Deliverables[0].Metadata = nil; !reflect.DeepEqual(made.Deliverables[0], about) {
		t.Errorf("the deliverable is %+v", made.Deliverables[0])
	}
	if _, err = tested.Handle(t.Context(), asked("x", nil), silent); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("with nowhere to keep it: %v", err)
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	if _, err := scripted.New(scripted.Config{}); err == nil {
		t.Error("there is an agent without a script")
	}
	tested, err := scripted.New(scripted.Config{
		Script: &scripted.Script{}, Description: "Knows the weather.", OutputSchema: jsontext.Value(`{}`), SideEffects: schemas.SideEffectsExternal,
		Kinds: []schemas.RequestKind{schemas.KindPlan},
	})
	if err != nil {
		t.Fatal(err)
	}
	entry := tested.Description()
	if entry.Kind != "scripted" || entry.Name != "" || entry.Description != "Knows the weather." || string(entry.OutputSchema) != "{}" ||
		entry.SideEffects != schemas.SideEffectsExternal || len(entry.Kinds) != 1 || !entry.InputSchema.IsValid() {
		t.Errorf("unexpected entry %+v", entry)
	}
}
