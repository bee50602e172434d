package mcp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"podium/agents/mcp"
	"podium/bus/agent"
	"podium/bus/backoff"
)

// TestFailures: each way in which a call comes to nothing ends in its own words, and says whether another attempt can help
// and whether anything may have been done.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, way, tool, arguments string
		change                     func(*mcp.Config)
		says                       string
		permanent                  bool
		afterPermit                bool // whether it is open then what was done
	}{
		{"the tool fails", "well", "fail", `{"text":"no \u001b[31mroom"}`, nil, "The tool reports: no [31mroom", false, true},
		{"the tool fails without a word", "well", "fail", `{}`, nil, "could not do the task", false, true},
		{"the server dies", "well", "die", `{}`, nil, "connection to the tool was lost", false, true},
		{"it takes too long", "well", "hang", `{"text":"/dev/null"}`, func(c *mcp.Config) { c.Timeout = 300 * time.Millisecond }, "not finished after 300ms", false, true},
		{"a message is too large", "well", "large", `{"bytes":200000}`, func(c *mcp.Config) { c.MaxMessage = 100_000 }, "more than 100000 bytes", true, true},
		{"data is too large", "well", "data", `{"bytes":1100000}`, nil, "more than 1048576 bytes", true, true},
		{"it is no server", "garbage", "echo", `{}`, nil, "cannot be reached", false, false},
		{"it says one thing without end", "endless", "echo", `{}`, nil, "cannot be reached", false, false},
		{"it never says hello", "mute", "echo", `{}`, func(c *mcp.Config) { c.Start = 300 * time.Millisecond }, "cannot be reached", false, false},
		{"it is too slow", "slow:10s", "echo", `{}`, func(c *mcp.Config) { c.Start = 300 * time.Millisecond }, "cannot be reached", false, false},
		{"it ends at once", "ends", "echo", `{}`, nil, "cannot be reached", false, false},
		{"the tool is another one", "drifted", "echo", `{}`, nil, "podium agent pin tester", true, false},
		{"nobody has pinned it", "well", "echo", `{}`, func(c *mcp.Config) { c.Pin = nil }, "podium agent pin tester", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			change := func(config *mcp.Config) {
				if test.change != nil {
					test.change(config)
				}
			}
			failure := failed(t, tool(t, test.way, test.tool, change), test.arguments)
			if !strings.Contains(failure.Message, test.says) || failure.Permanent != test.permanent || failure.Unknown {
				t.Errorf("%+v", *failure)
			}
			if failure = failed(t, tool(t, test.way, test.tool, change, external), test.arguments); failure.Unknown != test.afterPermit {
				t.Errorf("after a permit: %+v", *failure)
			}
		})
	}
}

// TestLargeTextIsAnAnswer: two megabytes of text are an answer like any other.
func TestLargeTextIsAnAnswer(t *testing.T) {
	t.Parallel()
	outcome, err := tool(t, "well", "large").Handle(t.Context(), request(`{"bytes":2097152}`), silent)
	if err != nil || len(outcome.Text) != 2<<20 {
		t.Errorf("%d bytes, %v", len(outcome.Text), err)
	}
}

// TestGreetingIsPassedOver: what a server writes before its first message does no harm.
func TestGreetingIsPassedOver(t *testing.T) {
	t.Parallel()
	if outcome, err := tool(t, "greeting", "echo").Handle(t.Context(), request(`{"text":"x"}`), silent); err != nil || outcome.Text != "x" {
		t.Errorf("%q, %v", outcome.Text, err)
	}
}

// TestSlowServerIsWaitedFor: a server may take its time to start.
func TestSlowServerIsWaitedFor(t *testing.T) {
	t.Parallel()
	if outcome, err := tool(t, "slow:500ms", "echo").Handle(t.Context(), request(`{"text":"x"}`), silent); err != nil || outcome.Text != "x" {
		t.Errorf("%q, %v", outcome.Text, err)
	}
}

// TestServerIsStartedAgain: one that has died in a call is there for the next one.
func TestServerIsStartedAgain(t *testing.T) {
	t.Parallel()
	one := tool(t, "well", "die")
	for range 3 {
		if failure := failed(t, one, `{}`); !strings.Contains(failure.Message, "connection to the tool was lost") {
			t.Fatalf("%+v", *failure)
		}
	}
}

