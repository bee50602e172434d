package supervisor_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/restore"
	"podium/supervisor/verify"
)

// audited is a ledger with four runs of one session, a queue of which the
// second record takes all at once, an answer from the wrong agent, and records
// enough for a snapshot.
func audited(tb testing.TB) *desk {
	tb.Helper()
	d := newDesk(tb, 1)
	o := d.open("one", d.ledger, 0)
	for i := range 4 {
		d.say("thread", fmt.Sprint("m", i), "do it")
	}
	d.must(d.work(o))
	for range 4 {
		request := d.requests("worker")
		d.answer("intruder", &request[len(request)-1], "mine")
		d.answerNewest("worker", "done")
		d.must(d.work(o))
		d.answerNewest("chat", "")
		d.must(d.work(o))
		d.now = d.now.Add(2 * supervisor.Config{}.WithDefaults().CheckpointEvery)
		d.must(d.work(o))
	}
	d.clean()
	return d
}

// A replica is a copy of a ledger in which something was changed.
type replica struct {
	*memory.Ledger
	artifacts bus.ArtifactStore
}

func (r *replica) Artifacts() bus.ArtifactStore { return r.artifacts }

// replicate copies a shard, message by message, under the same sequences.
func (d *desk) replicate(change func(message *bus.Message)) *replica {
	d.tb.Helper()
	copied := &replica{Ledger: memory.New(1), artifacts: d.ledger.Artifacts()}
	for message, err := range d.ledger.Scan(context.Background(), bus.ShardStream(0), 1) {
		d.must(err)
		sequence := message.Sequence
		message.Body = slices.Clone(message.Body)
		change(&message)
		ack, err := bus.Append(context.Background(), copied, message, bus.Expect{})
		d.must(err)
		if ack.Sequence != sequence {
			d.tb.Fatalf("message %d is copied to %d", sequence, ack.Sequence)
		}
	}
	return copied
}

// rewrite changes the body of an event and leaves its attributes.
func rewrite[T any](tb testing.TB, message *bus.Message, change func(*T)) {
	tb.Helper()
	event, err := binding.Decode(*message)
	if err != nil {
		tb.Fatal(err)
	}
	var value T
	if err = schemas.Unmarshal(event.Data, &value); err != nil {
		tb.Fatal(err)
	}
	change(&value)
	if message.Body, err = schemas.Marshal(value); err != nil {
		tb.Fatal(err)
	}
}

// erase puts a note that says nothing in the place of a message.
func erase(tb testing.TB, message *bus.Message) {
	tb.Helper()
	event := schemas.Event{
		ID: "note", Source: "/test", Type: schemas.TypeControl, DataContentType: schemas.MediaTypeJSON,
		Data: []byte(`{"action":"quarantine_discard","target":"x"}`),
	}
	note, err := binding.Encode(bus.ControlSubject(0), &event)
	if err != nil {
		tb.Fatal(err)
	}
	*message = note
}

// retrail changes the trail of a record.
func retrail(change func(*schemas.Trail)) func(testing.TB, *bus.Message) {
	return func(tb testing.TB, message *bus.Message) {
		tb.Helper()
		event, err := binding.Decode(*message)
		if err != nil {
			tb.Fatal(err)
		}
		change(event.Trail)
		message.Header = maps.Clone(message.Header) // it is the ledger's
		message.Header["ce-trail"] = []string{event.Trail.String()}
	}
}

// untrail takes its trail from a record.
func untrail(_ testing.TB, message *bus.Message) { attribute(message, "ce-trail") }

// attribute sets an attribute of a message, or takes it away.
func attribute(message *bus.Message, name string, value ...string) {
	message.Header = maps.Clone(message.Header) // it is the ledger's
	if message.Header[name] = value; len(value) == 0 {
		delete(message.Header, name)
	}
}

