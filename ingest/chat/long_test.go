package chat_test

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/bustest"
	"podium/bus/memory"
	"podium/ingest/chat"
	"podium/ingest/runs"
	"podium/schemas"
)

// whole is a run from its message to its end.
func (s *script) whole(a chat.Accepted, run int) {
	s.t.Helper()
	s.begin(a, run)
	s.settle(run, text("answer "+strconv.Itoa(run)))
	s.end(run)
}

// TestARunAmongMany: a run page, a wait, a stream and a message that came before read
// few records, however many runs the conversation has had.
func TestARunAmongMany(t *testing.T) {
	t.Parallel()
	const count, most = 2000, 150
	core := &bustest.Meter{Core: memory.New(1)}
	adapter := newAdapter(t, core)
	first := accept(t, adapter, post("web", hello, "Webhook-Id", "m1"))
	session := newScript(t, core, first.Session)
	session.whole(first, 1)
	for i := range count - 2 {
		run := i + 2
		session.whole(chat.Accepted{ID: "m" + strconv.Itoa(run), Sequence: first.Sequence + uint64(run)}, run) //nolint:gosec // a small number
	}
	last := accept(t, adapter, post("web", hello, "Webhook-Id", "last"))
	session.whole(last, count)
	again := accept(t, newAdapter(t, core), post("web", hello, "Webhook-Id", "m1"))
	_, key, _ := strings.Cut(first.Run, "?")
	pageOf := func(run int) string { return "/v1/runs/" + schemas.RunID(first.Session, run) + "?" + key }
	for name, test := range map[string]struct {
		call call
		run  int
	}{
		"the first":                        {get(first.Run), 1},
		"the first, by its number":         {get(pageOf(1)), 1},
		"one in the midst":                 {get(pageOf(count / 2)), count / 2},
		"the last":                         {get(last.Run), count},
		"the last, by its number":          {get(pageOf(count)), count},
		"a wait for the last":              {get(last.Run, "Prefer", "wait=5"), count},
		"a message that came before":       {get(again.Run), 1},
		"a wait for one that came before":  {get(again.Run, "Prefer", "wait=5"), 1},
		"a message sent again, and a wait": {post("web", hello, "Webhook-Id", "last", "Prefer", "wait=5"), count},
	} {
		core.Reset()
		document, _ := expect[runs.Document](t, adapter, test.call, http.StatusOK)
		if document.RunID != schemas.RunID(first.Session, test.run) || document.Answer != "answer "+strconv.Itoa(test.run) || document.State != "complete" {
			t.Errorf("%s is %+v", name, document)
		}
		if messages, _ := core.Count(); messages > most {
			t.Errorf("%s: %d messages are read", name, messages)
		}
	}
	for name, events := range map[string]string{"the first": first.Events, "the last": last.Events, "one that came before": again.Events} {
		core.Reset()
		told, _ := parseEvents(t, get(events).do(t, adapter).Body.String())
		if names(told) != "record record record end" {
			t.Errorf("the stream of %s: %s", name, names(told))
		}
		if messages, _ := core.Count(); messages > most {
			t.Errorf("the stream of %s: %d messages are read", name, messages)
		}
	}
	expect[chat.Problem](t, adapter, get(pageOf(count+1)), http.StatusNotFound)
}

// TestWhoWaitsBeginsAtTheEnd: a message that nobody has decided yet is waited for where
// the conversation ends.
func TestWhoWaitsBeginsAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core := &bustest.Meter{Core: memory.New(1)}
		adapter := newAdapter(t, core)
		first := accept(t, adapter, post("web", hello))
		session := newScript(t, core, first.Session)
		session.whole(first, 1)
		const count = 1000
		for i := range count - 1 {
			session.whole(chat.Accepted{ID: "m" + strconv.Itoa(i), Sequence: first.Sequence + 1}, i+2)
		}
		core.Reset()
		time.AfterFunc(500*time.Millisecond, func() {
			next := inputs(t, core)[1]
			session.whole(chat.Accepted{ID: next.ID, Sequence: 3*count + 2}, count+1)
		})
		document, _ := expect[runs.Document](t, adapter, post("web", hello, "Prefer", "wait=5"), http.StatusOK)
		if document.Answer != "answer "+strconv.Itoa(count+1) {
			t.Errorf("%+v", document)
		}
		if messages, _ := core.Count(); messages > 50 {
			t.Errorf("%d messages are read", messages)
		}
	})
}

