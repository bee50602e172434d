package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/gateway"
)

const (
	bareResponse = "podium.agent.worker.response"
	bareProgress = "podium.agent.worker.progress"
	cursor       = "cursor.forwarder" // where a forwarder keeps how far it is
)

// put publishes a message as an agent does that knows no replyto.
func put(tb testing.TB, core bus.Core, message bus.Message) {
	tb.Helper()
	if _, err := bus.Append(context.Background(), core, message, bus.Expect{}); err != nil {
		tb.Fatal(err)
	}
}

// forward runs a forwarder until it has nothing to do, meanwhile does something, and stops
// it.
func forward(t *testing.T, f *gateway.Forwarder, meanwhile ...func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	f.Log = zerolog.Nop()
	go func() { ended <- f.Run(ctx) }()
	synctest.Wait()
	for _, do := range meanwhile {
		do()
		synctest.Wait()
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// moved lists what stands in the shards, by subject.
func moved(tb testing.TB, core bus.Core) map[string][]bus.Message {
	tb.Helper()
	found := map[string][]bus.Message{}
	for shard := range core.Shards() {
		for message, err := range core.Scan(context.Background(), bus.ShardStream(shard), 1) {
			if err != nil {
				tb.Fatal(err)
			}
			found[message.Subject] = append(found[message.Subject], message)
		}
	}
	return found
}

// bare is a documented message without any attribute of CloudEvents.
func bare(kind, request string) []byte {
	return fmt.Appendf(nil, `{"message_id":%q,"from":"worker","to":"supervisor","type":%q,"timestamp":"2026-01-01T00:00:00Z",`+
		`"in_reply_to":%q,"payload":{"status":"completed","plan_id":%q}}`, schemas.EffectID(request, kind), kind, request, schemas.PlanID("run"))
}

// TestForwarderFindsTheShard: what an agent says that knows no replyto goes, byte for byte, to the
// shard of the request that it names, by its body or by its attributes. What names none
// goes to the first shard, whose owner shows it; progress that names none is told to all.
func TestForwarderFindsTheShard_X06(t *testing.T) {
	t.Parallel()
	const run = "0193b3a0-0000-7000-8000-000000000000/1"
	mine, strange := schemas.RequestID(2, 1, run, "t1", 1), schemas.RequestID(77, 1, run, "t1", 1)
	attributes := func(eventType string) bus.Header {
		message, err := binding.Encode(bareResponse, &schemas.Event{
			ID: "e", Source: "/podium/worker", Type: eventType, Time: time.Unix(0, 0), CausationID: mine,
			DataContentType: schemas.MediaTypeJSON, Data: []byte(`{}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		return message.Header
	}
	response, progress := schemas.EnvelopeTypeExecutionResponse, schemas.EnvelopeTypeProgressUpdate
	everywhere := []string{bus.ProgressSubject("worker", 0), bus.ProgressSubject("worker", 1), bus.ProgressSubject("worker", 2)}
	for name, test := range map[string]struct {
		message bus.Message
		want    []string
	}{
		"a response":                 {bus.Message{Subject: bareResponse, Body: bare(response, mine)}, []string{bus.ResponseSubject("worker", 2)}},
		"one with attributes":        {bus.Message{Subject: bareResponse, Header: attributes(schemas.TypeExecutionResponse), Body: []byte(`{}`)}, []string{bus.ResponseSubject("worker", 2)}},
		"one that breaks its schema": {bus.Message{Subject: bareResponse, Body: []byte(`{"in_reply_to":"` + mine + `"}`)}, []string{bus.ResponseSubject("worker", 2)}},
		"one that is encrypted": {bus.Message{
			Subject: bareResponse, Body: []byte("sealed"),
			Header: bus.Header{"ce-specversion": {"1.0"}, "ce-id": {"e"}, "ce-source": {"/x"}, "ce-type": {schemas.TypeExecutionResponse}, "ce-causationid": {mine}, "ce-keyid": {"k"}},
		}, []string{bus.ResponseSubject("worker", 2)}},
		"of another ledger":              {bus.Message{Subject: bareResponse, Body: bare(response, strange)}, []string{bus.ResponseSubject("worker", 0)}},
		"garbage":                        {bus.Message{Subject: bareResponse, Body: []byte("garbage")}, []string{bus.ResponseSubject("worker", 0)}},
		"progress":                       {bus.Message{Subject: bareProgress, Header: attributes(schemas.TypeProgressUpdate), Body: []byte(`{}`)}, []string{bus.ProgressSubject("worker", 2)}},
		"progress that names no request": {bus.Message{Subject: bareProgress, Body: bytes.Replace(bare(progress, mine), []byte(`"in_reply_to":"`+mine+`",`), nil, 1)}, everywhere},
		"progress that is garbage":       {bus.Message{Subject: bareProgress, Body: []byte("garbage")}, everywhere[:1]},
		"a request":                      {bus.Message{Subject: bus.RequestSubject("worker"), Body: []byte("garbage")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ledger := memory.New(3)
				put(t, ledger, test.message)
				forward(t, &gateway.Forwarder{Core: ledger})
				found := moved(t, ledger)
				if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, test.want) {
					t.Fatalf("it went to %q, want %q", got, test.want)
				}
				for _, messages := range found {
					if len(messages) != 1 || !bytes.Equal(messages[0].Body, test.message.Body) || !maps.EqualFunc(messages[0].Header, test.message.Header, slices.Equal[[]string]) {
						t.Errorf("there is %+v", messages)
					}
				}
			})
		})
	}
}

// TestForwarderLeavesWhatIsForOthers: what a supervisor of this ledger says to a request of
// another one is read on the work stream by whoever asked.
func TestForwarderLeavesWhatIsForOthers_X06(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		mine, strange := schemas.RequestID(0, 1, "run", "t1", 1), schemas.RequestID(77, 1, "run", "t1", 1)
		put(t, ledger, bus.Message{Subject: "podium.agent.top.response", Body: bare(schemas.EnvelopeTypeExecutionResponse, strange)})
		put(t, ledger, bus.Message{Subject: "podium.agent.top.response", Body: bare(schemas.EnvelopeTypeExecutionResponse, mine)})
		forward(t, &gateway.Forwarder{Core: ledger, Supervisors: []string{"top"}})
		found := moved(t, ledger)[bus.ResponseSubject("top", 0)]
		if len(found) != 1 || !strings.Contains(string(found[0].Body), mine) {
			t.Errorf("%d were moved", len(found))
		}
	})
}

// TestForwarderRemembers: another one goes on where the last has stopped; one that was
// killed costs only repeats.
func TestForwarderRemembers_X03(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		count := func() int { return len(moved(t, ledger)[bus.ResponseSubject("worker", 0)]) }
		put(t, ledger, bus.Message{Subject: bus.RequestSubject("worker"), Body: []byte("a request, which counts")})
		put(t, ledger, bus.Message{Subject: bareResponse, Body: []byte("one")})
		for range 3 {
			forward(t, &gateway.Forwarder{Core: ledger})
		}
		forward(t, &gateway.Forwarder{Core: ledger}, func() { put(t, ledger, bus.Message{Subject: bareResponse, Body: []byte("two")}) })
		if count() != 2 {
			t.Errorf("%d were moved, want 2", count())
		}
		if _, err := ledger.KeyValue(bus.AgentBucket).Put(t.Context(), cursor, []byte("2")); err != nil {
			t.Fatal(err)
		}
		if forward(t, &gateway.Forwarder{Core: ledger}); count() != 3 {
			t.Errorf("%d were moved, want the second again", count())
		}
	})
}

// TestForwarderBehindAnother: of two that take turns, the one that is behind does
// not make the next one start behind, too.
func TestForwarderBehindAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		store := ledger.KeyValue(bus.AgentBucket)
		const ahead = "100"
		put(t, ledger, bus.Message{Subject: bareResponse, Body: []byte("garbage")})
		forward(t, &gateway.Forwarder{Core: ledger}, func() {
			if _, err := store.Put(t.Context(), cursor, []byte(ahead)); err != nil {
				t.Fatal(err)
			}
		})
		if value, _, err := store.Get(t.Context(), cursor); err != nil || string(value) != ahead {
			t.Errorf("the cursor is %q, %v, and was %s", value, err, ahead)
		}
	})
}

// TestForwarderIsInterrupted: a ledger that does not take a message is asked again, and
// nothing is left out.
func TestForwarderIsInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		for n := range 3 {
			put(t, ledger, bus.Message{Subject: bareResponse, Body: fmt.Append(nil, n)})
		}
		core := &moody{Core: ledger, until: time.Now().Add(time.Minute)}
		forward(t, &gateway.Forwarder{Core: core}, func() { time.Sleep(2 * time.Minute) })
		var said []byte
		for _, message := range moved(t, ledger)[bus.ResponseSubject("worker", 0)] {
			said = append(said, message.Body...)
		}
		if string(said) != "012" {
			t.Errorf("the shard has heard %q", said)
		}
	})
}

// TestForwarderWithoutACursor: one that cannot know how far it was does not begin.
func TestForwarderWithoutACursor(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	if _, err := ledger.KeyValue(bus.AgentBucket).Put(t.Context(), cursor, []byte("far")); err != nil {
		t.Fatal(err)
	}
	if err := (&gateway.Forwarder{Core: ledger, Log: zerolog.Nop()}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "cursor") {
		t.Errorf("it ended with %v", err)
	}
}

// A moody ledger takes the first message, and then none for a while.
type moody struct {
	bus.Core
	until time.Time
	taken int
}

func (m *moody) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if m.taken > 0 && time.Now().Before(m.until) {
		done(bus.Ack{}, &bus.TemporaryError{Op: "publish", Err: context.DeadlineExceeded})
		return
	}
	m.taken++
	m.Core.Publish(message, expect, done)
}

// TestCursorAheadOfACutStream: the stream of requests was cut, and the cursor is ahead of it. The
// answers that come then are forwarded all the same.
func TestCursorAheadOfACutStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core := memory.New(1)
		if _, err := core.KeyValue(bus.AgentBucket).Put(t.Context(), cursor, []byte("100")); err != nil {
			t.Fatal(err)
		}
		f := &gateway.Forwarder{Core: core, Log: zerolog.Nop()}
		if err := f.SetBack(t.Context()); err != nil {
			t.Fatal(err)
		}
		put(t, core, bus.Message{Subject: bareResponse, Body: []byte("{}")})
		forward(t, f)
		if got := moved(t, core)[bus.ResponseSubject("worker", 0)]; len(got) != 1 {
			t.Errorf("%d of 1 answers are forwarded", len(got))
		}
	})
}
