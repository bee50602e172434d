package publisher_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/eventloop"
	"podium/supervisor/publisher"
)

// A ledger refuses messages for as long as there are reasons left.
type ledger struct {
	bus.Core
	reasons []error
	asked   int
}

func (l *ledger) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	l.asked++
	if len(l.reasons) > 0 {
		why := l.reasons[0]
		l.reasons = l.reasons[1:]
		done(bus.Ack{}, why)
		return
	}
	l.Core.Publish(message, expect, done)
}

// temporary is an error after which a message may have been stored.
func temporary() error { return &bus.TemporaryError{Op: "publish", Err: context.DeadlineExceeded} }

// A press is a publisher, its ledger and the time.
type press struct {
	*publisher.Publisher
	tb     testing.TB
	ledger *ledger
	log    bytes.Buffer
	now    time.Time
}

func newPress(tb testing.TB, reasons ...error) *press {
	tb.Helper()
	grants, err := artifact.NewGrants([]byte("a secret of tests"))
	if err != nil {
		tb.Fatal(err)
	}
	p := &press{tb: tb, ledger: &ledger{Core: memory.New(2), reasons: reasons}, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	p.Publisher = &publisher.Publisher{
		Core: p.ledger, ArtifactGrants: grants, Loop: eventloop.New(func(operation func()) { operation() }),
		Backoff: eventloop.Backoff(time.Second), Log: zerolog.New(&p.log).Level(zerolog.InfoLevel),
	}
	return p
}

// turn does what can be done at this moment.
func (p *press) turn() {
	for p.Loop.Turn(p.now) {
	}
}

// until lets time pass from one timer to the next.
func (p *press) until(end time.Time) {
	for p.turn(); ; p.turn() {
		next, set := p.Loop.Next()
		if !set || next.After(end) {
			p.now = end
			return
		}
		p.now = next
	}
}

// request is what the worker is asked; the first copy of it brings its permit.
func (p *press) request() *schemas.Event {
	return &schemas.Event{
		ID: schemas.RequestID(0, 1, "run", "t1", 1), Source: "/podium/supervisor", Type: schemas.TypeExecutionRequest, Time: p.now,
		First: "server", Permit: "permit", Expires: p.now.Add(time.Hour), DataContentType: schemas.MediaTypeJSON, Data: []byte(`{"work":1}`),
	}
}

// there returns what stands on a stream.
func (p *press) there(stream string) (events []schemas.Event) {
	p.tb.Helper()
	for message, err := range p.ledger.Core.Scan(context.Background(), stream, 1) {
		if err != nil {
			p.tb.Fatal(err)
		}
		event, err := binding.Decode(message)
		if err != nil {
			p.tb.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

// TestPublish: the outcome is handed to the loop, and comes with a turn.
func TestPublish(t *testing.T) {
	t.Parallel()
	p := newPress(t)
	var outcomes []error
	publish := func(expect bus.Expect) {
		p.Publish(t.Context(), bus.SessionSubject("s", 2), p.request(), expect, func(_ time.Time, _ bus.Ack, err error) {
			outcomes = append(outcomes, err)
		})
	}
	publish(bus.ExpectLast(0))
	if len(outcomes) > 0 {
		t.Fatal("it was called before the loop has turned")
	}
	p.turn()
	publish(bus.ExpectLast(0))
	p.turn()
	if len(outcomes) != 2 || outcomes[0] != nil || !errors.Is(outcomes[1], bus.ErrConflict) {
		t.Errorf("the outcomes are %v", outcomes)
	}
	broken := p.request()
	broken.Type = ""
	p.Publish(t.Context(), bus.RequestSubject("worker"), broken, bus.Expect{}, func(_ time.Time, _ bus.Ack, err error) {
		outcomes = append(outcomes, err)
	})
	if p.turn(); !errors.Is(outcomes[2], schemas.ErrInvalidEvent) {
		t.Errorf("an event without a type: %v", outcomes[2])
	}
}

// TestUntilStored: it is tried again after longer and longer waits, and done once it is
// stored, once.
func TestUntilStored(t *testing.T) {
	t.Parallel()
	p := newPress(t, temporary(), bus.ErrFull, temporary())
	began := p.now
	var ended []time.Duration
	p.PublishUntilStored(t.Context(), bus.RequestSubject("worker"), p.request(), func(now time.Time) { ended = append(ended, now.Sub(began)) })
	p.until(began.Add(6 * time.Second))
	if len(ended) > 0 || len(p.there(bus.WorkStream)) > 0 {
		t.Fatalf("done after %s", ended)
	}
	p.until(began.Add(time.Hour))
	if !slices.Equal(ended, []time.Duration{7 * time.Second}) || len(p.there(bus.WorkStream)) != 1 || p.ledger.asked != 4 {
		t.Errorf("done after %s, %d are there, the ledger was asked %d times", ended, len(p.there(bus.WorkStream)), p.ledger.asked)
	}
}

// TestTheSecondCopyIsNotTheFirst: the first one may have arrived. Whoever reads another
// one has to ask before it acts.
func TestTheSecondCopyIsNotTheFirst(t *testing.T) {
	t.Parallel()
	for _, reasons := range [][]error{nil, {temporary()}} {
		p := newPress(t, reasons...)
		p.PublishUntilStored(t.Context(), bus.RequestSubject("worker"), p.request(), func(time.Time) {})
		p.until(p.now.Add(time.Hour))
		there := p.there(bus.WorkStream)
		if len(there) != 1 || (there[0].First != "" && there[0].Permit != "") != (len(reasons) == 0) || there[0].ID != p.request().ID {
			t.Errorf("after %d errors there are %+v", len(reasons), there)
		}
	}
}

// TestTooLargeIsGivenUp: for the ledger, and for the object store.
func TestTooLargeIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"for the ledger": "1", "for the object store": strings.Repeat("1", artifact.MaxSize+1)} {
		p := newPress(t, bus.ErrTooLarge)
		event, done := p.request(), 0
		event.Data = []byte(body)
		p.PublishUntilStored(t.Context(), bus.RequestSubject("worker"), event, func(time.Time) { done++ })
		p.until(p.now.Add(time.Hour))
		if done != 1 || len(p.there(bus.WorkStream)) > 0 || !strings.Contains(p.log.String(), `"level":"error"`) {
			t.Errorf("%s: done %d times, the log says %s", name, done, p.log.String())
		}
	}
}

// TestUnwritableIsGivenUp: no other try writes what is no event.
func TestUnwritableIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPress(t)
	event, done := p.request(), 0
	event.ID = ""
	p.PublishUntilStored(t.Context(), bus.RequestSubject("worker"), event, func(time.Time) { done++ })
	p.until(p.now.Add(time.Hour))
	if done != 1 || len(p.there(bus.WorkStream)) > 0 || !strings.Contains(p.log.String(), "cannot be written") {
		t.Errorf("done %d times, the log says %s", done, p.log.String())
	}
}

// TestLargeBodies: what is larger than a message may be stands in the object store, with
// the grant that whoever reads it needs. The caller's event stays whole.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	for size, offloaded := range map[int]bool{artifact.MessageInlineLimit: false, artifact.MessageInlineLimit + 1: true} {
		p := newPress(t)
		event := p.request()
		event.Data = []byte(strings.Repeat("1", size))
		p.PublishUntilStored(t.Context(), bus.RequestSubject("worker"), event, func(time.Time) {})
		p.turn()
		there := p.there(bus.WorkStream)
		if len(there) != 1 || (there[0].Artifact != nil) != offloaded || event.Artifact != nil || len(event.Data) != size {
			t.Fatalf("of %d bytes %d messages are there", size, len(there))
		}
		if offloaded {
			artifact := there[0].Artifact
			if !p.ArtifactGrants.WasGiven(artifact.Grant, "worker", event.ID, artifact.SHA256) {
				t.Errorf("its grant is %q", artifact.Grant)
			}
		}
		if err := artifact.Resolve(t.Context(), p.Core.Artifacts(), &there[0]); err != nil || len(there[0].Data) != size {
			t.Errorf("of %d bytes %d are read, %v", size, len(there[0].Data), err)
		}
	}
}

