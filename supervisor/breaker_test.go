package supervisor_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/registry"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
	"podium/supervisor/circuit"
	"podium/supervisor/restore"
)

// openAs opens an owner of a shard with a configuration of its own.
func (d *desk) openAs(name string, core bus.Core, shard int, change func(*supervisor.Config)) *supervisor.Owner {
	d.tb.Helper()
	config := d.owner(name, core, shard).Config
	change(&config)
	o := d.watched(supervisor.NewOwner(config))
	d.must(o.Open(d.tb.Context(), d.now))
	return o
}

func breaking(config *supervisor.Config) {
	config.Breaker = func(string) circuit.Policy {
		return circuit.Policy{Failures: 3, Within: 30 * time.Second, Open: time.Minute}
	}
}

// use has the profile changed before anybody uses it.
func (d *desk) use(change func(*schemas.Profile)) {
	d.tb.Helper()
	profile := deskProfile()
	change(&profile)
	var err error
	d.profiles, err = restore.NewProfiles(d.tb.Context(), d.ledger.Artifacts(), []schemas.Profile{profile})
	d.must(err)
}

// last returns the newest request to an agent.
func (d *desk) last(agent string) *schemas.Event {
	d.tb.Helper()
	requests := d.requests(agent)
	if len(requests) == 0 {
		d.tb.Fatalf("%s was asked nothing", agent)
	}
	return &requests[len(requests)-1]
}

// breaker returns what the ledger says of an agent's breaker.
func (d *desk) breaker(agent string) schemas.Breaker {
	d.tb.Helper()
	agents, err := registry.Agents(context.Background(), d.ledger)
	d.must(err)
	for i := range agents {
		if agents[i].Name == agent {
			return *agents[i].Breaker
		}
	}
	return schemas.Breaker{State: schemas.BreakerClosed}
}

// threadOf returns the name of a session of a shard.
func (d *desk) threadOf(shard, number int) string {
	for n := 0; ; n++ {
		thread := fmt.Sprintf("thread-%d-%d", number, n)
		if _, in := d.session(thread); in == shard {
			return thread
		}
	}
}

// fails has a new session of a shard fail once for good.
func (d *desk) fails(o *supervisor.Owner, shard, number int) {
	d.tb.Helper()
	thread := d.threadOf(shard, number)
	d.say(thread, thread, "do it")
	d.must(d.work(o))
	d.refuse("worker", d.last("worker"))
	d.must(d.work(o))
}

func once(profile *schemas.Profile) { profile.Retry.Attempts = 1 }

