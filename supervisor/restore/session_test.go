package restore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/bustest"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// A desk is a ledger of one shard with the records of sessions.
type desk struct {
	tb       testing.TB
	ledger   *memory.Ledger
	profiles *restore.Profiles
	states   map[string]session.State // by id
	newest   map[string]uint64        // record
	tips     map[string]schemas.Tip
}

func newDesk(tb testing.TB) *desk {
	tb.Helper()
	d := &desk{tb: tb, ledger: memory.New(1), states: map[string]session.State{}, newest: map[string]uint64{}, tips: map[string]schemas.Tip{}}
	var err error
	d.profiles, err = restore.NewProfiles(tb.Context(), d.ledger.Artifacts(), []schemas.Profile{bustest.DeskProfile(1)})
	d.must(err)
	return d
}

func (d *desk) must(err error) {
	d.tb.Helper()
	if err != nil {
		d.tb.Fatal(err)
	}
}

// append puts an event onto the ledger.
func (d *desk) append(subject string, event *schemas.Event) uint64 {
	d.tb.Helper()
	message, err := binding.Encode(subject, event)
	d.must(err)
	ack, err := bus.Append(context.Background(), d.ledger, message, bus.Expect{})
	d.must(err)
	return ack.Sequence
}

// say stores a message of a thread, and returns its sequence.
func (d *desk) say(thread string) (sequence uint64, event schemas.Event) {
	d.tb.Helper()
	state, err := d.ledger.State(context.Background(), bus.ShardStream(0))
	d.must(err)
	id := fmt.Sprint(thread, " behind ", state.Last)
	body, err := schemas.Marshal(schemas.ChatReceived{Provider: "p", Channel: "c", Thread: thread, MessageID: id, Text: "do it"})
	d.must(err)
	event = schemas.Event{
		ID: id, Source: "/desk", Type: schemas.TypeChatReceived, Time: time.Unix(0, 0).UTC(), Profile: "desk", PartitionKey: thread,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}
	return d.append(bus.InSubject("chat", 0), &event), event
}

// take stores a message and the record of what follows, and returns the message's
// sequence.
func (d *desk) take(thread string) uint64 {
	d.tb.Helper()
	sequence, event := d.say(thread)
	input, err := session.ParseInput(event, session.Publisher{}, sequence)
	d.must(err)
	input.Now = event.Time
	id := schemas.SessionID("desk", thread)
	state, known := d.states[id]
	if !known {
		state = session.New(id)
	}
	profile := d.profiles.Current("desk")
	outcome := session.Step(session.Env{
		Current: profile, Pinned: profile, Read: func(schemas.Content) schemas.Result { return schemas.Result{Text: "do it"} },
	}, state, input)
	record := schemas.Record{Session: id, Number: outcome.State.Records, Epoch: 1, Transitions: []schemas.Transition{{Cause: outcome.Cause, Facts: outcome.Facts}}}
	body, err := schemas.Marshal(record)
	d.must(err)
	trail := d.tips[id].Next(&record)
	d.newest[id] = d.append(bus.SessionSubject(id, 1), &schemas.Event{
		ID: id + "/" + strconv.FormatUint(outcome.State.Records, 10), Source: "/desk", Type: schemas.TypeRecord, Time: event.Time,
		PreviousSequence: d.newest[id], Trail: trail, DataContentType: schemas.MediaTypeJSON, Data: body,
	})
	d.states[id], d.tips[id] = outcome.State, d.tips[id].After(&record, trail, d.newest[id])
	return sequence
}

func (d *desk) equals(found *restore.StoredSession) {
	d.tb.Helper()
	id := found.State.Session
	got, err := schemas.Marshal(found.State)
	d.must(err)
	want, err := schemas.Marshal(d.states[id])
	d.must(err)
	if string(got) != string(want) || found.Sequence != d.newest[id] || found.Unreadable {
		d.tb.Errorf("%s was read at %d as %s, it is at %d %s", id, found.Sequence, got, d.newest[id], want)
	}
}

// A troubled ledger says something else of one subject.
type troubled struct {
	bus.Core
	subject string
	why     error // or its messages cannot be read
	gets    int
}

func (c *troubled) Get(ctx context.Context, stream string, sequence uint64) (bus.Message, error) {
	c.gets++
	message, err := c.Core.Get(ctx, stream, sequence)
	if err == nil && message.Subject == c.subject {
		return message, c.why
	}
	return message, err
}

func (c *troubled) LastOf(ctx context.Context, shard int, subjects []string) ([]bus.Message, error) {
	messages, err := c.Core.LastOf(ctx, shard, subjects)
	for i := range messages {
		if messages[i].Subject == c.subject && c.why == nil {
			messages[i].Body = []byte("{")
		}
	}
	return messages, err
}

// TestLoad: a session is what its records say, the first of all to the newest; one
// without a record is new.
func TestLoad(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for range 5 {
		d.take("thread")
	}
	found, err := restore.Load(t.Context(), d.ledger, schemas.SessionID("desk", "thread"))
	d.must(err)
	d.equals(found)
	if found.Last == nil || found.Last.Number != 5 || found.Link == (schemas.Link{}) {
		t.Errorf("its newest record is %+v, and its link %s", found.Last, found.Link)
	}
	nobody, err := restore.Load(t.Context(), d.ledger, schemas.SessionID("desk", "nobody"))
	if err != nil || nobody.Sequence != 0 || nobody.Last != nil || nobody.State.Records != 0 {
		t.Errorf("a session without a record is %+v, %v", nobody, err)
	}
}