// TestAMessageThatCameBeforeIsWaitedFor: nobody decides it again, so that it is found by
// its id, whatever became of it.
func TestAMessageThatCameBeforeIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		sent, ignored := post("web", hello, "Webhook-Id", "m1"), post("web", hello, "Webhook-Id", "m2")
		adapter := newAdapter(t, ledger)
		first, second := accept(t, adapter, sent), accept(t, adapter, ignored)
		session := newScript(t, ledger, first.Session)
		session.begin(first, 1)
		session.record(received(second, 0, schemas.DispositionIgnored))
		time.AfterFunc(3*time.Second, func() { session.settle(1, text("4")) })
		adapter = newAdapter(t, ledger) // a restart: nothing is remembered
		before := time.Now()
		document, _ := expect[runs.Document](t, adapter, sent.with("Prefer", "wait=10"), http.StatusOK)
		if took := time.Since(before); took != 3*time.Second || document.Answer != "4" {
			t.Errorf("after %v: %+v", took, document)
		}
		before = time.Now()
		document, _ = expect[runs.Document](t, adapter, ignored.with("Prefer", "wait=10"), http.StatusOK)
		if took := time.Since(before); took != time.Second || document.State != runs.StateIgnored {
			t.Errorf("after %v: %+v", took, document)
		}
	})
}

// TestAMessageThatJoinsAnother: who follows it sees the run that it is part of from its
// beginning on, whether that is decided before or meanwhile.
func TestAMessageThatJoinsAnother(t *testing.T) {
	t.Parallel()
	for _, meanwhile := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ledger := memory.New(1)
			adapter := newAdapter(t, ledger)
			first, second, third := accept(t, adapter, post("web", hello)), accept(t, adapter, post("web", hello)), accept(t, adapter, post("web", hello))
			session := newScript(t, ledger, first.Session)
			session.begin(first, 1)
			queued, merged := received(second, 2, schemas.DispositionQueued), received(third, 2, schemas.DispositionMerged)
			message, joined := incoming(second), incoming(third)
			schemas.As[*schemas.MessageReceived](queued).Message, schemas.As[*schemas.MessageReceived](merged).Message = &message, &joined
			session.record(queued)
			join := func() { session.record(merged) }
			if !meanwhile {
				join()
			}
			var live tap
			done := follow(t.Context(), adapter, &live, get(third.Events))
			synctest.Wait()
			if meanwhile {
				join()
			}
			session.settle(1, text("4"))
			session.record(
				&schemas.TaskCompleted{Run: 1, Task: schemas.DeliveryTask, Attempt: 1},
				&schemas.RunEnded{Run: 1, Status: schemas.RunCompleted, Reason: schemas.StopCompleted}, started(second, 2))
			session.record(&schemas.RunSettled{Run: 2, Status: schemas.RunCancelled, Reason: schemas.StopCancelled},
				&schemas.RunEnded{Run: 2, Status: schemas.RunCancelled, Reason: schemas.StopCancelled})
			<-done
			if events, _ := parseEvents(t, live.seen()); names(events) != "message_received message_received run_started record end" {
				t.Errorf("meanwhile %v: %s", meanwhile, names(events))
			}
		})
	}
}

// A held ledger lets nobody read far at once, until it is let.
type held struct {
	*memory.Ledger
	let chan struct{}

	mutex     sync.Mutex
	now, most int // who is held
}

func (h *held) Scan(ctx context.Context, stream string, from uint64, subjects ...string) iter.Seq2[bus.Message, error] {
	return func(yield func(bus.Message, error) bool) {
		read := 0
		for message, err := range h.Ledger.Scan(ctx, stream, from, subjects...) {
			if read++; read == 300 {
				h.hold(1)
				<-h.let
				h.hold(-1)
			}
			if !yield(message, err) {
				return
			}
		}
	}
}

func (h *held) hold(more int) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.now += more
	h.most = max(h.most, h.now)
}

// TestNobodyWaitsForLongRuns: while as many long runs are read as may be at a time, any
// other run is shown at once.
func TestNobodyWaitsForLongRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := &held{Ledger: memory.New(1), let: make(chan struct{})}
		adapter := newAdapter(t, ledger)
		short, long := accept(t, adapter, post("web", hello)), accept(t, adapter, post("web", `{"text":"x","thread":"long"}`))
		newScript(t, ledger, short.Session).whole(short, 1)
		session := newScript(t, ledger, long.Session)
		session.begin(long, 1)
		for range 1000 {
			session.record(&schemas.TaskProgressed{Run: 1, Task: "t1", Attempt: 1, Percentage: 1})
		}
		const readers = 10
		shown := make(chan int, readers)
		for range readers {
			go func() { shown <- get(long.Run).do(t, adapter).Code }()
		}
		synctest.Wait()
		if len(shown) > 0 {
			t.Fatal("a long run is shown before it is read")
		}
		expect[runs.Document](t, adapter, get(short.Run), http.StatusOK)
		close(ledger.let)
		for range readers {
			if code := <-shown; code != http.StatusOK {
				t.Errorf("a long run: %d", code)
			}
		}
		if ledger.most != 4 {
			t.Errorf("%d long runs were read at a time", ledger.most)
		}
	})
}
