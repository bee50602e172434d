package exec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/agents/exec"
	"podium/bus/agent"
	"podium/schemas"
)

// program configures an agent that runs one of the programs of program_test.go.
func program(t *testing.T, mode string, change ...func(*exec.Config)) *exec.Agent {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := exec.Config{Command: []string{self}, Env: []string{programVariable + "=" + mode, endAtOnce}, Timeout: time.Minute}
	for _, apply := range change {
		apply(&config)
	}
	agent, err := exec.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

func newRequest() *agent.Request {
	return &agent.Request{
		ExecutionRequest: schemas.ExecutionRequest{
			Envelope: schemas.Envelope{MessageID: "request-1", Type: schemas.EnvelopeTypeExecutionRequest},
			Payload:  schemas.RequestPayload{Tasks: []schemas.Task{{TaskID: "t1", Description: "Grüße"}}},
		},
		Attempt: 2, EffectID: "effect-1", Run: "run-1",
	}
}

// A journal collects reports.
type journal struct {
	mutex sync.Mutex
	lines []string
}

func (j *journal) report(percentage int, message string) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.lines = append(j.lines, fmt.Sprintf("%d %s", percentage, message))
}

func (j *journal) String() string {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return strings.Join(j.lines, "\n")
}

func asFailure(t *testing.T, err error) *agent.Failure {
	t.Helper()
	var failure *agent.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want a *agent.Failure", err)
	}
	return failure
}

func TestRequestOnStandardInput(t *testing.T) {
	t.Parallel()
	result, err := program(t, "request").Handle(t.Context(), newRequest(), new(journal).report)
	if err != nil {
		t.Fatal(err)
	}
	if want := "execution_request Grüße"; result.Text != want {
		t.Errorf("text %q, want %q", result.Text, want)
	}
}

func TestOutputMeaning(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		output  string
		want    schemas.Result
		failure string // part of its message
		final   bool
		busy    bool // it says that it has no room
	}{
		"nothing":      {output: " \n", failure: "gave no answer"},
		"no UTF-8":     {output: "R\xfcckruf", failure: "unreadable", final: true},
		"empty text":   {output: `{"text":" "}`, failure: "gave no answer"},
		"with a mark":  {output: "\ufeff{\"text\":\"a\"}", want: schemas.Result{Text: "a"}},
		"odd type":     {output: `{"status":"completed","deliverables":[{"path":"a","type":"image"}]}`, failure: "unreadable", final: true},
		"text":         {output: "  two\nlines \n\n", want: schemas.Result{Text: "  two\nlines"}},
		"bare number":  {output: "42\n", want: schemas.Result{Text: "42"}},
		"bare string":  {output: `"42"`, want: schemas.Result{Text: `"42"`}},
		"broken JSON":  {output: `{"text": `, failure: "unreadable", final: true},
		"two objects":  {output: "{}\n{}", failure: "unreadable", final: true},
		"result":       {output: `{"text":"a","data":{"n":1}}`, want: schemas.Result{Text: "a", Data: []byte(`{"n":1}`)}},
		"data":         {output: `{"n":1}`, want: schemas.Result{Data: []byte(`{"n":1}`)}},
		"empty object": {output: `{}`, want: schemas.Result{Data: []byte(`{}`)}},
		"array":        {output: `[1]`, want: schemas.Result{Data: []byte(`[1]`)}},
		"bad result":   {output: `{"text":7}`, failure: "unreadable", final: true},
		"payload":      {output: `{"status":"completed","result":{"text":"a"}}`, want: schemas.Result{Text: "a"}},
		"other status": {output: `{"status":"shiny"}`, want: schemas.Result{Data: []byte(`{"status":"shiny"}`)}},
		"partial":      {output: `{"status":"partial","result":{"text":"half"}}`, want: schemas.Result{Text: "half"}},
		"failed":       {output: `{"status":"failed"}`, failure: "could not do the task"},
		"failed, deferred": {
			output:  `{"status":"failed","issues_encountered":[{"description":"busy","resolution":"deferred"}]}`,
			failure: "busy",
		},
		"failed, escalated": {
			output:  `{"status":"failed","issues_encountered":[{"description":"never","resolution":"escalated"}]}`,
			failure: "never", final: true,
		},
		"failed, no room": {
			output:  `{"status":"failed","issues_encountered":[{"description":"quota","category":"resource"}]}`,
			failure: "quota", busy: true,
		},
		"failed, of no known class": {
			output:  `{"status":"failed","issues_encountered":[{"description":"odd","category":"weather"}]}`,
			failure: "odd",
		},
		"response": {
			output: `{"type":"execution_response","in_reply_to":"request-1","payload":{"status":"completed","result":{"text":"a"}}}`,
			want:   schemas.Result{Text: "a"},
		},
		"response without a result": {
			output: `{"type":"execution_response","payload":{"status":"completed"}}`,
		},
		"response to another request": {
			output:  `{"type":"execution_response","in_reply_to":"request-2","payload":{"status":"completed"}}`,
			failure: "unreadable", final: true,
		},
		"response without a payload": {
			output: `{"type":"execution_response"}`, failure: "unreadable", final: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := program(t, "print:"+test.output).Handle(t.Context(), newRequest(), new(journal).report)
			if test.failure != "" {
				failure := asFailure(t, err)
				if !strings.Contains(failure.Message, test.failure) || failure.Permanent != test.final {
					t.Errorf("message %q, permanent %v", failure.Message, failure.Permanent)
				}
				if busy := failure.Category == schemas.CategoryResource; busy != test.busy || !busy && failure.Category != "" {
					t.Errorf("category %q", failure.Category)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if result.Text != test.want.Text || string(result.Data) != string(test.want.Data) {
				t.Errorf("got %q %s, want %q %s", result.Text, result.Data, test.want.Text, test.want.Data)
			}
		})
	}
}

