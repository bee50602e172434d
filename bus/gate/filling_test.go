package gate_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
)

// TestAllowanceEndsWithTheWork: nobody waits for what is answered or expired, so that it
// allows nothing more: an agent of many requests could fill the ledger by those of the past.
func TestAllowanceEndsWithTheWork(t *testing.T) {
	t.Parallel()
	ends := map[string]func(b *bench) (request string){
		"a response": func(b *bench) string {
			request := b.request()
			if !b.publish(response(request)) {
				b.Fatal("a response was refused")
			}
			return request
		},
		"the time of a request": func(b *bench) string {
			return b.requested(b.now.Add(10 * time.Second))
		},
		"a request that is forgotten": func(b *bench) string {
			request := b.request()
			b.now = b.now.Add(8 * 24 * time.Hour)
			return request
		},
	}
	for name, end := range ends {
		for kind, next := range map[string]func(request string) bus.Message{
			"progress": func(r string) bus.Message { return progress(r, 10) },
			"permits":  permit,
		} {
			t.Run(kind+" behind "+name, func(t *testing.T) {
				t.Parallel()
				b := open(t)
				request := end(b)
				message := func() bus.Message { return next(request) }
				b.now = b.now.Add(time.Minute)
				b.passing(100, message) // what was left
				for range 24 {
					b.now = b.now.Add(time.Hour)
					if got := b.passing(100, message); got != 0 {
						t.Fatalf("%d passed", got)
					}
				}
			})
		}
	}
}

// requested has a request go out to alpha that nobody waits for after a time.
func (b *bench) requested(expires time.Time) (id string) {
	b.Helper()
	id = uuid.NewString()
	message, err := binding.Encode(bus.RequestSubject("alpha"), &schemas.Event{
		ID: id, Source: "/podium/desk", Type: schemas.TypeExecutionRequest, Expires: expires, Data: []byte(`{}`),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Requested(message)
	return id
}

// TestSmallArtifactsAreCounted: as many as take no room in bytes take it in the index of
// the object store, which is the server's memory.
func TestSmallArtifactsAreCounted(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 16 << 10} {
		b := open(t)
		passed := 0
		for range 10_000 {
			if b.Store("alpha", size) == nil {
				passed++
			}
		}
		if passed != 8192 {
			t.Errorf("%d artifacts of %d bytes at once, want 8192", passed, size)
		}
	}
}

// TestStoredResponsesAreNotStoredAgain: more answers than the gate remembers the
// acknowledgements of cannot come again and again in turn.
func TestStoredResponsesAreNotStoredAgain(t *testing.T) {
	t.Parallel()
	b := open(t)
	const count = 10_000
	answers := make([]bus.Message, count)
	for i := range answers {
		answers[i] = response(b.request())
		if !b.publish(answers[i]) {
			t.Fatalf("response %d was refused", i)
		}
	}
	stored := b.sent
	for i := range answers {
		b.publish(answers[i])
	}
	if again := b.sent - stored; again > 100 {
		t.Errorf("%d of %d responses were stored again, want 100 at most, as of what nobody asked for", again, count)
	}
}

// TestResponseThatWasNotStoredComesAgain, as often as it takes.
func TestResponseThatWasNotStoredComesAgain(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.passing(200, func() bus.Message { return response(uuid.NewString()) })
	message := response(b.request())
	for i := range 20 {
		_, settle, err := b.Admit(message)
		if err != nil {
			t.Fatalf("try %d: %v", i, err)
		}
		settle(bus.Ack{}, bus.ErrFull)
	}
	if !b.publish(message) {
		t.Error("it was refused in the end")
	}
}
