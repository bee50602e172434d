package mcp_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"podium/agents/mcp"
	"podium/bus/agent"
	"podium/schemas"
)

// TestAnswers: what a tool answers keeps its form: words, data, and no word twice.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, tool, arguments string
		schema                string
		want                  schemas.Result
	}{
		{"text", "echo", `{"text":"größer 😀"}`, "", schemas.Result{Text: "größer 😀"}},
		{"data, and no text that repeats it", "add", `{"a":1.5,"b":2}`, "", schemas.Result{Data: []byte(`{"sum":3.5}`)}},
		{"text that is data for an agent with a schema", "echo", `{"text":"{\"x\": 1}"}`, `{"type":"object"}`, schemas.Result{Data: []byte(`{"x": 1}`)}},
		{"text that is data for nobody", "echo", `{"text":"{\"x\": 1}"}`, "", schemas.Result{Text: `{"x": 1}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			one := tool(t, "well", test.tool, func(config *mcp.Config) { config.OutputSchema = []byte(test.schema) })
			outcome, err := one.Handle(t.Context(), request(test.arguments), silent)
			if err != nil || !reflect.DeepEqual(outcome.Result, test.want) {
				t.Errorf("%+v, %v", outcome.Result, err)
			}
		})
	}
}

// TestAnswersThatAreNone: of a tool that looks something up, a result with nothing in it is a failure, and so are data that do not parse where
// there have to be data. For a tool that acts the same result is the protocol's word for done.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, arguments, schema, message string }{
		{"nothing", `{}`, "", "is empty"},
		{"no arguments", ``, "", "is empty"},
		{"blanks", `{"text":" \n\u200b"}`, "", "is empty"},
		{"data that end in the middle", `{"text":"{\"x\": "}`, `{"type":"object"}`, "unreadable"},
		{"data and words", `{"text":"{\"x\": 1} done"}`, `{"type":"object"}`, "unreadable"},
		{"a list that ends in the middle", `{"text":"[{\"x\": 1}"}`, `{"type":"array"}`, "unreadable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			one := tool(t, "well", "echo", func(config *mcp.Config) { config.OutputSchema = []byte(test.schema) })
			outcome, err := one.Handle(t.Context(), request(test.arguments), silent)
			failure, is := errors.AsType[*agent.Failure](err)
			if !is || !strings.Contains(failure.Message, test.message) || !errors.Is(err, agent.ErrUnreadable) {
				t.Errorf("%+v, %v", outcome, err)
			}
		})
	}
	acts := tool(t, "well", "echo", func(config *mcp.Config) { config.SideEffects = schemas.SideEffectsExternal })
	if outcome, err := acts.Handle(t.Context(), request(`{}`), silent); err != nil || outcome.Status != "" {
		t.Errorf("of one that acts: %+v, %v", outcome, err)
	}
}

// TestFiles: what is no words comes as files that are kept, and links are named and not followed.
func TestFiles(t *testing.T) {
	t.Parallel()
	asked := request(`{}`)
	outcome, err := tool(t, "well", "files").Handle(t.Context(), asked, silent)
	if err != nil || outcome.Text != "Here it is." {
		t.Fatalf("%q, %v", outcome.Text, err)
	}
	var got []string
	for _, made := range outcome.Deliverables {
		var about struct {
			schemas.Artifact
			URI string `json:"uri"`
		}
		if err := schemas.Unmarshal(made.Metadata, &about); err != nil {
			t.Fatal(err)
		}
		content := about.URI
		if content == "" {
			reader, err := asked.Artifacts.Get(t.Context(), about.Artifact)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(reader)
			if err != nil {
				t.Fatal(err)
			}
			content = string(body)
		}
		got = append(got, made.Path+": "+content)
	}
	want := []string{"image-2.png: a picture", "audio-3.wav: a sound", "letter.txt: a letter", "x: a page", "more: https://example.org/more"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFilesAreBounded: there are so many, so large, and what is left out is told.
func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	outcome, err := tool(t, "well", "many").Handle(t.Context(), request(`{"bytes":100}`), silent)
	if err != nil || len(outcome.Deliverables) != 64 || len(outcome.Issues) != 1 || !strings.Contains(outcome.Issues[0].Description, "36 ") {
		t.Errorf("%d files, %+v, %v", len(outcome.Deliverables), outcome.Issues, err)
	}
	outcome, err = tool(t, "well", "many", func(config *mcp.Config) { config.MaxFiles = 7 }).Handle(t.Context(), request(`{"bytes":3}`), silent)
	if err != nil || len(outcome.Deliverables) != 2 || len(outcome.Issues) != 1 {
		t.Errorf("%d files, %+v, %v", len(outcome.Deliverables), outcome.Issues, err)
	}
}

// TestProgress: what a tool tells on the way reaches whoever waits.
func TestProgress(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []string
	heard := filepath.Join(t.TempDir(), "heard")
	_, err := tool(t, "well", "steps").Handle(t.Context(), request(`{"text":`+strconv.Quote(heard)+`}`), func(percentage int, message string) {
		mu.Lock()
		defer mu.Unlock()
		if told = append(told, fmt.Sprint(percentage, " ", message)); message == "step 3" {
			_ = os.WriteFile(heard, nil, 0o600)
		}
	})
	if err != nil || !slices.Equal(told, []string{"0 step 0", "25 step 1", "50 step 2", "75 step 3"}) {
		t.Errorf("%q, %v", told, err)
	}
}

// TestEnvironment: the server gets what every program needs and what is named, and nothing else of ours.
func TestEnvironment(t *testing.T) {
	t.Setenv("TEST_SECRET", "x")
	t.Setenv("TEST_NAMED", "y")
	one := tool(t, "well", "environment", func(config *mcp.Config) { config.Env = append(config.Env, "TEST_NAMED", "TEST_SET=z", "TEST_ABSENT") })
	outcome, err := one.Handle(t.Context(), request(`{}`), silent)
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(outcome.Text)
	for _, name := range names {
		if !slices.Contains([]string{"PATH", "HOME", "LANG", "TMPDIR", serverVariable, "GORACE", "TEST_NAMED", "TEST_SET"}, name) {
			t.Errorf("it sees %s", name)
		}
	}
	for _, name := range []string{"PATH", "TEST_NAMED", "TEST_SET"} {
		if !slices.Contains(names, name) {
			t.Errorf("it does not see %s", name)
		}
	}
}

// TestOneServerForAll: requests share a server, also at the same time, and it hears which piece of work each is for.
func TestOneServerForAll(t *testing.T) {
	t.Parallel()
	one := tool(t, "well", "effect")
	var group sync.WaitGroup
	answers := make([]string, 8)
	for i := range answers {
		group.Go(func() {
			asked := request(`{}`)
			asked.EffectID = "effect-" + strconv.Itoa(i)
			outcome, err := one.Handle(t.Context(), asked, silent)
			if err != nil {
				t.Error(err)
			}
			answers[i] = outcome.Text
		})
	}
	group.Wait()
	_, process, _ := strings.Cut(answers[0], " ")
	for i, answer := range answers {
		if answer != "effect-"+strconv.Itoa(i)+" "+process {
			t.Errorf("%d: %q", i, answer)
		}
	}
}

// TestArguments: what the tool's schema refuses is never sent, and the agent's own schema goes before the tool's.
func TestArguments(t *testing.T) {
	t.Parallel()
	if failure := failed(t, tool(t, "well", "add"), `{"a":"one"}`); !failure.Permanent || failure.Unknown {
		t.Errorf("%+v", *failure)
	}
	own := tool(t, "well", "echo", func(config *mcp.Config) { config.InputSchema = []byte(`{"type":"object","required":["text"]}`) })
	if failure := failed(t, own, ``); !failure.Permanent || !strings.HasSuffix(failure.Message, `needs: lacks "text"`) {
		t.Errorf("%+v", *failure)
	}
	about := tool(t, "well", "add").Description()
	if about.Description != "Adds." || !strings.Contains(string(about.InputSchema), `"required"`) || !strings.Contains(string(about.OutputSchema), `"sum"`) {
		t.Errorf("%+v", about)
	}
}

// TestNewRefuses: a configuration that cannot work is refused at once, and by a sentence.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for want, config := range map[string]mcp.Config{
		"either a command or a url": {Tool: "x"}, "either a command or a url ": {Tool: "x", Command: []string{"true"}, URL: "http://127.0.0.1"},
		"no name": {Command: []string{"true"}}, "cannot be run": {Tool: "x", Command: []string{"no-such-program"}},
		"no client": {Tool: "x", URL: "http://127.0.0.1"}, "negative": {Tool: "x", Command: []string{"true"}, Timeout: -1},
		"neither NAME nor NAME=value": {Tool: "x", Command: []string{"true"}, Env: []string{"=x"}},
		"and not for":                 {Tool: "x", Command: []string{"true"}, Pin: &mcp.Pin{Tool: mcp.Tool{Name: "y"}}},
	} {
		if _, err := mcp.New(config); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
