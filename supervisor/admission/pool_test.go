package admission_test

import (
	"strconv"
	"testing"
	"time"

	"podium/supervisor/admission"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// TestAnAgentHasRoomForALittleMoreThanItWorksOn: as many requests are under way as the
// agent works on at a time, and a few that it finds in its queue when it is done.
func TestAnAgentHasRoomForALittleMoreThanItWorksOn(t *testing.T) {
	t.Parallel()
	for works, asked := range map[int]int{1: 3, 2: 4, 8: 10, 12: 15, 40: 50, 0: 60} {
		s := newLedger(t, 1).open(0, size(works))
		for n := range 60 {
			s.ask("low", strconv.Itoa(n))
		}
		if under := len(s.underWay()); under != asked {
			t.Errorf("an agent that works on %d at a time is asked for %d, want %d", works, under, asked)
		}
	}
}

// TestRoomIsForOneAgent: the answers that go out meanwhile are the work of
// an agent of their own.
func TestRoomIsForOneAgent(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, size(1))
	s.ask("low", "a", "b", "c", "d")
	s.finish("a") // its answer is delivered now, and not yet
	s.expect("b", "c", "d")
	if task := s.conversation("a").state.Active; task == nil {
		t.Error("nothing of it is under way")
	}
}

// TestTheMostUrgentGoesFirst: over all sessions of the shard; of those that are as
// urgent, the one that came first.
func TestTheMostUrgentGoesFirst_M17(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, size(1))
	s.ask("low", "first", "second", "third")
	s.ask("low", "low")
	s.ask("high", "high", "higher")
	s.ask("critical", "critical")
	s.expect("first", "second", "third")
	s.finish("first")
	s.expect("second", "third", "critical")
	s.finish("second")
	s.expect("third", "critical", "high")
	s.finish("third")
	s.expect("critical", "high", "higher")
	s.finish("critical")
	s.expect("high", "higher", "low")
}

// TestRequestersTakeTurns: of tasks that are as urgent, those of one requester stay in their order, and however many
// they are, a task of another requester waits for one of them in each turn.
func TestRequestersTakeTurns_M17(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, size(1))
	s.askAs("eve", "low", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8")
	s.askAs("ada", "low", "a1", "a2")
	s.askAs("bob", "low", "b1")
	s.askAs("eve", "low", "e9")
	order := []string{"e1", "e2", "e3", "e4", "e5", "a1", "b1", "e6", "a2", "e7", "e8"}
	for i := range len(order) - 2 {
		s.expect(order[i : i+3]...)
		s.finish(order[i])
	}
	s.askAs("eve", "high", "urgent") // however many of her tasks were done
	s.finish("e7")
	s.expect("e8", "e9", "urgent")
}

// TestUrgentTasksMoveNoTurns: an urgent task of a requester with many others does not put them before a new requester.
func TestUrgentTasksMoveNoTurns_M17(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, size(1))
	s.askAs("eve", "low", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9")
	s.askAs("eve", "high", "u1", "u2", "u3", "u4")
	s.finish("e1", "e2", "e3")
	s.expect("u1", "u2", "u3")
	s.askAs("ada", "low", "a1")
	s.finish("u1", "u2", "u3")
	s.expect("u4", "e4", "e5")
	s.finish("u4")
	s.expect("e4", "e5", "a1")
}

// TestNobodyTakesRoomThatSomebodyWaitsFor: room that has become free and is not given to
// anybody yet is for those who wait, however urgent whoever comes now is.
func TestNobodyTakesRoomThatSomebodyWaitsFor_M17(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, size(1))
	s.ask("low", "first", "second", "third", "waiting")
	s.answer("first", done())
	s.store(s.decide(s.conversation("new"), s.message("new", "high")))
	s.expect("second", "third") // neither of them, until it is the turn of those who wait
	s.ledger.settle()
	s.expect("second", "third", "new") // which is in the order of urgency
	s.finish("second")
	s.expect("third", "new", "waiting")
}

// TestADecisionReservesRoom: while its record is not stored, the room is nobody else's;
// Release gives it back when the record is not to be, and Track counts what has become of
// it once.
func TestADecisionReservesRoom(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, size(1))
	s.ask("low", "first", "second")
	third := s.decide(s.conversation("third"), s.message("third", "low"))
	s.ask("critical", "fourth")
	s.expect("first", "second")
	s.Release(&third.c.demand)
	s.ledger.settle()
	s.expect("first", "second", "fourth")

	s = newLedger(t, 1).open(0, size(1))
	s.ask("low", "first", "second")
	third = s.decide(s.conversation("third"), s.message("third", "low"))
	s.store(third)
	s.ask("low", "fourth")
	s.expect("first", "second", "third")
	s.finish("third")
	s.expect("first", "second", "fourth")
	s.finish("first", "second", "fourth")
	s.ask("low", "5", "6", "7", "8")
	s.expect("5", "6", "7")
}

