package supervisor_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/supervisor"
)

// drawing is what the comment at stage says: where a session goes from where.
var drawing = sync.OnceValue(func() map[supervisor.Move]bool {
	source, err := os.ReadFile("stage.go")
	if err != nil {
		panic(err)
	}
	moves := map[supervisor.Move]bool{}
	for _, line := range regexp.MustCompile(`(?m)^//\t(\w+) +─► (.+)$`).FindAllStringSubmatch(string(source), -1) {
		for to := range strings.SplitSeq(line[2], ", ") {
			moves[supervisor.Move{From: line[1], To: to}] = true
		}
	}
	return moves
})

// watched holds an owner of any test at a desk to the drawing.
func (d *desk) watched(o *supervisor.Owner) *supervisor.Owner {
	if _, measuring := d.tb.(*testing.B); !measuring {
		o.Watch(func(move supervisor.Move) {
			if !drawing()[move] {
				d.tb.Errorf("a session goes from %s to %s", move.From, move.To)
			}
			if d.moves != nil {
				d.moves[move] = true
			}
		})
	}
	return o
}

// An ailing ledger fails as it is told to; what is nil works.
type ailing struct {
	bus.Core
	get, last, artifact func() error
	publish             func(bus.Message) error
}

func (c *ailing) Get(ctx context.Context, stream string, sequence uint64) (bus.Message, error) {
	if c.get != nil {
		if err := c.get(); err != nil {
			return bus.Message{}, err
		}
	}
	return c.Core.Get(ctx, stream, sequence)
}

func (c *ailing) Last(ctx context.Context, subject string) (bus.Message, error) {
	if c.last != nil {
		if err := c.last(); err != nil {
			return bus.Message{}, err
		}
	}
	return c.Core.Last(ctx, subject)
}

func (c *ailing) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if c.publish != nil {
		if err := c.publish(message); err != nil {
			done(bus.Ack{}, err)
			return
		}
	}
	c.Core.Publish(message, expect, done)
}

func (c *ailing) Artifacts() bus.ArtifactStore { return &ailingStore{c.Core.Artifacts(), c} }

type ailingStore struct {
	bus.ArtifactStore
	core *ailing
}

func (s *ailingStore) Get(ctx context.Context, artifact schemas.Artifact) (io.ReadCloser, error) {
	if s.core.artifact != nil {
		if err := s.core.artifact(); err != nil {
			return nil, err
		}
	}
	return s.ArtifactStore.Get(ctx, artifact)
}

// times fails so often, and then works.
func times(n int, err error) func() error {
	return func() error {
		if n--; n >= 0 {
			return err
		}
		return nil
	}
}

func away() error { return &bus.TemporaryError{Op: "ask", Err: context.DeadlineExceeded} }

// of fails for subjects that begin so, as often as it is told to.
func of(prefix string, fails func() error) func(bus.Message) error {
	return func(message bus.Message) error {
		if strings.HasPrefix(message.Subject, prefix) {
			return fails()
		}
		return nil
	}
}

// converse has a thread taken from its message to its end.
func (d *desk) converse(o *supervisor.Owner, thread, message string) {
	d.tb.Helper()
	d.say(thread, message, "do it")
	d.must(d.work(o))
	d.answerNewest("worker", "done")
	d.must(d.work(o))
	d.answerNewest("chat", "")
	d.must(d.work(o))
}

// sayMuch puts a message whose body stands in the object store.
func (d *desk) sayMuch(thread, id string) {
	d.tb.Helper()
	body, err := schemas.Marshal(schemas.ChatReceived{Provider: "p", Channel: "c", Thread: thread, MessageID: id, Text: strings.Repeat("much ", 1<<16)})
	d.must(err)
	event := &schemas.Event{
		ID: id, Source: "/desk", Type: schemas.TypeChatReceived, Time: d.now, Profile: "desk", PartitionKey: thread,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}
	d.must(artifact.Offload(context.Background(), d.ledger.Artifacts(), event))
	d.put(bus.InSubject("chat", 0), event)
}

// A way is what happens to a session, and the stages that it goes by.
type way struct {
	walk func(d *desk)
	by   string
}

