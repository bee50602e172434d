package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
)

// questions returns what was asked so far.
func (s *stage) questions(t *testing.T) (all []schemas.PermitRequest, at []time.Time) {
	t.Helper()
	synctest.Wait()
	for m, err := range s.ledger.Scan(t.Context(), bus.ShardStream(0), 1, bus.PermitSubject(agentName, 0)) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := binding.Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		if err = schemas.Validate(schemas.EnvelopeTypePermitRequest, e.Data); err != nil {
			t.Errorf("%v: %s", err, e.Data)
		}
		var question schemas.PermitRequest
		if err = schemas.Unmarshal(e.Data, &question); err != nil {
			t.Fatal(err)
		}
		if e.ID != question.MessageID || e.CausationID != question.InReplyTo || e.Source != binding.SourceOf(agentName) {
			t.Errorf("envelope %+v and attributes %+v disagree", question.Envelope, e)
		}
		all, at = append(all, question), append(at, m.Recorded)
	}
	return all, at
}

// decide answers a question, as the owner of the shard would.
func (s *stage) decide(t *testing.T, answer schemas.PermitAnswer) {
	t.Helper()
	body, err := schemas.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ledger.Signal(bus.ServiceSubject(agentName, bus.SignalPermitted), body); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// An actor acts outside whenever it is permitted.
type actor struct {
	acts atomic.Int32
	err  error // of the newest refusal
}

func (a *actor) handle(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	if a.err = request.Permit(ctx); a.err != nil {
		return agent.Outcome{}, a.err
	}
	if err := request.Permit(ctx); err != nil { // the permit is for the whole of Handle
		return agent.Outcome{}, err
	}
	a.acts.Add(1)
	return agent.Text("done"), nil
}

// Without an answer the agent asks again every second, with the same question, and
// acts only once it has a permit. What others are told is not for it.
func TestPermitIsAskedUntilAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, a := newStage(t, 1), &actor{}
		stop := s.serve(t, a.handle)
		id := s.ask(t, 1, nil)
		time.Sleep(2500 * time.Millisecond)
		s.decide(t, schemas.PermitAnswer{Permit: uuid.NewString(), Granted: true})
		questions, at := s.questions(t)
		if len(questions) != 3 || a.acts.Load() != 0 {
			t.Fatalf("%d questions, %d acts after 2.5 s without an answer", len(questions), a.acts.Load())
		}
		for i, question := range questions {
			if question.MessageID != questions[0].MessageID || question.InReplyTo != id || question.From != agentName || question.To != "supervisor" {
				t.Errorf("question %d: %+v", i+1, question)
			}
			if i > 0 && at[i].Sub(at[i-1]) != time.Second {
				t.Errorf("question %d after %v", i+1, at[i].Sub(at[i-1]))
			}
		}
		for range 2 { // an answer may come twice
			s.decide(t, schemas.PermitAnswer{Permit: questions[0].MessageID, Granted: true})
		}
		if got := s.one(t); got.Payload.Status != schemas.StatusCompleted || a.acts.Load() != 1 {
			t.Errorf("%d acts, response %+v", a.acts.Load(), got.ExecutionResponse)
		}
		s.nothingPending(t)
		mustStop(t, stop)
	})
}

// The permit that comes along with a request counts for whoever is handed it first.
// When the bus hands it out again nobody knows what was done, and it is asked.
func TestPermitComesAlongOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, a := newStage(t, 1), &actor{}
		stop := s.serve(t, a.handle)
		brings := func(e *schemas.Event) { e.Permit = schemas.PermitID(e.ID) }
		s.ask(t, 1, brings)
		if got := s.one(t); got.Payload.Status != schemas.StatusCompleted {
			t.Errorf("response %+v", got.ExecutionResponse)
		}
		if questions, _ := s.questions(t); len(questions) != 0 || a.acts.Load() != 1 {
			t.Errorf("%d questions, %d acts of the first who is handed the request", len(questions), a.acts.Load())
		}
		mustStop(t, stop)

		s.ask(t, 2, brings)
		if held := s.ledger.Worker(agentName).TryFetch(1); len(held) != 1 { // this process dies with it
			t.Fatalf("%d requests at once", len(held))
		}
		time.Sleep(ackWait)
		stop = s.serve(t, a.handle)
		questions, _ := s.questions(t)
		if len(questions) != 1 || a.acts.Load() != 1 {
			t.Fatalf("%d questions, %d acts of the second who is handed the request", len(questions), a.acts.Load())
		}
		s.decide(t, schemas.PermitAnswer{Permit: questions[0].MessageID, Granted: true})
		if a.acts.Load() != 2 {
			t.Error("it did not act with a permit")
		}
		mustStop(t, stop)
	})
}

