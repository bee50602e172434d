// Package verify decides again what a shard holds, and says where the ledger says something
// else. It changes nothing.
package verify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/supervisor/checkpoint"
	"podium/supervisor/plan"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// A Result is the outcome of deciding a shard again.
type Result struct {
	Shard    int     `json:"shard"`
	Sessions int     `json:"sessions"`
	Records  int     `json:"records"`
	Facts    int     `json:"facts"`
	Inputs   int     `json:"inputs"`
	Faults   []Fault `json:"faults"`
	// Different are decisions that another build has made and that this one would make
	// otherwise. Which of the two is wrong, if any, the ledger does not say.
	Different []Fault `json:"different"`
	// Reworded is how many transitions of another build differ from what this one decides in the wording of sentences
	// alone.
	Reworded int `json:"reworded,omitzero"`
	// WhatIf is what other profiles would decide, when that was asked.
	WhatIf *WhatIf `json:"what_if,omitzero"`
}

// A Fault is one place where the ledger does not say what deciding it again says.
type Fault struct {
	Session  string `json:"session,omitzero"`
	Record   uint64 `json:"record,omitzero"`   // its number in the session
	Sequence uint64 `json:"sequence,omitzero"` // in the shard
	What     string `json:"what"`
	Build    string `json:"build,omitzero"` // that has decided it, when it is another one than this
}

// Shard reads a shard from its first message and decides every transition
// again. It checks that each record follows from its predecessor and its
// cause, fact by fact; that the chain of hashes and every snapshot hold; and
// that every input below the low watermark has been decided, is a repeat, or is in
// quarantine. The build is the version of Podium that decides again; empty takes every
// decision for one of its own. It changes nothing.
func Shard(ctx context.Context, core bus.Core, profiles *restore.Profiles, shard int, build string) (Result, error) {
	return Instead(ctx, core, profiles, shard, build, nil)
}

// Instead is Shard, and decides every transition by other profiles as well, each on the state that is on record; nil is no others.
func Instead(ctx context.Context, core bus.Core, profiles *restore.Profiles, shard int, build string, others *Others) (Result, error) {
	v := newVerifier(ctx, core, profiles, shard, build)
	if others != nil {
		v.instead = newComparison(others, profiles)
		v.result.WhatIf = &v.instead.result
	}
	return v.verify()
}

func newVerifier(ctx context.Context, core bus.Core, profiles *restore.Profiles, shard int, build string) *verifier {
	return &verifier{
		ctx: ctx, core: core, profiles: profiles, shard: shard, build: build, builds: map[uint64]string{},
		sessions: map[string]*verifiedSession{}, inputs: map[uint64]bus.Message{}, inQuarantine: map[uint64]bool{},
		result: Result{Shard: shard, Faults: []Fault{}, Different: []Fault{}},
	}
}

// verify reads the whole shard, and reports what it has found.
func (v *verifier) verify() (Result, error) {
	if err := v.readAll(); err != nil {
		return v.result, err
	}
	v.result.Sessions = len(v.sessions)
	v.checkUndecided()
	return v.result, nil
}

func (v *verifier) readAll() error {
	for message, err := range v.core.Scan(v.ctx, bus.ShardStream(v.shard), 1) {
		if err != nil {
			return fmt.Errorf("verify shard %d: %w", v.shard, err)
		}
		if err = v.readMessage(message); err != nil {
			return fmt.Errorf("verify shard %d at %d: %w", v.shard, message.Sequence, err)
		}
	}
	return nil
}

type verifier struct {
	ctx          context.Context //nolint:containedctx // lives as long as one call of Shard
	core         bus.Core
	profiles     *restore.Profiles
	shard        int
	build        string            // that decides again
	builds       map[uint64]string // that have decided, by epoch
	sessions     map[string]*verifiedSession
	inputs       map[uint64]bus.Message // not consumed by a record yet
	inQuarantine map[uint64]bool        // in quarantine
	lowWatermark uint64
	// checkpointed is the sequence of the newest checkpoint.
	checkpointed uint64
	result       Result
	instead      *comparison // with what other profiles would decide; nil is with none
	rules        *ruleReader // of the rules that have led to facts; nil is that nobody asks
	rests        bool        // it is checked that nothing is half done after a transition
}

type verifiedSession struct {
	state    session.State
	sequence uint64
	link     schemas.Link
	tip      schemas.Tip
	hole     string // why the state is not what it was
}

func (v *verifier) fault(f Fault) { v.result.Faults = append(v.result.Faults, f) }