// TestTrackAgain: a state that is tracked twice counts once.
func TestTrackAgain(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, size(1))
	s.ask("low", "first", "second")
	for range 3 {
		s.Track(&s.conversation("first").demand)
	}
	s.ask("low", "third", "fourth")
	s.expect("first", "second", "third")
	s.Track(&s.conversation("fourth").demand) // which waits once
	s.finish("first", "second")
	s.expect("third", "fourth")
}

// TestAGrantKeepsItsRoom: a session that is busy has its room until it is not.
func TestAGrantKeepsItsRoom(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, size(1))
	s.ask("low", "first", "second", "third", "busy", "next")
	s.conversation("busy").busy = true
	s.finish("first")
	s.expect("second", "third")
	s.finish("second")
	s.expect("third", "next")
	s.conversation("busy").busy = false
	s.ledger.settle()
	s.expect("third", "next", "busy")
}

// TestAGrantIsItsTasksAlone: another task of the session has no room by a grant: who waits is first.
func TestAGrantIsItsTasksAlone(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, size(1))
	s.ask("low", "first", "second", "third", "busy", "next")
	s.conversation("busy").busy = true
	s.finish("first")
	demand := &s.conversation("busy").demand
	grant, granted := demand.Granted()
	if !granted {
		t.Fatal("the session has no grant")
	}
	decision := s.AdmissionFor(demand, &session.Input{Now: s.ledger.now, Grant: &grant})
	if task, other := decision.Granted("worker"), decision.Room("worker", 0); task != plan.Admitted || other != plan.Full {
		t.Errorf("the task is admitted as %v, and another one as %v", task, other)
	}
	s.Release(demand)
}

// TestAGrantGivesWay: room that a busy session has not used goes to who is more
// urgent and has come meanwhile, and to nobody else; it stays the first of its kind.
func TestAGrantGivesWay_M17(t *testing.T) {
	t.Parallel()
	for meanwhile, goes := range map[string]string{"critical": "other", "high": "busy", "low": "busy"} {
		s := newLedger(t, 1).open(0, size(1))
		s.ask("low", "first", "second", "third")
		s.ask("high", "busy")
		s.conversation("busy").busy = true
		s.finish("first")
		s.ask(meanwhile, "other")
		s.expect("second", "third")
		s.conversation("busy").busy = false
		s.ledger.settle()
		s.expect("second", "third", goes)
		s.finish("second")
		s.expect("third", "busy", "other")
	}
}

// TestWhoWaitsNoLongerHasNoRoom: what was cancelled takes none and is given none, with a
// grant and without.
func TestWhoWaitsNoLongerHasNoRoom(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, size(1))
	s.ask("low", "first", "second", "third", "granted", "waiting", "last")
	s.conversation("granted").busy = true
	s.finish("first")
	s.cancel("waiting")
	s.cancel("granted")
	s.ledger.settle()
	s.expect("second", "third", "last") // at once
	s.conversation("granted").busy = false
	s.ledger.settle()
	s.cancel("second")
	s.ask("low", "new")
	s.expect("third", "last", "new")
}

// TestSurvey: who takes a shard over gives nobody room at a bounded agent before it knows
// all that is under way there.
func TestSurvey(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	former := l.open(0, size(1))
	former.ask("low", "first", "second", "third", "waiting")
	l.crash(former)
	s := l.open(0, size(1))
	s.unread = true
	s.ask("critical", "new")
	s.expect()
	if next, set := s.Loop.Next(); !set || next.After(l.now.Add(time.Second)) {
		t.Errorf("it looks again at %s", next)
	}
	s.load(former)
	s.unread = false
	l.settle()
	s.expect("first", "second", "third")
	s.finish("first")
	s.expect("second", "third", "new")

	free := newLedger(t, 1).open(0, nil)
	free.unread = true
	free.ask("low", "new")
	free.expect("new") // at an agent without bounds there is always room
}

// TestWorkElsewhereHoldsItsPlace: of an agent whose work goes on when its process has let go of the request no more is
// under way than it has places, over all shards; each shard has one at least. A silent one holds its place until it answers.
func TestWorkElsewhereHoldsItsPlace_M31(t *testing.T) {
	t.Parallel()
	for works, want := range map[int][2]int{1: {1, 1}, 2: {1, 1}, 3: {2, 1}, 8: {4, 4}} {
		l := newLedger(t, 2)
		async := func(config *admission.Config) {
			size(works)(config)
			config.Async = func(string) bool { return true }
		}
		for number := range want {
			s := l.open(number, async)
			for n := range 20 {
				s.ask("low", strconv.Itoa(n))
			}
			if under := len(s.underWay()); under != want[number] {
				t.Errorf("of %d places shard %d takes %d, want %d", works, number, under, want[number])
			}
		}
	}
	s := newLedger(t, 1).open(0, func(config *admission.Config) {
		size(1)(config)
		config.Async = func(string) bool { return true }
	})
	s.ask("low", "first", "second")
	s.expect("first")
	s.finish("first")
	s.expect("second")
}