// ways are ordinary and troubled.
func ways() map[string]way {
	return map[string]way{
		"a run": {func(d *desk) {
			d.converse(d.open("one", d.ledger, 0), "thread", "m1")
		}, "waiting queued deciding storing sending waiting"},
		"the same message again": {func(d *desk) {
			o := d.open("one", d.ledger, 0)
			d.say("thread", "m1", "do it")
			d.must(d.work(o))
			d.say("thread", "m1", "do it")
			d.must(d.work(o))
		}, "deciding queued deciding waiting"},
		"a session that was forgotten": {func(d *desk) {
			d.converse(d.open("one", d.ledger, 0), "thread", "m1")
			o := d.open("two", d.ledger, 0)
			d.say("thread", "m2", "again")
			d.must(d.work(o))
		}, "storing waiting queued deciding loading"},
		"a takeover": {func(d *desk) {
			first := d.open("one", d.ledger, 0)
			d.say("thread", "m1", "do it")
			d.must(d.work(first))
			d.converse(first, "other", "o1")
			d.now = d.now.Add(time.Minute / 2)
			d.must(d.work(first)) // it says that all of it is sent
			d.must(d.work(d.open("two", d.ledger, 0)))
		}, "waiting loading waiting"},
		"a takeover of what is owed": {func(d *desk) {
			first := d.open("one", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
				if strings.HasSuffix(message.Subject, ".request") {
					return silent
				}
				return stored
			}}, 0)
			d.say("thread", "m1", "do it")
			d.must(d.work(first))
			d.use(func(changed *schemas.Profile) { changed.Languages[0].Texts.Empty = "finished" })
			d.must(d.work(d.open("two", d.ledger, 0)))
		}, "loading sending sending waiting"},
		"a ledger that is away": {func(d *desk) {
			d.converse(d.open("one", d.ledger, 0), "thread", "m1")
			core := &ailing{Core: d.ledger}
			o := d.open("two", core, 0)
			core.last = times(1, away())
			d.say("thread", "m2", "again")
			d.spin(o, time.Minute)
		}, "loading retrying waiting"},
		"a session that is lost": {func(d *desk) {
			d.converse(d.open("one", d.ledger, 0), "thread", "m1")
			core := &ailing{Core: d.ledger, publish: of("podium.dead.", times(1, away()))}
			o := d.open("two", core, 0)
			core.get = func() error { return bus.ErrNotFound }
			d.say("thread", "m2", "again")
			d.spin(o, time.Minute)
		}, "loading quarantining retrying waiting"},
		"a large body": {func(d *desk) {
			o := d.open("one", &ailing{Core: d.ledger, artifact: times(1, away())}, 0)
			d.sayMuch("thread", "m1")
			d.spin(o, time.Minute)
		}, "deciding fetching retrying waiting"},
		"a large body that is whole": {func(d *desk) {
			o := d.open("one", d.ledger, 0)
			d.sayMuch("thread", "m1")
			d.must(d.work(o))
		}, "deciding fetching waiting"},
		"a large body that is lost": {func(d *desk) {
			o := d.open("one", &ailing{Core: d.ledger, artifact: func() error { return bus.ErrNotFound }}, 0)
			d.sayMuch("thread", "m1")
			d.must(d.work(o))
		}, "fetching quarantining waiting"},
		"a request that comes again": {func(d *desk) {
			o := d.open("one", d.ledger, 0)
			d.deepPlan("first", "key", 0)
			d.must(d.work(o))
			d.answerNewest("worker", "done")
			d.must(d.work(o))
			d.deepPlan("first", "key", 0)
			d.spin(o, time.Minute)
		}, "deciding fetching sending waiting"},
		"a doubt while the ledger is away": {func(d *desk) {
			core := &ailing{Core: d.ledger}
			o := d.open("one", core, 0)
			d.say("thread", "m1", "do it")
			d.must(d.work(o))
			core.last = times(1, away())
			orphan := *d.last("worker")
			orphan.ID = schemas.RequestID(0, 1, orphan.CorrelationID, "t9", 1)
			d.answer("worker", &orphan, "done")
			d.spin(o, time.Minute)
		}, "deciding confirming retrying waiting"},
		"an answer that nobody waits for": {func(d *desk) {
			o := d.open("one", d.ledger, 0)
			d.say("thread", "m1", "do it")
			d.must(d.work(o))
			orphan := *d.last("worker")
			orphan.ID = schemas.RequestID(0, 1, orphan.CorrelationID, "t9", 1)
			d.answer("worker", &orphan, "done")
			d.spin(o, time.Minute)
		}, "deciding confirming waiting queued deciding quarantining waiting"},
		"a record that is too large": {func(d *desk) {
			o := d.open("one", &ailing{Core: d.ledger, publish: of("podium.session.", func() error { return bus.ErrTooLarge })}, 0)
			d.say("thread", "m1", "do it")
			d.spin(o, time.Minute)
		}, "storing confirming waiting queued deciding storing quarantining waiting"},
		"a ledger that is full": {func(d *desk) {
			o := d.open("one", &ailing{Core: d.ledger, publish: of("podium.session.", times(2, bus.ErrFull))}, 0)
			d.say("thread", "m1", "do it")
			d.spin(o, time.Minute)
		}, "storing retrying waiting queued"},
	}
}

// TestSessionsGoAsDrawn: every way from one stage to another that a session takes is in the
// drawing at stage, and every arrow of it is one that some session takes. All other tests
// at a desk watch the former.
func TestSessionsGoAsDrawn(t *testing.T) {
	t.Parallel()
	taken := map[supervisor.Move]bool{}
	for name, way := range ways() {
		d := newDesk(t, 1)
		d.moves = map[supervisor.Move]bool{}
		way.walk(d)
		stages := strings.Fields(way.by)
		for i := range stages[1:] {
			if move := (supervisor.Move{From: stages[i], To: stages[i+1]}); !d.moves[move] {
				t.Errorf("%s: no session goes from %s to %s", name, move.From, move.To)
			}
		}
		for move := range d.moves {
			taken[move] = true
		}
	}
	var left []string
	for move := range drawing() {
		if !taken[move] {
			left = append(left, fmt.Sprint(move.From, " ─► ", move.To))
		}
	}
	slices.Sort(left)
	if len(left) > 0 || len(drawing()) < 25 {
		t.Errorf("of %d arrows no session goes\n%s", len(drawing()), strings.Join(left, "\n"))
	}
}
