package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/bustest"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/restore"
	"podium/supervisor/session"
	"podium/supervisor/verify"
)

// A shard is what stands in one, before it is put onto a ledger: the n-th message has the
// sequence n.
type shard struct {
	tb       testing.TB
	source   schemas.Profile
	profile  *plan.Profile
	messages []bus.Message

	state    session.State
	newest   uint64 // record
	snapshot uint64 // record with one
	link     schemas.Link
	tip      schemas.Tip
	point    uint64 // newest checkpoint
}

func id() string { return schemas.SessionID("desk", "thread") }

func (s *shard) must(err error) {
	s.tb.Helper()
	if err != nil {
		s.tb.Fatal(err)
	}
}

func (s *shard) add(subject, eventType string, event schemas.Event, body any) uint64 {
	s.tb.Helper()
	var err error
	event.Source, event.Type, event.Time, event.DataContentType = "/test", eventType, time.Unix(0, 0).UTC(), schemas.MediaTypeJSON
	event.Data, err = schemas.Marshal(body)
	s.must(err)
	message, err := binding.Encode(subject, &event)
	s.must(err)
	s.messages = append(s.messages, message)
	return uint64(len(s.messages))
}

// say is a person's message, and the record of what follows from it.
func (s *shard) say(name string, snapshot bool) {
	s.tb.Helper()
	sequence := s.add(bus.InSubject("chat", 0), schemas.TypeChatReceived, schemas.Event{ID: name, Profile: "desk", PartitionKey: "thread"},
		schemas.ChatReceived{Provider: "p", Channel: "c", Thread: "thread", MessageID: name, Text: "do it"})
	event, err := binding.Decode(s.messages[sequence-1])
	s.must(err)
	input, err := session.ParseInput(event, session.Publisher{}, sequence)
	s.must(err)
	input.Now = event.Time
	s.decide(input, snapshot)
}

func (s *shard) decide(input session.Input, snapshot bool) {
	s.tb.Helper()
	outcome := session.Step(session.Env{
		Epoch: 1, Current: s.profile, Pinned: s.profile, Read: func(schemas.Content) schemas.Result { return schemas.Result{Text: "do it"} },
	}, s.state, input)
	record := schemas.Record{
		Session: id(), Number: outcome.State.Records, Epoch: 1, Transitions: []schemas.Transition{{Cause: outcome.Cause, Facts: outcome.Facts}},
	}
	event := schemas.Event{
		ID: id() + "/" + strconv.FormatUint(record.Number, 10), PreviousSequence: s.newest, SnapshotSequence: s.snapshot, Chain: s.link.String(), Trail: s.tip.Next(&record),
	}
	if snapshot {
		var err error
		record.Snapshot, err = schemas.Marshal(outcome.State)
		s.must(err)
		record.Roots, event.SnapshotSequence = s.tip.Roots(), 0
	}
	s.newest = s.add(bus.SessionSubject(id(), 1), schemas.TypeRecord, event, record)
	if snapshot {
		s.snapshot = s.newest
	}
	s.state, s.link = outcome.State, schemas.LinkOf(&event, s.messages[s.newest-1].Body)
	s.tip = s.tip.After(&record, event.Trail, s.newest)
}

// checkpoint says that everything up to a sequence is dealt with.
func (s *shard) checkpoint(lowWatermark uint64) {
	s.tb.Helper()
	s.point = s.add(bus.ShardSubject(0), schemas.TypeCheckpoint, schemas.Event{ID: fmt.Sprint("checkpoint ", len(s.messages))},
		schemas.Checkpoint{Epoch: 1, Since: 1, Owner: "one", LowWatermark: lowWatermark, Previous: s.point})
}

// The sequences of a shard without faults.
const (
	firstInput = 1 + iota
	firstRecord
	secondInput
	secondRecord
	thirdInput
	thirdRecord // with a snapshot
	firstCheckpoint
	fourthInput
	fourthRecord
	secondCheckpoint
)

func newShard(tb testing.TB) *shard {
	tb.Helper()
	s := shardOf(tb, bustest.DeskProfile(1))
	s.say("m1", false)
	s.say("m2", false)
	s.say("m3", true)
	s.checkpoint(thirdInput)
	s.say("m4", false)
	s.checkpoint(fourthInput)
	return s
}