func TestEnvironmentHoldsOnlyWhatIsListed(t *testing.T) {
	agent := program(t, "environment", func(config *exec.Config) {
		config.Env = append(config.Env, "TEST_HANDED_ON", "TEST_SET=a=b", "TEST_ABSENT")
	})
	t.Setenv("TEST_HANDED_ON", "yes")
	t.Setenv("TEST_SECRET", "no")
	t.Setenv("LANG", "C.UTF-8")
	result, err := agent.Handle(t.Context(), newRequest(), new(journal).report)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(result.Text, "\n")
	for _, want := range []string{
		"PATH", "LANG", "TEST_HANDED_ON=yes", "TEST_SET=a=b",
		"PODIUM_RUN=run-1", "PODIUM_TASK=t1", "PODIUM_ATTEMPT=2", "PODIUM_EFFECT=effect-1", "PODIUM_KIND=work", "PODIUM_LANGUAGE=en",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	for _, name := range got {
		if strings.HasPrefix(name, "TEST_SECRET") || strings.HasPrefix(name, "TEST_ABSENT") {
			t.Errorf("%q was handed on", name)
		}
	}
}

func TestWorkingDirectoryAndRelativeProgram(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "program")); err != nil {
		t.Fatal(err)
	}
	agent := program(t, "directory", func(config *exec.Config) {
		config.Command, config.Dir = []string{"./program"}, dir
	})
	result, err := agent.Handle(t.Context(), newRequest(), new(journal).report)
	if err != nil {
		t.Fatal(err)
	}
	if result.Text != dir {
		t.Errorf("ran in %q, want %q", result.Text, dir)
	}
}

func TestStandardErrorIsProgress(t *testing.T) {
	t.Parallel()
	lines := "10% reading\n\n20 % writing\r\n40%\n300% of nothing\nlast \x1b[1mwords"
	reports := new(journal)
	if _, err := program(t, "progress:"+lines).Handle(t.Context(), newRequest(), reports.report); err != nil {
		t.Fatal(err)
	}
	if got, want := reports.String(), "10 reading\n20 writing\n40 \n40 300% of nothing\n40 last [1mwords"; got != want {
		t.Errorf("reports\n%s\nwant\n%s", got, want)
	}
}

func TestExitCodesBySysexits(t *testing.T) {
	t.Parallel()
	for code, permanent := range map[int]bool{
		1: false, 2: false, 64: true, 65: true, 66: true, 69: false, 70: false, 74: false, 75: false, 77: true, 78: true, 127: false,
	} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			_, err := program(t, fmt.Sprintf("exit:%d", code)).Handle(t.Context(), newRequest(), new(journal).report)
			failure := asFailure(t, err)
			if failure.Permanent != permanent {
				t.Errorf("permanent is %v, want %v", failure.Permanent, permanent)
			}
			// What it says of its input is the whole message: the program has not failed.
			if code == 65 && failure.Message != "the reason" || code != 65 && !strings.HasSuffix(failure.Message, ": the reason") {
				t.Errorf("message %q does not end with the last line", failure.Message)
			}
			if strings.Contains(failure.Error(), "the reason") {
				t.Errorf("the error for the log holds words of the program: %s", failure.Error())
			}
		})
	}
}

