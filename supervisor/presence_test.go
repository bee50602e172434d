package supervisor_test

import (
	"context"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/memory"
	"podium/bus/registry"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
)

// watchful is an owner that looks whether anybody serves an agent, on a ledger
// with the desk's clock; the worker takes one request at a time, and two wait.
func watchful(t *testing.T) (*desk, *supervisor.Owner) {
	t.Helper()
	var d *desk
	d = newDesk(t, 1, memory.WithClock(func() time.Time { return d.now }))
	d.must(d.ledger.Declare(context.Background(), "worker", bus.Pool{Size: 1, AckWait: time.Minute}))
	d.must(d.ledger.Declare(context.Background(), "chat", bus.Pool{Size: 1, AckWait: time.Minute}))
	d.use(func(profile *schemas.Profile) {
		texts := &profile.Languages[0].Texts
		texts.Unserved, texts.UnservedSince = "nobody ever served {agent}", "nobody serves {agent} since {since}"
	})
	return d, d.openWith(d.ledger, func(config *supervisor.Config) {
		config.PoolSize = func(string) int { return 1 }
		config.Presence = func(ctx context.Context, agent string, now time.Time) (registry.Presence, error) {
			return registry.PresenceOf(ctx, d.ledger, agent, now)
		}
	})
}

// seen writes into the registry when an agent was last seen.
func (d *desk) seen(agent string, at time.Time) {
	d.tb.Helper()
	entry, err := schemas.Marshal(schemas.Agent{Name: agent, Announced: at, LastSeen: at})
	d.must(err)
	_, err = d.ledger.KeyValue(bus.AgentBucket).Put(context.Background(), registry.InstanceKey(agent, "0"), entry)
	d.must(err)
}

// unserved is what a run says of its first task's agent.
func (d *desk) unserved(thread string) *workflow.Unserved {
	d.tb.Helper()
	return d.sessionHistory(thread).Run(1).Tasks[0].Unserved
}

// TestNobodyServesTheAgent: who waits for an agent that nobody serves is told so at
// once, and since when; when somebody comes, the work goes on as usual.
func TestNobodyServesTheAgent(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]time.Time{"never": {}, "since a while": midnight().Add(-time.Hour)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, o := watchful(t)
			if !since.IsZero() {
				d.seen("worker", since)
			}
			thread := d.ask(o, 0, 1, "please")
			if d.unserved(thread) != nil {
				t.Error("it is said before anybody had time to begin")
			}
			d.spin(o, 2*time.Second)
			told := d.unserved(thread)
			if told == nil || !told.Since.Equal(since) {
				t.Fatalf("after two seconds the run says %+v, want since %s", told, since)
			}
			d.spin(o, 20*time.Second)
			again := d.ask(o, 0, 2, "please")
			if told = d.unserved(again); told == nil || !told.Since.Equal(since) {
				t.Errorf("the next one is told %+v", told)
			}
			if told := d.facts(thread, func(f schemas.Fact) bool { return schemas.As[*schemas.TaskUnserved](f) != nil }); told != 1 {
				t.Errorf("it is told %d times", told)
			}
			d.seen("worker", d.now)
			requests := d.requests("worker")
			d.progress("worker", &requests[0])
			d.must(d.work(o))
			if d.unserved(thread) != nil || d.state(thread) != workflow.TaskRunning {
				t.Errorf("somebody works on it: %+v", d.sessionHistory(thread).Run(1).Tasks[0])
			}
			d.finish(thread)
			d.finish(again)
			d.must(d.work(o))
			for _, done := range []string{thread, again} {
				if d.state(done) != workflow.TaskCompleted {
					t.Errorf("%s is %s", done, d.state(done))
				}
			}
			d.clean()
		})
	}
}

// TestAgentComesAndGoesUnheard: an agent that has served others since nobody served it is
// gone since then, also where nothing was heard of it.
func TestAgentComesAndGoesUnheard(t *testing.T) {
	t.Parallel()
	d, o := watchful(t)
	thread := d.ask(o, 0, 1, "please")
	d.spin(o, 5*time.Second)
	if told := d.unserved(thread); told == nil || !told.Since.IsZero() {
		t.Fatalf("nobody has ever served it, and the run says %+v", told)
	}
	d.spin(o, 10*time.Minute)
	if d.state(thread) != workflow.TaskFailed {
		t.Fatalf("after all attempts the task is %s", d.state(thread))
	}
	d.seen("worker", d.now)
	last := d.now
	d.spin(o, 2*time.Minute)
	again := d.ask(o, 0, 2, "please")
	d.spin(o, 5*time.Second)
	if told := d.unserved(again); told == nil || !told.Since.Equal(last) {
		t.Errorf("the run says %+v, want since %s", told, last)
	}
	d.clean()
}