// A refusal ends the request for good: nobody wants the effect any more.
func TestPermitRefused(t *testing.T) {
	t.Parallel()
	for _, reason := range []schemas.PermitReason{schemas.PermitCancelled, schemas.PermitStale, schemas.PermitUnknown} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, a := newStage(t, 1), &actor{}
				stop := s.serve(t, a.handle)
				s.ask(t, 1, nil)
				questions, _ := s.questions(t)
				s.decide(t, schemas.PermitAnswer{Permit: questions[0].MessageID, Reason: reason})
				got := s.one(t)
				if issues := got.Payload.IssuesEncountered; got.Payload.Status != schemas.StatusFailed || len(issues) != 1 ||
					issues[0].Resolution != schemas.ResolutionEscalated || issues[0].EffectUnknown {
					t.Errorf("response %+v", got.ExecutionResponse)
				}
				failure, ok := errors.AsType[*agent.Failure](a.err)
				if a.acts.Load() != 0 || !ok || !failure.Permanent || !errors.Is(a.err, bus.ErrNotPermitted) {
					t.Errorf("%d acts after %v", a.acts.Load(), a.err)
				}
				s.nothingPending(t)
				mustStop(t, stop)
			})
		})
	}
}

// What was permitted before and goes on elsewhere is acknowledged by whoever is handed its request again: it acts no
// second time, and answers nothing.
func TestPermittedElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, a := newStage(t, 1), &actor{}
		stop := s.serve(t, a.handle)
		s.ask(t, 1, nil)
		questions, _ := s.questions(t)
		s.decide(t, schemas.PermitAnswer{Permit: questions[0].MessageID, Reason: schemas.PermitElsewhere})
		if said := s.responses(t); len(said) != 0 || a.acts.Load() != 0 || !errors.Is(a.err, agent.ErrElsewhere) {
			t.Errorf("%d acts after %v, responses %+v", a.acts.Load(), a.err, said)
		}
		s.nothingPending(t)
		mustStop(t, stop)
	})
}

// A refusal is of its moment. When the ledger has lost what made it refuse, with the power, it
// makes the same request again, and wants its effect.
func TestPermitRefusedIsNotRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, a := newStage(t, 1), &actor{}
		stop := s.serve(t, a.handle)
		first := s.ask(t, 1, nil)
		questions, _ := s.questions(t)
		s.decide(t, schemas.PermitAnswer{Permit: questions[0].MessageID, Reason: schemas.PermitStale})
		s.one(t)
		if again := s.ask(t, 1, nil); again != first {
			t.Fatalf("the requests are %s and %s", first, again)
		}
		questions, _ = s.questions(t)
		if len(questions) != 2 {
			t.Fatalf("%d questions, want one for each time", len(questions))
		}
		s.decide(t, schemas.PermitAnswer{Permit: questions[1].MessageID, Granted: true})
		if said := s.responses(t); len(said) != 2 || said[1].Payload.Status != schemas.StatusCompleted || a.acts.Load() != 1 {
			t.Errorf("%d acts, responses %+v", a.acts.Load(), said)
		}
		mustStop(t, stop)
	})
}

// When another process was permitted meanwhile, the request is that one's: neither
// answered nor acknowledged.
func TestPermitGoneIsLeftToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, a := newStage(t, 1), &actor{}
		stop := s.serve(t, a.handle)
		s.ask(t, 1, nil)
		questions, _ := s.questions(t)
		s.decide(t, schemas.PermitAnswer{Permit: questions[0].MessageID, Reason: schemas.PermitGone})
		if said := s.responses(t); len(said) != 0 || a.acts.Load() != 0 {
			t.Errorf("%d acts, responses %+v", a.acts.Load(), said)
		}
		mustStop(t, stop)
		time.Sleep(ackWait)
		if left := s.ledger.Worker(agentName).TryFetch(1); len(left) != 1 {
			t.Error("the request is gone with it")
		}
	})
}