// unreadable notes a message that does not say what its subject promises; the
// verification goes on behind it.
func (v *verifier) unreadable(session string, message bus.Message, err error) error {
	v.fault(Fault{Session: session, Sequence: message.Sequence, What: "it cannot be read: " + err.Error()})
	return nil
}

func (v *verifier) readMessage(message bus.Message) error {
	subject, err := bus.ParseSubject(message.Subject)
	if err != nil {
		return v.unreadable("", message, err)
	}
	switch subject.Kind {
	case bus.KindIn, bus.KindResponse, bus.KindProgress, bus.KindPermit, bus.KindControl:
		v.result.Inputs++
		v.inputs[message.Sequence] = message
	case bus.KindSession:
		return v.record(subject.Session, message)
	case bus.KindShard:
		return v.checkpoint(message)
	case bus.KindQuarantine:
		return v.quarantined(message)
	case bus.KindRequest:
	}
	return nil
}

func (v *verifier) checkpoint(message bus.Message) error {
	point, err := checkpoint.Read(v.ctx, v.core, message)
	if err != nil {
		return err
	}
	if (point.Base != 0 || point.Previous != 0) && point.Previous != v.checkpointed {
		v.fault(Fault{Sequence: message.Sequence, What: "a checkpoint does not follow from the one before it"})
	}
	v.checkpointed = message.Sequence
	if point.Since == 0 { // its epoch begins
		v.builds[point.Epoch] = point.Build
	}
	if point.LowWatermark < v.lowWatermark {
		v.fault(Fault{Sequence: message.Sequence, What: "the low watermark of a checkpoint went down"})
	}
	v.lowWatermark = max(v.lowWatermark, point.LowWatermark)
	return nil
}

func (v *verifier) quarantined(message bus.Message) error {
	event, err := v.event(message)
	if err != nil {
		return err
	}
	var refused schemas.Quarantined
	if err = schemas.Unmarshal(event.Data, &refused); err != nil {
		return err
	}
	if refused.Stream == message.Stream {
		// A former owner may have refused what the present one understands.
		v.inQuarantine[refused.Sequence] = true
	}
	return nil
}

func (v *verifier) event(message bus.Message) (schemas.Event, error) {
	return artifact.DecodeWhole(v.ctx, v.core.Artifacts(), message)
}

// record decides one transition again.
func (v *verifier) record(id string, message bus.Message) error {
	s := v.sessions[id]
	if s == nil {
		s = &verifiedSession{state: session.New(id)}
		v.sessions[id] = s
	}
	stored, err := restore.ReadRecord(v.ctx, v.core.Artifacts(), message)
	if err != nil {
		s.hole = fmt.Sprintf("a record before it, at sequence %d, cannot be read", message.Sequence)
		v.instead.lost(id, message.Sequence)
		return v.unreadable(id, message, err)
	}
	record := stored.Record
	v.result.Records++
	report := func(what string) {
		v.fault(Fault{Session: id, Record: record.Number, Sequence: message.Sequence, What: what})
	}
	if record.Session != id || record.Number != s.state.Records+1 || stored.Previous != s.sequence || stored.Chain != s.link.String() {
		report("the record does not follow from the one before it")
		s.hole = cmp.Or(s.hole, fmt.Sprintf("record %d does not follow from the one before it", record.Number))
	}
	if fault := s.trailFault(&stored); fault != "" {
		report(fault)
	}
	s.tip = s.tip.After(record, s.tip.Next(record), message.Sequence)
	differs := func(what string) {
		build := v.builds[record.Epoch]
		if build == "" || v.build == "" || build == v.build {
			report(what)
			return
		}
		v.result.Different = append(v.result.Different, Fault{
			Session: id, Record: record.Number, Sequence: message.Sequence, Build: build,
			What: fmt.Sprintf("%s (decided by %s, this is %s)", what, build, v.build),
		})
	}
	v.rules.begin(id, record)
	at := place{session: id, record: record.Number, sequence: message.Sequence, hole: s.hole}
	if s.state, err = v.transitions(s.state, record, at, report, differs); err != nil {
		return err
	}
	if t := stored.Trail; t.Applied != s.state.Applied || t.Runs != uint64(s.state.Runs) || //nolint:gosec // not negative
		t.Queued != uint64(s.state.Queue.Len()) || t.Seen() != uint64(s.state.Seen.Len()) { //nolint:gosec // lengths
		report("its trail does not say what the state does")
	}
	s.sequence, s.link = message.Sequence, stored.Link
	if len(record.Snapshot) > 0 && !isSnapshot(record.Snapshot, &s.state) {
		report("the snapshot is not the fold of the records")
	}
	return nil
}

