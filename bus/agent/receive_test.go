package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/artifact"
	"podium/schemas"
)

// A shelf is a Receiver that notes what it is given.
type shelf struct {
	mu       sync.Mutex
	trouble  []error // of the next calls
	received []schemas.Event
	requests []*agent.Request
	isolated []bus.Message
	unwanted []string
	hold     time.Duration
}

func (s *shelf) next() error {
	if len(s.trouble) == 0 {
		return nil
	}
	err := s.trouble[0]
	s.trouble = s.trouble[1:]
	return err
}

func (s *shelf) Receive(_ context.Context, event schemas.Event, request *agent.Request) error {
	time.Sleep(s.hold)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received, s.requests = append(s.received, event), append(s.requests, request)
	return s.next()
}

func (s *shelf) Quarantine(_ context.Context, message bus.Message, detail string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if detail == "" {
		return errors.New("no reason is given")
	}
	s.isolated = append(s.isolated, message)
	return s.next()
}

func (s *shelf) Cancelled(request string) { s.unwanted = append(s.unwanted, request) }

func (s *stage) receive(t *testing.T, receiver agent.Receiver) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- agent.Receive(ctx, s.wrap(s.ledger.Worker(agentName)), receiver, s.config) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// TestReceiveHandsOver: a request is acknowledged once it is durable elsewhere and
// not before; until then it comes again. A large body stays where it is.
func TestReceiveHandsOver_X03(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2)
		grants := s.core(t)
		kept := &shelf{trouble: []error{bus.ErrFull, errDown}}
		stop := s.receive(t, kept)
		var reference *schemas.Artifact
		id := s.ask(t, 1, func(e *schemas.Event) {
			e.Data = []byte(strings.Replace(string(e.Data), `"say 1"`, `"say `+strings.Repeat("x", artifact.MessageInlineLimit)+`"`, 1))
			if err := artifact.Offload(t.Context(), s.ledger.Artifacts(), e); err != nil {
				t.Fatal(err)
			}
			grants.GrantBody(bus.RequestSubject(agentName), e)
			reference = e.Artifact
		})
		s.nothingPending(t)
		mustStop(t, stop)
		if len(kept.received) != 3 || len(s.responses(t)) != 0 || len(kept.isolated) != 0 {
			t.Fatalf("received %d times, %d responses", len(kept.received), len(s.responses(t)))
		}
		for i, event := range kept.received {
			if event.ID != id || event.Artifact == nil || *event.Artifact != *reference || len(event.Data) != 0 {
				t.Errorf("event %+v", event)
			}
			if words := kept.requests[i].Task().Description; len(words) != artifact.MessageInlineLimit+len("say ") {
				t.Errorf("its words have %d bytes", len(words))
			}
		}
	})
}

// TestReceiveRefuses: what is expired is dropped, what breaks its schema or is
// refused gets a failed response, and what cannot be answered is isolated.
func TestReceiveRefuses_X06(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		kept := &shelf{trouble: []error{&bus.MalformedError{Detail: "not for us"}, errDown}}
		stop := s.receive(t, kept)
		refused := s.ask(t, 1, nil)
		synctest.Wait()
		s.ask(t, 2, func(e *schemas.Event) { e.Expires = time.Now().Add(-time.Second) })
		invalid := s.ask(t, 3, func(e *schemas.Event) {
			e.Data = []byte(strings.Replace(string(e.Data), `"priority":"medium"`, `"priority":"none"`, 1))
		})
		s.ask(t, 4, func(e *schemas.Event) { e.Data = []byte("garbage") })
		s.nothingPending(t)
		mustStop(t, stop)
		var answered []string
		for _, said := range s.responses(t) {
			answered = append(answered, said.InReplyTo)
			if said.Payload.Status != schemas.StatusFailed || said.Payload.IssuesEncountered[0].Resolution != schemas.ResolutionEscalated {
				t.Errorf("answer %+v", said.Payload)
			}
		}
		if !slices.Equal(answered, []string{refused, invalid}) || len(kept.received) != 1 {
			t.Errorf("answered %v, received %d", answered, len(kept.received))
		}
		if len(kept.isolated) != 2 || string(kept.isolated[1].Body) != "garbage" { // it failed once
			t.Errorf("isolated %d messages", len(kept.isolated))
		}
	})
}

// TestBrokenRequestsAreAnswered: whoever asks learns what is wrong, whatever it is, as long as it is known who they are and what for.
func TestBrokenRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		kept := &shelf{}
		stop := s.receive(t, kept)
		broken := []struct{ old, wrong, place string }{
			{`"dependencies":[]`, `"dependencies":"B1"`, "/payload/tasks/0/dependencies"},
			{`"estimated_tokens":0`, `"estimated_tokens":"many"`, "/payload/tasks/0/estimated_tokens"},
			{`"estimated_tokens":0`, `"estimated_tokens":1.5`, "/payload/tasks/0/estimated_tokens"},
			{`"type":"execution_request"`, `"type":"execution_reqest"`, "podium.execution_request.v1"},
			{`"timestamp":"`, `"timestamp":"yesterday, `, "/timestamp"},
			{`"to":"`, `"to":5,"was":"`, "/to"},
			{`"tasks":[`, `"tasks":{},"were":[`, "/payload/tasks"},
		}
		var want []string
		for n, one := range broken {
			want = append(want, s.ask(t, n+1, func(e *schemas.Event) {
				e.Data = []byte(strings.Replace(string(e.Data), one.old, one.wrong, 1))
				e.Type = strings.Replace(e.Type, strings.Trim(strings.TrimPrefix(one.old, `"type":`), `"`), strings.Trim(strings.TrimPrefix(one.wrong, `"type":`), `"`), 1)
			}))
		}
		s.nothingPending(t)
		mustStop(t, stop)
		for n, said := range s.responses(t) {
			if issue := said.Payload.IssuesEncountered[0]; said.InReplyTo != want[n] || !strings.Contains(issue.Description, broken[n].place) || issue.Resolution != schemas.ResolutionEscalated {
				t.Errorf("%s: answer to %s, want %s: %q", broken[n].wrong, said.InReplyTo, want[n], issue.Description)
			}
		}
		if got := len(s.responses(t)); got != len(broken) || len(kept.received) != 0 || len(kept.isolated) != 0 {
			t.Errorf("answered %d of %d, received %d, isolated %d", got, len(broken), len(kept.received), len(kept.isolated))
		}
	})
}

// TestReceiveKeepsItsLease: a request that is slow to become durable comes to no
// other process meanwhile, and a stop in order waits for it.
func TestReceiveKeepsItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		s.config.DrainTimeout = 10 * time.Minute
		kept := &shelf{hold: 4 * ackWait}
		stop := s.receive(t, kept)
		s.ask(t, 1, nil)
		synctest.Wait()
		time.Sleep(2 * ackWait)
		if others := s.ledger.Worker(agentName).TryFetch(1); len(others) != 0 {
			t.Error("it was handed out a second time")
		}
		mustStop(t, stop)
		if len(kept.received) != 1 {
			t.Errorf("received %d times", len(kept.received))
		}
		s.nothingPending(t)
	})
}

// TestReceivePassesTheHint: the receiver hears which requests nobody waits for.
func TestReceivePassesTheHint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		kept := &shelf{}
		stop := s.receive(t, kept)
		synctest.Wait()
		if err := s.ledger.Signal(bus.ServiceSubject(agentName, bus.SignalCancel), []byte("request-1")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		mustStop(t, stop)
		if !slices.Equal(kept.unwanted, []string{"request-1"}) {
			t.Errorf("it heard %v", kept.unwanted)
		}
	})
}