// Nobody waits for an answer longer than for the work.
func TestPermitEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, a := newStage(t, 1), &actor{}
		stop := s.serve(t, a.handle)
		s.ask(t, 1, func(e *schemas.Event) { e.Expires = time.Now().Add(3500 * time.Millisecond) })
		time.Sleep(time.Minute)
		if questions, _ := s.questions(t); len(questions) != 4 || a.acts.Load() != 0 || errors.Is(a.err, bus.ErrNotPermitted) {
			t.Errorf("%d questions, %d acts, %v", len(questions), a.acts.Load(), a.err)
		}
		if got := s.one(t); got.Payload.IssuesEncountered[0].EffectUnknown {
			t.Error("it did not act, and says that it may have")
		}
		mustStop(t, stop)
	})
}

// A request that names no shard was made by nobody who could refuse.
func TestPermitNeedsSomebodyToAsk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, a := newStage(t, 1), &actor{}
		stop := s.serve(t, a.handle)
		s.ask(t, 1, func(e *schemas.Event) { e.ReplyTo = "" })
		synctest.Wait()
		if questions, _ := s.questions(t); len(questions) != 0 || a.acts.Load() != 1 {
			t.Errorf("%d questions, %d acts", len(questions), a.acts.Load())
		}
		mustStop(t, stop)
	})
}

// What the bus does not take is asked again; what it refuses for good ends the attempt.
func TestPermitOverABrokenBus(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		acts int32
	}{"down for a moment": {errDown, 1}, "denied": {bus.ErrDenied, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, a := newStage(t, 1), &actor{}
				var tries atomic.Int32
				s.wrap = func(w bus.Worker) bus.Worker {
					return &refusing{Worker: w, refuse: func(m bus.Message) error {
						if parsed, err := bus.ParseSubject(m.Subject); err == nil && parsed.Kind == bus.KindPermit && tries.Add(1) < 3 {
							return test.err
						}
						return nil
					}}
				}
				stop := s.serve(t, a.handle)
				s.ask(t, 1, nil)
				time.Sleep(2500 * time.Millisecond)
				if questions, _ := s.questions(t); len(questions) > 0 {
					s.decide(t, schemas.PermitAnswer{Permit: questions[0].MessageID, Granted: true})
				}
				if s.one(t); a.acts.Load() != test.acts {
					t.Errorf("%d acts", a.acts.Load())
				}
				mustStop(t, stop)
			})
		})
	}
}

type refusing struct {
	bus.Worker
	refuse func(bus.Message) error
}

func (r *refusing) Publish(ctx context.Context, m bus.Message) (bus.Ack, error) {
	if err := r.refuse(m); err != nil {
		return bus.Ack{}, err
	}
	return r.Worker.Publish(ctx, m)
}

// After a permit, only a *Failure says that nothing was done: not even a
// result that cannot be sent on.
func TestPermitLeavesDoubt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		permit  bool
		end     func() (agent.Outcome, error)
		unknown bool
	}{
		"an error":                         {true, failing(errDown), true},
		"a panic":                          {true, func() (agent.Outcome, error) { panic("out of luck") }, true},
		"a failure":                        {true, failing(&agent.Failure{Message: "busy"}), false},
		"a failure that is open":           {true, failing(&agent.Failure{Unknown: true}), true},
		"an error without a permit":        {false, failing(errDown), false},
		"a large result":                   {true, returning(agent.Text(strings.Repeat("x", artifact.MaxSize))), true},
		"a large result without a permit":  {false, returning(agent.Text(strings.Repeat("x", artifact.MaxSize))), false},
		"a broken result":                  {true, returning(agent.Outcome{Result: schemas.Result{Data: []byte("{")}}), true},
		"a broken result without a permit": {false, returning(agent.Outcome{Result: schemas.Result{Data: []byte("{")}}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 1)
				stop := s.serve(t, func(ctx context.Context, r *agent.Request, _ agent.Report) (agent.Outcome, error) {
					if test.permit {
						if err := r.Permit(ctx); err != nil {
							return agent.Outcome{}, err
						}
					}
					return test.end()
				})
				s.ask(t, 1, func(e *schemas.Event) { e.Permit = schemas.PermitID(e.ID) })
				got := s.one(t)
				if issues := got.Payload.IssuesEncountered; len(issues) != 1 || issues[0].EffectUnknown != test.unknown {
					t.Errorf("issues %+v", issues)
				}
				mustStop(t, stop)
			})
		})
	}
}

