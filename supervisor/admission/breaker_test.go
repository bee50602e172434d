package admission_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/registry"
	"podium/schemas"
	"podium/supervisor/admission"
	"podium/supervisor/circuit"
	"podium/supervisor/session"
)

// breaking has three failures in a row open the breaker of an agent for a minute.
func breaking(config *admission.Config) {
	config.Breaker = func(string) circuit.Policy {
		return circuit.Policy{Failures: 3, Within: 30 * time.Second, Open: time.Minute}
	}
}

// refused reports whether a session's task was refused because its agent is barred.
func (s *shard) refused(thread string) bool {
	s.ledger.tb.Helper()
	for _, task := range s.conversation(thread).state.Active.Tasks {
		if task.ID == "t1" {
			return task.Failure().Cause == schemas.FailureUnavailable
		}
	}
	s.ledger.tb.Fatalf("%s has no task", thread)
	return false
}

// breaker is what the ledger says of the worker's breaker.
func (l *ledger) breaker() schemas.Breaker {
	l.tb.Helper()
	var value schemas.Breaker
	body, _, err := l.core.KeyValue(bus.AgentBucket).Get(context.Background(), registry.BreakerKey("worker"))
	if err == nil {
		err = schemas.Unmarshal(body, &value)
	}
	if err != nil && !errors.Is(err, bus.ErrNotFound) {
		l.tb.Fatal(err)
	}
	return value
}

// openBreaker opens the worker's breaker.
func (s *shard) openBreaker() {
	s.ledger.tb.Helper()
	s.ask("low", "f1", "f2", "f3")
	s.fail("f1", "f2", "f3")
	if b := s.ledger.breaker(); b.State != schemas.BreakerOpen || !b.Until.Equal(s.ledger.now.Add(time.Minute)) {
		s.ledger.tb.Fatalf("the breaker is %+v", b)
	}
}

// TestAnOpenBreakerRefuses: who comes is refused, and who waits for room is refused as
// well; an agent without a breaker is asked as before.
func TestAnOpenBreakerRefuses_M28(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, func(config *admission.Config) { breaking(config); size(1)(config) })
	s.ask("low", "f1", "f2", "f3", "waits")
	s.fail("f1", "f2")
	s.expect("f3", "waits")
	s.ask("low", "as well", "too")
	s.fail("f3")
	s.ask("low", "comes")
	for thread, refused := range map[string]bool{"comes": true, "too": true, "waits": false} {
		if s.refused(thread) != refused {
			t.Errorf("%s is refused: %t", thread, !refused)
		}
	}
	if s.conversation("comes").state.Active.Delivery == nil {
		t.Error("nobody is told")
	}
}

// TestFailuresThatAreNotInARow: they open nothing, when they are far apart or a success is
// between them.
func TestFailuresThatAreNotInARow_M28(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(*shard){
		"far apart":            func(s *shard) { s.ledger.after(31 * time.Second) },
		"a success in between": func(s *shard) { s.ledger.after(time.Second); s.ask("low", "good"); s.finish("good") },
	} {
		s := newLedger(t, 1).open(0, breaking)
		s.ask("low", "f1", "f2")
		s.fail("f1", "f2")
		between(s)
		s.ask("low", "f3")
		s.fail("f3")
		s.ask("low", "next")
		if s.refused("next") {
			t.Errorf("%s: the next one is refused", name)
		}
	}
}

// TestABreakerIsEverybodys: another shard knows it within a second, whoever takes one over
// at once; meanwhile somebody who would be refused by what may be old has it looked up.
func TestABreakerIsEverybodys_M28(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 3)
	zero, one := l.open(0, breaking), l.open(1, breaking)
	one.ask("low", "early")
	zero.openBreaker()
	two := l.open(2, breaking)
	two.ask("low", "at once")
	if !two.refused("at once") {
		t.Error("who opens a shard does not know of the breaker")
	}
	l.now = l.now.Add(time.Second)
	one.ask("low", "learns") // it looks, and lets pass meanwhile
	one.ask("low", "knows")
	if one.refused("learns") || !one.refused("knows") {
		t.Errorf("after a second one is refused: %t, and the next: %t", one.refused("learns"), one.refused("knows"))
	}
}