// TestRefused: that the ledger takes nothing at all is known until it takes something, and
// said by whoever watches it: here it is no line of the log.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		why    error
		known  bool
		logged bool
	}{
		"full":      {why: bus.ErrFull, known: true},
		"lost":      {why: &bus.LostError{Stream: "PODIUM_0", Seen: 7}, known: true},
		"temporary": {why: temporary(), logged: true},
	} {
		p := newPress(t, test.why)
		p.PublishUntilStored(t.Context(), bus.RequestSubject("worker"), p.request(), func(time.Time) {})
		p.turn()
		if err := p.LedgerError(); (err != nil) != test.known || test.known && !errors.Is(err, test.why) {
			t.Errorf("%s: it is known as %v", name, err)
		}
		if p.log.Len() > 0 != test.logged {
			t.Errorf("%s: the log says %q", name, p.log.String())
		}
		p.until(p.now.Add(time.Hour))
		if err := p.LedgerError(); err != nil {
			t.Errorf("%s: it has taken something, and is known as %v", name, err)
		}
	}
}

// TestReplySubjects: an answer goes to the shard that its request names, if it is the
// agent's own to write and is there; else to the work stream.
func TestReplySubjects(t *testing.T) {
	t.Parallel()
	p := newPress(t)
	work := []string{"podium.agent.top.response", "podium.agent.top.progress"}
	for replyTo, want := range map[string][]string{
		"":                             work,
		bus.ResponseSubject("top", 1):  {bus.ResponseSubject("top", 1), bus.ProgressSubject("top", 1)},
		bus.ResponseSubject("top", 2):  work, // of two shards
		bus.ResponseSubject("leaf", 1): work,
		"_INBOX.1":                     work,
	} {
		response, progress := p.ReplySubjects("top", &schemas.Event{ReplyTo: replyTo})
		if !slices.Equal([]string{response, progress}, want) {
			t.Errorf("with replyto %q: %s and %s", replyTo, response, progress)
		}
	}
}
