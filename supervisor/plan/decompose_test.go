package plan_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// templated is a profile with templates instead of rules.
func templated(templates ...schemas.Template) schemas.Profile {
	source := steps()
	source.Complexity = nil
	source.Execution = schemas.Execution{Mode: schemas.ExecutionDAG}
	source.Planner = &schemas.Planner{Kind: schemas.PlannerTemplate, Templates: templates}
	source.Routers = []schemas.Router{{Kind: schemas.RouterAssigned}, {Kind: schemas.RouterDefault, Agent: "first"}}
	return source
}

// created returns the plan that a text leads to.
func created(tb testing.TB, profile *plan.Profile, text string) *schemas.PlanCreated {
	tb.Helper()
	_, facts := begun(tb, profile, text, "")
	for i := range *facts {
		if f := schemas.As[*schemas.PlanCreated]((*facts)[i]); f != nil {
			return f
		}
	}
	tb.Fatal("there is no plan")
	return nil
}

func one(description, arguments string) schemas.Template {
	task := schemas.TemplateTask{Task: "a", Description: description}
	if arguments != "" {
		task.Arguments = jsontext.Value(arguments)
	}
	return schemas.Template{Name: "t", Tasks: []schemas.TemplateTask{task}}
}

// TestTemplates: which one is taken, and what becomes of its parameters.
func TestTemplates(t *testing.T) {
	t.Parallel()
	word := func(word string) []schemas.Keyword { return []schemas.Keyword{{Word: word, Mode: schemas.ModeWord}} }
	invoice := one("pay {who} {request}", `{"who":"{who}","list":["{who}",{"{who}":"{when}"}],"n":1,"ok":true,"none":null}`)
	invoice.Name, invoice.Keywords = "invoice", word("invoice")
	invoice.Parameters = []schemas.Parameter{{Name: "who", Pattern: `for (\w+)`, Required: true}, {Name: "when", Pattern: `\d+ days`, Default: "soon"}}
	anything := one("{request}{who}{{request}}", "")
	anything.Name = "anything"
	profile := compile(t, templated(invoice, anything))
	for name, test := range map[string]struct {
		text, template, description, arguments string
	}{
		"by keyword and parameter":      {"an invoice for Ben in 14 days", "invoice", "pay Ben an invoice for Ben in 14 days", `{"who":"Ben","list":["Ben",{"{who}":"14 days"}],"n":1,"ok":true,"none":null}`},
		"a default":                     {"invoice for Eve", "invoice", "pay Eve invoice for Eve", `{"who":"Eve","list":["Eve",{"{who}":"soon"}],"n":1,"ok":true,"none":null}`},
		"without what is required":      {"an invoice", "anything", "an invoice{who}{an invoice}", ""},
		"without the keyword":           {"pay for Ben", "anything", "pay for Ben{who}{pay for Ben}", ""},
		"a value that looks like one":   {"invoice for request or {who} {request}", "invoice", "pay request invoice for request or {who} {request}", `{"who":"request","list":["request",{"{who}":"soon"}],"n":1,"ok":true,"none":null}`},
		"a value that has to be quoted": {"invoice for x in 7 days \"and\\ more\"", "invoice", "pay x invoice for x in 7 days \"and\\ more\"", `{"who":"x","list":["x",{"{who}":"7 days"}],"n":1,"ok":true,"none":null}`},
		"no text":                       {"", "anything", "{who}{}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := created(t, profile, test.text)
			task := &made.Tasks[0]
			if made.Source != schemas.PlannerTemplate || made.Template != test.template || task.Description.Text != test.description || string(task.Options().Arguments) != test.arguments {
				t.Errorf("got %s %q %s", made.Template, task.Description.Text, task.Options().Arguments)
			}
		})
	}
}

// TestTemplateNoneFits: then the words are one task.
func TestTemplateNoneFits(t *testing.T) {
	t.Parallel()
	template := one("x", "")
	template.Parameters = []schemas.Parameter{{Name: "who", Pattern: `for (\w+)`, Required: true}}
	made := created(t, compile(t, templated(template)), "nobody at all")
	if made.Source != "" || made.Template != "" || len(made.Tasks) != 1 || made.Tasks[0].Description.Text != "nobody at all" {
		t.Errorf("got %+v", made)
	}
}

// TestTemplateTakesWordsAsTheyAre: whatever a person writes, it changes no more
// than the places that stand for it, and the arguments stay JSON of one shape.
func TestTemplateTakesWordsAsTheyAre(t *testing.T) {
	t.Parallel()
	profile := compile(t, templated(one("<{request}>", `{"a":["{request}"],"{request}":"x"}`)))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(rapid.StringOf(rapid.SampledFrom([]rune("{}request\"\\\n ü😀\x00,:[]"))).Draw(t, "text"), "")
		run := workflow.Begin(&schemas.RunStarted{Run: 1, Message: schemas.Incoming{Text: schemas.Content{Result: schemas.Result{Text: text}}}})
		view := plan.View{Session: schemas.SessionID("p", "k"), Run: run, Profile: profile, Now: start(), Admission: plan.Unlimited{}}
		decision := plan.NewDecision(view, func(f schemas.Fact, _ string) { run.Apply(f, start()) })
		decision.Begin(schemas.Result{Text: text})
		decision.Resume()
		task := run.Tasks[0].Plan
		var arguments map[string]any
		if err := schemas.Unmarshal(task.Options().Arguments, &arguments); err != nil {
			t.Fatalf("%v: %s", err, task.Options().Arguments)
		}
		list, _ := arguments["a"].([]any)
		if len(arguments) != 2 || len(list) != 1 || list[0] != text || arguments["{request}"] != "x" || task.Description.Text != "<"+text+">" {
			t.Fatalf("%q became %s and %q", text, task.Options().Arguments, task.Description.Text)
		}
	})
}

// TestTemplateIsHeldToThePlan: a faulty template is refused with its profile.
func TestTemplateIsHeldToThePlan(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*schemas.Template)
		says   string
	}{
		"a circle": {func(s *schemas.Template) {
			s.Tasks = []schemas.TemplateTask{{Task: "a", Dependencies: []string{"b"}}, {Task: "b", Dependencies: []string{"a"}}}
		}, `in a circle: "a", "b"`},
		"a strange agent":          {func(s *schemas.Template) { s.Tasks[0].Agent = "third" }, `names the agent “third”`},
		"no tasks":                 {func(s *schemas.Template) { s.Tasks = nil }, "The plan has no tasks"},
		"arguments that are none":  {func(s *schemas.Template) { s.Tasks[0].Arguments = jsontext.Value(`{"a":`) }, "arguments"},
		"arguments in a list":      {func(s *schemas.Template) { s.Tasks[0].Arguments = jsontext.Value(`["{request}"]`) }, "The arguments of the task “a” are no object"},
		"a parameter twice":        {func(s *schemas.Template) { s.Parameters = []schemas.Parameter{{Name: "a"}, {Name: "a"}} }, `parameter "a" is there twice`},
		"a parameter of that name": {func(s *schemas.Template) { s.Parameters = []schemas.Parameter{{Name: "request"}} }, `parameter "request"`},
		"a pattern that is none":   {func(s *schemas.Template) { s.Parameters = []schemas.Parameter{{Name: "a", Pattern: "("}} }, `parameter "a"`},
		"a keyword that is none":   {func(s *schemas.Template) { s.Keywords = []schemas.Keyword{{Word: "(", Mode: schemas.ModeRegex}} }, `template "t"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := one("x", "")
			test.change(&template)
			if _, err := plan.Compile(templated(template)); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}
