package exec_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podium/agents/exec"
	"podium/bus/agent"
	"podium/schemas"
)

var errRefused = errors.New("nobody wants it any more")

func external(c *exec.Config) { c.SideEffects = schemas.SideEffectsExternal }

// A program with side effects outside is started only with a permit; any other is
// started without a question.
func TestNoProgramWithoutAPermit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(*exec.Config)
		refusal error
		asked   int
		started bool
	}{
		"granted":         {external, nil, 1, true},
		"refused":         {external, errRefused, 1, false},
		"no side effects": {func(*exec.Config) {}, errRefused, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trace := filepath.Join(t.TempDir(), "trace")
			asked := 0
			given := newRequest()
			request := given.WithPermit(func(context.Context) error {
				asked++
				if _, err := os.Stat(trace); err == nil {
					t.Error("it is asked after the start")
				}
				return test.refusal
			})
			_, err := program(t, "touch:"+trace, test.change).Handle(t.Context(), request, new(journal).report)
			if test.started != (err == nil) || !test.started && !errors.Is(err, test.refusal) {
				t.Errorf("it ends with %v", err)
			}
			if _, err := os.Stat(trace); asked != test.asked || (err == nil) != test.started {
				t.Errorf("asked %d times; its trace: %v", asked, err)
			}
		})
	}
}

// Of a program that could not say what it did, nobody knows. One that says that it
// has failed has done nothing.
func TestDoubtAboutAProgram(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mode    string
		change  []func(*exec.Config)
		unknown bool
	}{
		"killed":                      {"hang", []func(*exec.Config){external, func(c *exec.Config) { c.Timeout = 100 * time.Millisecond }}, true},
		"killed, no side effects":     {"hang", []func(*exec.Config){func(c *exec.Config) { c.Timeout = 100 * time.Millisecond }}, false},
		"talks without end":           {"flood", []func(*exec.Config){external, func(c *exec.Config) { c.MaxOutput = 1 << 10 }}, true},
		"prints what nobody can read": {`print:{"text":7}`, []func(*exec.Config){external}, true},
		"says that it failed":         {`print:{"status":"failed"}`, []func(*exec.Config){external}, false},
		"says that it does not know": {
			`print:{"status":"failed","issues_encountered":[{"severity":"high","description":"x","effect_unknown":true}]}`,
			[]func(*exec.Config){external},
			true,
		},
		"fails by its exit code": {"exit:75", []func(*exec.Config){external}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := program(t, test.mode, test.change...).Handle(t.Context(), newRequest(), new(journal).report)
			if failure, ok := errors.AsType[*agent.Failure](err); !ok || failure.Unknown != test.unknown {
				t.Errorf("%+v", err)
			}
		})
	}
}

// The agent declares what it is configured to answer. A program that starts only with
// a permit can answer no questions, for which there is none.
func TestKindsOfAProgram(t *testing.T) {
	t.Parallel()
	both := func(c *exec.Config) { c.Kinds = []schemas.RequestKind{schemas.KindWork, schemas.KindAssess} }
	work := func(c *exec.Config) { c.Kinds = []schemas.RequestKind{schemas.KindWork} }
	if declared := program(t, "request", both).Description().Kinds; len(declared) != 2 || declared[1] != schemas.KindAssess {
		t.Errorf("it declares %v", declared)
	}
	if declared := program(t, "request", work, external).Description().Kinds; len(declared) != 1 {
		t.Errorf("it declares %v", declared)
	}
	refused := exec.Config{Command: []string{os.Args[0]}}
	both(&refused)
	external(&refused)
	if _, err := exec.New(refused); err == nil || !strings.Contains(err.Error(), "cannot answer requests of kind assess") {
		t.Errorf("a program with side effects that answers questions: %v", err)
	}
}
