package agent_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/artifact"
	"podium/bus/bustest"
	"podium/schemas"
)

func echo(_ context.Context, request *agent.Request, report agent.Report) (agent.Outcome, error) {
	report(50, "half of it")
	report(20, "a percentage never falls")
	return agent.Text(request.Task().Description), nil
}

func echoTask(n int) schemas.Task {
	return schemas.Task{
		TaskID: fmt.Sprint("task-", n), Description: fmt.Sprint("say ", n), Dependencies: []string{}, Priority: schemas.PriorityMedium,
		Deliverables: []string{}, ValidationCriteria: []string{},
		Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`)},
	}
}

func TestServeIsAHandlerSystem(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		return bustest.ServeHandler(t, "echo", agent.HandlerFunc(echo), echoTask)
	})
}

func TestServeFailures(t *testing.T) {
	t.Parallel()
	secret := "Frau Beispiel, 0170 1234567"
	for name, c := range map[string]struct {
		handle      agent.HandlerFunc
		description string
		resolution  schemas.Resolution
		category    schemas.FailureCategory
	}{
		"Error": {
			func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
				return agent.Outcome{}, errors.New("connection refused")
			}, "The agent could not complete the task.", schemas.ResolutionDeferred, "",
		},
		"TemporaryFailure": {
			func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
				return agent.Outcome{}, &agent.Failure{Message: secret + " is busy"}
			}, secret + " is busy", schemas.ResolutionDeferred, "",
		},
		"NoRoom": {
			func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
				return agent.Outcome{}, &agent.Failure{Message: "not within this minute", Category: schemas.CategoryResource}
			}, "not within this minute", schemas.ResolutionDeferred, schemas.CategoryResource,
		},
		"PermanentFailure": {
			func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
				return agent.Outcome{}, fmt.Errorf("wrapped: %w", &agent.Failure{Message: "no such formula", Permanent: true, Err: errors.New("parse")})
			}, "no such formula", schemas.ResolutionEscalated, "",
		},
		"Panic": {
			func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) { panic(secret) },
			"The agent could not complete the task.", schemas.ResolutionDeferred, "",
		},
		"RuntimePanic": {
			func(_ context.Context, r *agent.Request, _ agent.Report) (agent.Outcome, error) {
				return agent.Text(r.Payload.Tasks[7].TaskID), nil
			}, "The agent could not complete the task.", schemas.ResolutionDeferred, "",
		},
		"Goexit": {
			func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
				runtime.Goexit()
				return agent.Outcome{}, nil
			}, "The agent could not complete the task.", schemas.ResolutionDeferred, "",
		},
		"ResultIsNotJSON": {
			func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
				return agent.Outcome{Result: schemas.Result{Data: []byte("{")}}, nil
			}, "The agent could not complete the task.", schemas.ResolutionDeferred, "",
		},
		"MessageIsNotUTF8": {
			func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
				return agent.Outcome{}, &agent.Failure{Message: "\xff", Permanent: true}
			}, "The agent could not complete the task.", schemas.ResolutionEscalated, "",
		},
		"ResultIsTooLarge": {
			func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
				return agent.Text(strings.Repeat("x", artifact.MaxSize)), nil
			}, "The result is too large.", schemas.ResolutionEscalated, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 1)
				stop := s.serve(t, c.handle)
				id := s.ask(t, 1, nil)
				got := s.one(t)
				if got.InReplyTo != id || got.MessageID != schemas.ResponseID(id) || got.Payload.Status != schemas.StatusFailed {
					t.Errorf("response %+v", got.ExecutionResponse)
				}
				if i := got.Payload.IssuesEncountered; len(i) != 1 || i[0].Description != c.description || i[0].Resolution != c.resolution || i[0].Category != c.category {
					t.Errorf("issues %+v, want %q %s %s", i, c.description, c.resolution, c.category)
				}
				if strings.Contains(s.log.String(), secret) {
					t.Errorf("personal data in the log:\n%s", s.log)
				}
				s.nothingPending(t)
				mustStop(t, stop)
			})
		})
	}
}

// TestServeTellsTheRemedy: what whoever runs an agent has to look at is in the response and in the log, apart from the words for
// people, and so is when to come back, within bounds.
func TestServeTellsTheRemedy(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]int{1500 * time.Millisecond: 2, 0: 0, -time.Second: 0, 48 * time.Hour: schemas.MaxRetryAfter} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1)
			stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
				return agent.Outcome{}, &agent.Failure{Message: "Not now.", Remedy: "HTTP 429: no room", Category: schemas.CategoryResource, RetryAfter: after}
			})
			s.ask(t, 1, nil)
			i := s.one(t).Payload.IssuesEncountered
			if len(i) != 1 || i[0].Description != "Not now." || i[0].ResolutionDetails != "HTTP 429: no room" || i[0].RetryAfterSeconds != want {
				t.Errorf("after %s: issues %+v", after, i)
			}
			if log := s.log.String(); !strings.Contains(log, `"remedy":"HTTP 429: no room"`) || strings.Contains(log, "Not now.") {
				t.Errorf("the log is\n%s", log)
			}
			mustStop(t, stop)
		})
	}
}

func TestServeLogsWhereItPanicked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) { panic("x") })
		s.ask(t, 1, nil)
		s.one(t)
		if !strings.Contains(s.log.String(), "serve_test.go") {
			t.Errorf("no stack in the log:\n%s", s.log)
		}
		mustStop(t, stop)
	})
}

func TestServeProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		stop := s.serve(t, func(_ context.Context, _ *agent.Request, report agent.Report) (agent.Outcome, error) {
			time.Sleep(time.Second)
			for i := range 100 { // 10 ms apart, and not monotonic
				report(i-i%3*2, "")
				time.Sleep(10 * time.Millisecond)
			}
			report(250, "done")
			return agent.Text("x"), nil
		})
		start := time.Now()
		s.ask(t, 1, nil)
		time.Sleep(5 * time.Second)
		updates, at := s.progress(t)
		if first := at[0].Sub(start); first != 100*time.Millisecond {
			t.Errorf("the first progress came after %v", first)
		}
		if len(updates) < 4 || len(updates) > 7 {
			t.Errorf("%d updates in one second of reports", len(updates))
		}
		for i := 1; i < len(updates); i++ {
			if updates[i].Payload.ProgressPercentage < updates[i-1].Payload.ProgressPercentage {
				t.Errorf("progress fell to %d%%", updates[i].Payload.ProgressPercentage)
			}
			if gap := at[i].Sub(at[i-1]); gap < 250*time.Millisecond && i < len(updates)-1 {
				t.Errorf("update %d follows after %v", i, gap)
			}
		}
		if last := updates[len(updates)-1].Payload; last.ProgressPercentage != 100 || last.Message != "done" {
			t.Errorf("the last update is %+v", last)
		}
		if response := s.one(t); response.recorded.Before(at[len(at)-1]) {
			t.Error("progress follows the response")
		}
		mustStop(t, stop)
	})
}

func TestServeQuickHandlerReportsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			time.Sleep(99 * time.Millisecond)
			return agent.Text("x"), nil
		})
		s.ask(t, 1, nil)
		time.Sleep(time.Second)
		if updates, _ := s.progress(t); len(updates) != 0 {
			t.Errorf("%d updates", len(updates))
		}
		mustStop(t, stop)
	})
}

func TestServeKeepsTheLeaseOfLongWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2)
		var calls atomic.Int32
		work := func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			calls.Add(1)
			time.Sleep(10 * ackWait)
			return agent.Text("x"), nil
		}
		first, second := s.serve(t, work), s.serve(t, work)
		s.ask(t, 1, nil)
		time.Sleep(11 * ackWait)
		s.one(t)
		if calls.Load() != 1 {
			t.Errorf("the work was done %d times", calls.Load())
		}
		s.nothingPending(t)
		mustStop(t, first)
		mustStop(t, second)
	})
}

func TestServeBoundsItsSlots_M31_M32(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 8)
		s.config.Concurrency = 3
		var now, most atomic.Int32
		stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return agent.Text("x"), nil
		})
		for n := range 10 {
			s.ask(t, n+1, nil)
		}
		synctest.Wait()
		if other := s.ledger.Worker(agentName).TryFetch(8); len(other) != 5 {
			t.Errorf("3 slots hold %d of a pool of 8", 8-len(other))
		} else {
			for _, d := range other {
				if err := d.Nak(0); err != nil {
					t.Fatal(err)
				}
			}
		}
		time.Sleep(time.Minute)
		if got := len(s.responses(t)); got != 10 || most.Load() != 3 {
			t.Errorf("%d responses, at most %d at once", got, most.Load())
		}
		mustStop(t, stop)
	})
}

func TestServeEndsTheHandlersContext(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, s *stage, id string){
		"Expires": func(*testing.T, *stage, string) {},
		"Cancel": func(t *testing.T, s *stage, id string) {
			t.Helper()
			time.Sleep(5 * time.Second)
			if err := s.ledger.Signal(bus.ServiceSubject(agentName, bus.SignalCancel), []byte(id)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 1)
				var took time.Duration
				stop := s.serve(t, func(ctx context.Context, r *agent.Request, _ agent.Report) (agent.Outcome, error) {
					start := time.Now()
					<-ctx.Done()
					took = time.Since(start)
					return agent.Outcome{}, ctx.Err()
				})
				id := s.ask(t, 1, func(e *schemas.Event) {
					if name == "Expires" {
						e.Expires = time.Now().Add(5 * time.Second)
					}
				})
				synctest.Wait()
				end(t, s, id)
				time.Sleep(5 * time.Second)
				if got := s.one(t); got.Payload.Status != schemas.StatusFailed {
					t.Errorf("response %+v", got.ExecutionResponse)
				}
				if took != 5*time.Second {
					t.Errorf("the context ended after %v", took)
				}
				mustStop(t, stop)
			})
		})
	}
}
