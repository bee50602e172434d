package agent_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/binding"
	"podium/schemas"
)

// elsewhere is a handler whose work goes on elsewhere; the tickets of its requests come by the channel.
func elsewhere(tickets chan<- agent.Ticket) agent.HandlerFunc {
	return func(_ context.Context, r *agent.Request, report agent.Report) (agent.Outcome, error) {
		report(30, "handed on")
		tickets <- r.Ticket()
		return agent.Outcome{}, fmt.Errorf("wrapped: %w", agent.ErrElsewhere)
	}
}

func (s *stage) answerer(t *testing.T) *agent.Answerer {
	t.Helper()
	made, err := agent.NewAnswerer(s.wrap(s.ledger.Worker(agentName)), s.config, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestServeSaysThatTheWorkGoesOnElsewhere: the last progress says until when there is silence, and the request is
// acknowledged without a response. The answer that comes later is the one that Serve would have given.
func TestServeSaysThatTheWorkGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	at := func(t *testing.T, how func(t *testing.T, s *stage, expires time.Time)) (answered schemas.Event) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1)
			s.core(t)
			expires := time.Now().Add(time.Hour)
			how(t, s, expires)
			for m, err := range s.ledger.Scan(t.Context(), bus.ShardStream(0), 1, bus.ResponseSubject(agentName, 0)) {
				if err != nil {
					t.Fatal(err)
				}
				if answered, err = binding.Decode(m); err != nil {
					t.Fatal(err)
				}
			}
		})
		return answered
	}
	fill := func(expires time.Time) func(*schemas.Event) {
		return func(e *schemas.Event) {
			e.Expires, e.EffectID, e.PartitionKey, e.Subject, e.Attempt = expires, schemas.EffectID("r", "t"), "thread", "run/task-1", 2
		}
	}
	at1 := at(t, func(t *testing.T, s *stage, expires time.Time) {
		t.Helper()
		stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			return agent.ReadOutcome([]byte(`{"status": "completed", "result": {"text": "5"}, "recommendations": ["Pay."]}`), asked())
		})
		s.ask(t, 1, fill(expires))
		s.one(t)
		mustStop(t, stop)
	})
	later := at(t, func(t *testing.T, s *stage, expires time.Time) {
		t.Helper()
		tickets := make(chan agent.Ticket, 1)
		stop := s.serve(t, elsewhere(tickets))
		s.ask(t, 1, fill(expires))
		ticket := <-tickets
		if said := s.responses(t); len(said) != 0 {
			t.Errorf("it is answered by %+v", said)
		}
		all, _ := s.progress(t)
		if len(all) == 0 || !all[len(all)-1].Payload.WaitingUntil.Equal(expires) || all[len(all)-1].Payload.Message != "handed on" {
			t.Fatalf("the last progress is none that says so: %+v", all)
		}
		s.nothingPending(t)
		mustStop(t, stop)
		if !ticket.Expires.Equal(expires) {
			t.Errorf("the ticket expires at %s", ticket.Expires)
		}
		for range 2 {
			if err := s.answerer(t).Answer(t.Context(), &ticket, []byte(`{"status": "completed", "result": {"text": "5"}, "recommendations": ["Pay."]}`), ""); err != nil {
				t.Fatal(err)
			}
		}
		if said := s.responses(t); len(said) != 2 || said[0].MessageID != said[1].MessageID {
			t.Errorf("a repeat is not known as one: %+v", said)
		}
	})
	for _, e := range []*schemas.Event{&at1, &later} {
		response, err := schemas.DecodeExecutionResponse(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		response.Timestamp, e.Time, response.Payload.ResourceUsage = time.Time{}, time.Time{}, nil
		if e.Data, err = schemas.Marshal(response); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(at1, later) {
		t.Errorf("at once:\n%+v\n%s\nlater:\n%+v\n%s", at1, at1.Data, later, later.Data)
	}
}

// TestWithoutItsNoticeARequestComesAgain: nobody is silent before that is on the ledger. One that comes again after it was
// handed on is not worked on twice.
func TestWithoutItsNoticeARequestComesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		var refused, acks atomic.Int32
		s.wrap = func(w bus.Worker) bus.Worker {
			return &flaky{Worker: w, publish: func(m bus.Message) error {
				if strings.Contains(string(m.Body), "waiting_until") && refused.Add(1) == 1 {
					return bus.ErrDenied
				}
				return nil
			}, ack: func() error {
				if acks.Add(1) == 1 {
					return errors.New("the connection broke")
				}
				return nil
			}}
		}
		tickets := make(chan agent.Ticket, 9)
		stop := s.serve(t, elsewhere(tickets))
		s.ask(t, 1, nil)
		time.Sleep(5 * ackWait) // virtual
		if len(tickets) != 2 || acks.Load() != 2 {
			t.Errorf("it was handed on %d times and acknowledged %d times", len(tickets), acks.Load())
		}
		if said := s.responses(t); len(said) != 0 {
			t.Errorf("it is answered by %+v", said)
		}
		all, at := s.progress(t)
		if until := all[len(all)-1].Payload.WaitingUntil; until.Sub(at[len(at)-1]) < 23*time.Hour {
			t.Errorf("without an expiry it is silent until %s", until)
		}
		s.nothingPending(t)
		mustStop(t, stop)
	})
}

