package supervisor_test

import (
	"testing"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/circuit"
)

// ranked is a profile whose texts say how urgent their one task is.
func ranked(profile *schemas.Profile) {
	once(profile)
	template := func(priority schemas.Priority) schemas.Template {
		return schemas.Template{
			Name: string(priority), Keywords: []schemas.Keyword{{Word: string(priority), Mode: schemas.ModeWord}},
			Tasks: []schemas.TemplateTask{{Task: "t1", Description: "work", Agent: "worker", Priority: priority}},
		}
	}
	profile.Planner = &schemas.Planner{Kind: schemas.PlannerTemplate, Templates: []schemas.Template{
		template(schemas.PriorityCritical), template(schemas.PriorityHigh), template(schemas.PriorityLow),
	}}
	profile.Execution.Mode = schemas.ExecutionDAG
}

// A tardy ledger takes some messages when it is told to, and not before.
type tardy struct {
	bus.Core
	chosen func(bus.Message) bool
	held   []func()
}

func (c *tardy) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if c.chosen != nil && c.chosen(message) {
		c.held = append(c.held, func() { c.Core.Publish(message, expect, done) })
		return
	}
	c.Core.Publish(message, expect, done)
}

// stall keeps the records of a thread from being taken, and has one under way.
func (c *tardy) stall(d *desk, o *supervisor.Owner, thread string) {
	d.tb.Helper()
	id, _ := d.session(thread)
	c.chosen = func(m bus.Message) bool { return m.Subject == bus.SessionSubject(id, d.ledger.Shards()) }
	d.say(thread, "again, "+thread, string(schemas.PriorityLow))
	d.must(d.work(o))
	if len(c.held) != 1 {
		d.tb.Fatalf("%d records on their way", len(c.held))
	}
}

func (c *tardy) release() {
	held := c.held
	c.chosen, c.held = nil, nil
	for _, publish := range held {
		publish()
	}
}

// roomForThree opens an owner of whom three requests at a time go to the worker.
func (d *desk) roomForThree(core bus.Core, change func(*supervisor.Config)) *supervisor.Owner {
	d.tb.Helper()
	return d.openAs("one", core, 0, func(config *supervisor.Config) {
		config.PoolSize = func(agent string) int { return map[string]int{"worker": 1}[agent] } // and two more
		change(config)
	})
}

// TestGrantGivesWay: room that was set aside for a task whose session was busy goes
// to who is more urgent and has come meanwhile, but not to who is as urgent, or comes
// in the moment in which it is given up.
func TestGrantGivesWay_M17(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile schemas.Priority
		next      int // of the threads
	}{
		"to the more urgent":     {schemas.PriorityCritical, 5},
		"not to the as urgent":   {schemas.PriorityHigh, 4},
		"not to the less urgent": {schemas.PriorityLow, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			d.use(ranked)
			core := &tardy{Core: d.ledger}
			o := d.roomForThree(core, func(*supervisor.Config) {})
			first, second, third := d.ask(o, 0, 1, "low"), d.ask(o, 0, 2, "low"), d.ask(o, 0, 3, "low")
			busy := d.ask(o, 0, 4, "high")
			d.expect(first, second, third)
			core.stall(d, o, busy)
			d.finish(first)
			d.must(d.work(o))
			other := d.ask(o, 0, 5, string(test.meanwhile))
			d.expect(second, third)
			core.release()
			late := d.ask(o, 0, 6, "low")
			d.expect(second, third, d.threadOf(0, test.next))
			d.finish(second)
			d.must(d.work(o))
			d.expect(third, busy, other)
			d.finish(third)
			d.must(d.work(o))
			d.expect(busy, other, late)
			d.clean()
		})
	}
}

// TestNobodyTakesRoomThatIsWaitedFor: when several have room set aside and give way,
// each place goes to who is more urgent.
func TestNobodyTakesRoomThatIsWaitedFor_M17(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(ranked)
	core := &tardy{Core: d.ledger}
	o := d.roomForThree(core, func(*supervisor.Config) {})
	first, second, third := d.ask(o, 0, 1, "low"), d.ask(o, 0, 2, "low"), d.ask(o, 0, 3, "low")
	var busy, urgent []string
	for number := range 2 {
		busy = append(busy, d.ask(o, 0, 4+number, "high"))
	}
	core.chosen = func(m bus.Message) bool {
		for _, thread := range busy {
			if id, _ := d.session(thread); m.Subject == bus.SessionSubject(id, 1) {
				return true
			}
		}
		return false
	}
	for _, thread := range busy {
		d.say(thread, "again, "+thread, "low")
	}
	d.must(d.work(o))
	d.finish(first)
	d.finish(second)
	d.must(d.work(o))
	for number := range 2 {
		urgent = append(urgent, d.ask(o, 0, 6+number, "critical"))
	}
	d.expect(third)
	core.release()
	d.must(d.work(o))
	d.expect(third, urgent[0], urgent[1])
	d.clean()
}

