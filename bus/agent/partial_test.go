package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/registry"
	"podium/schemas"
)

// heardPartials is a core, and what the core hears of results that are still to come, as it hears it.
type heardPartials struct {
	mu   sync.Mutex
	all  []schemas.Partial
	at   []time.Time
	fail func(n int) error // of the n-th message, from 1 on
}

func (h *heardPartials) listen(t *testing.T, s *stage) {
	t.Helper()
	count := 0
	stop, err := registry.ServeAgents(t.Context(), s.ledger, registry.AgentServices{Clock: time.Now, Partial: func(_ string, body []byte) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if count++; h.fail != nil {
			if err := h.fail(count); err != nil {
				return err
			}
		}
		var told schemas.Partial
		if err := errors.Join(schemas.Validate("partial", body), schemas.Unmarshal(body, &told)); err != nil {
			return err
		}
		h.all, h.at = append(h.all, told), append(h.at, time.Now())
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
}

// text is what somebody has read who puts the pieces together, as the schema says.
func (h *heardPartials) text(t *testing.T) string {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	text := ""
	for _, piece := range h.all {
		if piece.Offset > len(text) {
			t.Fatalf("a gap before %d in %d bytes", piece.Offset, len(text))
		}
		text = text[:piece.Offset] + piece.Text
	}
	return text
}

// ofStream makes a request one whose result is shown while it comes.
func ofStream(event *schemas.Event) {
	event.Data = []byte(strings.Replace(string(event.Data), `"context":{`, `"context":{"stream":true,`, 1))
}

func tells(words ...string) agent.HandlerFunc {
	return func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
		text := ""
		for _, word := range words {
			text += word
			request.Partial(text)
			time.Sleep(100 * time.Millisecond)
		}
		return agent.Text(text), nil
	}
}

// TestTextComesBeforeItsResult: what a handler tells is known at most four times a second, in pieces that make the
// whole, and the result follows without waiting for it.
func TestTextComesBeforeItsResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, heard := newStage(t, 1), &heardPartials{}
		heard.listen(t, s)
		words := strings.SplitAfter("Ärzte können für größere Übungen früher kommen als sonst üblich wäre", " ")
		stop := s.serve(t, tells(words...))
		s.ask(t, 1, ofStream)
		time.Sleep(time.Minute)
		if said := s.one(t); said.Payload.Result.Text != strings.Join(words, "") {
			t.Errorf("%+v", said.Payload)
		}
		if got := heard.text(t); !strings.HasPrefix(strings.Join(words, ""), got) || len(got) < len(words[0]) {
			t.Errorf("%q was told before", got)
		}
		if len(heard.all) < 3 {
			t.Errorf("%d pieces in a second", len(heard.all))
		}
		for i := 1; i < len(heard.at); i++ {
			if heard.at[i].Sub(heard.at[i-1]) < 250*time.Millisecond {
				t.Errorf("two pieces %v apart", heard.at[i].Sub(heard.at[i-1]))
			}
		}
		mustStop(t, stop)
	})
}

// TestNothingIsToldUnasked: of a request that is not shown while it comes, nothing is sent.
func TestNothingIsToldUnasked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, heard := newStage(t, 1), &heardPartials{}
		heard.listen(t, s)
		stop := s.serve(t, tells("one ", "two"))
		s.ask(t, 1, nil)
		time.Sleep(time.Minute)
		if s.one(t); len(heard.all) > 0 {
			t.Errorf("told %v", heard.all)
		}
		mustStop(t, stop)
	})
}

// TestLostTextBeginsAnew: what may have been missed is said again from the beginning, and who is not heard stops.
func TestLostTextBeginsAnew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail  func(n int) error
		heard bool
		most  int
	}{
		"one is lost":  {func(n int) error { return map[bool]error{true: errors.New("busy")}[n == 2] }, true, 100},
		"nobody hears": {func(n int) error { return fmt.Errorf("refused %d", n) }, false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, tried := newStage(t, 1), 0
				heard := &heardPartials{fail: func(n int) error { tried = n; return c.fail(n) }}
				heard.listen(t, s)
				words := strings.SplitAfter(strings.Repeat("word ", 40), " ")
				stop := s.serve(t, tells(words...))
				s.ask(t, 1, ofStream)
				time.Sleep(time.Minute)
				s.one(t)
				if got := heard.text(t); c.heard != (got != "" && strings.HasPrefix(strings.Join(words, ""), got)) || tried > c.most {
					t.Errorf("%q was told, %d were sent", got, tried)
				}
				mustStop(t, stop)
			})
		})
	}
}

// TestTextIsBoundedAndReplaced: another text takes the place of the first, and none is longer than it may be.
func TestTextIsBoundedAndReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, heard := newStage(t, 1), &heardPartials{}
		heard.listen(t, s)
		stop := s.serve(t, func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			for _, text := range []string{"first thought", "first thing", strings.Repeat("ü", schemas.MaxPartial)} {
				request.Partial(text)
				time.Sleep(time.Second)
			}
			return agent.Text("done"), nil
		})
		s.ask(t, 1, ofStream)
		time.Sleep(time.Minute)
		s.one(t)
		if got := heard.text(t); got != strings.Repeat("ü", schemas.MaxPartial/2) {
			t.Errorf("%d bytes, beginning with %.20q", len(got), got)
		}
		if len(heard.all) != 3 || heard.all[1].Offset != len("first th") {
			t.Errorf("%d pieces, %+v", len(heard.all), heard.all[min(1, len(heard.all)-1)].Offset)
		}
		mustStop(t, stop)
	})
}

// TestTextEndsWithItsRequest: a handler that goes on after a cancel tells nothing more.
func TestTextEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, heard := newStage(t, 1), &heardPartials{}
		heard.listen(t, s)
		stop := s.serve(t, func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			request.Partial("before")
			<-ctx.Done()
			time.Sleep(time.Second)
			request.Partial("before and after")
			time.Sleep(time.Second)
			return agent.Outcome{}, ctx.Err()
		})
		id := s.ask(t, 1, ofStream)
		time.Sleep(time.Second)
		if err := s.ledger.Signal(bus.ServiceSubject(agentName, bus.SignalCancel), []byte(id)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := heard.text(t); got != "before" {
			t.Errorf("told %q", got)
		}
		mustStop(t, stop)
	})
}