// TestAgentIsHeardWhileItIsLookedFor: what an agent says counts more than what was found
// before.
func TestAgentIsHeardWhileItIsLookedFor(t *testing.T) {
	t.Parallel()
	d, _ := watchful(t)
	var requests []schemas.Event
	speak := func() {
		if len(requests) == 1 {
			d.progress("worker", &requests[0])
			requests = nil
		}
	}
	o := d.openWith(d.ledger, func(config *supervisor.Config) {
		config.Presence = func(context.Context, string, time.Time) (registry.Presence, error) {
			speak()
			return registry.Presence{}, nil
		}
	})
	first := d.ask(o, 0, 1, "please")
	second := d.ask(o, 0, 2, "please")
	requests = d.requests("worker")[:1]
	d.spin(o, 10*time.Second)
	if told := []*workflow.Unserved{d.unserved(first), d.unserved(second)}; told[0] != nil || told[1] != nil {
		t.Errorf("told %+v", told)
	}
	d.spin(o, registry.AliveWithin)
	if told := d.unserved(second); told == nil || told.Since.IsZero() {
		t.Errorf("half a minute after its last word the other is told %+v", told)
	}
	d.clean()
}

// TestAgentGoesAway: those that wait in its queue, and those for which it has no
// room, are told when three of its heartbeats are missing, not before.
func TestAgentGoesAway(t *testing.T) {
	t.Parallel()
	d, o := watchful(t)
	d.seen("worker", d.now)
	last := d.now
	var threads []string
	for number := range 5 { // room for three
		threads = append(threads, d.ask(o, 0, number+1, "please"))
	}
	d.spin(o, registry.AliveWithin-time.Second)
	for _, thread := range threads {
		if told := d.unserved(thread); told != nil {
			t.Errorf("%s is told %+v although it was there a moment ago", thread, told)
		}
	}
	d.spin(o, 3*time.Second)
	ready := 0
	for _, thread := range threads {
		if told := d.unserved(thread); told == nil || !told.Since.Equal(last) {
			t.Errorf("%s is told %+v, want since %s", thread, told, last)
		}
		if d.state(thread) == workflow.TaskReady {
			ready++
		}
	}
	if ready != 2 {
		t.Errorf("%d wait for room, want 2", ready)
	}
	d.clean()
}

// TestBusyAgentIsServed: an agent that says nothing to the registry, but waits for
// requests or answers others, is served.
func TestBusyAgentIsServed(t *testing.T) {
	t.Parallel()
	d, o := watchful(t)
	first, second := d.ask(o, 0, 1, "please"), d.ask(o, 0, 2, "please")
	for range 3 {
		if deliveries := d.ledger.Worker("worker").TryFetch(1); len(deliveries) > 0 {
			requests := d.requests("worker")
			d.progress("worker", &requests[0])
		}
		d.spin(o, 10*time.Second)
		requests := d.requests("worker")
		d.progress("worker", &requests[0])
	}
	if told := []*workflow.Unserved{d.unserved(first), d.unserved(second)}; told[0] != nil || told[1] != nil {
		t.Errorf("told %+v", told)
	}
	d.clean()
}

// TestWhoAskedHearsThatNobodyServes: the progress update to whoever asked says it in
// the language of the request.
func TestWhoAskedHearsThatNobodyServes(t *testing.T) {
	t.Parallel()
	d, o := watchful(t)
	d.seen("worker", midnight().Add(-26*time.Hour))
	n := nest{desk: d}
	_, event := n.demand("desk", "work", 1, taskFor("worker", "one"))
	event.Profile, event.PartitionKey, event.ReplyTo = "desk", event.EffectID, bus.ResponseSubject("desk", 0)
	d.put(bus.InSubject("agent", 0), &event)
	d.must(d.work(o))
	d.spin(o, 5*time.Second)
	told := d.events(bus.ShardStream(0), bus.ProgressSubject("desk", 0))
	if len(told) == 0 {
		t.Fatal("nothing is told")
	}
	update, err := schemas.DecodeProgressUpdate(told[len(told)-1].Data)
	if want := "nobody serves worker since 2025-12-30 22:00 UTC"; err != nil || update.Payload.Message != want {
		t.Errorf("%q, %v; want %q", update.Payload.Message, err, want)
	}
	d.clean()
}

// TestAbsentAgentKeepsItsBreaker: nobody has failed at what nobody was there to take,
// however soon the time for it is over. Whoever comes then is asked.
func TestAbsentAgentKeepsItsBreaker_M28(t *testing.T) {
	t.Parallel()
	for name, queue := range map[string]time.Duration{"a minute to begin": time.Minute, "half a second to begin": 500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for served, want := range map[bool]schemas.BreakerState{false: schemas.BreakerClosed, true: schemas.BreakerOpen} {
				d, _ := watchful(t)
				d.use(func(profile *schemas.Profile) {
					profile.Retry.Attempts, profile.Deadlines.Queue = 1, schemas.Duration(queue)
				})
				o := d.openWith(d.ledger, func(config *supervisor.Config) {
					breaking(config)
					config.Presence = func(_ context.Context, agent string, _ time.Time) (registry.Presence, error) {
						return registry.Presence{Served: served || agent != "worker"}, nil
					}
				})
				for number := range 4 {
					thread := d.threadOf(0, number)
					d.say(thread, thread, "please")
				}
				d.spin(o, queue+5*time.Second)
				if b := d.breaker("worker"); b.State != want {
					t.Fatalf("somebody serves it: %t; the breaker is %+v", served, b)
				}
				if served {
					continue
				}
				served = true
				asked := len(d.requests("worker"))
				d.ask(o, 0, 10, "please")
				if len(d.requests("worker")) != asked+1 {
					t.Error("it has come, and is not asked")
				}
				d.clean()
			}
		})
	}
}