func failing(err error) func() (agent.Outcome, error) {
	return func() (agent.Outcome, error) { return agent.Outcome{}, err }
}

func returning(outcome agent.Outcome) func() (agent.Outcome, error) {
	return func() (agent.Outcome, error) { return outcome, nil }
}

// Many who wait at once hear their own answers.
func TestPermitsAreApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count = 8
		s := newStage(t, count)
		allowed := make(chan string, count)
		stop := s.serve(t, func(ctx context.Context, r *agent.Request, _ agent.Report) (agent.Outcome, error) {
			err := r.Permit(ctx)
			if err == nil {
				allowed <- r.MessageID
			}
			return agent.Text("said"), err
		})
		for n := range count {
			s.ask(t, n+1, nil)
		}
		var want []string
		questions, _ := s.questions(t)
		for i, question := range questions {
			answer := schemas.PermitAnswer{Permit: question.MessageID, Granted: i%2 == 0}
			if answer.Granted {
				want = append(want, question.InReplyTo)
			} else {
				answer.Reason = schemas.PermitCancelled
			}
			s.decide(t, answer)
		}
		close(allowed)
		var got []string
		for id := range allowed {
			got = append(got, id)
		}
		slices.Sort(got)
		slices.Sort(want)
		if len(questions) != count || !slices.Equal(got, want) {
			t.Errorf("%d questions; allowed %v, want %v", len(questions), got, want)
		}
		mustStop(t, stop)
	})
}

// Who is handed a request that others were handed before, and fails before it has
// heard what is permitted, says nothing about them.
func TestPermitOfAnEarlierDelivery(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first   bool // it is the first who is handed the request
		ask     bool // it asks, and is refused
		end     error
		unknown bool
	}{
		"an error":                 {false, false, errDown, true},
		"a failure":                {false, false, &agent.Failure{Message: "busy"}, true},
		"a failure for good":       {false, false, &agent.Failure{Message: "never", Permanent: true}, true},
		"a refusal":                {false, true, nil, false},
		"a failure of the first":   {true, false, &agent.Failure{Message: "busy"}, false},
		"an error of the first":    {true, false, errDown, false},
		"a refusal after an error": {false, true, errDown, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 1)
				s.ask(t, 1, func(e *schemas.Event) { e.Permit = schemas.PermitID(e.ID) })
				if !test.first { // another process is at work, and its lease has lapsed
					if held := s.ledger.Worker(agentName).TryFetch(1); len(held) != 1 {
						t.Fatalf("%d requests at once", len(held))
					}
					time.Sleep(ackWait)
				}
				stop := s.serve(t, func(ctx context.Context, r *agent.Request, _ agent.Report) (agent.Outcome, error) {
					if test.ask {
						if err := r.Permit(ctx); test.end == nil {
							return agent.Outcome{}, err
						}
					}
					return agent.Outcome{}, test.end
				})
				if test.ask {
					questions, _ := s.questions(t)
					s.decide(t, schemas.PermitAnswer{Permit: questions[0].MessageID, Reason: schemas.PermitUnknown})
				}
				got := s.one(t)
				issues := got.Payload.IssuesEncountered
				if len(issues) != 1 || issues[0].EffectUnknown != test.unknown {
					t.Fatalf("issues %+v", issues)
				}
				if failure, told := errors.AsType[*agent.Failure](test.end); told &&
					(issues[0].Description != failure.Message || (issues[0].Resolution == schemas.ResolutionEscalated) != failure.Permanent) {
					t.Errorf("it said %+v, and the response %+v", failure, issues[0])
				}
				mustStop(t, stop)
			})
		})
	}
}