// shardOf is an empty shard, of which one profile decides.
func shardOf(tb testing.TB, profile schemas.Profile) *shard {
	tb.Helper()
	compiled, err := plan.Compile(profile)
	if err != nil {
		tb.Fatal(err)
	}
	return &shard{tb: tb, source: profile, profile: compiled, state: session.New(id())}
}

// verify puts the messages onto a ledger and decides them again.
func (s *shard) verify() verify.Result {
	s.tb.Helper()
	return s.verifyBy("")
}

// verifyBy is verify by a build of Podium.
func (s *shard) verifyBy(build string) verify.Result {
	s.tb.Helper()
	ledger := memory.New(1)
	_, err := restore.NewProfiles(context.Background(), ledger.Artifacts(), []schemas.Profile{s.source})
	s.must(err)
	for i := range s.messages {
		_, err := bus.Append(context.Background(), ledger, s.messages[i], bus.Expect{})
		s.must(err)
	}
	known, err := restore.NewProfiles(context.Background(), ledger.Artifacts(), nil)
	s.must(err)
	result, err := verify.Shard(context.Background(), ledger, known, 0, build)
	s.must(err)
	return result
}

// rewrite changes the body of a message.
func rewrite[T any](sequence int, change func(*T)) func(*shard) {
	return func(s *shard) {
		s.tb.Helper()
		var value T
		message := &s.messages[sequence-1]
		s.must(schemas.Unmarshal(message.Body, &value))
		change(&value)
		var err error
		message.Body, err = schemas.Marshal(value)
		s.must(err)
	}
}

// reattribute changes the attributes of a message.
func reattribute(sequence int, change func(*schemas.Event)) func(*shard) {
	return func(s *shard) {
		s.tb.Helper()
		event, err := binding.Decode(s.messages[sequence-1])
		s.must(err)
		change(&event)
		s.messages[sequence-1], err = binding.Encode(s.messages[sequence-1].Subject, &event)
		s.must(err)
	}
}

func spoil(sequence int) func(*shard) {
	return func(s *shard) { s.messages[sequence-1].Body = []byte("{") }
}

// erase puts a note that says nothing in the place of a message.
func erase(sequence int) func(*shard) {
	return func(s *shard) {
		s.add(bus.ControlSubject(0), schemas.TypeControl, schemas.Event{ID: "note"}, schemas.Control{Action: "quarantine_discard", Target: "x"})
		last := len(s.messages) - 1
		s.messages[sequence-1], s.messages = s.messages[last], s.messages[:last]
	}
}

// TestAShardWithoutFaults: everything is decided again and counted, and nothing else is said.
func TestAShardWithoutFaults_X07(t *testing.T) {
	t.Parallel()
	result := newShard(t).verify()
	if len(result.Faults) > 0 || result.Sessions != 1 || result.Records != 4 || result.Inputs != 4 || result.Facts < 4 {
		t.Errorf("%+v", result)
	}
	if empty := shardOf(t, bustest.DeskProfile(1)).verify(); len(empty.Faults) > 0 || empty.Sessions != 0 {
		t.Errorf("an empty one: %+v", empty)
	}
}

