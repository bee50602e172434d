package supervisor_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/restore"
)

// spin lets an owner work while time passes, at most for a span.
func (d *desk) spin(o *supervisor.Owner, span time.Duration) {
	d.tb.Helper()
	end := d.now.Add(span)
	for range 100_000 {
		d.must(d.work(o))
		select {
		case <-o.Wake():
			continue
		default:
		}
		next, ok := o.Next()
		if !ok || next.After(end) {
			d.now = end
			return
		}
		if next.After(d.now) {
			d.now = next
		}
	}
	d.tb.Fatal("it never sleeps")
}

// openWith opens an owner of shard 0 with limits of its own.
func (d *desk) openWith(core bus.Core, change func(*supervisor.Config)) *supervisor.Owner {
	d.tb.Helper()
	config := d.owner("one", core, 0).Config
	change(&config)
	o := d.watched(supervisor.NewOwner(config))
	d.must(o.Open(d.tb.Context(), d.now))
	return o
}

// newSequenceDesk is a desk where one message can become two steps, the second
// of which gets the first one's result.
func newSequenceDesk(tb testing.TB) *desk {
	tb.Helper()
	d := newDesk(tb, 1)
	profile := deskProfile()
	profile.Execution = schemas.Execution{Mode: schemas.ExecutionSequence, MaxSteps: 4}
	profile.Complexity = &schemas.ComplexityRules{
		Verbs: []schemas.Keyword{
			{Word: "calculate", Mode: schemas.ModeWord}, {Word: "summarize", Mode: schemas.ModeWord},
		},
		Separators: []string{"then", "and"},
	}
	var err error
	d.profiles, err = restore.NewProfiles(tb.Context(), d.ledger.Artifacts(), []schemas.Profile{profile})
	d.must(err)
	return d
}

// askedOf returns what the worker was asked for a thread, oldest first, and each
// request once.
func (d *desk) askedOf(thread string) (asked []schemas.Event) {
	d.tb.Helper()
	id, _ := d.session(thread)
	seen := map[string]bool{}
	for _, request := range d.requests("worker") {
		if request.PartitionKey == id && !seen[request.ID] {
			seen[request.ID] = true
			asked = append(asked, request)
		}
	}
	return asked
}

// refusals are the messages in quarantine, each once, however often it got there.
func (d *desk) refusals() (refusals []schemas.Quarantined) {
	d.tb.Helper()
	seen := map[uint64]bool{}
	for _, event := range d.events(bus.ShardStream(0), "podium.dead.*.0") {
		d.must(artifact.Resolve(context.Background(), d.ledger.Artifacts(), &event))
		var refusal schemas.Quarantined
		d.must(schemas.Unmarshal(event.Data, &refusal))
		if !seen[refusal.Sequence] {
			seen[refusal.Sequence] = true
			refusals = append(refusals, refusal)
		}
	}
	return refusals
}

// answerWithData answers a request with a result that holds data besides text.
func (d *desk) answerWithData(request *schemas.Event, data string) uint64 {
	d.tb.Helper()
	return d.put(bus.ResponseSubject("worker", 0), d.dataEvent(request, data))
}

func (d *desk) dataEvent(request *schemas.Event, data string) *schemas.Event {
	d.tb.Helper()
	response := d.response("worker", request, "done")
	body, err := schemas.Marshal(response)
	d.must(err)
	body = bytes.Replace(body, []byte(`"text":"done"`), []byte(`"text":"done","data":`+data), 1)
	if _, err = schemas.DecodeExecutionResponse(body); err != nil {
		d.tb.Fatalf("the answer breaks its schema already: %v", err)
	}
	return &schemas.Event{
		ID: response.MessageID, Source: binding.SourceOf("worker"), Type: schemas.TypeExecutionResponse, Time: d.now,
		CausationID: request.ID, DataContentType: schemas.MediaTypeJSON, Data: body,
	}
}

// nested is JSON of this depth.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// sayByReference publishes a chat message whose body stands in the object store.
func (d *desk) sayByReference(thread, id string) *schemas.Event {
	d.tb.Helper()
	body, err := schemas.Marshal(schemas.ChatReceived{
		Provider: "p", Channel: "c", Thread: thread, MessageID: id, Text: strings.Repeat("x", artifact.MessageInlineLimit),
	})
	d.must(err)
	event := &schemas.Event{
		ID: id, Source: "/desk", Type: schemas.TypeChatReceived, Time: d.now, Profile: "desk", PartitionKey: thread,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}
	d.must(artifact.Offload(d.tb.Context(), d.ledger.Artifacts(), event))
	if event.Artifact == nil {
		d.tb.Fatal("the body stands in the message")
	}
	d.put(bus.InSubject("chat", 0), event)
	return event
}

// refusing refuses for now what is chosen, until it is healed.
func refusing(core bus.Core, chosen func(bus.Message) bool) (view *trouble, heal func()) {
	ill := true
	view = &trouble{Core: core, lose: func(message bus.Message) fate {
		if ill && chosen(message) {
			return refused
		}
		return stored
	}}
	return view, func() { ill = false }
}

// A strict ledger never takes some messages.
type strict struct {
	bus.Core
	refuse func(bus.Message) error
}

func (c *strict) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if err := c.refuse(message); err != nil {
		done(bus.Ack{}, err)
		return
	}
	c.Core.Publish(message, expect, done)
}

// A forged ledger shows messages otherwise than they are.
type forged struct {
	bus.Core
	change func(bus.Message) bus.Message
}

func (c *forged) Get(ctx context.Context, stream string, sequence uint64) (bus.Message, error) {
	message, err := c.Core.Get(ctx, stream, sequence)
	return c.change(message), err
}

// A late ledger has its readers wait until it is told to deliver.
type late struct {
	bus.Core
	deliver bool
}

func (c *late) Read(ctx context.Context, stream string, from uint64, subjects ...string) (bus.Reader, error) {
	reader, err := c.Core.Read(ctx, stream, from, subjects...)
	return &lateReader{Reader: reader, core: c}, err
}

type lateReader struct {
	bus.Reader
	core *late
}

func (r *lateReader) Next() (bus.Message, bool, error) {
	if !r.core.deliver {
		return bus.Message{}, false, nil
	}
	return r.Reader.Next()
}

// A flaky ledger breaks off while an artifact is read, some times.
type flaky struct {
	bus.Core
	left int
}

func (c *flaky) Artifacts() bus.ArtifactStore {
	return &flakyArtifacts{ArtifactStore: c.Core.Artifacts(), core: c}
}

type flakyArtifacts struct {
	bus.ArtifactStore
	core *flaky
}

func (a *flakyArtifacts) Get(ctx context.Context, artifact schemas.Artifact) (io.ReadCloser, error) {
	opened, err := a.ArtifactStore.Get(ctx, artifact)
	if err == nil && a.core.left > 0 {
		a.core.left--
		opened = broken{opened}
	}
	return opened, err
}

type broken struct{ io.Closer }

func (broken) Read([]byte) (int, error) { return 0, errors.New("the connection broke off") }