// TestLoadMany: those that have records, each as it is, in the order of their newest
// records within every 512 that were asked for.
func TestLoadMany(t *testing.T) {
	t.Parallel()
	const sessions, chunk = 700, 512
	d := newDesk(t)
	var ids []string
	for n := range sessions {
		d.take(strconv.Itoa(n))
		ids = append(ids, schemas.SessionID("desk", strconv.Itoa(n)), schemas.SessionID("desk", fmt.Sprint("nobody ", n)))
	}
	for n := range 20 {
		d.take(strconv.Itoa(n * 13))
	}
	for range 2 {
		found, err := restore.LoadMany(t.Context(), d.ledger, 0, ids)
		d.must(err)
		if len(found) != sessions {
			t.Fatalf("%d were found, want %d", len(found), sessions)
		}
		var want []string
		for asked := range slices.Chunk(ids, chunk) {
			there := slices.DeleteFunc(slices.Clone(asked), func(id string) bool { return d.newest[id] == 0 })
			slices.SortFunc(there, func(a, b string) int { return int(d.newest[a]) - int(d.newest[b]) })
			want = append(want, there...)
		}
		for i := range found {
			if d.equals(found[i]); found[i].State.Session != want[i] {
				t.Fatalf("number %d is %s, want %s", i, found[i].State.Session, want[i])
			}
		}
	}
	if found, err := restore.LoadMany(t.Context(), d.ledger, 0, nil); err != nil || len(found) != 0 {
		t.Errorf("of none there are %d, %v", len(found), err)
	}
}

// TestLoadManyUnread: a session that cannot be read is there as one that cannot be, and
// holds back no other; a ledger that cannot be read now holds back all.
func TestLoadManyUnread(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ids := []string{schemas.SessionID("desk", "a"), schemas.SessionID("desk", "b"), schemas.SessionID("desk", "c")}
	for _, thread := range []string{"a", "b", "b", "c"} {
		d.take(thread)
	}
	for name, why := range map[string]error{"its newest record": nil, "a record before": bus.ErrNotFound} {
		found, err := restore.LoadMany(t.Context(), &troubled{Core: d.ledger, subject: bus.SessionSubject(ids[1], 1), why: why}, 0, ids)
		if err != nil || len(found) != 3 {
			t.Fatalf("%s: %d were found, %v", name, len(found), err)
		}
		d.equals(found[0])
		d.equals(found[2])
		if bad := found[1]; !bad.Unreadable || bad.State.Session != ids[1] || bad.State.Records != 0 {
			t.Errorf("%s: it is %+v", name, bad)
		}
	}
	temporary := &bus.TemporaryError{Op: "get", Err: context.DeadlineExceeded}
	if _, err := restore.LoadMany(t.Context(), &troubled{Core: d.ledger, subject: bus.SessionSubject(ids[1], 1), why: temporary}, 0, ids); !bus.Temporary(err) {
		t.Errorf("a ledger that cannot be read now: %v", err)
	}
}

// TestNewest: the sequences of the newest records of those that have one.
func TestNewest(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var ids []string
	for n := range 600 {
		d.take(strconv.Itoa(n))
		ids = append(ids, schemas.SessionID("desk", strconv.Itoa(n)), schemas.SessionID("desk", fmt.Sprint("nobody ", n)))
	}
	d.take("7")
	found, err := restore.NewestSequences(t.Context(), d.ledger, 0, ids)
	d.must(err)
	if !maps.Equal(found, d.newest) {
		t.Errorf("%d were found, want %d", len(found), len(d.newest))
	}
}

// TestHasCause: a record has an input as its cause or none has; it is looked for from the
// newest back, and no further than to those that have taken earlier inputs.
func TestHasCause(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var taken []uint64
	for range 6 {
		taken = append(taken, d.take("thread"))
	}
	passed, _ := d.say("thread")
	taken = append(taken, d.take("thread"))
	id := schemas.SessionID("desk", "thread")
	for back, sequence := range slices.Backward(taken) {
		core := &troubled{Core: d.ledger}
		took, err := restore.IsOnRecord(t.Context(), core, id, sequence)
		if err != nil || !took || core.gets != len(taken)-1-back {
			t.Errorf("input %d: %t, %v, after %d records before the newest", sequence, took, err, core.gets)
		}
	}
	core := &troubled{Core: d.ledger}
	if took, err := restore.IsOnRecord(t.Context(), core, id, passed); err != nil || took || core.gets != 1 {
		t.Errorf("an input that nothing follows from: %t, %v, after %d records before the newest", took, err, core.gets)
	}
	if _, err := restore.IsOnRecord(t.Context(), d.ledger, schemas.SessionID("desk", "nobody"), 1); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("a session without a record: %v", err)
	}
	broken := &troubled{Core: d.ledger, subject: bus.SessionSubject(id, 1), why: bus.ErrNotFound}
	if _, err := restore.IsOnRecord(t.Context(), broken, id, taken[0]); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("a record is lost: %v", err)
	}
}