// TestVerifyNamesFaults_X07: each way to tamper with a ledger is found where it is.
func TestVerifyNamesFaults_X07(t *testing.T) {
	t.Parallel()
	d := audited(t)
	record := func(number int, change func(*schemas.Record)) func(testing.TB, *bus.Message, int) {
		return func(tb testing.TB, message *bus.Message, n int) {
			tb.Helper()
			if strings.HasPrefix(message.Subject, "podium.session.") && n == number {
				rewrite(tb, message, change)
			}
		}
	}
	nth := func(prefix string, number int, change func(testing.TB, *bus.Message)) func(testing.TB, *bus.Message, int) {
		return func(tb testing.TB, message *bus.Message, n int) {
			tb.Helper()
			if strings.HasPrefix(message.Subject, prefix) && n == number {
				change(tb, message)
			}
		}
	}
	for name, test := range map[string]struct {
		change func(tb testing.TB, message *bus.Message, number int) // the number-th of its subject's kind
		record uint64
		says   string
	}{
		"nothing": {func(testing.TB, *bus.Message, int) {}, 0, ""},
		"a changed fact": {record(3, func(r *schemas.Record) {
			for i := range r.First().Facts {
				if f := schemas.As[*schemas.TaskCompleted](r.First().Facts[i]); f != nil {
					f.Result.Text = "forged"
				}
			}
		}), 3, `the ledger says {"task_completed":{"run":1,"task":"t1","attempt":1,"result":{"text":"forged"}`},
		"a fact too many":      {record(4, func(r *schemas.Record) { r.First().Facts = append(r.First().Facts, r.First().Facts[0]) }), 4, "deciding again says nothing more"},
		"a missing fact":       {record(4, func(r *schemas.Record) { r.First().Facts = r.First().Facts[:1] }), 4, "deciding again adds"},
		"a broken chain":       {nth("podium.session.", 3, func(_ testing.TB, m *bus.Message) { attribute(m, "ce-chain", strings.Repeat("0", 64)) }), 3, "does not follow from the one before it"},
		"a chain that is gone": {nth("podium.session.", 3, func(_ testing.TB, m *bus.Message) { attribute(m, "ce-chain") }), 3, "does not follow from the one before it"},
		"a chain mended behind a change": {func(tb testing.TB, m *bus.Message, n int) {
			tb.Helper()
			if strings.HasPrefix(m.Subject, "podium.session.") && n == 3 { // then the next one does not fit
				attribute(m, "ce-chain", strings.Repeat("0", 64))
			}
		}, 4, "does not follow from the one before it"},
		"another epoch":   {record(3, func(r *schemas.Record) { r.Epoch = 99 }), 4, "does not follow from the one before it"},
		"another number":  {record(3, func(r *schemas.Record) { r.Number = 7 }), 7, "does not follow from the one before it"},
		"another session": {record(3, func(r *schemas.Record) { r.Session = "x" }), 3, "does not follow from the one before it"},
		"another moment":  {record(1, func(r *schemas.Record) { r.First().Cause.Time = r.First().Cause.Time.Add(1) }), 1, "deciding again says"},
		"another cause":   {record(4, func(r *schemas.Record) { r.First().Cause.Sequence = 1 }), 4, "sequence 1 is no input"},
		"another profile": {record(1, func(r *schemas.Record) { r.First().Cause.Profile = "0123" }), 1, "profile 0123"},
		"a wrong snapshot": {record(8, func(r *schemas.Record) {
			r.Snapshot = []byte(strings.Replace(string(r.Snapshot), `"runs":4`, `"runs":5`, 1))
		}), 8, "the snapshot is not the fold"},
		"other roots":                 {record(8, func(r *schemas.Record) { r.Roots[0]++ }), 8, "its roots are not those"},
		"a trail to another place":    {nth("podium.session.", 4, retrail(func(t *schemas.Trail) { t.Jump = 1 })), 4, "its trail does not lead"},
		"a trail of another run":      {nth("podium.session.", 5, retrail(func(t *schemas.Trail) { t.Queued-- })), 5, "its trail does not lead"},
		"a missing trail":             {nth("podium.session.", 4, untrail), 0, "without a trail"},
		"a message without its words": {record(2, func(r *schemas.Record) { schemas.As[*schemas.MessageReceived](r.First().Facts[0]).Message = nil }), 2, "deciding again says"},
		"a task nobody planned": {record(1, func(r *schemas.Record) {
			for i := range r.First().Facts {
				if f := schemas.As[*schemas.PlanCreated](r.First().Facts[i]); f != nil {
					f.Tasks = append(f.Tasks, schemas.PlannedTask{Task: "t2", Dependencies: []string{"t9"}})
				}
			}
		}), 1, "deciding again says"},
		"a changed later transition": {record(2, func(r *schemas.Record) { schemas.As[*schemas.MessageReceived](r.Transitions[2].Facts[0]).Run = 2 }), 2, "deciding again says"},
		"a missing transition":       {record(2, func(r *schemas.Record) { r.Transitions = r.Transitions[:2] }), 0, "a message was never decided"},
		"a transition too many":      {record(2, func(r *schemas.Record) { r.Transitions = append(r.Transitions, r.Transitions[1]) }), 2, "is no input, or one that another record has used"},
		"transitions in another order": {record(2, func(r *schemas.Record) {
			r.Transitions[1], r.Transitions[2] = r.Transitions[2], r.Transitions[1]
		}), 2, "deciding again says"},
		"a transition behind what is owed": {record(1, func(r *schemas.Record) {
			first := &r.First().Cause
			r.Transitions = append(r.Transitions, schemas.Transition{Cause: schemas.Cause{Sequence: 3, Time: first.Time, Profile: first.Profile}})
		}), 1, "follows another one that has outputs"},
		"an unreadable record": {nth("podium.session.", 3, func(_ testing.TB, m *bus.Message) { m.Body = []byte("{") }), 0, "it cannot be read"},
		"an erased record":     {nth("podium.session.", 3, erase), 4, "does not follow from the one before it"},
		"an erased input":      {nth("podium.in.", 2, erase), 2, "deciding again says nothing more"},
		"an erased answer":     {nth("podium.agent.worker.", 1, erase), 3, "deciding again says nothing more"},
		"a changed answer": {nth("podium.agent.worker.", 1, func(tb testing.TB, m *bus.Message) {
			tb.Helper()
			rewrite(tb, m, func(r *schemas.ExecutionResponse) { r.Payload.Result.Text = "other" })
		}), 3, "deciding again says"},
		"an unreadable input": {nth("podium.in.", 2, func(_ testing.TB, m *bus.Message) { m.Body = []byte("{") }), 2, "the cause cannot be read"},
		"a low watermark that went down": {nth("podium.shard.", 3, func(tb testing.TB, m *bus.Message) {
			tb.Helper()
			rewrite(tb, m, func(p *schemas.Checkpoint) { p.LowWatermark = 0 })
		}), 0, "the low watermark of a checkpoint went down"},
		"a message that nobody decided": {nth("podium.dead.", 1, func(tb testing.TB, m *bus.Message) {
			tb.Helper()
			*m = chat(tb, "unseen")
		}), 0, "a message was never decided"},
		"garbage that nobody refused": {nth("podium.dead.", 1, func(tb testing.TB, m *bus.Message) {
			tb.Helper()
			*m = chat(tb, "garbage")
			m.Body = []byte("{")
		}), 0, "an input that cannot be read is not in quarantine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counts := map[string]int{}
			copied := d.replicate(func(message *bus.Message) {
				kind := message.Subject[:strings.LastIndex(message.Subject, ".")]
				counts[kind]++
				test.change(t, message, counts[kind])
			})
			faults := d.verify(copied)
			if test.says == "" && len(faults) == 0 {
				return
			}
			named := slices.ContainsFunc(faults, func(fault string) bool {
				return strings.HasPrefix(fault, fmt.Sprintf("record %d at ", test.record)) && strings.Contains(fault, test.says)
			})
			if !named {
				t.Errorf("found only %q", faults)
			}
		})
	}
}