// TestAnswersThatCannotBeTaken: what cannot be read is refused and leaves nothing behind; what says that it has
// failed, and data that breaks the agent's schema, is a failed response.
func TestAnswersThatCannotBeTaken(t *testing.T) {
	t.Parallel()
	file := func(bytes int) string {
		content := base64.StdEncoding.EncodeToString(make([]byte, bytes))
		return `{"status": "completed", "deliverables": [{"path": "a.bin", "type": "report", "metadata": {"content": "` + content + `", "media_type": "text/plain"}}]}`
	}
	for said, c := range map[string]struct {
		err    error
		status schemas.ResponseStatus
		schema string
	}{
		`{"status": "partial"}`:                                             {err: agent.ErrUnreadable},
		`{"status": "completed", "result": 5}`:                              {err: agent.ErrUnreadable},
		`{"type": "execution_response", "in_reply_to": "x", "payload": {}}`: {err: agent.ErrUnreadable},
		file(1001): {err: bus.ErrTooLarge},
		file(1000): {status: schemas.StatusCompleted},
		``:         {err: agent.ErrNothing},
		`{"a": `:   {err: agent.ErrUnreadable},
		`words`:    {status: schemas.StatusCompleted},
		"\xef\xbb\xbf" + `{"status": "completed"}`: {status: schemas.StatusCompleted},
		"R\xfcckruf": {err: agent.ErrUnreadable},
		`{"n": 1}`:   {status: schemas.StatusCompleted, schema: `{"required": ["n"]}`},
		`{"m": 1}`:   {status: schemas.StatusFailed, schema: `{"required": ["n"]}`},
		`{"status": "failed", "issues_encountered": [{"severity": "high", "description": "no paper"}]}`: {status: schemas.StatusFailed},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1)
			s.core(t)
			s.config.Agent.OutputSchema = []byte(c.schema)
			ticket := agent.Ticket{
				Request: schemas.RequestID(0, 1, "run", "t1", 1), From: "supervisor", Plan: "p", Task: "t1", Attempt: 1,
				ReplyTo: bus.ResponseSubject(agentName, 0), Started: time.Now(),
			}
			if err := s.answerer(t).Answer(t.Context(), &ticket, []byte(said), ""); !errors.Is(err, c.err) {
				t.Fatalf("%s: %v, want %v", said, err, c.err)
			}
			responses := s.responses(t)
			if c.err != nil {
				if len(responses) != 0 {
					t.Errorf("%s is refused, and published", said)
				}
				return
			}
			if len(responses) != 1 || responses[0].Payload.Status != c.status || responses[0].MessageID != schemas.ResponseID(ticket.Request) {
				t.Fatalf("%s becomes %+v", said, responses)
			}
			for _, made := range responses[0].Payload.Deliverables {
				if !strings.Contains(string(made.Metadata), `"grant"`) || strings.Contains(string(made.Metadata), `"content"`) {
					t.Errorf("the file became %s", made.Metadata)
				}
			}
		})
	}
}

// TestFailedAnswerAfterAnother: the first failed answer is a warning. One that comes after another answer changes nothing, and is none.
func TestFailedAnswerAfterAnother(t *testing.T) {
	t.Parallel()
	const failed = `{"status": "failed", "issues_encountered": [{"severity": "high", "description": "no paper"}]}`
	for first, warnings := range map[string]int{failed: 1, "Done.": 0} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1)
			s.core(t)
			ticket := agent.Ticket{
				Request: schemas.RequestID(0, 1, "run", "t1", 1), From: "supervisor", Plan: "p", Task: "t1", Attempt: 1,
				ReplyTo: bus.ResponseSubject(agentName, 0), Started: time.Now(),
			}
			answerer := s.answerer(t)
			for _, said := range []string{first, failed, failed} {
				if err := answerer.Answer(t.Context(), &ticket, []byte(said), ""); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Count(s.log.String(), `"level":"warn"`); got != warnings || strings.Contains(s.log.String(), "paper") {
				t.Errorf("%q: %d warnings, want %d:\n%s", first, got, warnings, s.log)
			}
			if all := s.responses(t); len(all) != 3 {
				t.Errorf("%d responses", len(all))
			}
		})
	}
}