// TestBreakerBarsAnAgent: after failures in a row the agent is not asked, for
// every shard and across restarts; then one request goes out and decides.
func TestBreakerBarsAnAgent_M28(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(once)
	zero := d.openAs("zero", d.ledger, 0, breaking)
	one := d.openAs("one", d.ledger, 1, breaking)
	d.fails(zero, 0, 1)
	d.fails(one, 1, 2)
	if b := d.breaker("worker"); b.State != schemas.BreakerClosed || len(b.Failures) != 2 {
		t.Fatalf("after two failures: %+v", b)
	}
	d.fails(zero, 0, 3)
	if b := d.breaker("worker"); b.State != schemas.BreakerOpen || !b.Until.Equal(d.now.Add(time.Minute)) {
		t.Fatalf("after three failures: %+v", b)
	}

	// Another shard knows within a second, and one that begins anew knows at once.
	asked := len(d.requests("worker"))
	d.now = d.now.Add(time.Second)
	refused := func(o *supervisor.Owner, shard, number int) {
		t.Helper()
		thread := d.threadOf(shard, number)
		d.say(thread, thread, "do it")
		d.must(d.work(o))
		run := d.sessionHistory(thread).Run(1)
		if len(d.requests("worker")) != asked || run.Reason != schemas.StopUnavailable || run.Tasks[0].Failure().Cause != schemas.FailureUnavailable {
			t.Errorf("%d requests more, the run is %s (%s), its task failed as %q",
				len(d.requests("worker"))-asked, run.Status, run.Reason, run.Tasks[0].Failure().Cause)
		}
	}
	d.fails(one, 1, 4) // the first to ask after a second learns of it
	asked = len(d.requests("worker"))
	refused(one, 1, 5)
	refused(zero, 0, 6)
	again := d.openAs("again", d.ledger, 0, breaking)
	refused(again, 0, 7)

	// One probe at a time, whoever asks.
	d.now = d.now.Add(time.Minute)
	probe, other := d.threadOf(0, 8), d.threadOf(1, 9)
	d.say(probe, probe, "do it")
	d.must(d.work(again))
	if len(d.requests("worker")) != asked+1 || d.breaker("worker").State != schemas.BreakerHalfOpen {
		t.Fatalf("%d requests, the breaker is %+v", len(d.requests("worker"))-asked, d.breaker("worker"))
	}
	asked++
	request := d.last("worker")
	if b := d.breaker("worker"); b.Probe != schemas.AttemptKey(request.ID) || !b.Until.Equal(request.Expires) {
		t.Errorf("the breaker waits for %s until %s, the probe is %s and expires at %s", b.Probe, b.Until, request.ID, request.Expires)
	}
	d.say(other, other, "do it")
	d.must(d.work(one))
	if run := d.sessionHistory(other).Run(1); len(d.requests("worker")) != asked || run.Reason != schemas.StopUnavailable {
		t.Errorf("beside the probe %d requests went out", len(d.requests("worker"))-asked)
	}

	// It fails: open again. The next one succeeds: closed.
	d.refuse("worker", request)
	d.must(d.work(again))
	if b := d.breaker("worker"); b.State != schemas.BreakerOpen || !b.Until.Equal(d.now.Add(time.Minute)) {
		t.Fatalf("after the probe has failed: %+v", b)
	}
	d.now = d.now.Add(time.Minute)
	second := d.threadOf(1, 10)
	d.say(second, second, "do it")
	d.must(d.work(one))
	d.answerNewest("worker", "done")
	d.must(d.work(one))
	if b := d.breaker("worker"); b.State != schemas.BreakerClosed {
		t.Fatalf("after the probe has succeeded: %+v", b)
	}
	asked = len(d.requests("worker"))
	d.now = d.now.Add(time.Second)
	for number := range 3 {
		thread := d.threadOf(0, 11+number)
		d.say(thread, thread, "do it")
		d.must(d.work(again))
	}
	if len(d.requests("worker")) != asked+3 {
		t.Errorf("%d requests through a closed breaker", len(d.requests("worker"))-asked)
	}
	d.clean()
}

// TestBreakerRefusesThoseWhoWait: who waits for an agent's next slot is told at
// once when the agent is not asked any more, and a probe is the most urgent of
// those who wait.
func TestBreakerRefusesThoseWhoWait_M28_M17(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(once)
	o := d.openAs("one", d.ledger, 0, func(config *supervisor.Config) {
		breaking(config)
		config.PoolSize = func(agent string) int { return map[string]int{"worker": 1}[agent] } // and two more
	})
	for number := range 6 {
		thread := d.threadOf(0, number)
		d.say(thread, thread, "do it")
	}
	d.must(d.work(o))
	requests := d.requests("worker")
	if len(requests) != 3 {
		t.Fatalf("%d requests for an agent that works on one at a time", len(requests))
	}
	for i := range requests {
		if i < 2 {
			d.refuse("worker", &requests[i])
			d.must(d.work(o))
		}
	}
	if len(d.requests("worker")) != 5 {
		t.Fatalf("%d requests after two have failed", len(d.requests("worker")))
	}
	d.refuse("worker", &requests[2])
	d.must(d.work(o))
	if len(d.requests("worker")) != 5 {
		t.Error("the third failure in a row lets one more out")
	}
	if run := d.sessionHistory(d.threadOf(0, 5)).Run(1); run.Reason != schemas.StopUnavailable {
		t.Errorf("who has waited is %s (%s)", run.Phase, run.Reason)
	}
	d.clean()
}

// downFor lets time pass while an agent fails whatever it is asked.
func (d *desk) downFor(o *supervisor.Owner, agent string, wait time.Duration) {
	d.tb.Helper()
	answered := map[string]bool{}
	for _, request := range d.requests(agent) {
		answered[request.ID] = true
	}
	for end := d.now.Add(wait); d.now.Before(end); {
		next, ok := o.Next()
		if !ok || next.After(end) {
			next = end
		}
		if next.After(d.now) {
			d.now = next
		}
		d.must(d.work(o))
		for _, request := range d.requests(agent) {
			if !answered[request.ID] {
				answered[request.ID] = true
				d.refuse(agent, &request)
			}
		}
		d.must(d.work(o))
	}
}

