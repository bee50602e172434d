package gate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/gate"
	"podium/schemas"
)

// A bench is a gate with a clock of its own.
type bench struct {
	*testing.T
	*gate.Gate
	now  time.Time
	full bool
	sent uint64

	asked string // a request that is under way, of those who need one
}

func open(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, now: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)}
	b.Gate = gate.New(func() time.Time { return b.now }, func(int) bool { return b.full }, zerolog.Nop())
	return b
}

// request has a request go out to alpha, and returns its id.
func (b *bench) request() string {
	b.Helper()
	id := uuid.NewString()
	message, err := binding.Encode(bus.RequestSubject("alpha"), &schemas.Event{ID: id, Source: "/podium/desk", Type: schemas.TypeExecutionRequest, Data: []byte(`{}`)})
	if err != nil {
		b.Fatal(err)
	}
	b.Requested(message)
	return id
}

// says is a message of alpha's that names a request.
func says(subject, eventType, id, request string, size int) bus.Message {
	message, err := binding.Encode(subject, &schemas.Event{ID: id, Source: "/podium/alpha", Type: eventType, CausationID: request, Data: make([]byte, size)})
	if err != nil {
		panic(err)
	}
	return message
}

func response(request string) bus.Message {
	return says(bus.ResponseSubject("alpha", 0), schemas.TypeExecutionResponse, uuid.NewString(), request, 100)
}

func progress(request string, size int) bus.Message {
	return says(bus.ProgressSubject("alpha", 0), schemas.TypeProgressUpdate, uuid.NewString(), request, size)
}

func permit(request string) bus.Message {
	return says(bus.PermitSubject("alpha", 0), schemas.TypePermitRequest, uuid.NewString(), request, 100)
}

// publish is one message at the gate; it is stored when it is admitted.
func (b *bench) publish(message bus.Message) bool {
	b.Helper()
	earlier, settle, err := b.Admit(message)
	if err != nil {
		if !errors.Is(err, gate.ErrUnsolicited) || !bus.Temporary(err) {
			b.Fatalf("a refusal is %v", err)
		}
		return false
	}
	if earlier == nil {
		b.sent++
		settle(bus.Ack{Stream: "PODIUM_0", Sequence: b.sent}, nil)
	}
	return true
}

// passing publishes what it is given for so many times, and returns how many passed.
func (b *bench) passing(times int, next func() bus.Message) (passed int) {
	b.Helper()
	for range times {
		if b.publish(next()) {
			passed++
		}
	}
	return passed
}

// TestWhatARequestAllows: as much as doc.go says, for each request, and no more.
func TestWhatARequestAllows(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		next func(request string) bus.Message
		wait time.Duration
		want int
	}{
		{"responses", response, 0, 102},
		{"responses, however long it waits", response, time.Hour, 102},
		{"small progress", func(r string) bus.Message { return progress(r, 10) }, 0, 40},
		{"progress after a second", func(r string) bus.Message { return progress(r, 10) }, time.Second, 40},
		{"large progress", func(r string) bus.Message { return progress(r, 9<<10) }, 0, 4},
		{"progress of a megabyte", func(r string) bus.Message { return progress(r, 1<<20) }, 0, 0},
		{"permits", permit, 0, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			request := b.request()
			b.now = b.now.Add(test.wait)
			if got := b.passing(1000, func() bus.Message { return test.next(request) }); got != test.want {
				t.Errorf("%d passed, want %d", got, test.want)
			}
			if other := b.request(); !b.publish(response(other)) {
				t.Error("the first response to another request was refused")
			}
		})
	}
}

// TestProgressComesBack: who waits may go on.
func TestProgressComesBack(t *testing.T) {
	t.Parallel()
	b := open(t)
	request := b.request()
	next := func() bus.Message { return progress(request, 10) }
	b.passing(100, next)
	b.now = b.now.Add(2 * time.Second)
	if got := b.passing(100, next); got != 16 {
		t.Errorf("%d progress updates after two seconds, want 16", got)
	}
}

