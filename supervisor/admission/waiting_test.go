package admission_test

import (
	"strconv"
	"testing"
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// supervised is the profile of the sessions, whose worker is a supervisor.
func supervised(tb testing.TB) *plan.Profile {
	tb.Helper()
	source := profile(tb).Profile
	source.Agents = []schemas.AgentUse{{Name: "worker", Supervisor: true, Work: schemas.Duration(72 * time.Hour)}}
	compiled, err := plan.Compile(source)
	if err != nil {
		tb.Fatal(err)
	}
	return compiled
}

// waits has the worker say that it waits with what sessions have asked for, for so long; zero is that it works on it.
func (s *shard) waits(span time.Duration, threads ...string) {
	s.ledger.tb.Helper()
	for _, thread := range threads {
		s.ledger.now = s.ledger.now.Add(time.Millisecond)
		c := s.conversation(thread)
		task, run := c.state.Active.Task("t1"), schemas.RunID(c.state.Session, 1)
		update := schemas.ProgressUpdate{
			Envelope: schemas.Envelope{
				MessageID: schemas.EffectID(task.Request, strconv.Itoa(len(s.inputs))), From: "worker", To: session.Supervisor,
				Type: schemas.EnvelopeTypeProgressUpdate, Timestamp: s.ledger.now, InReplyTo: task.Request,
			},
			Payload: schemas.ProgressPayload{PlanID: schemas.PlanID(run)},
		}
		if span > 0 {
			update.Payload.WaitingUntil = s.ledger.now.Add(span)
		}
		event := s.event(thread, update.MessageID, schemas.TypeProgressUpdate, update)
		event.Subject, event.CausationID, event.Attempt = run+"/t1", task.Request, task.Attempt
		s.store(s.decide(c, s.input(event, "worker")))
		s.ledger.settle()
	}
}

// tiers opens a shard that asks a supervisor which works on one request at a time: three are under way.
func tiers(t *testing.T) *shard {
	t.Helper()
	s := newLedger(t, 1).open(0, size(1))
	s.profile = supervised(t)
	s.ask("low", "first", "second", "third")
	return s
}

// TestWhatWaitsTakesNoPlace: what a supervisor has taken over and waits with keeps nobody from it, and whoever waits for room is let go on at once.
func TestWhatWaitsTakesNoPlace(t *testing.T) {
	t.Parallel()
	s := tiers(t)
	s.ask("low", "fourth", "fifth")
	s.expect("first", "second", "third")
	s.waits(48*time.Hour, "first", "second")
	s.expect("first", "second", "third", "fourth", "fifth")
	s.waits(48*time.Hour, "third", "fourth", "fifth")
	s.ask("low", "a", "b", "c", "d")
	s.expect("first", "second", "third", "fourth", "fifth", "a", "b", "c")
	s.finish("first") // it had no place that becomes free
	s.expect("second", "third", "fourth", "fifth", "a", "b", "c")
	s.finish("a")
	s.expect("second", "third", "fourth", "fifth", "b", "c", "d")
}

// TestWhatWorksAgainTakesItsPlace: at once, though others have it by then: for a while more are under way than there is room for, and nobody else is asked.
func TestWhatWorksAgainTakesItsPlace(t *testing.T) {
	t.Parallel()
	s := tiers(t)
	s.waits(48*time.Hour, "first", "second")
	s.ask("low", "fourth", "fifth", "sixth")
	s.expect("first", "second", "third", "fourth", "fifth")
	s.waits(0, "first", "second")
	s.finish("third", "fourth")
	s.expect("first", "second", "fifth")
	s.finish("fifth")
	s.expect("first", "second", "sixth")
}

// TestAGrantGivesWayToWhatWorksAgain: a place that a busy session was given and has not used is none when its former holder is back.
func TestAGrantGivesWayToWhatWorksAgain(t *testing.T) {
	t.Parallel()
	s := tiers(t)
	s.ask("low", "busy")
	s.conversation("busy").busy = true
	s.waits(48*time.Hour, "first")
	s.waits(0, "first")
	s.conversation("busy").busy = false
	s.ledger.settle()
	s.expect("first", "second", "third")
	s.finish("second")
	s.expect("first", "third", "busy")
}

// TestWaitsAreKnownAfterATakeover: by the states alone, so that a successor lets as many be asked.
func TestWaitsAreKnownAfterATakeover(t *testing.T) {
	t.Parallel()
	former := tiers(t)
	former.waits(48*time.Hour, "first", "second")
	former.ledger.crash(former)
	s := former.ledger.open(0, size(1))
	s.profile = former.profile
	s.load(former)
	s.ask("low", "fourth", "fifth", "sixth")
	s.expect("first", "second", "third", "fourth", "fifth")
	s.waits(0, "first")
	s.finish("third", "fourth")
	s.expect("first", "second", "fifth", "sixth")
}

// TestAFailedAttemptWaitsNoMore: the next one takes a place as any other.
func TestAFailedAttemptWaitsNoMore(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, size(1))
	source := supervised(t).Profile
	source.Retry = schemas.Retry{Attempts: 2, Wait: schemas.Duration(time.Second)}
	var err error
	if s.profile, err = plan.Compile(source); err != nil {
		t.Fatal(err)
	}
	s.ask("low", "first", "second", "third")
	s.waits(48*time.Hour, "first")
	s.fail("first")
	s.ask("low", "fourth", "fifth")
	s.expect("second", "third", "fourth")
}

// TestWhoeverLosesItsPlaceLeavesWhatItHolds: who was granted a place, and stands without one since somebody works again, keeps no resource from others.
func TestWhoeverLosesItsPlaceLeavesWhatItHolds(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 2)
	s := l.open(0, size(1))
	s.profile = supervised(t)
	one := l.open(1, nil)
	s.ask("low", "first", "second", "third")
	s.ask("print", "busy")
	s.expect("first", "second", "third")
	s.conversation("busy").busy = true
	s.waits(48*time.Hour, "first")
	l.after(2 * time.Second)
	s.waits(0, "first")
	s.conversation("busy").busy = false
	l.after(time.Second)
	s.expect("first", "second", "third")
	one.ask("print", "other")
	l.after(5 * time.Minute)
	one.expect("other")
}
