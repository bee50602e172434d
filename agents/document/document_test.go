package document_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/document"
	"podium/bus"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/schemas"
)

func parse(t *testing.T, files map[string]string) *document.Templates {
	t.Helper()
	bodies := map[string][]byte{}
	for name, text := range files {
		bodies[name] = []byte(text)
	}
	templates, faults := document.ParseTemplates(bodies)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return templates
}

func open(t *testing.T, files map[string]string, formats ...document.Format) *document.Agent {
	t.Helper()
	opened, err := document.New(document.Config{Templates: parse(t, files), Formats: formats})
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// asked is a request in German with somewhere to keep files.
func asked(t *testing.T, arguments string, answers ...schemas.InquiryAnswer) *agent.Request {
	t.Helper()
	ledger := memory.New(1)
	if err := ledger.Declare(t.Context(), "writer", bus.Pool{Size: 1, AckWait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	return &agent.Request{Attempt: 1, Artifacts: ledger.Artifacts(), ExecutionRequest: schemas.ExecutionRequest{
		Payload: schemas.RequestPayload{Tasks: []schemas.Task{{Context: schemas.TaskContext{
			Constraints: jsontext.Value(`{"language":"de"}`), Arguments: jsontext.Value(arguments), Answers: answers,
		}}}},
	}}
}

func silent(int, string) {}

// written reads the files that an outcome names, by name.
func written(t *testing.T, request *agent.Request, made *agent.Outcome) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for i := range made.Deliverables {
		var kept schemas.Artifact
		if err := schemas.Unmarshal(made.Deliverables[i].Metadata, &kept); err != nil {
			t.Fatal(err)
		}
		content, err := request.Artifacts.Get(t.Context(), kept)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(content)
		if err = errors.Join(err, content.Close()); err != nil {
			t.Fatal(err)
		}
		files[kept.MediaType+" "+made.Deliverables[i].Path] = body
	}
	return files
}

const letter = "# Arztbrief\n\nSehr geehrte **{{.recipient}}**,\n\n{{.patient.name}} war am {{date .seen}} hier{{if .note}}: {{.note}}{{end}}.\n\n" +
	"{{range .doses}}- {{.drug}}: {{number .mg 1}} mg{{if .urgent}} ({{.urgent}}){{end}}\n{{end}}"

const data = `{"recipient":"Frau Größ","patient":{"name":"Łukasz Čapek","id":12345678901234567},"seen":"2026-03-30","doses":[{"drug":"Ibuprofen","mg":307.5,"urgent":true},{"drug":"ẞalbe","mg":2}]}`

// TestWrites_G10: a template, chosen by document_type or by template, is filled and kept in each format, the same
// bytes each time.
func TestWrites_G10(t *testing.T) {
	t.Parallel()
	tested := open(t, map[string]string{"Arztbrief.md": letter, "other.md": "other"})
	for _, arguments := range []string{
		`{"document_type":"Arztbrief","content_data":` + data + `}`,
		`{"document_type":"anything","template":"arztbrief","content_data":` + data + `}`,
		`{"document_type":"other","template":"Arztbrief","content_data":` + data + `}`,
	} {
		var before map[string][]byte
		for range 3 {
			request := asked(t, arguments)
			made, err := tested.Handle(t.Context(), request, silent)
			if err != nil || made.Status != "" || made.Text != "Das Dokument „Arztbrief“ ist fertig: Arztbrief.html, Arztbrief.pdf" ||
				string(made.Data) != `{"template":"Arztbrief","title":"Arztbrief","files":["Arztbrief.html","Arztbrief.pdf"]}` {
				t.Fatalf("%+v, %v", made, err)
			}
			files := written(t, request, &made)
			page, paper := files["text/html Arztbrief.html"], files["application/pdf Arztbrief.pdf"]
			for _, want := range []string{
				`<html lang="de">`, "<title>Arztbrief</title>", "<h1>Arztbrief</h1>", "<p>Sehr geehrte <strong>Frau Größ</strong>,</p>",
				"<p>Łukasz Čapek war am 30.03.2026 hier.</p>", "<li>Ibuprofen: 307,5 mg (ja)</li>\n<li>ẞalbe: 2,0 mg</li>",
			} {
				if !strings.Contains(string(page), want) {
					t.Fatalf("%s is not in\n%s", want, page)
				}
			}
			if !bytes.HasPrefix(paper, []byte("%PDF-")) || before != nil && !(bytes.Equal(before["application/pdf Arztbrief.pdf"], paper) && bytes.Equal(before["text/html Arztbrief.html"], page)) {
				t.Fatal("the same input made other bytes")
			}
			before = files
		}
	}
}

// TestMissingIsAsked_G10: what a template names and the data lack is asked for at once, and goes into the document once somebody has said it.
func TestMissingIsAsked_G10(t *testing.T) {
	t.Parallel()
	tested := open(t, map[string]string{"letter.md": letter}, document.FormatHTML)
	answer := func(values, text string, needs ...string) schemas.InquiryAnswer {
		return schemas.InquiryAnswer{Needs: needs, Values: jsontext.Value(values), Text: text}
	}
	for name, test := range map[string]struct {
		arguments string
		answers   []schemas.InquiryAnswer
		needs     string // names, and titles
		page      string // a part of it, where nothing is missing
	}{
		"everything": {
			`{"document_type":"letter"}`, nil,
			"content_data.recipient recipient; content_data.patient.name patient name; content_data.seen seen; content_data.doses doses", "",
		},
		"empty and null": {
			`{"document_type":"letter","content_data":{"recipient":" ","patient":{"name":null},"seen":"heute","doses":[]}}`, nil,
			"content_data.recipient recipient; content_data.patient.name patient name", "",
		},
		"a member of an entry": {
			`{"document_type":"letter","content_data":{"recipient":"A","patient":{"name":"B"},"seen":"heute","doses":[{"mg":1}]}}`, nil,
			"content_data.doses doses drug", "",
		},
		"which template": {`{"document_type":"poem"}`, nil, "template ", ""},
		"which document": {`{}`, nil, "document_type ", ""},
		"answered": {
			`{"content_data":{"patient":{"name":"B"},"doses":[]}}`,
			[]schemas.InquiryAnswer{
				answer("", " letter ", "document_type"),
				answer(`{"content_data":{"recipient":"Frau *A*","patient":{"name":"not asked"}}}`, "Frau *A*", "content_data.recipient", "content_data.seen"),
				answer("", "gestern", "content_data.seen"),
			},
			"", "<p>Sehr geehrte <strong>Frau *A*</strong>,</p>\n<p>B war am gestern hier.</p>",
		},
		"answered in part": {
			`{"document_type":"letter","content_data":{"recipient":"A","doses":[]}}`,
			[]schemas.InquiryAnswer{answer("", "two things", "content_data.patient.name", "content_data.seen")},
			"content_data.patient.name patient name; content_data.seen seen", "",
		},
		"answered line by line": {
			`{"document_type":"letter","content_data":{"doses":[]}}`,
			[]schemas.InquiryAnswer{answer("", "Recipient: A\nName: B: C\nseen : 2026-03-01\nnote: not asked", "content_data.recipient", "content_data.patient.name", "content_data.seen")},
			"", "<p>Sehr geehrte <strong>A</strong>,</p>\n<p>B: C war am 01.03.2026 hier.</p>",
		},
		"a list": {
			`{"document_type":"letter","content_data":{"recipient":"A","patient":{"name":"B"},"seen":"heute","doses":[{"mg":1}]}}`,
			[]schemas.InquiryAnswer{answer(`{"content_data":{"doses":[{"drug":"C","mg":1.25}]}}`, "C", "content_data.doses")},
			"", "<li>C: 1,2 mg</li>",
		},
	} {
		request := asked(t, test.arguments, test.answers...)
		made, err := tested.Handle(t.Context(), request, silent)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var needs []string
		for i := range made.Needs {
			needs = append(needs, made.Needs[i].Name+" "+made.Needs[i].Title)
		}
		if got := strings.Join(needs, "; "); got != test.needs || (made.Status == schemas.StatusBlocked) != (test.needs != "") || len(made.Needs) > 0 && len(made.Deliverables) > 0 {
			t.Errorf("%s: %s needs %q", name, made.Status, got)
		}
		if page := written(t, request, &made)["text/html letter.html"]; !strings.Contains(string(page), test.page) {
			t.Errorf("%s: %s", name, page)
		}
	}
	made, err := tested.Handle(t.Context(), asked(t, `{"document_type":"poem"}`), silent)
	if err != nil || made.Needs[0].Question["de"] != "Welches Dokument soll es sein? Zur Auswahl stehen: letter." || string(made.Needs[0].Schema) != `{"enum":["letter"]}` {
		t.Errorf("%+v, %v", made.Needs, err)
	}
}

// TestFailures: what no other attempt can help fails with a sentence, and without a person's data in the log.
func TestFailures(t *testing.T) {
	t.Parallel()
	tested := open(t, map[string]string{
		"letter.md": "{{.a.b}} {{number .n 1}}", "heading.md": "# {{markdown .text}}", "long.md": "{{range .n}}{{range $.n}}{{$.text}}{{end}}{{end}}",
	}, document.FormatPDF)
	for arguments, want := range map[string]string{
		`{"document_type":7}`: "Die Angaben zum Dokument sind unlesbar: document_type und template sind Texte, content_data ist ein Objekt.",
		`{"document_type":"letter","content_data":{"a":"secret","n":1}}`:                                     "Die Angaben passen nicht zur Vorlage „letter“.",
		`{"document_type":"letter","content_data":{"a":{"b":{"secret":1}},"n":1}}`:                           "Die Angaben passen nicht zur Vorlage „letter“.",
		`{"document_type":"heading","content_data":{"text":"secret\n\nsecret"}}`:                             "Die Angaben passen nicht zur Vorlage „heading“.",
		`{"document_type":"letter","content_data":{"a":{"b":"secret 🙂 שלום e\u0301x\u0301"},"n":1}}`:         "Das PDF kann diese Zeichen nicht darstellen: 🙂 (U+1F642), ש (U+05E9), ל (U+05DC), ו (U+05D5), ם (U+05DD), U+0301. Bitte anders schreiben.",
		`{"document_type":"long","content_data":{"n":[` + strings.Repeat("1,", 999) + `1],"text":"secret"}}`: "Das Dokument wird zu lang.",
	} {
		made, err := tested.Handle(t.Context(), asked(t, arguments), silent)
		failure, is := errors.AsType[*agent.Failure](err)
		if !is || failure.Message != want || !failure.Permanent || strings.Contains(err.Error(), "secret") || len(made.Deliverables) > 0 {
			t.Errorf("%.80s: %+v, %v", arguments, failure, err)
		}
	}
	request := asked(t, `{"document_type":"letter","content_data":{"a":{"b":"x"},"n":"1,25"}}`)
	request.Artifacts = nil
	if _, err := tested.Handle(t.Context(), request, silent); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("with nowhere to keep it: %v", err)
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	if _, err := document.New(document.Config{}); err == nil {
		t.Error("there is an agent without templates")
	}
	entry := open(t, map[string]string{"a.md": "a", "B.md": "b", "LICENSE": "{{"}).Description()
	if entry.Kind != "document" || entry.Description == "" || entry.SideEffects != "" || !strings.Contains(string(entry.InputSchema), `"document_type": {"enum":["B","a"]}`) {
		t.Errorf("%+v", entry)
	}
}