// TestWhatNobodyAskedFor is bounded by number and by bytes, of everything together.
func TestWhatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	garbage := func() bus.Message {
		return bus.Message{Subject: bus.ProgressSubject("alpha", 0), Body: []byte("{")}
	}
	stranger := func() bus.Message { return response(uuid.NewString()) }
	large := func() bus.Message { return progress(uuid.NewString(), 300<<10) }
	for name, test := range map[string]struct {
		next func() bus.Message
		want int
		hour int // in an hour more
	}{
		"garbage":                    {garbage, 100, 100},
		"responses to no request":    {stranger, 100, 100},
		"large progress of no work":  {large, 3, 3},
		"a megabyte to begin with":   {func() bus.Message { return progress("", 1<<20) }, 0, 0},
		"bodies that are bare words": {func() bus.Message { return bus.Message{Subject: "podium.agent.alpha.response", Body: []byte(`"x"`)} }, 100, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			request := b.request()
			if got := b.passing(5000, test.next); got != test.want {
				t.Errorf("%d passed, want %d", got, test.want)
			}
			b.now = b.now.Add(time.Hour)
			if got := b.passing(5000, test.next); got != test.hour {
				t.Errorf("%d passed an hour later, want %d", got, test.hour)
			}
			if !b.publish(response(request)) {
				t.Error("the response to a request was refused behind a flood")
			}
			if got := b.Refused()["alpha"]; got == 0 {
				t.Error("no refusal was counted")
			}
		})
	}
}

// TestRepeatIsStoredOnce: the same message again has the acknowledgement that it had,
// costs nothing, and one that was not stored may come again.
func TestRepeatIsStoredOnce(t *testing.T) {
	t.Parallel()
	b := open(t)
	message := response(b.request())
	_, settle, err := b.Admit(message)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Admit(message); !errors.Is(err, gate.ErrUnsolicited) {
		t.Errorf("the same message while it is under way: %v", err)
	}
	settle(bus.Ack{}, &bus.TemporaryError{Op: "publish", Err: errors.New("lost")})
	if _, settle, err = b.Admit(message); err != nil || settle == nil {
		t.Fatalf("a message that was not stored comes again: %v", err)
	}
	settle(bus.Ack{Stream: "PODIUM_1", Sequence: 7}, nil)
	for range 1000 {
		earlier, _, err := b.Admit(message)
		if err != nil || earlier == nil || earlier.Sequence != 7 {
			t.Fatalf("a repeat: %v, %v", earlier, err)
		}
	}
}

// TestPermitIsAskedAgain: the question is put until its answer is heard, so that a
// repeat of it goes through.
func TestPermitIsAskedAgain(t *testing.T) {
	t.Parallel()
	b := open(t)
	question := permit(b.request())
	for second := range 60 {
		earlier, _, err := b.Admit(question)
		if err != nil || earlier != nil {
			t.Fatalf("the question of second %d: %v, %v", second, earlier, err)
		}
		b.now = b.now.Add(time.Second)
	}
}