// TestSignalsAreNamed: of a program that a signal has ended the signal is named, also where a shell tells it by its exit code.
func TestSignalsAreNamed(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"kill -SEGV $$": "ended by the signal SIGSEGV", "kill -ABRT $$": "ended by the signal SIGABRT", "kill -KILL $$": "ended by the signal SIGKILL",
		"exit 139": "(code 139, after the signal SIGSEGV)", "exit 137": "(code 137, after the signal SIGKILL)", "exit 3": "(code 3)", "exit 255": "(code 255)",
		"echo it broke >&2; exit 139": "has failed: it broke",
	} {
		made, err := exec.New(exec.Config{Command: []string{"/bin/sh", "-c", "cat >/dev/null; " + script}, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		_, err = made.Handle(t.Context(), newRequest(), new(journal).report)
		if failure := asFailure(t, err); !strings.Contains(failure.Message, want) || failure.Permanent || failure.Unknown {
			t.Errorf("%s: %+v, want %q", script, failure, want)
		}
	}
}

func TestExitWithoutWordsNamesTheCode(t *testing.T) {
	t.Parallel()
	_, err := program(t, "silent").Handle(t.Context(), newRequest(), new(journal).report)
	if failure := asFailure(t, err); !strings.Contains(failure.Message, "code 3") {
		t.Errorf("message %q", failure.Message)
	}
}

func TestTooMuchOutputEndsTheProgram(t *testing.T) {
	t.Parallel()
	agent := program(t, "flood", func(config *exec.Config) { config.MaxOutput = 1 << 20 })
	_, err := agent.Handle(t.Context(), newRequest(), new(journal).report)
	failure := asFailure(t, err)
	if !failure.Permanent || !strings.Contains(failure.Message, "1048576") {
		t.Errorf("permanent %v, message %q", failure.Permanent, failure.Message)
	}
}

func TestTimeoutIsTemporary(t *testing.T) {
	t.Parallel()
	agent := program(t, "hang", func(config *exec.Config) { config.Timeout = 100 * time.Millisecond })
	_, err := agent.Handle(t.Context(), newRequest(), new(journal).report)
	failure := asFailure(t, err)
	if failure.Permanent || !strings.Contains(failure.Message, "100ms") {
		t.Errorf("permanent %v, message %q", failure.Permanent, failure.Message)
	}
}

func TestCancelReturnsTheCause(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	agent := program(t, "family")
	_, err := agent.Handle(ctx, newRequest(), func(int, string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]exec.Config{
		"no command":       {},
		"empty name":       {Command: []string{""}},
		"no such program":  {Command: []string{"podium-no-such-program"}},
		"no such file":     {Command: []string{"./podium-no-such-program"}},
		"no such dir":      {Command: []string{self}, Dir: "/podium/no/such/dir"},
		"bad variable":     {Command: []string{self}, Env: []string{"=x"}},
		"negative timeout": {Command: []string{self}, Timeout: -1},
		"negative output":  {Command: []string{self}, MaxOutput: -1},
		"negative files":   {Command: []string{self}, MaxFiles: -1},
	}
	for name, config := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.New(config); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	entry := program(t, "silent").Description()
	if entry.Name != "" || entry.Kind != "exec" || entry.Description == "" || !entry.InputSchema.IsValid() {
		t.Errorf("unexpected entry %+v", entry)
	}
	entry = program(t, "silent", func(config *exec.Config) {
		config.Description, config.SideEffects, config.InputSchema = "Sums up.", "external", []byte(`true`)
	}).Description()
	if entry.Description != "Sums up." || entry.SideEffects != "external" || string(entry.InputSchema) != "true" {
		t.Errorf("unexpected entry %+v", entry)
	}
}

// TestWordsAreToldAsTheyArePrinted: who waits sees what a program prints, unless it is data.
func TestWordsAreToldAsTheyArePrinted(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`printf 'Good '; sleep 0.3; echo morning`:       "Good|Good morning",
		`printf '{"text":'; sleep 0.3; echo '"hello"}'`: "",
	} {
		made, err := exec.New(exec.Config{Command: []string{"/bin/sh", "-c", "cat >/dev/null; " + script}, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		request := newRequest().WithPartial(func(text string) { told = append(told, text) })
		if _, err := made.Handle(t.Context(), request, func(int, string) {}); err != nil || strings.Join(told, "|") != want {
			t.Errorf("%s: told %q (%v), want %q", script, told, err, want)
		}
	}
}