// TestFaults: one of each kind is found where it is.
func TestFaults_X07(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change   func(*shard)
		sequence uint64
		says     string
	}{
		"a record that nobody can read": {spoil(secondRecord), secondRecord, "it cannot be read"},
		"a record that is gone":         {erase(secondRecord), thirdRecord, "the record does not follow from the one before it"},
		"another chain":                 {rewrite(secondRecord, func(r *schemas.Record) { r.Epoch = 2 }), thirdRecord, "the record does not follow"},
		"another fact": {
			rewrite(secondRecord, func(r *schemas.Record) { schemas.As[*schemas.MessageReceived](r.First().Facts[0]).Run = 7 }), secondRecord,
			"fact 1: the ledger says",
		},
		"a fact too many": {rewrite(secondRecord, func(r *schemas.Record) { r.First().Facts = append(r.First().Facts, r.First().Facts[0]) }), secondRecord, "deciding again says nothing more"},
		"a missing fact":  {rewrite(firstRecord, func(r *schemas.Record) { r.First().Facts = r.First().Facts[:1] }), firstRecord, "deciding again adds"},
		"a transition behind what is owed": {rewrite(firstRecord, func(r *schemas.Record) {
			first := &r.First().Cause
			r.Transitions = append(r.Transitions, schemas.Transition{Cause: schemas.Cause{Sequence: secondInput, Time: first.Time, Profile: first.Profile}})
		}), firstRecord, "a transition follows another one that has outputs"},
		"a cause that is used":         {rewrite(secondRecord, func(r *schemas.Record) { r.First().Cause.Sequence = firstInput }), secondRecord, "sequence 1 is no input, or one that another record has used"},
		"a cause that nobody can read": {spoil(secondInput), secondRecord, "the cause cannot be read"},
		"a cause without a profile":    {rewrite(secondRecord, func(r *schemas.Record) { r.First().Cause.Profile = "" }), secondRecord, "the cause names no profile"},
		"a profile that is lost":       {rewrite(firstRecord, func(r *schemas.Record) { r.First().Cause.Profile = strings.Repeat("0", 64) }), firstRecord, "profile 000"},
		"no malformed answer":          {rewrite(secondRecord, func(r *schemas.Record) { r.First().Cause.Malformed = &schemas.Malformed{} }), secondRecord, "is no answer in quarantine"},
		"another snapshot": {rewrite(thirdRecord, func(r *schemas.Record) {
			r.Snapshot = bytes.Replace(r.Snapshot, []byte(`"runs":3`), []byte(`"runs":4`), 1)
		}), thirdRecord, "the snapshot is not the fold of the records"},
		"other roots":                    {rewrite(thirdRecord, func(r *schemas.Record) { r.Roots = append(r.Roots, 7) }), thirdRecord, "its roots are not those"},
		"a trail to another place":       {reattribute(thirdRecord, func(e *schemas.Event) { e.Trail.Jump += 7 }), thirdRecord, "its trail does not lead"},
		"a trail that is gone":           {reattribute(thirdRecord, func(e *schemas.Event) { e.Trail = nil }), thirdRecord, "without a trail"},
		"a trail of another state":       {reattribute(thirdRecord, func(e *schemas.Event) { e.Trail.Queued++ }), thirdRecord, "its trail does not say what the state does"},
		"a checkpoint that is gone":      {erase(firstCheckpoint), secondCheckpoint, "a checkpoint does not follow from the one before it"},
		"a low watermark that went down": {rewrite(secondCheckpoint, func(p *schemas.Checkpoint) { p.LowWatermark = 1 }), secondCheckpoint, "the low watermark of a checkpoint went down"},
		"a message that nobody decided":  {erase(fourthRecord), fourthInput, "a message was never decided"},
		"garbage that nobody refused":    {func(s *shard) { erase(fourthRecord)(s); spoil(fourthInput)(s) }, fourthInput, "an input that cannot be read is not in quarantine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShard(t)
			test.change(s)
			var said []string
			for _, fault := range s.verify().Faults {
				if fault.Sequence == test.sequence && strings.Contains(fault.What, test.says) {
					return
				}
				said = append(said, fmt.Sprintf("%d: %s", fault.Sequence, fault.What))
			}
			t.Errorf("found only\n%s", strings.Join(said, "\n"))
		})
	}
}