// TestBreakerLosesNoAnswer: however long an agent that delivers is down, a
// delivery that is refused by the breaker keeps its attempts, and the first
// attempt of each goes out even so.
func TestBreakerLosesNoAnswer_M28(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(func(profile *schemas.Profile) { profile.Delivery.Attempts = 3 })
	o := d.openAs("one", d.ledger, 0, breaking)
	const threads = 4
	for number := range threads {
		thread := d.threadOf(0, number)
		d.say(thread, thread, "do it")
		d.must(d.work(o))
		d.answerNewest("worker", "done")
		d.must(d.work(o))
		d.refuse("chat", d.last("chat"))
		d.must(d.work(o))
		if len(d.requests("chat")) != number+1 {
			t.Fatalf("%d first deliveries of %d conversations", len(d.requests("chat")), number+1)
		}
	}
	if b := d.breaker("chat"); b.State != schemas.BreakerOpen {
		t.Fatalf("the breaker of who delivers is %+v", b)
	}
	d.downFor(o, "chat", 4*time.Minute)
	refused := 0
	for number := range threads {
		run := d.sessionHistory(d.threadOf(0, number)).Run(1)
		if run.Phase != workflow.PhaseAssembling {
			t.Errorf("an answer is given up: the run is %s (%s)", run.Phase, run.Reason)
		}
		if run.Delivery.Failure().Cause == schemas.FailureUnavailable {
			refused++
		}
	}
	if tried := len(d.requests("chat")) - threads; refused == 0 || tried == 0 || tried > 4 {
		t.Errorf("%d deliveries wait for the breaker, and %d were tried again in four minutes", refused, tried)
	}
	for range 10 { // it is up again
		for _, request := range d.requests("chat") {
			d.answer("chat", &request, "")
		}
		d.now = d.now.Add(5 * time.Minute)
		d.must(d.work(o))
	}
	for number := range threads {
		if run := d.sessionHistory(d.threadOf(0, number)).Run(1); run.Status != schemas.RunCompleted || run.Phase != workflow.PhaseComplete {
			t.Errorf("the run is %s, %s (%s)", run.Phase, run.Status, run.Reason)
		}
	}
	if b := d.breaker("chat"); b.State != schemas.BreakerClosed {
		t.Errorf("the breaker is %+v", b)
	}
	d.clean()
}

// TestBreakerProbeIsNotLost: a probe that is cancelled makes room for another, and
// one that is out when its owner dies decides all the same.
func TestBreakerProbeIsNotLost_M28(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(once)
	o := d.openAs("one", d.ledger, 0, breaking)
	for number := range 3 {
		d.fails(o, 0, number)
	}
	d.now = d.now.Add(time.Minute)
	first, second := d.threadOf(0, 10), d.threadOf(0, 11)
	d.say(first, first, "do it")
	d.must(d.work(o))
	asked := len(d.requests("worker"))
	d.cancel(first)
	d.must(d.work(o))
	d.say(second, second, "do it")
	d.must(d.work(o))
	if len(d.requests("worker")) != asked+1 {
		t.Fatalf("%d requests after the probe was cancelled", len(d.requests("worker"))-asked)
	}
	o = d.openAs("two", d.ledger, 0, breaking)
	d.must(d.work(o))
	d.answerNewest("worker", "done")
	d.must(d.work(o))
	if b := d.breaker("worker"); b.State != schemas.BreakerClosed {
		t.Errorf("the probe of a former owner has succeeded, and the breaker is %+v", b)
	}
	d.clean()
}

