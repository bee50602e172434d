package intake_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/intake"
	"podium/bus/memory"
	"podium/schemas"
)

// A slowCore takes messages and answers when it is told to.
type slowCore struct {
	bus.Core

	mu      sync.Mutex
	taken   []string // ids, in the order in which they came
	answers map[string]func(error)
}

func newSlowCore() *slowCore {
	return &slowCore{Core: memory.New(1), answers: map[string]func(error){}}
}

// Publish implements bus.Ledger.
func (c *slowCore) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	e, err := binding.Decode(message)
	if err != nil {
		done(bus.Ack{}, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken = append(c.taken, e.ID)
	c.answers[e.ID] = func(err error) {
		if err != nil {
			done(bus.Ack{}, err)
			return
		}
		c.Core.Publish(message, expect, done)
	}
}

func (c *slowCore) answer(id string, err error) {
	c.mu.Lock()
	answer := c.answers[id]
	c.mu.Unlock()
	answer(err)
}

func conversation(ids ...string) (events []schemas.Event) {
	for _, id := range ids { // a1 and a2 are of conversation a
		events = append(events, incoming(id, id[:1]))
	}
	return events
}

// TestSubmitAllWaitsWithinAConversation: another conversation goes out without
// waiting; the same one when the ledger has the event before.
func TestSubmitAllWaitsWithinAConversation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core := newSlowCore()
		ended := make(chan []intake.Outcome)
		go func() {
			ended <- intake.NewIntake(core).SubmitAll(t.Context(), "chat", conversation("a1", "b1", "a2", "c1"))
		}()
		synctest.Wait()
		if !slices.Equal(core.taken, []string{"a1", "b1"}) {
			t.Errorf("%v went out before a1 was stored", core.taken)
		}
		core.answer("a1", nil)
		synctest.Wait()
		if !slices.Equal(core.taken, []string{"a1", "b1", "a2", "c1"}) {
			t.Errorf("%v went out", core.taken)
		}
		for _, id := range []string{"c1", "a2", "b1"} { // whatever the order of the answers
			core.answer(id, nil)
		}
		for n, outcome := range <-ended {
			if outcome.Err != nil || outcome.Receipt.Sequence == 0 {
				t.Errorf("event %d: %+v", n, outcome)
			}
		}
	})
}

// TestSubmitAllEndsAtAFailure: after an event that failed nothing more of its
// conversation goes out, nor of any other; what had gone out keeps its outcome.
func TestSubmitAllEndsAtAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core := newSlowCore()
		ended := make(chan []intake.Outcome)
		go func() {
			ended <- intake.NewIntake(core).SubmitAll(t.Context(), "chat", conversation("a1", "b1", "a2", "c1"))
		}()
		synctest.Wait()
		core.answer("a1", bus.ErrFull)
		core.answer("b1", nil)
		outcomes := <-ended
		for n, failed := range []bool{true, false, true, true} {
			if errors.Is(outcomes[n].Err, bus.ErrFull) != failed {
				t.Errorf("event %d: %v", n, outcomes[n].Err)
			}
		}
		if !slices.Equal(core.taken, []string{"a1", "b1"}) {
			t.Errorf("%v went out", core.taken)
		}
	})
}

// TestSubmitAllStopsNobodyForOne: an event that the ledger refuses for itself does
// not stop those after it, of its own conversation included.
func TestSubmitAllStopsNobodyForOne(t *testing.T) {
	t.Parallel()
	events := conversation("a1", "b1", "a2", "a3")
	events[1].Profile = ""
	events[2].Data = make([]byte, artifact.MaxSize+1)
	outcomes := intake.NewIntake(memory.New(2)).SubmitAll(t.Context(), "chat", events)
	for n, want := range []error{nil, schemas.ErrInvalidEvent, bus.ErrTooLarge, nil} {
		if !errors.Is(outcomes[n].Err, want) {
			t.Errorf("event %d: %v, want %v", n, outcomes[n].Err, want)
		}
	}
	for n, outcome := range intake.NewIntake(memory.New(2)).SubmitAll(t.Context(), "a.b", conversation("a1", "b1")) {
		if outcome.Err == nil {
			t.Errorf("event %d went through an adapter that is two tokens", n)
		}
	}
}
