package supervisor_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/bustest"
	"podium/bus/memory"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
	"podium/supervisor/restore"
	"podium/supervisor/verify"
)

func midnight() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// deskProfile sends everything to one worker.
func deskProfile() schemas.Profile { return bustest.DeskProfile(2) }

// A desk is a ledger with one profile, and everybody around the owner.
type desk struct {
	tb       testing.TB
	ledger   *memory.Ledger
	profiles *restore.Profiles
	now      time.Time
	moves    map[supervisor.Move]bool // of sessions, from stage to stage, unless nil
}

func newDesk(tb testing.TB, shards int, options ...memory.Option) *desk {
	tb.Helper()
	return newDeskOf(tb, deskProfile(), shards, options...)
}

func newDeskOf(tb testing.TB, profile schemas.Profile, shards int, options ...memory.Option) *desk {
	tb.Helper()
	d := &desk{tb: tb, ledger: memory.New(shards, options...), now: midnight()}
	var err error
	d.profiles, err = restore.NewProfiles(tb.Context(), d.ledger.Artifacts(), []schemas.Profile{profile})
	d.must(err)
	return d
}

// pools has agents declared, whose requests a test takes and answers itself.
func (d *desk) pools(names ...string) map[string]*memory.Worker {
	d.tb.Helper()
	agents := map[string]*memory.Worker{}
	for _, name := range names {
		d.must(d.ledger.Declare(d.tb.Context(), name, bus.Pool{Size: 100, AckWait: time.Hour}))
		agents[name] = d.ledger.Worker(name)
	}
	return agents
}

// owner returns an owner whose operations run at once, in the calling goroutine.
func (d *desk) owner(name string, core bus.Core, shard int) *supervisor.Owner {
	return d.watched(supervisor.NewOwner(supervisor.Config{
		Shard: shard, Name: name, Core: core, Profiles: d.profiles, Log: zerolog.Nop(),
		Go: func(operation func()) { operation() },
	}))
}

func (d *desk) open(name string, core bus.Core, shard int) *supervisor.Owner {
	d.tb.Helper()
	o := d.owner(name, core, shard)
	if err := o.Open(d.tb.Context(), d.now); err != nil {
		d.tb.Fatal(err)
	}
	return o
}

// work lets an owner do all that it can do at this moment.
func (d *desk) work(o *supervisor.Owner) error {
	for range 10_000 {
		worked, err := o.Tick(context.Background(), d.now)
		if err != nil || !worked {
			return err
		}
	}
	d.tb.Fatal("it never comes to rest")
	return nil
}

func (d *desk) must(err error) {
	d.tb.Helper()
	if err != nil {
		d.tb.Fatal(err)
	}
}

// session is the session of a thread, and the shard that it is in.
func (d *desk) session(thread string) (id string, shard int) {
	id = schemas.SessionID("desk", thread)
	return id, schemas.ShardOf(id, d.ledger.Shards())
}