// cancel asks for the end of a thread's first run.
func (d *desk) cancel(thread string) {
	d.tb.Helper()
	id, shard := d.session(thread)
	body, err := schemas.Marshal(schemas.Control{Action: schemas.ControlCancel, Run: schemas.RunID(id, 1), By: "test"})
	d.must(err)
	d.put(bus.ControlSubject(shard), &schemas.Event{
		ID: "cancel-" + thread, Source: "/desk", Type: schemas.TypeControl, Time: d.now, DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

// TestBreakerProbeThatNeverGoes: who has claimed to be the probe, or is about to,
// and is cancelled before it goes, leaves that to somebody else.
func TestBreakerProbeThatNeverGoes_M28(t *testing.T) {
	t.Parallel()
	for name, inTime := range map[string]bool{"BeforeItIsSettled": true, "BeforeItGoes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			d.use(once)
			slow := false
			var late []func()
			o := d.openAs("one", d.ledger, 0, func(config *supervisor.Config) {
				breaking(config)
				config.Go = func(operation func()) {
					if slow {
						late = append(late, operation)
						return
					}
					operation()
				}
			})
			for number := range 3 {
				d.fails(o, 0, number)
			}
			d.now = d.now.Add(time.Minute)
			asked := len(d.requests("worker"))
			slow = true
			first, second := d.threadOf(0, 10), d.threadOf(0, 11)
			d.say(first, first, "do it")
			d.must(d.work(o))
			slow = false
			d.cancel(first)
			if inTime {
				d.must(d.work(o))
			}
			for _, operation := range late {
				operation()
			}
			d.must(d.work(o))
			if len(d.requests("worker")) != asked {
				t.Fatal("what is cancelled went out")
			}
			d.say(second, second, "do it")
			d.must(d.work(o))
			if len(d.requests("worker")) != asked+1 {
				t.Errorf("nobody may be the probe: the breaker is %+v", d.breaker("worker"))
			}
			d.clean()
		})
	}
}

// TestBreakerCountsWhatWasAsked: an answer that stands in for another one says
// nothing about how the agent is now.
func TestBreakerCountsWhatWasAsked_M28(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(func(profile *schemas.Profile) {
		once(profile)
		profile.Agents[0].Reuse = schemas.Duration(time.Hour)
		profile.Planner = &schemas.Planner{Kind: schemas.PlannerTemplate, Templates: []schemas.Template{
			{Name: "any", Tasks: []schemas.TemplateTask{{Task: "t1", Description: "do it", Agent: "worker"}}},
		}}
	})
	o := d.openAs("one", d.ledger, 0, breaking)
	say := func(number int, words string) {
		t.Helper()
		thread := d.threadOf(0, number)
		d.now = d.now.Add(10 * time.Millisecond)
		d.say(thread, thread, words)
		d.must(d.work(o))
	}
	say(1, "known")
	d.answerNewest("worker", "done")
	d.must(d.work(o))
	d.fails(o, 0, 2)
	d.fails(o, 0, 3)
	asked := len(d.requests("worker"))
	say(4, "known")
	if len(d.requests("worker")) != asked || d.sessionHistory(d.threadOf(0, 4)).Run(1).Tasks[0].Reused == 0 {
		t.Fatal("the answer is not used again")
	}
	if b := d.breaker("worker"); len(b.Failures) != 2 {
		t.Errorf("the breaker is %+v", b)
	}
	d.clean()
}

// TestBreakerLeavesDeliveriesInLine: a delivery that no breaker refuses still waits
// for its agent to have room.
func TestBreakerLeavesDeliveriesInLine_M28(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.openAs("one", d.ledger, 0, func(config *supervisor.Config) {
		breaking(config)
		config.PoolSize = func(agent string) int { return map[string]int{"chat": 1}[agent] } // and two more
	})
	conclude := func(number int) {
		t.Helper()
		thread := d.threadOf(0, number)
		d.say(thread, thread, "do it")
		d.must(d.work(o))
		d.answerNewest("worker", "done")
		d.must(d.work(o))
	}
	for number := range 3 {
		conclude(number)
	}
	for _, request := range d.requests("chat") {
		d.refuse("chat", &request)
	}
	d.must(d.work(o))
	if b := d.breaker("chat"); b.State != schemas.BreakerOpen {
		t.Fatalf("the breaker is %+v", b)
	}
	for number := range 6 {
		conclude(10 + number)
	}
	if out := len(d.requests("chat")) - 3; out != 3 {
		t.Errorf("%d deliveries are under way with room for 3", out)
	}
	d.clean()
}

// deafStore is a ledger whose stores do not answer for a while.
type deafStore struct {
	bus.Core
	deaf *deafness
}

type deafness int

const (
	hears        deafness = iota
	deaf                  // nothing is read
	storesDeafly          // what is written is stored, and nobody is told
)

type failing struct {
	bus.KeyValue
	deaf *deafness
}

func (c deafStore) KeyValue(bucket string) bus.KeyValue {
	return failing{c.Core.KeyValue(bucket), c.deaf}
}

func (s failing) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	if *s.deaf == deaf {
		return nil, 0, &bus.TemporaryError{Op: "get", Err: context.DeadlineExceeded}
	}
	return s.KeyValue.Get(ctx, key)
}

