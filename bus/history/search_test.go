package history_test

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/bustest"
	"podium/bus/history"
	"podium/bus/memory"
	"podium/schemas"
	"podium/schemas/workflow"
)

// A trailed session goes through what sessions do, among records of another one.
type trailed struct {
	*bustest.Script
	tb      testing.TB
	ledger  bus.Core
	session string
	beside  *bustest.Script
	number  uint64
	newest  uint64 // sequence
	input   uint64
	runs    int
	begun   int
	waiting map[int]string // ids of messages, by run
	tries   map[int]int    // attempts to deliver the answer of a run that has ended
	folded  workflow.SessionHistory
}

func newTrailed(tb testing.TB, ledger bus.Core) *trailed {
	tb.Helper()
	session := schemas.SessionID("p", "trailed")
	return &trailed{
		Script: bustest.NewScript(tb, ledger, session), tb: tb, ledger: ledger, session: session,
		beside: bustest.NewScript(tb, ledger, schemas.SessionID("p", "beside")), folded: workflow.SessionHistory{Session: session},
		waiting: map[int]string{}, tries: map[int]int{},
	}
}

func (s *trailed) record(facts ...schemas.Fact) {
	s.tb.Helper()
	record, sequence := s.Record(facts...)
	if err := s.folded.Apply(record); err != nil {
		s.tb.Fatal(err)
	}
	s.number, s.newest = record.Number, sequence
	s.beside.Record()
}

// received is the fact about the next message, whose id is its input's sequence.
func (s *trailed) received(run int, disposition schemas.Disposition) schemas.Fact {
	s.input += 3
	return &schemas.MessageReceived{
		ID: strconv.FormatUint(s.input, 10), Sequence: s.input, Run: run, Disposition: disposition,
	}
}

func (s *trailed) queue() {
	s.tb.Helper()
	s.runs++
	queued := s.received(s.runs, schemas.DispositionQueued)
	s.waiting[s.runs] = schemas.As[*schemas.MessageReceived](queued).ID
	s.record(queued)
}

// begin returns what begins the next run, which waits or is a new one.
func (s *trailed) begin() (facts []schemas.Fact) {
	if s.begun++; s.begun > s.runs {
		s.runs++
		facts = append(facts, s.received(s.runs, schemas.DispositionStarted))
	}
	message, waited := s.waiting[s.begun]
	if !waited {
		message = schemas.As[*schemas.MessageReceived](facts[0]).ID
	}
	started := schemas.RunStarted{Run: s.begun, Message: schemas.Incoming{ID: message, Text: schemas.Content{Result: schemas.Result{Text: "words " + message}}}}
	return append(facts, &started,
		&schemas.PlanCreated{Run: s.begun, Tasks: []schemas.PlannedTask{{Task: "t1", Routed: true}}},
		&schemas.TaskDispatched{Run: s.begun, Task: "t1", Agent: "a", Attempt: 1})
}

func (s *trailed) work() {
	s.tb.Helper()
	s.input++
	s.record(&schemas.TaskStarted{Run: s.begun, Task: "t1", Attempt: 1})
}

func (s *trailed) heard() {
	s.tb.Helper()
	s.input++
	s.record(&schemas.TaskProgressed{Run: s.begun, Task: "t1", Attempt: 1, Percentage: 1})
}

// end returns what ends the newest run.
func (s *trailed) end() []schemas.Fact {
	s.input++
	return []schemas.Fact{
		&schemas.TaskCompleted{Run: s.begun, Task: "t1", Attempt: 1},
		&schemas.RunSettled{Run: s.begun, Status: schemas.RunCompleted},
		&schemas.ReplyWithheld{Run: s.begun, Reason: schemas.WithheldUnproven},
		&schemas.RunEnded{Run: s.begun, Status: schemas.RunCompleted},
	}
}

// reopen has the answer of a run that has ended delivered.
func (s *trailed) reopen(run int) {
	s.tb.Helper()
	again := schemas.DeliveryReopened{Run: run, Status: schemas.RunCompleted, Attempt: s.tries[run]}
	s.tries[run]++
	s.record(s.received(run, schemas.DispositionControl), &schemas.ResendRequested{Run: run},
		&again,
		&schemas.TaskDispatched{Run: run, Task: schemas.DeliveryTask, Agent: "m", Attempt: s.tries[run]})
}

func (s *trailed) delivers(run, percentage int) {
	s.tb.Helper()
	s.input++
	s.record(&schemas.TaskProgressed{Run: run, Task: schemas.DeliveryTask, Attempt: s.tries[run], Percentage: percentage})
}

// refused returns what ends a run whose answer was not taken.
func (s *trailed) refused(run int) []schemas.Fact {
	s.input++
	return []schemas.Fact{
		&schemas.TaskFailed{Run: run, Task: schemas.DeliveryTask, Attempt: s.tries[run], Cause: schemas.FailurePermanent},
		&schemas.RunEnded{Run: run, Status: schemas.RunCompleted, Reason: schemas.StopReplyFailed},
	}
}