// TestNearlyFullTakesEndingsOnly: what the ledger has left is for ending work.
func TestNearlyFullTakesEndingsOnly(t *testing.T) {
	t.Parallel()
	b := open(t)
	request := b.request()
	b.full = true
	for name, test := range map[string]struct {
		message bus.Message
		want    bool
	}{
		"progress": {progress(request, 10), false}, "a stranger": {response(uuid.NewString()), false},
		"a response": {response(request), true}, "a permit": {permit(request), true},
	} {
		if got := b.publish(test.message); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

// TestRestartForgetsNobody: requests that went out before the gate was opened may be
// answered.
func TestRestartForgetsNobody(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.Waiting("alpha", 5000)
	if got := b.passing(5000, func() bus.Message { return response(uuid.NewString()) }); got != 5000 {
		t.Errorf("%d of 5000 answers passed after a restart", got)
	}
}

// TestAgentsAreApart: what one uses up is not taken from another.
func TestAgentsAreApart(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.passing(1000, func() bus.Message { return response(uuid.NewString()) })
	if !b.publish(says(bus.ResponseSubject("beta", 0), schemas.TypeExecutionResponse, uuid.NewString(), uuid.NewString(), 10)) {
		t.Error("beta was refused for what alpha sent")
	}
}

// TestStores: artifacts, announcements and signs of life have bounds of their own.
func TestStores(t *testing.T) {
	t.Parallel()
	b := open(t)
	count := func(times int, spend func() error) (passed int) {
		for range times {
			if err := spend(); err == nil {
				passed++
			} else if !bus.Temporary(err) {
				t.Fatal(err)
			}
		}
		return passed
	}
	if got := count(1000, func() error { return b.Store("alpha", 1<<20) }); got != 128 {
		t.Errorf("%d MiB at once, want 128", got)
	}
	b.now = b.now.Add(time.Minute)
	if got := count(1000, func() error { return b.Store("alpha", 1<<20) }); got != 17 {
		t.Errorf("%d MiB a minute later, want 17", got)
	}
	if got := count(1000, func() error { return b.Heartbeat("alpha") }); got != 40 {
		t.Errorf("%d signs of life at once, want 40", got)
	}
}

// TestMemoryIsBounded: a gate that has seen a million of everything still knows the
// newest requests, and forgets the oldest.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	b := open(t)
	first := b.request()
	var last string
	for range 140_000 {
		last = b.request()
	}
	b.passing(200, func() bus.Message { return response(uuid.NewString()) })
	if b.publish(response(first)) {
		t.Error("the first of 140,000 requests is still known")
	}
	if !b.publish(response(last)) {
		t.Error("the newest request is not known")
	}
}

// TestProgressThatNamesThePlan: the documented update need not say which request it is
// for.
func TestProgressThatNamesThePlan(t *testing.T) {
	t.Parallel()
	b := open(t)
	run := schemas.RunID(uuid.NewString(), 1)
	message, err := binding.Encode(bus.RequestSubject("alpha"), &schemas.Event{
		ID: uuid.NewString(), Source: "/podium/desk", Type: schemas.TypeExecutionRequest, CorrelationID: run, Data: []byte(`{}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Requested(message)
	passed := b.passing(1000, func() bus.Message {
		return bus.Message{Subject: "podium.agent.alpha.progress", Body: fmt.Appendf(nil,
			`{"message_id":%q,"from":"alpha","type":"progress_update","timestamp":"2026-05-04T09:00:00Z","payload":{"plan_id":%q}}`, uuid.NewString(), schemas.PlanID(run))}
	})
	if passed != 40 {
		t.Errorf("%d updates passed, want 40, as for any request", passed)
	}
}

// TestRefusalSaysWhy: whoever is refused can tell what to do less of.
func TestRefusalSaysWhy(t *testing.T) {
	t.Parallel()
	b := open(t)
	request := b.request()
	b.passing(102, func() bus.Message { return response(request) })
	_, _, err := b.Admit(response(request))
	if err == nil || !strings.Contains(err.Error(), "has its answers") {
		t.Errorf("the refusal is %v", err)
	}
}

// FuzzAdmit: nothing that an agent sends breaks the gate, or passes without end.
func FuzzAdmit(f *testing.F) {
	f.Add("podium.agent.alpha.response.0", "1.0", "id", []byte(`{"message_id":"x","from":"alpha","type":"execution_response","in_reply_to":"r"}`))
	f.Add("podium.agent.alpha.permit.0", "", "", []byte(`{"in_reply_to":"r","payload":{"plan_id":"p"}}`))
	f.Add("podium.gate", "1.0", "", []byte{})
	f.Fuzz(func(t *testing.T, subject, version, id string, body []byte) {
		b := open(t)
		passed := 0
		for i := range 300 {
			header := bus.Header{"ce-specversion": {version}, "ce-id": {fmt.Sprint(id, i)}, "ce-type": {schemas.TypeProgressUpdate}, "ce-source": {"/x"}}
			if version == "" {
				header = nil
			}
			if earlier, settle, err := b.Admit(bus.Message{Subject: subject, Header: header, Body: body}); err == nil && earlier == nil {
				settle(bus.Ack{}, errors.New("not stored"))
				passed++
			}
		}
		if passed > 100 {
			t.Errorf("%d messages that answer nothing have passed", passed)
		}
	})
}

// TestFloodsAreToldOf: who goes on for a minute to send what nobody has asked for, or nobody can read, is told of; who sends
// too much for a request, or stops in between, is not.
func TestFloodsAreToldOf(t *testing.T) {
	t.Parallel()
	unreadable := func() bus.Message { return bus.Message{Subject: bus.ResponseSubject("alpha", 0), Body: []byte("{")} }
	for name, c := range map[string]struct {
		message func(b *bench) bus.Message
		pause   time.Duration // after each second of a hundred messages
		seconds int
		told    bool
	}{
		"what nobody has asked for": {func(*bench) bus.Message { return response(uuid.NewString()) }, time.Second, 70, true},
		"what nobody can read":      {func(*bench) bus.Message { return unreadable() }, time.Second, 70, true},
		"though it is cut at times": {func(*bench) bus.Message { return unreadable() }, 20 * time.Second, 6, true},
		"for less than a minute":    {func(*bench) bus.Message { return unreadable() }, time.Second, 50, false},
		"with pauses":               {func(*bench) bus.Message { return unreadable() }, 2 * time.Minute, 20, false},
		"too much for a request":    {func(b *bench) bus.Message { return progress(b.asked, 48<<10) }, time.Second, 70, false},
	} {
		b := open(t)
		b.asked = b.request()
		for range c.seconds {
			for range 100 {
				b.publish(c.message(b))
			}
			b.now = b.now.Add(c.pause)
		}
		select {
		case agent := <-b.Floods():
			if !c.told || agent != "alpha" {
				t.Errorf("%s: told of %s", name, agent)
			}
		default:
			if c.told {
				t.Errorf("%s: nobody is told", name)
			}
		}
	}
}

// by gives a message a body by reference, of so many bytes.
func by(message bus.Message, size int64) bus.Message {
	event, err := binding.Decode(message)
	if err != nil {
		panic(err)
	}
	event.Data, event.Artifact = nil, &schemas.Artifact{SHA256: strings.Repeat("a", 64), Size: size, MediaType: schemas.MediaTypeJSON, Grant: "put"}
	message, err = binding.Encode(message.Subject, &event)
	if err != nil {
		panic(err)
	}
	return message
}

// TestABodyByReferenceCounts: what answers no request counts with the body that it refers to, however small the message is, so that one
// body named many times is refused at once. Each request has its two answers with bodies all the same.
func TestABodyByReferenceCounts(t *testing.T) {
	t.Parallel()
	b := open(t)
	const large = 58 << 20
	if passed := b.passing(40, func() bus.Message { return by(response(uuid.NewString()), large) }); passed > 0 {
		t.Errorf("%d answers to no request passed, with 58 MiB each", passed)
	}
	if passed := b.passing(40, func() bus.Message { return by(response(""), 300<<10) }); passed != 3 {
		t.Errorf("%d answers to no request passed, with 300 KiB each, of an allowance of 1 MiB", passed)
	}
	asked := b.request()
	if passed := b.passing(40, func() bus.Message { return by(response(asked), large) }); passed != 2 {
		t.Errorf("%d answers to one request passed", passed)
	}
	b.Waiting("alpha", 1)
	if passed := b.passing(40, func() bus.Message { return by(response(uuid.NewString()), large) }); passed != 1 {
		t.Errorf("%d answers passed to one request that had waited", passed)
	}
}

// TestOnlyAResponseHasABodyByReference: progress and questions for a permit are small, so that nothing is fetched for them.
func TestOnlyAResponseHasABodyByReference(t *testing.T) {
	t.Parallel()
	b := open(t)
	asked := b.request()
	for name, message := range map[string]bus.Message{"progress": by(progress(asked, 100), 1000), "permit": by(permit(asked), 1000)} {
		if b.publish(message) {
			t.Errorf("%s with a body by reference passed", name)
		}
	}
}