// TestFailingServerIsNotStartedForEveryRequest: after each failure there is a pause before the next start, which grows.
func TestFailingServerIsNotStartedForEveryRequest(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "starts")
	one := tool(t, "ends:"+file, "echo")
	var starts []string
	eventually(t, "the server was started five times", func() bool {
		_ = failed(t, one, `{}`)
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		starts = strings.Fields(string(body))
		return len(starts) >= 5
	})
	for n := range 4 {
		before, _ := strconv.ParseInt(starts[n], 10, 64)
		after, err := strconv.ParseInt(starts[n+1], 10, 64)
		// Of a pause up to a half is left out by chance.
		if least := backoff.After(50*time.Millisecond, 5*time.Second, n) / 2; err != nil || time.Duration(after-before) < least {
			t.Errorf("start %d came %s after the one before, want %s at least (%v)", n+1, time.Duration(after-before), least, err)
		}
	}
}

// TestCancel: a call that nobody waits for any more is cancelled at the server, and is over.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tool, after string
	}{{"hang", "cancelled"}, {"stop", "called"}} {
		t.Run(test.tool, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "state")
			state := func(want string) func() bool {
				return func() bool { body, _ := os.ReadFile(file); return string(body) == want }
			}
			one := tool(t, "well", test.tool)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				eventually(t, "the tool is called", state("called"))
				cancel()
			}()
			_, err := one.Handle(ctx, request(`{"text":`+strconv.Quote(file)+`}`), silent)
			if _, told := errors.AsType[*agent.Failure](err); !errors.Is(err, context.Canceled) || told {
				t.Errorf("%v", err)
			}
			eventually(t, "the server knows", state(test.after))
		})
	}
}

// TestCancelOfWhatIsNotEvenRead: a server that reads nothing holds up no call either, however much it is sent.
func TestCancelOfWhatIsNotEvenRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state")
	one := tool(t, "well", "stop")
	first, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := one.Handle(first, request(`{"text":`+strconv.Quote(file)+`}`), silent)
		ended <- err
	}()
	eventually(t, "the server has stopped", func() bool { _, err := os.Stat(file); return err == nil })
	second, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	if _, err := one.Handle(second, request(`{"text":"`+strings.Repeat("x", 1<<20)+`"}`), silent); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if err := <-ended; err == nil || first.Err() != nil {
		t.Errorf("the first call: %v", err) // its connection is lost with that of the second
	}
}

// TestDeafServerIsReplaced: one that answers nothing any more, not even a ping, is ended, so that the next call finds another.
func TestDeafServerIsReplaced(t *testing.T) {
	t.Parallel()
	one := tool(t, "well", "stop", func(config *mcp.Config) { config.Timeout = 500 * time.Millisecond })
	for range 2 {
		file := filepath.Join(t.TempDir(), "state")
		eventually(t, "the tool is called", func() bool { // a busy machine may need more time than one call has
			if failure := failed(t, one, `{"text":`+strconv.Quote(file)+`}`); !strings.Contains(failure.Message, "not finished after") {
				t.Errorf("%+v", *failure)
			}
			_, err := os.Stat(file)
			return err == nil
		})
	}
}

// TestPermitComesFirst: an agent that acts outside calls nothing without a permit, and asks for none when the tool cannot be called.
func TestPermitComesFirst(t *testing.T) {
	t.Parallel()
	refusal := errors.New("not permitted")
	asked := 0
	ask := func(context.Context) error { asked++; return refusal }
	file := filepath.Join(t.TempDir(), "state")
	_, err := tool(t, "well", "hang", external).Handle(t.Context(), request(`{"text":`+strconv.Quote(file)+`}`).WithPermit(ask), silent)
	if _, called := os.Stat(file); !errors.Is(err, refusal) || asked != 1 || called == nil {
		t.Errorf("%v, asked %d times, called: %v", err, asked, called == nil)
	}
	if _, err = tool(t, "drifted", "echo", external).Handle(t.Context(), request(`{}`).WithPermit(ask), silent); err == nil || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}

// TestCancelAfterAPermitIsOpen: what was permitted and then stopped may have happened.
func TestCancelAfterAPermitIsOpen(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		eventually(t, "the tool is called", func() bool { _, err := os.Stat(file); return err == nil })
		cancel()
	}()
	_, err := tool(t, "well", "hang", external).Handle(ctx, request(`{"text":`+strconv.Quote(file)+`}`), silent)
	if failure, is := errors.AsType[*agent.Failure](err); !is || !failure.Unknown {
		t.Errorf("%v", err)
	}
}