func (s failing) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	sequence, err := s.KeyValue.Update(ctx, key, value, revision)
	if *s.deaf == storesDeafly && err == nil {
		return 0, &bus.TemporaryError{Op: "update", Err: context.DeadlineExceeded}
	}
	return sequence, err
}

// TestBreakerWithoutTheLedger: an owner that cannot share what it has seen decides
// by it all the same, and shares it later, each failure once.
func TestBreakerWithoutTheLedger_M28(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(once)
	ear := hears
	o := d.openAs("one", deafStore{d.ledger, &ear}, 0, breaking)
	ear = deaf
	d.fails(o, 0, 1)
	if b := d.breaker("worker"); len(b.Failures) != 0 {
		t.Fatalf("the ledger knows of %+v", b)
	}
	ear = storesDeafly
	d.fails(o, 0, 2)
	d.now = d.now.Add(100 * time.Millisecond)
	d.must(d.work(o))
	ear = hears
	d.now = d.now.Add(100 * time.Millisecond)
	d.must(d.work(o))
	if b := d.breaker("worker"); len(b.Failures) != 2 {
		t.Errorf("two failures are told as %+v", b)
	}
	ear = deaf
	d.fails(o, 0, 3)
	asked := len(d.requests("worker"))
	d.fails(o, 0, 4)
	if len(d.requests("worker")) != asked {
		t.Error("an open breaker lets through what its owner could not share")
	}
	ear = hears
	d.now = d.now.Add(10 * time.Second)
	d.must(d.work(o))
	if b := d.breaker("worker"); b.State != schemas.BreakerOpen {
		t.Errorf("the breaker is %+v", b)
	}
	d.clean()
}

// TestBreakerRefusesWithRoomForTheAnswer: when an agent that delivers answers is
// refused as one that works, what that leads to still waits for it to have room.
func TestBreakerRefusesWithRoomForTheAnswer_M28(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(func(profile *schemas.Profile) {
		once(profile)
		profile.Agents = append(profile.Agents, schemas.AgentUse{Name: "chat"})
		profile.Routers = append([]schemas.Router{{Kind: schemas.RouterKeywords, Mode: schemas.OrderConfigured, Groups: []schemas.KeywordGroup{
			{Name: "calls", Agent: "chat", Keywords: []schemas.Keyword{{Word: "call", Mode: schemas.ModeWord}}},
		}}}, profile.Routers...)
	})
	o := d.openAs("one", d.ledger, 0, func(config *supervisor.Config) {
		breaking(config)
		config.PoolSize = func(agent string) int { return map[string]int{"chat": 1}[agent] } // and two more
	})
	for number := range 3 {
		thread := d.threadOf(0, number)
		d.say(thread, thread, "call")
	}
	d.must(d.work(o))
	for number := range 4 { // they wait for room
		thread := d.threadOf(0, 10+number)
		d.say(thread, thread, "call")
	}
	d.must(d.work(o))
	for _, request := range d.requests("chat") {
		d.refuse("chat", &request)
	}
	d.must(d.work(o))
	if b := d.breaker("chat"); b.State != schemas.BreakerOpen {
		t.Fatalf("the breaker is %+v", b)
	}
	for left := 7; left > 0; {
		deliveries := d.requests("chat")[3+7-left:]
		if len(deliveries) == 0 || len(deliveries) > 3 {
			t.Fatalf("%d deliveries are under way with room for 3", len(deliveries))
		}
		for i := range deliveries {
			d.answer("chat", &deliveries[i], "")
		}
		left -= len(deliveries)
		d.must(d.work(o))
	}
	d.clean()
}