// TestWhoWasToBeRefusedWaitsAgain: who was to be refused, but whose session was busy
// until its agent was asked again, is behind nobody who has come since.
func TestWhoWasToBeRefusedWaitsAgain_M17_M28(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(ranked)
	core := &tardy{Core: d.ledger}
	o := d.roomForThree(core, func(config *supervisor.Config) {
		config.Breaker = func(agent string) circuit.Policy {
			return map[string]circuit.Policy{"worker": {Failures: 1, Within: time.Minute, Open: 5 * time.Second}}[agent]
		}
	})
	d.ask(o, 0, 1, "low")
	fails := d.last("worker")
	second, third := d.ask(o, 0, 2, "low"), d.ask(o, 0, 3, "low")
	busy := d.ask(o, 0, 4, "critical")
	core.stall(d, o, busy)
	d.refuse("worker", fails)
	d.must(d.work(o))
	if state := d.breaker("worker").State; state != schemas.BreakerOpen {
		t.Fatalf("the breaker is %s", state)
	}
	d.now = d.now.Add(5 * time.Second)
	probe := d.ask(o, 0, 5, "low")
	d.expect(second, third, probe)
	d.finish(probe)
	d.must(d.work(o))
	if state := d.breaker("worker").State; state != schemas.BreakerClosed {
		t.Fatalf("the breaker is %s", state)
	}
	d.ask(o, 0, 6, "low")
	d.expect(second, third)
	core.release()
	d.must(d.work(o))
	d.expect(second, third, busy)
	d.clean()
}

// TestRoomOfTheCancelledIsFree: room that was set aside for tasks which have been
// cancelled since is there for others as soon as that is on record.
func TestRoomOfTheCancelledIsFree(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(func(profile *schemas.Profile) {
		ranked(profile)
		pair := &profile.Planner.Templates[0]
		pair.Tasks = append(pair.Tasks, schemas.TemplateTask{Task: "t2", Description: "work", Agent: "worker", Priority: schemas.PriorityCritical})
	})
	core := &tardy{Core: d.ledger}
	o := d.roomForThree(core, func(*supervisor.Config) {})
	first, second, third := d.ask(o, 0, 1, "low"), d.ask(o, 0, 2, "low"), d.ask(o, 0, 3, "low")
	pair := d.ask(o, 0, 4, "critical")
	id, _ := d.session(pair)
	core.chosen = func(m bus.Message) bool { return m.Subject == bus.SessionSubject(id, 1) }
	d.cancel(pair)
	d.must(d.work(o))
	d.finish(first)
	d.finish(second)
	d.must(d.work(o)) // both places are set aside
	fifth, sixth := d.ask(o, 0, 5, "low"), d.ask(o, 0, 6, "low")
	d.expect(third)
	held := core.held
	core.held = nil
	core.chosen = func(m bus.Message) bool { return m.Subject == bus.RequestSubject("chat") } // it stays busy
	for _, publish := range held {
		publish()
	}
	d.must(d.work(o))
	d.expect(third, fifth, sixth)
	core.release()
	d.must(d.work(o))
	d.clean()
}

// TestStuckSessionKeepsNoRoom: what a session has been admitted to is there for
// others when its record is not taken, however often it is decided anew.
func TestStuckSessionKeepsNoRoom(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(ranked)
	stuck, _ := d.session(d.threadOf(0, 1))
	core, heal := refusing(d.ledger, func(m bus.Message) bool { return m.Subject == bus.SessionSubject(stuck, 1) })
	o := d.roomForThree(core, func(*supervisor.Config) {})
	first := d.ask(o, 0, 1, "critical")
	d.spin(o, time.Second)
	second, third, fourth := d.ask(o, 0, 2, "low"), d.ask(o, 0, 3, "low"), d.ask(o, 0, 4, "low")
	d.spin(o, time.Second)
	d.expect(second, third, fourth)
	heal()
	d.spin(o, 10*time.Second)
	d.finish(second)
	d.must(d.work(o))
	d.expect(first, third, fourth)
	d.clean()
}
