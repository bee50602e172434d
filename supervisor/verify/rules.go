package verify

import (
	"context"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/restore"
)

// RulesOf decides a shard again, and returns by record of a session which rule of its run has led to each fact: one list for each transition, in which an empty
// name is that the input itself has. The list is nil where this build decides otherwise, or cannot decide again. It changes nothing.
func RulesOf(ctx context.Context, core bus.Core, profiles *restore.Profiles, shard int, session string) (map[uint64][][]string, error) {
	v := newVerifier(ctx, core, profiles, shard, "")
	v.rules = &ruleReader{session: session, records: map[uint64][][]string{}}
	if err := v.readAll(); err != nil {
		return nil, err
	}
	return v.rules.records, nil
}

// A ruleReader reads the rules that lead to the facts of one session. Nil reads nothing.
type ruleReader struct {
	session string
	records map[uint64][][]string
	number  uint64   // of the record that is decided again, if it is one of the session
	names   []string // of the transition that is decided again
}

func (r *ruleReader) begin(session string, record *schemas.Record) {
	if r == nil {
		return
	}
	if r.number = 0; session == r.session {
		r.number = record.Number
	}
}

func (r *ruleReader) beginTransition() {
	if r != nil && r.number > 0 {
		r.names, r.records[r.number] = nil, append(r.records[r.number], nil)
	}
}

func (r *ruleReader) read(name string) {
	if r != nil && r.number > 0 {
		r.names = append(r.names, name)
	}
}

// keep keeps what was read of a transition, which was decided as it is on record.
func (r *ruleReader) keep() {
	if r != nil && r.number > 0 {
		transitions := r.records[r.number]
		transitions[len(transitions)-1] = r.names
	}
}