func chat(tb testing.TB, id string) bus.Message {
	tb.Helper()
	body, err := schemas.Marshal(schemas.ChatReceived{Provider: "p", Channel: "c", Thread: "thread", MessageID: id, Text: "do it"})
	if err != nil {
		tb.Fatal(err)
	}
	message, err := binding.Encode(bus.InSubject("chat", 0), &schemas.Event{
		ID: id, Source: "/desk", Type: schemas.TypeChatReceived, Profile: "desk", PartitionKey: "thread",
		DataContentType: schemas.MediaTypeJSON, Data: body,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return message
}

// TestVerifyFindsAnyByte_X07: a record that another one follows cannot change in
// a single byte, and no change makes the check itself fail.
func TestVerifyFindsAnyByte_X07(t *testing.T) {
	t.Parallel()
	d := audited(t)
	known, err := restore.NewProfiles(t.Context(), d.ledger.Artifacts(), nil)
	d.must(err)
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		chosen, seen := 1+random.IntN(8), 0
		copied := d.replicate(func(message *bus.Message) {
			if strings.HasPrefix(message.Subject, "podium.session.") {
				if seen++; seen == chosen {
					at := random.IntN(len(message.Body))
					message.Body[at] ^= 1 << random.IntN(7)
				}
			}
		})
		result, err := verify.Shard(t.Context(), copied, known, 0, "")
		if err == nil && len(result.Faults) == 0 {
			t.Fatalf("a change of record %d was not found", chosen)
		}
	}
}

// TestVerifyCounts: the report says how much was looked at.
func TestVerifyCounts(t *testing.T) {
	t.Parallel()
	d := audited(t)
	known, err := restore.NewProfiles(t.Context(), d.ledger.Artifacts(), nil)
	d.must(err)
	result, err := verify.Shard(t.Context(), d.ledger, known, 0, "")
	d.must(err)
	folded := d.sessionHistory("thread")
	if result.Sessions != 1 || uint64(result.Records) != folded.Records || result.Inputs != 16 || result.Facts < result.Records {
		t.Errorf("%+v", result)
	}
}
