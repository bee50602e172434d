package admission_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"podium/bus/registry"
	"podium/schemas/workflow"
	"podium/supervisor/admission"
)

// An office knows who is there.
type office struct {
	found  registry.Presence
	broken error
	looks  int // at the worker
}

func (o *office) watch(config *admission.Config) {
	config.Presence = func(_ context.Context, agent string, _ time.Time) (registry.Presence, error) {
		if agent != "worker" {
			return registry.Presence{Served: true}, nil
		}
		o.looks++
		return o.found, o.broken
	}
}

// told is what a conversation has been told of its agent.
func (s *shard) told(thread string) *workflow.Unserved {
	s.ledger.tb.Helper()
	return s.conversation(thread).state.Active.Task("t1").Unserved
}

// TestAbsenceIsToldOnce: whoever waits for an agent that nobody serves is told so within
// seconds, since when, and once.
func TestAbsenceIsToldOnce(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	away := &office{found: registry.Presence{LastSeen: midnight().Add(-time.Hour)}}
	s := l.open(0, away.watch)
	s.ask("low", "first", "second")
	l.after(2 * time.Second)
	records := map[string]uint64{}
	for _, thread := range []string{"first", "second"} {
		if told := s.told(thread); told == nil || !told.Since.Equal(away.found.LastSeen) {
			t.Errorf("%s is told %+v", thread, told)
		}
		records[thread] = s.conversation(thread).state.Records
	}
	l.after(time.Minute)
	for thread, before := range records {
		if now := s.conversation(thread).state.Records; now != before {
			t.Errorf("%s has %d records more", thread, now-before)
		}
	}
	s.ask("low", "third") // what is known is told at once
	l.after(3 * time.Second)
	if s.told("third") == nil {
		t.Error("who comes later is not told")
	}
}

// TestPresence: nobody is told of an agent that is there, was heard of, or may be there.
func TestPresence(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		office office
		heard  bool
		looks  bool
	}{
		"it is there":             {office: office{found: registry.Presence{Served: true}}, looks: true},
		"it was heard":            {heard: true},
		"the ledger does not say": {office: office{broken: errors.New("out of order")}, looks: true},
	} {
		l := newLedger(t, 1)
		s := l.open(0, test.office.watch)
		s.ask("low", "first")
		if test.heard {
			s.ObserveAgent("worker", l.now)
		}
		l.after(10 * time.Second)
		if told := s.told("first"); told != nil || test.office.looks > 0 != test.looks {
			t.Errorf("%s: told %+v after %d looks", name, told, test.office.looks)
		}
	}
}

// TestAnAgentThatIsBack: nobody is told any more that it is away, and somebody is told
// when it goes away again.
func TestAnAgentThatIsBack(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	place := &office{}
	s := l.open(0, place.watch)
	s.ask("low", "first")
	l.after(3 * time.Second)
	s.ObserveAgent("worker", l.now)
	s.ask("low", "second")
	l.after(10 * time.Second)
	if s.told("first") == nil || s.told("second") != nil {
		t.Errorf("told %+v and %+v", s.told("first"), s.told("second"))
	}
	l.after(registry.AliveWithin)
	if told := s.told("second"); told == nil || !told.Since.Equal(midnight().Add(3*time.Second+time.Millisecond)) {
		t.Errorf("told %+v", told)
	}
}

// TestOldKnowledgeIsLookedUp: what was known when nobody waited is no word for who comes
// later.
func TestOldKnowledgeIsLookedUp(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	place := &office{}
	s := l.open(0, place.watch)
	s.ask("low", "first")
	l.after(3 * time.Second)
	if s.told("first") == nil {
		t.Fatal("the first is not told")
	}
	s.cancel("first")
	l.after(time.Minute)
	place.found.Served = true
	s.ask("low", "second")
	l.after(10 * time.Second)
	if told := s.told("second"); told != nil {
		t.Errorf("told %+v, and it is there", told)
	}
}

// TestNobodyLooksForNothing: the ledger is asked about agents that something waits for.
func TestNobodyLooksForNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	place := &office{found: registry.Presence{Served: true}}
	s := l.open(0, place.watch)
	l.after(10 * time.Second)
	if place.looks > 0 {
		t.Fatalf("%d looks for nobody", place.looks)
	}
	s.ask("low", "first")
	l.after(10 * time.Second)
	if place.looks < 9 || place.looks > 11 {
		t.Errorf("%d looks in ten seconds", place.looks)
	}
	s.finish("first")
	looked := place.looks
	l.after(10 * time.Second)
	if place.looks > looked+1 {
		t.Errorf("%d looks when it was done", place.looks-looked)
	}
}
