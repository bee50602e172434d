package retrieval_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"podium/agents/retrieval"
	"podium/bus/agent"
	"podium/schemas"
)

const compounds = "haut\nausschlag # Exanthem\n\nkopf\nschmerz\ntermin\narzt\nserver\nmagen\ndarm\ngrippe\nschleim\n"

func open(t *testing.T, directory string, mode retrieval.Mode) *retrieval.Agent {
	t.Helper()
	return opened(t, retrieval.Config{Directory: directory, Mode: mode, Wait: time.Minute})
}

func opened(t *testing.T, config retrieval.Config) *retrieval.Agent {
	t.Helper()
	words, err := retrieval.ParseCompounds([]byte(compounds))
	if err != nil {
		t.Fatal(err)
	}
	config.Compounds = words
	opened, err := retrieval.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func asked(arguments string) *agent.Request {
	return &agent.Request{Attempt: 1, Run: "s-1", EffectID: uuid.NewString(), ExecutionRequest: schemas.ExecutionRequest{
		Payload: schemas.RequestPayload{Tasks: []schemas.Task{{TaskID: "t1", Context: schemas.TaskContext{
			Constraints: jsontext.Value(`{"language":"de"}`), Arguments: jsontext.Value(arguments),
		}}}},
	}}
}

func silent(int, string) {}

// knowledge is what is learned, as JSON.
func knowledge(t *testing.T, text, source string, tags ...string) string {
	t.Helper()
	body, err := schemas.Marshal(map[string]any{
		"text_for_embedding": text, "context": map[string]any{"source": source, "field": "skin"}, "validated_by_human": true, "tags": tags,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// found are the sources of what is found, the best first.
func found(t *testing.T, reader *retrieval.Agent, arguments string) (sources []string) {
	t.Helper()
	made, err := reader.Handle(t.Context(), asked(arguments), silent)
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	var data struct {
		Results []struct {
			Score   float64        `json:"score"`
			Source  string         `json:"source"`
			Passage string         `json:"passage"`
			Context jsontext.Value `json:"context"`
		} `json:"results"`
	}
	if err := schemas.Unmarshal(made.Data, &data); err != nil {
		t.Fatal(err)
	}
	before := 1e9
	for _, result := range data.Results {
		if result.Score <= 0 || result.Score > before || !strings.Contains(made.Text, result.Passage+" ("+result.Source+")") || !strings.Contains(string(result.Context), "skin") {
			t.Errorf("%s: %+v after %f", arguments, result, before)
		}
		sources, before = append(sources, result.Source), result.Score
	}
	return sources
}

// TestFinds: forms of a word count as one, compounds are found by their parts, and a part of a word that is no part of its meaning finds nothing.
func TestFinds(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "new", "medical")
	learner, reader := open(t, directory, retrieval.ModeLearn), open(t, directory, retrieval.ModeRead)
	if sources := found(t, reader, `{"query":"Ausschlag"}`); len(sources) != 0 {
		t.Errorf("in an index that is not there: %q", sources)
	}
	for source, text := range map[string]string{
		"skin": "Bei Hautausschlägen hilft eine kühle Salbe.", "head": "Gegen Kopfschmerzen hilft Ruhe. Trinken Sie viel.", "server": "Der Terminalserver wird nachts neu gestartet.",
		"visit": "Arzttermine werden am Telefon vereinbart.", "stomach": "Die Magen-Darm-Grippe und die Magenschleimhaut.", "skins": "Haut und Haare.",
	} {
		if _, err := learner.Handle(t.Context(), asked(knowledge(t, text, source, "tag-"+source, "all")), silent); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]string{
		"Ausschlag": "skin", "Ausschläge": "skin", "hautausschlag": "skin", "AUSSCHLÄGE!": "skin", "Schmerzen": "head", "Schmerz im Kopf": "head", "Kopfschmerz": "head",
		"Termin": "visit", "Termine": "visit", "Server": "", "Terminalserver": "server", "Schleim": "stomach", "Grippe": "stomach", "Salben": "skin", "und die": "", "Zahnarzt": "",
		"x* OR _id:[a TO b] +\"": "",
	} {
		body, err := schemas.Marshal(map[string]any{"query": query, "limit": 3})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(found(t, reader, string(body)), " "); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
	if got := found(t, reader, `{"query":"Haut"}`); !slices.Equal(got, []string{"skins", "skin", "stomach"}) && !slices.Equal(got, []string{"skins", "stomach", "skin"}) {
		t.Errorf("the word itself is not before compounds: %q", got)
	}
	if got := found(t, reader, `{"query":"hilft","tags":["all","tag-head"]}`); !slices.Equal(got, []string{"head"}) {
		t.Errorf("by tags: %q", got)
	}
	if got := found(t, reader, `{"query":"hilft","limit":1}`); len(got) != 1 {
		t.Errorf("one at most: %q", got)
	}
	made, err := reader.Handle(t.Context(), asked(`{"query":"Zahnarzt"}`), silent)
	if err != nil || made.Text != "Dazu ist nichts hinterlegt." || string(made.Data) != `{"query":"Zahnarzt","results":[]}` {
		t.Errorf("%+v, %v", made, err)
	}
}

// TestLearnsWhatIsValidated_G13: what no person has validated is refused, and nothing of it is kept.
func TestLearnsWhatIsValidated_G13(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "medical")
	learner := open(t, directory, retrieval.ModeLearn)
	for arguments, want := range map[string]string{
		`{"text_for_embedding":"x","context":{},"validated_by_human":false}`: "Gelernt wird nur, was ein Mensch geprüft hat.",
		`{"text_for_embedding":"x","context":{}}`:                            "Gelernt wird nur, was ein Mensch geprüft hat.",
		`{"text_for_embedding":"x","context":{},"validated_by_human":"yes"}`: "Die Angaben sind unlesbar: text_for_embedding ist ein Text, context ein Objekt, tags eine Liste von Texten.",
		`{"text_for_embedding":" ","context":{},"validated_by_human":true}`:  "Die Angaben sind unlesbar: text_for_embedding ist ein Text, context ein Objekt, tags eine Liste von Texten.",
		`{"text_for_embedding":"x","validated_by_human":true}`:               "Die Angaben sind unlesbar: text_for_embedding ist ein Text, context ein Objekt, tags eine Liste von Texten.",
		``: "Gelernt wird nur, was ein Mensch geprüft hat.",
	} {
		_, err := learner.Handle(t.Context(), asked(arguments), silent)
		if failure, is := errors.AsType[*agent.Failure](err); !is || !failure.Permanent || failure.Message != want {
			t.Errorf("%s: %+v", arguments, err)
		}
		if _, err := os.Stat(directory); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s: there is an index, %v", arguments, err)
		}
	}
}

// TestOncePerEffect: a repeat changes nothing, and a long text is kept whole, passage by passage.
func TestOncePerEffect(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "medical")
	learner, reader := open(t, directory, retrieval.ModeLearn), open(t, directory, retrieval.ModeRead)
	var paragraphs []string
	for i := range 40 {
		paragraphs = append(paragraphs, fmt.Sprintf("Absatz%d über Salben. %s", i, strings.Repeat("Noch ein Satz. ", 10+i)))
	}
	request := asked(knowledge(t, strings.Join(paragraphs, "\n\n")+"\n\n"+strings.Repeat("x", 4000), "book"))
	first, err := learner.Handle(t.Context(), request, silent)
	if err != nil {
		t.Fatal(err)
	}
	again, err := open(t, directory, retrieval.ModeLearn).Handle(t.Context(), request, silent)
	if err != nil || string(again.Data) != string(first.Data) || again.Text != first.Text {
		t.Errorf("%s, %v; at first %s", again.Data, err, first.Data)
	}
	seen := found(t, reader, `{"query":"Salbe","limit":50}`)
	for i := range 40 {
		if sources := found(t, reader, fmt.Sprintf(`{"query":"Absatz%d","limit":50}`, i)); len(sources) != 1 {
			t.Errorf("paragraph %d is kept %d times", i, len(sources))
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d passages", len(seen))
	}
}

// TestAtOnce: agents of one process learn and read at the same time, and nothing is lost.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "medical")
	var all sync.WaitGroup
	for n := range 3 {
		learner, reader := open(t, directory, retrieval.ModeLearn), open(t, directory, retrieval.ModeRead)
		for i := range 5 {
			text := knowledge(t, fmt.Sprintf("Salbe Nummer%dx%d", n, i), "s")
			all.Go(func() {
				if _, err := learner.Handle(t.Context(), asked(text), silent); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				if _, err := reader.Handle(t.Context(), asked(`{"query":"Salbe"}`), silent); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if sources := found(t, open(t, directory, retrieval.ModeRead), `{"query":"Salben","limit":50}`); len(sources) != 15 {
		t.Errorf("%d of 15 are found", len(sources))
	}
}

// TestInUse: an index that somebody else has open is told in words, after a while, and another attempt may help.
func TestInUse(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "medical")
	learner := opened(t, retrieval.Config{Directory: directory, Mode: retrieval.ModeLearn, Wait: 100 * time.Millisecond})
	request := asked(knowledge(t, "Salbe", "s"))
	if _, err := learner.Handle(t.Context(), request, silent); err != nil {
		t.Fatal(err)
	}
	held, err := bleve.Open(directory)
	if err != nil {
		t.Fatal(err)
	}
	_, err = learner.Handle(t.Context(), request, silent)
	if failure, is := errors.AsType[*agent.Failure](err); !is || failure.Permanent || failure.Category != schemas.CategoryResource || failure.Message != "Der Index wird gerade von einem anderen Programm benutzt." {
		t.Errorf("%+v", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err = learner.Handle(t.Context(), request, silent); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func TestCompounds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"haut\n# x\n": "", "x y": `line 1: "x y" is not a word of at least 3 letters`, "haut\nab": `line 2: "ab" is not a word of at least 3 letters`, "\xff": "it is not UTF-8"} {
		if _, err := retrieval.ParseCompounds([]byte(text)); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	for _, config := range []retrieval.Config{{Mode: retrieval.ModeRead}, {Directory: "x"}, {Directory: "x", Mode: "write"}} {
		if _, err := retrieval.New(config); err == nil {
			t.Errorf("%+v makes an agent", config)
		}
	}
	for _, mode := range []retrieval.Mode{retrieval.ModeLearn, retrieval.ModeRead} {
		if entry := open(t, "x", mode).Description(); entry.Kind != "retrieval" || entry.Description == "" || !entry.InputSchema.IsValid() {
			t.Errorf("%+v", entry)
		}
	}
}