// trailFault says what is wrong about where a record leads its readers.
func (vs *verifiedSession) trailFault(stored *restore.Record) string {
	switch {
	case *stored.Trail != *vs.tip.Next(stored.Record):
		return "its trail does not lead to the records before it"
	case len(stored.Snapshot) > 0 && !slices.Equal(stored.Roots, vs.tip.Roots()):
		return "its roots are not those of the records before it"
	}
	return ""
}

// isSnapshot reports whether a snapshot is that of a state.
func isSnapshot(snapshot []byte, state *session.State) bool {
	want, err := schemas.Marshal(state)
	return err == nil && bytes.Equal(want, snapshot)
}

// transitions decides each transition of a record again, on the state after the
// one before it, and returns the state after the record.
func (v *verifier) transitions(state session.State, record *schemas.Record, at place, report, differs func(string)) (session.State, error) {
	before, outputs := state, false
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		v.rules.beginTransition()
		v.result.Facts += len(transition.Facts)
		if outputs {
			report("a transition follows another one that has outputs")
		}
		outputs = session.MayHaveOutputs(transition)
		v.instead.count(transition)
		input, err := v.cause(transition.Cause)
		if err != nil {
			report("the cause cannot be read: " + err.Error())
			v.instead.undecided(at, &before, transition, fmt.Errorf("its cause cannot be read: %w", err))
		} else if err = v.redecide(before, record.Epoch, transition, input, at, report, differs); err != nil {
			return state, err
		}
		state = state.FoldTransition(transition, record.Number)
		if err = v.checkRest(state, record.Epoch, transition, at, report); err != nil {
			return state, err
		}
		before = state.WithinRecord()
	}
	return state, nil
}

func (v *verifier) cause(cause schemas.Cause) (session.Input, error) {
	if cause.Deadline != nil || cause.Grant != nil || cause.Absence != nil {
		return session.Input{Now: cause.Time, Deadline: cause.Deadline, Grant: cause.Grant, Absence: cause.Absence}, nil
	}
	message, ok := v.inputs[cause.Sequence]
	if !ok {
		return session.Input{}, fmt.Errorf("sequence %d is no input, or one that another record has used", cause.Sequence)
	}
	delete(v.inputs, cause.Sequence)
	if cause.Malformed != nil {
		return v.malformed(message, cause)
	}
	return v.input(message, cause)
}

// malformed is the input of an answer that could not be read: nothing follows from
// it before it is in quarantine.
func (v *verifier) malformed(message bus.Message, cause schemas.Cause) (session.Input, error) {
	subject, err := bus.ParseSubject(message.Subject)
	if err != nil {
		return session.Input{}, err
	}
	if subject.Kind != bus.KindResponse || !v.inQuarantine[message.Sequence] {
		return session.Input{}, errors.New("it is called malformed, and is no answer in quarantine")
	}
	return session.Input{Now: cause.Time, Sequence: message.Sequence, Agent: subject.Agent, Malformed: cause.Malformed}, nil
}

func (v *verifier) input(message bus.Message, cause schemas.Cause) (session.Input, error) {
	event, err := v.event(message)
	if err != nil {
		return session.Input{}, err
	}
	subject, err := bus.ParseSubject(message.Subject)
	if err != nil {
		return session.Input{}, err
	}
	input, err := session.ParseInput(event, session.Publisher{Agent: subject.Agent, Adapter: subject.Adapter}, message.Sequence)
	input.Now, input.Proven = cause.Time, cause.Proven
	return input, err
}

// redecide decides a transition again on the state before it, and compares.
func (v *verifier) redecide(state session.State, epoch uint64, stored *schemas.Transition, input session.Input, at place, report, differs func(string)) error {
	facts, err := v.decide(v.profiles, state, epoch, stored, input)
	if bus.Temporary(err) {
		return err
	}
	if err != nil {
		report(err.Error())
		v.instead.undecided(at, &state, stored, err)
		return nil
	}
	same, err := equal(facts, stored.Facts)
	if err != nil {
		return err
	}
	reworded := false
	if !same {
		if reworded, err = v.isReworded(epoch, facts, stored.Facts); err != nil {
			return err
		}
	}
	switch {
	case same:
		v.rules.keep()
	case reworded:
		v.result.Reworded++
		v.rules.keep()
	default:
		differs(difference(facts, stored.Facts))
	}
	return v.decideInstead(state, epoch, stored, input, at, facts)
}

