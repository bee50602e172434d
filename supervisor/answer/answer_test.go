package answer_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/answer"
)

func german() answer.Words {
	return answer.Words{Decimal: ",", Texts: &schemas.Texts{
		Yes: "ja", No: "nein", More: "Weitere {count} stehen in der Datei.", Recommendations: "Empfohlen:", Findings: "Aufgefallen:", CheckFailed: "Prüfung {validator} nicht bestanden.",
	}}
}

// TestData: data becomes lines, with the titles that the schema has, in the order in which it was written.
func TestData(t *testing.T) {
	t.Parallel()
	const schema = `{"properties": {"total": {"title": "Summe"}, "items": {"items": {"properties": {"n": {"title": "Menge"}}}}}}`
	for name, c := range map[string]struct{ data, want string }{
		"a number":               {`12.5`, "12,5"},
		"a text of several rows": {`"one\ntwo"`, "one two"},
		"nothing":                {`null`, ""},
		"members in their order": {`{"total": 3, "paid": true, "due_date": "2026-12-03", "note": null}`, "Summe: 3\nPaid: ja\nDue date: 2026-12-03"},
		"a list of scalars":      {`{"tags": ["a", 1, false]}`, "Tags: a, 1, nein"},
		"a section":              {`{"person": {"name": "Ana", "age": 7}}`, "Person:\n  Name: Ana\n  Age: 7"},
		"rows":                   {`{"items": [{"n": 1, "of": "x"}, {"n": 2}]}`, "Items:\n  - Menge: 1; Of: x\n  - Menge: 2"},
		"a list alone":           {`[{"n": 1}]`, "- N: 1"},
		"names that deceive":     {`{"a\u202eb": "c\u202ed", "": 1}`, "Ab: cd\n1"},
		"no JSON":                {`{`, ""},
	} {
		told := answer.Data(jsontext.Value(c.data), jsontext.Value(schema), "t1", german())
		if told.Text != c.want || told.File != nil {
			t.Errorf("%s:\n%s\nfile %+v, want\n%s", name, told.Text, told.File, c.want)
		}
	}
}

// What there is no room for is in a file, whole.
func TestDataThatIsTooMuch(t *testing.T) {
	t.Parallel()
	rows := make([]string, 100)
	for i := range rows {
		rows[i] = `{"name": "=cmd()", "value": -1}`
	}
	told := answer.Data(jsontext.Value(`{"rows": [`+strings.Join(rows, ",")+`]}`), nil, "t1", german())
	if lines := strings.Count(told.Text, "\n"); lines != 40 || !strings.HasSuffix(told.Text, "Weitere 61 stehen in der Datei.") {
		t.Errorf("%d lines, which end with %q", lines, told.Text[max(len(told.Text)-60, 0):])
	}
	if told.File == nil || told.File.Name != "t1.csv" || !strings.HasPrefix(told.File.Text, "name,value\r\n'=cmd(),-1\r\n") || strings.Count(told.File.Text, "\r\n") != 101 {
		t.Errorf("the file is %+v", told.File)
	}
	deep := answer.Data(jsontext.Value(`{"a": {"b": {"c": {"d": {"e": 1}}}}}`), nil, "t2", german())
	if deep.File == nil || deep.File.Name != "t2.json" || !strings.Contains(deep.File.Text, `"e": 1`) {
		t.Errorf("%+v", deep)
	}
	long := answer.Data(jsontext.Value(`{"a": "`+strings.Repeat("ü", 1000)+`"}`), nil, "t3", german())
	if long.File == nil || len(long.Text) > 600 || !strings.Contains(long.Text, "…") {
		t.Errorf("%+v", long)
	}
}

// TestTemplate: a template tells the data of its agent, and fails on what it cannot.
func TestTemplate(t *testing.T) {
	t.Parallel()
	told := func(text, data string) string {
		template, err := answer.ParseTemplate(text)
		if err != nil {
			return "unreadable"
		}
		said, err := template.Tell(jsontext.Value(data))
		if err != nil {
			return "failed"
		}
		return said
	}
	for name, c := range map[string]struct{ template, data, want string }{
		"a member":         {"{{.total}} EUR", `{"total": 12.5}`, "12.5 EUR"},
		"a list":           {"{{range .rows}}{{.n}} {{end}}", `{"rows": [{"n": 1}, {"n": 2}]}`, "1 2"},
		"what is missing":  {"{{.total}} EUR", `{}`, "failed"},
		"nothing":          {"{{.total}} EUR", `{"total": null}`, "EUR"},
		"no such function": {"{{exec .total}}", `{}`, "unreadable"},
		"too much":         {`{{range .}}{{range $}}{{range $}}xxxxxxxxxx{{end}}{{end}}{{end}}`, "[" + strings.Repeat("1,", 99) + "1]", "failed"},
		"no list":          {"{{len .total}}", `{"total": 1}`, "failed"},
		"no JSON":          {"x", `{`, "failed"},
	} {
		if got := told(c.template, c.data); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestFindings_M10_M12_M13: checks that have failed, what was noticed and what is recommended are told, each once.
func TestFindings_M10_M12_M13(t *testing.T) {
	t.Parallel()
	said := []schemas.Findings{{
		Issues:            []schemas.Issue{{Description: "One\nwas locked."}},
		ValidationResults: []schemas.ValidationResult{{Validator: "links", Status: "passed"}, {Validator: "words", Status: "failed", Details: "Two.", Issues: []schemas.ValidationIssue{{Severity: "error", Message: "Line 3"}, {Severity: "info", Message: "Line 4"}}}},
		Recommendations:   []string{"Ask.", " "},
	}, {Recommendations: []string{"Ask."}}}
	want := "Prüfung words nicht bestanden. Two.\n- Line 3\n\nAufgefallen:\n- One was locked.\n\nEmpfohlen:\n- Ask."
	if got := answer.Findings(said, german()); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := answer.Findings(said, answer.Words{Texts: &schemas.Texts{}}); got != "" {
		t.Errorf("a language without words says %q", got)
	}
}

// FuzzData: whatever an agent says, it is told within the bounds and as text.
func FuzzData(f *testing.F) {
	for _, seed := range []string{`{"a": [1, {"b": null}]}`, `[]`, `"x"`, `{"a": {"b": {"c": {"d": 1}}}}`} {
		f.Add([]byte(seed), []byte(`{"properties": {"a": {"title": "A"}}}`))
	}
	f.Fuzz(func(t *testing.T, data, schema []byte) {
		told := answer.Data(data, schema, "t", german())
		if len(told.Text) > 8<<10 || strings.ContainsAny(told.Text, "\x00\x1b\r\u202e") {
			t.Errorf("%q", told.Text)
		}
	})
}