func (s *trailed) late(run int) {
	s.tb.Helper()
	s.input++
	s.record(&schemas.ResponseLate{Run: run, Task: "t1", Attempt: 1})
}

// excerpt reads one run.
func excerpt(tb testing.TB, ledger bus.Ledger, session string, number int) *workflow.Excerpt {
	tb.Helper()
	opened, err := history.OpenSession(tb.Context(), ledger, session)
	if err != nil {
		tb.Fatal(err)
	}
	e := &workflow.Excerpt{Session: session, Number: number}
	for record, err := range opened.Run(tb.Context(), number) {
		if err == nil {
			err = e.Apply(&record.Record)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return e
}

// agrees fails unless every run and every message is found, and says what it says to
// who reads all records.
func (s *trailed) agrees(tb testing.TB) {
	tb.Helper()
	for number := range s.runs + 3 {
		e := excerpt(tb, s.ledger, s.session, number)
		if !reflect.DeepEqual(e.Run(), s.folded.Run(number)) {
			tb.Fatalf("run %d is %+v, want %+v", number, e.Run(), s.folded.Run(number))
		}
		if e.Known() != (number > 0 && number <= s.runs) {
			tb.Fatalf("run %d is known: %v", number, e.Known())
		}
	}
	opened, err := history.OpenSession(tb.Context(), s.ledger, s.session)
	if err != nil {
		tb.Fatal(err)
	}
	for _, want := range s.folded.Messages {
		got, err := opened.Received(tb.Context(), want.Sequence, want.ID)
		again, errAgain := opened.ReceivedBefore(tb.Context(), want.ID)
		if err != nil || errAgain != nil || got != again || got.ID != want.ID || got.Run != want.Run || got.Disposition != want.Disposition {
			tb.Fatalf("message %s is %+v (%v), by its id %+v (%v), want %+v", want.ID, got, err, again, errAgain, want)
		}
	}
	for _, ask := range []func() (history.ReceivedMessage, error){
		func() (history.ReceivedMessage, error) { return opened.Received(tb.Context(), s.input+1, "next") },
		func() (history.ReceivedMessage, error) { return opened.Received(tb.Context(), 1, "repeat of another") },
		func() (history.ReceivedMessage, error) { return opened.ReceivedBefore(tb.Context(), "never") },
	} {
		if got, err := ask(); !errors.Is(err, bus.ErrNotFound) {
			tb.Fatalf("what never came is %+v (%v)", got, err)
		}
	}
}

// TestARunIsFoundAmongMany: whatever a session went through, each of its runs is told
// as by all records together, and each message found.
func TestARunIsFoundAmongMany(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := newTrailed(t, memory.New(2))
		working, worked, asides, delivering := false, false, 0, 0
		for range rapid.IntRange(0, 120).Draw(r, "happenings") {
			switch what := rapid.IntRange(0, 9).Draw(r, "what"); {
			case what < 3 && (working || delivering > 0):
				s.queue()
			case delivering > 0 && what < 8 && what != 4:
				s.delivers(delivering, what)
			case delivering > 0 && what != 4:
				facts := s.refused(delivering)
				if delivering, working, worked = 0, s.runs > s.begun, false; working {
					facts = append(facts, s.begin()...)
				}
				s.record(facts...)
			case what == 5 && !working && s.begun > 0 && asides < 16:
				asides++
				delivering = rapid.IntRange(1, s.begun).Draw(r, "reopened")
				s.reopen(delivering)
			case what == 3 && s.begun > 0:
				s.record(s.received(0, schemas.DispositionIgnored))
			case what == 4 && s.runs > 0 && asides < 16: // of those that go on to be found
				run := rapid.IntRange(1, s.runs).Draw(r, "run")
				if run != s.begun || delivering > 0 {
					asides++
				}
				if run <= s.begun && rapid.Bool().Draw(r, "late") {
					s.late(run)
				} else {
					s.record(s.received(run, schemas.DispositionControl))
				}
			case working && !worked:
				s.work()
				worked = true
			case working && what < 7:
				s.heard()
			case working:
				facts := s.end()
				if working, worked = s.runs > s.begun, false; working {
					facts = append(facts, s.begin()...)
				}
				s.record(facts...)
			default:
				s.record(s.begin()...)
				working, worked = true, false
			}
		}
		s.agrees(t)
	})
}

// TestAReopenedRunIsFound: what is said of a run while its answer is sent again is found,
// however much of it there is, and whatever came between.
func TestAReopenedRunIsFound(t *testing.T) {
	t.Parallel()
	s := newTrailed(t, memory.New(1))
	for range 3 {
		s.record(s.begin()...)
		s.work()
		s.record(s.end()...)
	}
	for _, run := range []int{1, 3, 1, 2} {
		s.reopen(run)
		for range 50 {
			s.queue()
			s.delivers(run, 1)
		}
		s.late(3)
		facts := s.refused(run)
		for s.begun < s.runs {
			s.record(append(facts, s.begin()...)...)
			facts = s.end()
		}
		s.record(facts...)
	}
	for _, run := range []int{1, 2, 3, 4, 100, s.runs} {
		if e := excerpt(t, s.ledger, s.session, run); !reflect.DeepEqual(e.Run(), s.folded.Run(run)) {
			t.Errorf("run %d is %+v, want %+v", run, e.Run(), s.folded.Run(run))
		}
	}
}