// say publishes a chat message and returns its sequence.
func (d *desk) say(thread, id, text string) uint64 {
	d.tb.Helper()
	_, shard := d.session(thread)
	body, err := schemas.Marshal(schemas.ChatReceived{Provider: "p", Channel: "c", Thread: thread, MessageID: id, Text: text})
	d.must(err)
	return d.put(bus.InSubject("chat", shard), &schemas.Event{
		ID: id, Source: "/desk", Type: schemas.TypeChatReceived, Time: d.now, Profile: "desk", PartitionKey: thread,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

// put publishes an event as its sender would: what stands for a large body has its grant.
func (d *desk) put(subject string, event *schemas.Event) uint64 {
	d.tb.Helper()
	if event.Artifact != nil && event.Artifact.Grant == "" {
		d.grants().GrantBody(subject, event)
	}
	message, err := binding.Encode(subject, event)
	d.must(err)
	ack, err := bus.Append(d.tb.Context(), d.ledger, message, bus.Expect{})
	d.must(err)
	return ack.Sequence
}

func (d *desk) grants() *artifact.Grants {
	d.tb.Helper()
	grants, err := artifact.OpenGrants(context.Background(), d.ledger, d.now)
	d.must(err)
	return grants
}

// requests returns what an agent was asked, oldest first.
func (d *desk) requests(agent string) []schemas.Event {
	d.tb.Helper()
	return d.events(bus.WorkStream, bus.RequestSubject(agent))
}

func (d *desk) events(stream string, subjects ...string) (events []schemas.Event) {
	d.tb.Helper()
	for message, err := range d.ledger.Scan(context.Background(), stream, 1, subjects...) {
		d.must(err)
		event, err := binding.Decode(message)
		d.must(err)
		events = append(events, event)
	}
	return events
}

func (d *desk) response(from string, request *schemas.Event, text string) schemas.ExecutionResponse {
	return schemas.ExecutionResponse{
		Envelope: schemas.Envelope{
			MessageID: schemas.ResponseID(request.ID), From: from, To: "supervisor",
			Type: schemas.EnvelopeTypeExecutionResponse, Timestamp: d.now, InReplyTo: request.ID,
		},
		Payload: schemas.ResponsePayload{
			Status: schemas.StatusCompleted, PlanID: schemas.PlanID(request.CorrelationID), Result: &schemas.Result{Text: text},
		},
	}
}

// answer publishes an agent's answer to a request on the subject that it names.
func (d *desk) answer(agent string, request *schemas.Event, text string) uint64 {
	d.tb.Helper()
	response := d.response(agent, request, text)
	body, err := schemas.Marshal(response)
	d.must(err)
	shard, _ := schemas.ShardOfRequest(request.ID)
	return d.put(bus.ResponseSubject(agent, shard), &schemas.Event{
		ID: response.MessageID, Source: binding.SourceOf(agent), Type: schemas.TypeExecutionResponse, Subject: request.Subject, Time: d.now,
		CausationID: request.ID, CorrelationID: request.CorrelationID, Attempt: request.Attempt, EffectID: request.EffectID,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

// answerNewest answers the newest request to an agent.
func (d *desk) answerNewest(agent, text string) {
	d.tb.Helper()
	requests := d.requests(agent)
	if len(requests) == 0 {
		d.tb.Fatalf("%s was asked nothing", agent)
	}
	d.answer(agent, &requests[len(requests)-1], text)
}

// session folds the records of a thread and checks their grammar.
func (d *desk) sessionHistory(thread string) *workflow.SessionHistory {
	d.tb.Helper()
	id, shard := d.session(thread)
	var folded workflow.SessionHistory
	for _, event := range d.events(bus.ShardStream(shard), bus.SessionSubject(id, d.ledger.Shards())) {
		d.must(artifact.Resolve(context.Background(), d.ledger.Artifacts(), &event))
		var record schemas.Record
		d.must(schemas.Unmarshal(event.Data, &record))
		d.must(folded.Apply(record))
	}
	return &folded
}

func (d *desk) checkpoint(shard int) schemas.Checkpoint {
	d.tb.Helper()
	events := d.events(bus.ShardStream(shard), bus.ShardSubject(shard))
	var point schemas.Checkpoint
	d.must(schemas.Unmarshal(events[len(events)-1].Data, &point))
	return point
}

func (d *desk) quarantined(shard int) (found []schemas.Quarantined) {
	d.tb.Helper()
	for _, event := range d.events(bus.ShardStream(shard), "podium.dead.*."+strconv.Itoa(shard)) {
		var refused schemas.Quarantined
		d.must(schemas.Unmarshal(event.Data, &refused))
		found = append(found, refused)
	}
	return found
}

// verify decides every shard again, with nothing but what is in the ledger.
func (d *desk) verify(core bus.Core) (faults []string) {
	d.tb.Helper()
	known, err := restore.NewProfiles(context.Background(), core.Artifacts(), nil)
	d.must(err)
	for shard := range core.Shards() {
		result, err := verify.Shard(context.Background(), core, known, shard, "")
		d.must(err)
		for _, fault := range result.Faults {
			faults = append(faults, fmt.Sprintf("record %d at %d: %s", fault.Record, fault.Sequence, fault.What))
		}
	}
	return faults
}

func (d *desk) clean() {
	d.tb.Helper()
	if faults := d.verify(d.ledger); len(faults) > 0 {
		d.tb.Errorf("deciding again:\n%s", strings.Join(faults, "\n"))
	}
}

// A trouble is a view of the ledger on which some publishes come to nothing.
type trouble struct {
	bus.Core
	// lose says what becomes of a message: stored, refused for now, or neither
	// and nobody ever hears of it.
	lose func(message bus.Message) fate
}

type fate int

const (
	stored fate = iota
	refused
	silent
)

func (c *trouble) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	switch c.lose(message) {
	case refused:
		done(bus.Ack{}, &bus.TemporaryError{Op: "publish", Err: context.DeadlineExceeded})
	case silent:
	case stored:
		c.Core.Publish(message, expect, done)
	}
}
