package scripted_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/scripted"
	"podium/bus/agent"
	"podium/schemas"
)

// filled is what a template makes of a request; the error is that of the person who waits.
func filled(t *testing.T, text string, request *agent.Request) (string, error) {
	t.Helper()
	tested := open(t, &scripted.Script{Cases: []scripted.Case{{Answer: says(t, text)}}})
	made, err := tested.Handle(t.Context(), request, silent)
	return made.Text, err
}

func rich() *agent.Request {
	return asked("two teas, {{.words}}", func(r *agent.Request) {
		r.Attempt, r.Task().Description = 2, "a step"
		r.Task().Context.Arguments = jsontext.Value(`{"count":2,"what":{"tea":"green"}}`)
		r.Task().Context.Inputs = map[string]schemas.TaskInput{"t1": {Result: schemas.Result{Text: "hot", Data: jsontext.Value(`[1,2]`)}, Status: schemas.StatusPartial}}
		r.Task().Context.Answers = []schemas.InquiryAnswer{
			{Question: "How hot?", Needs: []string{"heat"}, Text: "very", Values: jsontext.Value(`{"heat":90,"milk":true}`)}, {Question: "Milk?", Text: "no", Values: jsontext.Value(`{"milk":false}`)},
		}
		r.Task().Context.Entities = map[string]string{"table": "7"}
		r.Task().Context.Message = &schemas.MessageContext{Channel: "email", From: &schemas.Author{Address: "ada@example.org"}, Subject: "Tea"}
		r.Task().Context.Attachments = []schemas.TaskAttachment{{Name: "a.pdf"}, {Name: "b.png"}}
	})
}

// TestTemplates: all that a request says can stand in a text, and what it does not say is nothing.
func TestTemplates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{{.words}}!": "two teas, {{.words}}!",
		"{{.arguments.count}} {{.arguments.what.tea}}":                                           "2 green",
		"{{.inputs.t1.text}} {{index .inputs.t1.data 1}} {{.inputs.t1.status}}":                  "hot 2 partial",
		"table {{.entities.table}}{{.entities.chair}}":                                           "table 7",
		"{{.message.from.address}} wrote {{.message.subject}}":                                   "ada@example.org wrote Tea",
		"{{.answer.question}} {{.answer.text}}, {{.answer.values.heat}} {{.answer.values.milk}}": "Milk? no, 90 false",
		"{{range .answers}}{{.question}} {{.text}}. {{end}}{{(index .answers 0).values.milk}}":   "How hot? very. Milk? no. true",
		"{{range .attachments}}[{{.}}]{{end}} {{len .attachments}}":                              "[a.pdf][b.png] 2",
		"{{with .arguments}}{{.count}} {{$.attempt}}{{end}} {{.language}}":                       "2 2 en",
		"{{if eq .arguments.count 2.0}}a pair{{else}}{{.words}}{{end}}":                          "a pair",
		"{{range .attachments}}{{.}}{{else}}{{.words}}{{end}} of {{(index .attachments 0)}}":     "a.pdfb.png of a.pdf",
		"{{.task}}: {{.words}}": "a step: two teas, {{.words}}",
		"line\n\n":              "line",
	} {
		if got, err := filled(t, text, rich()); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{
		"{{.answer.text}}", "{{.answer.values.heat}}", "{{range .answers}}{{.text}}{{end}}", "{{.arguments.what}}", "{{.inputs.t1}}", "{{.entities.table}}", "{{.message.from.name}}", "{{.message.subject}}", "{{range .attachments}}{{.}}{{end}}",
	} {
		if got, err := filled(t, text, asked("x", nil)); err != nil || got != "" {
			t.Errorf("%s without any: %q, %v", text, got, err)
		}
	}
}

// TestTemplatesThatDoNotFit: the attempt ends, and no log has the words.
func TestTemplatesThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{{index .words 99999}}", "{{.arguments.what.tea.green}}", "{{range .words}}{{end}}", `{{range .attachments}}{{printf "%40000d" 1}}{{end}}`} {
		got, err := filled(t, text, rich())
		failure, ok := err.(*agent.Failure) //nolint:errorlint // it is returned as it is
		if !ok || got != "" || !failure.Permanent || failure.Message != "The text in the script does not fit this request." || failure.Error() != "the text of here does not fit the request" {
			t.Errorf("%s: %q, %+v", text, got, failure)
		}
	}
}

func TestTemplateFaults(t *testing.T) {
	t.Parallel()
	known := strings.Join(scripted.Names(), ", ")
	for text, want := range map[string]string{
		"{{.words":         "it is no template: 1: unclosed action",
		"{{shout .words}}": `it is no template: 1: function "shout" not defined`,
		`{{template "text" .}}{{block "b" .}}{{end}}`: "a text has no templates of its own: define, template and block mean nothing here",
		`{{template "text" .}}`:                       "a text has no templates of its own: define, template and block mean nothing here",
		`{{block "b" .}}{{end}}`:                      "a text has no templates of its own: define, template and block mean nothing here",
		"{{.wrods}}":                                  "unknown {{.wrods}}; it can be: " + known,
		"{{if .a}}{{end}}":                            "unknown {{.a}}; it can be: " + known,
		"{{range .b}}{{.c}}{{end}}":                   "unknown {{.b}}; it can be: " + known,
		"{{with .words}}{{$.d}}{{end}}":               "unknown {{.d}}; it can be: " + known,
		"{{with .words}}{{.x}}{{else}}{{.e}}{{end}}":  "unknown {{.e}}; it can be: " + known,
		"{{len (index .f 1)}}":                        "unknown {{.f}}; it can be: " + known,
		"{{(.g).h}}":                                  "unknown {{.g}}; it can be: " + known,
	} {
		if _, err := scripted.ParseTemplate(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzTemplate: whatever stands in a template and in a message, an answer is bounded text.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"{{.words}}", "{{range .attachments}}{{.}}{{end}}", `{{printf "%d" .attempt}}`, "{{with $x := .arguments}}{{$x.a}}{{end}}", "{{define \"a\"}}{{.b}}{{end}}", ""} {
		f.Add(text, "two teas")
	}
	f.Fuzz(func(t *testing.T, text, words string) {
		parsed, err := scripted.ParseTemplate(text)
		if err != nil || strings.Contains(text, "range") { // over a number it may go on for long
			return
		}
		tested := open(t, &scripted.Script{Cases: []scripted.Case{{Answer: scripted.Answer{Text: parsed}}}})
		made, err := tested.Handle(t.Context(), asked(words, nil), silent)
		if err == nil && (len(made.Text) > 64<<10 || !utf8.ValidString(made.Text) && utf8.ValidString(text)) {
			t.Errorf("%d bytes: %q", len(made.Text), made.Text)
		}
	})
}