// errNoProfile reports a cause that has to name a profile, and does not.
var errNoProfile = errors.New("the cause names no profile")

// decide decides a transition by its profiles as some profiles have them.
func (v *verifier) decide(profiles *restore.Profiles, state session.State, epoch uint64, stored *schemas.Transition, input session.Input) (schemas.Facts, error) {
	if stored.Cause.Profile == "" && (state.Active != nil || input.Message != nil) {
		return nil, errNoProfile
	}
	env, err := v.env(profiles, state, stored.Cause.Profile)
	if err != nil {
		return nil, err
	}
	env.Epoch, env.Unconfigured = epoch, stored.Cause.Unconfigured
	var failed error
	recall := v.inputAt(&failed)
	env.Read = func(body schemas.Content) schemas.Result { return recall(body.Sequence).Content }
	env.InputAt = func(sequence uint64) session.Input { return recall(sequence).Read }
	env.EndedRun = func(run int) *session.EndedRun {
		ended, err := restore.ReadEndedRun(v.ctx, v.core, profiles, state.Session, run, state.Records+1)
		failed = errors.Join(failed, err)
		return ended
	}
	env.Admission, env.Rule = session.ReplayAdmission(&stored.Cause), v.rules.read
	outcome := session.Step(env, state, input)
	if failed != nil {
		return nil, fmt.Errorf("what it refers to cannot be read: %w", failed)
	}
	return outcome.Facts, nil
}

// equal reports whether facts say the same.
func equal(a, b schemas.Facts) (bool, error) {
	if reflect.DeepEqual(a, b) {
		return true, nil // else they may still say the same
	}
	one, err := schemas.Marshal(a)
	if err != nil {
		return false, err
	}
	two, err := schemas.Marshal(b)
	return bytes.Equal(one, two), err
}

func (v *verifier) env(profiles *restore.Profiles, state session.State, current string) (session.Env, error) {
	env := session.Env{Shard: v.shard, Current: &plan.Profile{}}
	var err error
	if current != "" {
		if env.Current, err = profiles.Fetch(v.ctx, current); err != nil {
			return env, err
		}
	}
	if state.Active != nil {
		env.Pinned, err = profiles.Fetch(v.ctx, state.Active.ProfileHash)
	}
	return env, err
}

func (v *verifier) inputAt(failed *error) func(uint64) restore.Input {
	return func(sequence uint64) restore.Input {
		input, err := restore.ReadInput(v.ctx, v.core, v.shard, sequence)
		*failed = errors.Join(*failed, err)
		return input
	}
}

// difference names the first fact that differs.
func difference(decided, stored []schemas.Fact) string {
	for i := range max(len(decided), len(stored)) {
		switch {
		case i >= len(stored):
			return fmt.Sprintf("fact %d: deciding again adds %s", i+1, decided[i].Name())
		case i >= len(decided):
			return fmt.Sprintf("fact %d: the ledger says %s, deciding again says nothing more", i+1, stored[i].Name())
		}
		want, wantErr := schemas.Marshal(schemas.Facts{decided[i]})
		have, haveErr := schemas.Marshal(schemas.Facts{stored[i]})
		if wantErr != nil || haveErr != nil || !bytes.Equal(want, have) {
			return fmt.Sprintf("fact %d: the ledger says %s, deciding again says %s", i+1, bytes.Trim(have, "[]"), bytes.Trim(want, "[]"))
		}
	}
	return "no fact differs"
}

// checkUndecided looks at the inputs below the low watermark that no record has used.
func (v *verifier) checkUndecided() {
	var sequences []uint64
	for sequence := range v.inputs {
		if sequence <= v.lowWatermark && !v.inQuarantine[sequence] {
			sequences = append(sequences, sequence)
		}
	}
	slices.Sort(sequences)
	for _, sequence := range sequences {
		input, err := v.input(v.inputs[sequence], schemas.Cause{})
		if err != nil {
			v.fault(Fault{Sequence: sequence, What: "an input that cannot be read is not in quarantine"})
			continue
		}
		if input.Message == nil {
			continue // answers, progress and control words may have changed nothing
		}
		id := input.Event.Session()
		if s := v.sessions[id]; s == nil || !s.state.HasTaken(input.Event.ID) {
			v.fault(Fault{Session: id, Sequence: sequence, What: "a message was never decided"})
		}
	}
}