// TestOneProbe: after its time one request goes, of whatever shard; everybody else is
// refused until it is known what becomes of that.
func TestOneProbe_M28(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ends func(*shard, ...string)
		goes []string // of those who come then
	}{
		"it succeeds": {(*shard).finish, []string{"fourth", "fifth"}},
		"it fails":    {(*shard).fail, nil},
		"it says nothing of the agent": {func(s *shard, threads ...string) { // then somebody else is the probe
			s.cancel(threads[0])
			s.ledger.settle()
		}, []string{"fourth"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t, 2)
			zero := l.open(0, breaking)
			zero.openBreaker()
			one := l.open(1, breaking)
			l.now = l.now.Add(time.Minute)
			zero.ask("low", "probe", "second")
			one.ask("low", "third")
			zero.expect("probe")
			one.expect()
			if !zero.refused("second") || !one.refused("third") {
				t.Error("not everybody else is refused")
			}
			if b := l.breaker(); b.State != schemas.BreakerHalfOpen || b.Probe != zero.conversation("probe").state.Active.Task("t1").Request {
				t.Fatalf("the breaker is %+v", b)
			}
			test.ends(zero, "probe")
			l.after(time.Second)
			one.ask("low", "fourth", "fifth")
			one.expect(test.goes...)
			for _, thread := range []string{"fourth", "fifth"} {
				if goes := slices.Contains(test.goes, thread); one.refused(thread) == goes {
					t.Errorf("%s is refused: %t", thread, goes)
				}
			}
		})
	}
}

// TestAProbeThatNeverGoes: who was to be the probe and is no more leaves that to the next.
func TestAProbeThatNeverGoes_M28(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	s := l.open(0, breaking)
	s.openBreaker()
	l.now = l.now.Add(time.Minute)
	s.conversation("probe").busy = true
	s.ask("low", "probe")
	if b := l.breaker(); b.State != schemas.BreakerHalfOpen {
		t.Fatalf("the breaker is %+v", b)
	}
	s.expect()
	s.cancel("probe")
	l.settle()
	s.ask("low", "next")
	s.expect("next")
}

// TestAnAnswerIsWorthATry: a breaker refuses work, and no answer that was not tried yet.
func TestAnAnswerIsWorthATry_M28(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	s := l.open(0, breaking)
	s.ask("low", "a", "b", "c", "d")
	s.finish("a", "b", "c")
	for _, thread := range []string{"a", "b", "c"} {
		s.answerAs("chat", thread, schemas.DeliveryTask, broken("chat", schemas.DeliveryTask))
		l.settle()
	}
	s.finish("d")
	if under := s.underWayAt("chat"); !slices.Equal(under, []string{"d"}) {
		t.Errorf("chat is asked by %q", under)
	}
}

// TestABreakerWithoutTheLedger: who has seen an agent fail goes by that, and
// tells the others as soon as it can.
func TestABreakerWithoutTheLedger_M28(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	core := &mute{Core: l.core}
	s := l.open(0, func(config *admission.Config) { breaking(config); config.Core = core })
	s.ask("low", "f1", "f2", "f3")
	core.silent = true
	s.fail("f1", "f2", "f3")
	s.ask("low", "next")
	if !s.refused("next") || l.breaker().State == schemas.BreakerOpen {
		t.Errorf("it is refused: %t; the ledger says %+v", s.refused("next"), l.breaker())
	}
	core.silent = false
	l.after(5 * time.Second)
	if b := l.breaker(); b.State != schemas.BreakerOpen {
		t.Errorf("the ledger says %+v", b)
	}
}

// TestLearnedAnswers: what an agent has answered to an input stands for it for as long as
// is asked for, the newest answer for those before it, and nobody else's.
func TestLearnedAnswers_M29(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, nil)
	learn := func(agent, input string, sequence uint64) {
		s.RememberResult(schemas.Reuse{Agent: agent, Input: input, Sequence: sequence}, s.ledger.now)
	}
	learn("worker", "sum", 1)
	learn("other", "sum", 2)
	s.ledger.now = s.ledger.now.Add(time.Minute)
	learn("worker", "sum", 3)
	s.ledger.now = s.ledger.now.Add(time.Minute)
	asked := s.AdmissionFor(&s.conversation("c").demand, &session.Input{Now: s.ledger.now})
	for _, test := range []struct {
		agent, input string
		age          time.Duration
		sequence     uint64
	}{
		{"worker", "sum", time.Minute, 3},
		{"worker", "sum", time.Minute - 1, 0},
		{"other", "sum", time.Hour, 2},
		{"other", "sum", time.Minute, 0},
		{"worker", "product", time.Hour, 0},
		{"nobody", "sum", time.Hour, 0},
	} {
		if found, ok := asked.Reuse(test.agent, test.input, test.age); ok != (test.sequence > 0) || ok && found.Sequence != test.sequence {
			t.Errorf("%+v: found %t, %+v", test, ok, found)
		}
	}
}

// A mute ledger answers no table when it is silent.
type mute struct {
	bus.Core
	silent bool
}

func (m *mute) KeyValue(bucket string) bus.KeyValue { return &muteStore{m.Core.KeyValue(bucket), m} }

type muteStore struct {
	bus.KeyValue
	ledger *mute
}

func (m *muteStore) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	if m.ledger.silent {
		return nil, 0, &bus.TemporaryError{Op: "get " + key, Err: context.DeadlineExceeded}
	}
	return m.KeyValue.Get(ctx, key)
}