// TestOneRunCostsNoMoreAmongMany: what is read to show a run does not grow with the
// other runs of its session, but for a logarithm: whether they came one after the
// other, or waited while it was under way.
func TestOneRunCostsNoMoreAmongMany(t *testing.T) {
	t.Parallel()
	const many, most = 4000, 150
	for name, fill := range map[string]func(s *trailed){
		"one after the other": func(s *trailed) {
			for range many {
				s.record(s.begin()...)
				s.work()
				s.record(s.end()...)
			}
		},
		"in a queue": func(s *trailed) {
			s.record(s.begin()...)
			s.work()
			for range many - 1 {
				s.queue()
			}
			for s.begun < s.runs/2 {
				s.record(append(s.end(), s.begin()...)...)
				s.work()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := &bustest.Meter{Core: memory.New(1)}
			s := newTrailed(t, ledger)
			fill(s)
			for _, number := range []int{1, 2, many / 4, many / 2, many/2 + 1, many - 1, many} {
				ledger.Reset()
				e := excerpt(t, ledger, s.session, number)
				if !e.Known() || !reflect.DeepEqual(e.Run(), s.folded.Run(number)) {
					t.Errorf("run %d is %+v, want %+v", number, e.Run(), s.folded.Run(number))
				}
				messages, bytes := ledger.Count()
				if messages > most {
					t.Errorf("run %d of %d: %d messages are read", number, many, messages)
				}
				t.Logf("run %d: %d messages, %d bytes", number, messages, bytes)
			}
			for _, place := range []int{0, many / 2, many - 1} {
				ledger.Reset()
				message := s.folded.Messages[place]
				opened, err := history.OpenSession(t.Context(), ledger, s.session)
				if err == nil {
					_, err = opened.Received(t.Context(), message.Sequence, message.ID)
				}
				if messages, _ := ledger.Count(); err != nil || messages > most {
					t.Errorf("message %d: %d messages are read (%v)", place, messages, err)
				}
			}
		})
	}
}

// A run of many records of its own is read in one go, unless much else stands
// between them.
func TestALongRunIsReadInOneGo(t *testing.T) {
	t.Parallel()
	for between := range 3 {
		ledger := &bustest.Meter{Core: memory.New(1)}
		s := newTrailed(t, ledger)
		s.record(s.begin()...)
		s.work()
		const own = 200
		for range own {
			for range between * between * between * 4 { // 0, 4 and 32
				s.queue()
			}
			s.heard()
		}
		s.record(s.end()...)
		ledger.Reset()
		if e := excerpt(t, ledger, s.session, 1); !reflect.DeepEqual(e.Run(), s.folded.Run(1)) {
			t.Errorf("the run is %+v, want %+v", e.Run(), s.folded.Run(1))
		}
		if messages, _ := ledger.Count(); messages > 17*own+100 {
			t.Errorf("%d messages are read of a run with %d", messages, own)
		}
	}
}

// A trail that leads out of the session, or in circles, is an error and no end.
func TestATrailThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	for name, mislead := range map[string]func(e *schemas.Event){
		"itself":         func(e *schemas.Event) { e.Trail.Jump = 1 << 40 },
		"another's":      func(e *schemas.Event) { e.Trail.Jump = 2 },
		"no such number": func(e *schemas.Event) { e.ID = "x" },
		"none":           func(e *schemas.Event) { e.Trail = nil },
		"before its run": func(e *schemas.Event) { e.Trail.RunPrevious = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTrailed(t, memory.New(1))
			for range 10 {
				s.record(s.begin()...)
				s.work()
				s.record(s.end()...)
			}
			message, err := s.ledger.Last(t.Context(), bus.SessionSubject(s.session, 1))
			if err != nil {
				t.Fatal(err)
			}
			event, err := binding.Decode(message)
			if err != nil {
				t.Fatal(err)
			}
			event.ID, event.PreviousSequence = fmt.Sprint(s.session, "/", s.number+1), s.newest
			mislead(&event)
			s.Append(&event)
			opened, err := history.OpenSession(t.Context(), s.ledger, s.session)
			for _, number := range []int{10, 5} {
				if err != nil {
					break
				}
				for _, failed := range opened.Run(t.Context(), number) {
					err = errors.Join(err, failed)
				}
			}
			if !isMalformed(err) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// A session that never was has no records.
func TestNoSession(t *testing.T) {
	t.Parallel()
	opened, err := history.OpenSession(t.Context(), memory.New(1), schemas.SessionID("p", "none"))
	if err != nil || opened.Newest() != 0 {
		t.Errorf("a session that never was: %v", err)
	}
	for record, err := range opened.Run(t.Context(), 1) {
		t.Errorf("it has record %d (%v)", record.Number, err)
	}
}