// TestDecisionsOfAnotherBuild: what another build has decided otherwise is called different, and names
// both; what this one has is called false, and so is whatever is no decision.
func TestDecisionsOfAnotherBuild(t *testing.T) {
	t.Parallel()
	otherwise := rewrite(fourthRecord, func(r *schemas.Record) {
		schemas.As[*schemas.MessageReceived](r.First().Facts[0]).Message.Language = "de"
	})
	begin := func(s *shard) {
		rewrite(firstCheckpoint, func(p *schemas.Checkpoint) { p.Since, p.Build = 0, "v1 abc" })(s)
	}
	s := newShard(t)
	begin(s)
	otherwise(s)
	reattribute(fourthRecord, func(e *schemas.Event) { e.Chain = "" })(s)
	for build, want := range map[string]struct{ faults, different int }{"v1 abc": {2, 0}, "": {2, 0}, "v2 def": {1, 1}} {
		result := s.verifyBy(build)
		if len(result.Faults) != want.faults || len(result.Different) != want.different {
			t.Errorf("build %q: %+v", build, result)
		}
		for _, fault := range result.Different {
			if fault.Sequence != fourthRecord || fault.Build != "v1 abc" || !strings.HasSuffix(fault.What, "(decided by v1 abc, this is v2 def)") {
				t.Errorf("build %q: %+v", build, fault)
			}
		}
	}
	s = newShard(t)
	otherwise(s)
	if result := s.verifyBy("v2 def"); len(result.Faults) != 1 || len(result.Different) != 0 {
		t.Errorf("of an epoch that names no build: %+v", result)
	}
}

// TestWhatNoRecordSays: below the low watermark what is in quarantine is dealt with, too; above the low watermark nothing has to be.
func TestWhatNoRecordSays_X07(t *testing.T) {
	t.Parallel()
	s := newShard(t)
	erase(fourthRecord)(s)
	spoil(fourthInput)(s)
	s.add(bus.QuarantineSubject(schemas.QuarantineMalformed, 0), schemas.TypeQuarantined, schemas.Event{ID: "dead"}, schemas.Quarantined{
		Reason: schemas.QuarantineMalformed, Stream: bus.ShardStream(0), Sequence: fourthInput, Subject: bus.InSubject("chat", 0),
	})
	if faults := s.verify().Faults; len(faults) > 0 {
		t.Errorf("what is in quarantine: %+v", faults)
	}
	s = newShard(t)
	erase(fourthRecord)(s)
	rewrite(secondCheckpoint, func(p *schemas.Checkpoint) { p.LowWatermark = thirdInput })(s)
	if faults := s.verify().Faults; len(faults) > 0 {
		t.Errorf("what is above the low watermark: %+v", faults)
	}
}

// TestOtherWordingIsNoDifference: another build may have told people the same in other words. The same build has not,
// and what it has decided is the same.
func TestOtherWordingIsNoDifference(t *testing.T) {
	t.Parallel()
	profile := bustest.DeskProfile(1)
	profile.Routers = []schemas.Router{{Kind: schemas.RouterAssigned}} // nobody is responsible
	const record = 3
	told := func(message map[string]string) func(*shard) {
		return rewrite(record, func(r *schemas.Record) { settledIn(r).Error.Message = message })
	}
	reworded := told(map[string]string{"en": "Sorry."})
	otherwise := rewrite(record, func(r *schemas.Record) {
		settled := settledIn(r)
		settled.Error.Message, settled.Error.ErrorType = map[string]string{"en": "Sorry."}, schemas.ErrorSystem
	})
	for name, c := range map[string]struct {
		change                     func(*shard)
		build                      string
		faults, different, wording int
	}{
		"by another build":            {reworded, "v2 def", 0, 0, 1},
		"by the same":                 {reworded, "v1 abc", 1, 0, 0},
		"by another build, otherwise": {otherwise, "v2 def", 0, 1, 0},
		"nothing was told":            {told(map[string]string{"en": ""}), "v2 def", 0, 1, 0},
		"in another language":         {told(map[string]string{"de": "Das ging nicht."}), "v2 def", 0, 1, 0},
	} {
		s := shardOf(t, profile)
		s.checkpoint(0)
		rewrite(1, func(p *schemas.Checkpoint) { p.Since, p.Build = 0, "v1 abc" })(s)
		s.say("m1", false)
		c.change(s)
		if result := s.verifyBy(c.build); len(result.Faults) != c.faults || len(result.Different) != c.different || result.Reworded != c.wording {
			t.Errorf("%s: %+v", name, result)
		}
	}
}

func settledIn(record *schemas.Record) *schemas.RunSettled {
	for _, fact := range record.First().Facts {
		if settled := schemas.As[*schemas.RunSettled](fact); settled != nil {
			return settled
		}
	}
	return nil
}
