package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"podium/bus/agent"
	"podium/schemas"
)

// keepAfterKill puts what a kill at this moment leaves of the crash log of one directory into another one.
func keepAfterKill(t *testing.T, directory, kept string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(directory, "test.0")) //nolint:gosec // a directory of this test
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(kept, "test.0"), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func openCrashLog(t *testing.T, directory string, log zerolog.Logger) *agent.CrashLog {
	t.Helper()
	opened, err := agent.OpenCrashLog(directory, "test", log)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// TestARequestThatEndsTheProcessTwiceIsGivenUp: a request is worked on after the first process has ended over it, and is not given
// to the handler after the second, by this start and by each that follows. Its attempt has failed as crashed, with an effect that
// may have happened; other requests are worked on.
func TestARequestThatEndsTheProcessTwiceIsGivenUp(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for start := 1; start <= 4; start++ {
		next := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1)
			s.config.Crashes = openCrashLog(t, directory, zerolog.New(s.log))
			poison, kept := "", directory
			stop := s.serve(t, func(ctx context.Context, request *agent.Request, report agent.Report) (agent.Outcome, error) {
				if request.MessageID == poison {
					keepAfterKill(t, directory, next)
					kept = next
				}
				return echo(ctx, request, report)
			})
			poison = s.ask(t, 1, nil)
			other := s.ask(t, 2, nil)
			answers := s.responses(t)
			mustStop(t, stop)
			if err := s.config.Crashes.Close(); err != nil {
				t.Fatal(err)
			}
			of := func(id string) *schemas.ResponsePayload {
				at := slices.IndexFunc(answers, func(one said) bool { return one.InReplyTo == id })
				if at < 0 {
					t.Fatalf("start %d: no answer to %s", start, id)
				}
				return &answers[at].Payload
			}
			if of(other).Status != schemas.StatusCompleted {
				t.Errorf("start %d: the other request: %+v", start, of(other))
			}
			if start <= 2 {
				if of(poison).Status != schemas.StatusCompleted || kept == directory {
					t.Errorf("start %d: it was not worked on: %+v", start, of(poison))
				}
			} else if issues := of(poison).IssuesEncountered; of(poison).Status != schemas.StatusFailed || len(issues) != 1 || !issues[0].Crashed || !issues[0].EffectUnknown ||
				issues[0].Resolution != schemas.ResolutionDeferred || kept != directory {
				t.Errorf("start %d: %+v", start, of(poison))
			}
			if named := strings.Contains(s.log.String(), "has ended"); named != (start > 1) {
				t.Errorf("start %d: the log tells of it: %t\n%s", start, named, s.log)
			}
			directory = kept
		})
	}
}

// TestAnOrderlyStopIsNoCrash: requests that end free their slots, so that no later start counts them.
func TestAnOrderlyStopIsNoCrash(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 4)
			s.config.Crashes = openCrashLog(t, directory, zerolog.New(s.log))
			stop := s.serve(t, echo)
			for n := range 20 {
				s.ask(t, n+1, nil)
			}
			for _, answer := range s.responses(t) {
				if answer.Payload.Status != schemas.StatusCompleted {
					t.Errorf("%+v", answer.Payload)
				}
			}
			mustStop(t, stop)
			if err := s.config.Crashes.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestProcessesHaveACrashLogEach: two processes of an agent have a file each, and a damaged file is none.
func TestProcessesHaveACrashLogEach(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "test.0"), []byte(strings.Repeat("\xff", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	first, second := openCrashLog(t, directory, zerolog.Nop()), openCrashLog(t, directory, zerolog.Nop())
	if files, err := filepath.Glob(filepath.Join(directory, "test.[0-9]")); err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
	for _, opened := range []*agent.CrashLog{first, second} {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}
}
