package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/schemas"
)

// observations note which process knew of which record when: no ledger says it, and
// an owner can only be held to what it knew.
type observations struct {
	clock uint64
	began uint64 // when the tick under way began
	seen  map[place]sighting

	newest map[int]*faults // who took a shard over last
	told   []told
	denied []told             // who is told that nobody waits any more
	handed map[handing]uint64 // when a process was given an input

	ordinals map[place]uint64 // the order of records, over all shards
	late     map[place]bool   // records that came when they had been given up on
	adrift   map[place]bool   // those that came later than anybody reckons with
	breakers map[string][]schemas.Breaker
	views    map[view][]knowledge
}

// A view is one process's, of the breaker of an agent.
type view struct {
	process *faults
	agent   string
}

// knowledge is what a process knew of a breaker from a moment on. What it has told
// the ledger itself is in there as far as it had seen it at an earlier moment.
type knowledge struct {
	from    uint64
	told    uint64 // the beginning of the tick that began to read
	breaker schemas.Breaker
}

// order notes that a record is the newest of all.
func (o *observations) order(at place) {
	o.clock++
	o.ordinals[at] = o.clock
}

// change notes what the ledger says of a breaker from now on.
func (o *observations) change(agent string, b *schemas.Breaker) {
	o.breakers[agent] = append(o.breakers[agent], *b)
}

// read notes that a process has learned what a breaker is.
func (o *observations) read(process *faults, agent string, told uint64, b *schemas.Breaker) {
	o.clock++
	key := view{process, agent}
	o.views[key] = append(o.views[key], knowledge{o.clock, told, *b})
}

// write notes that a process is about to change what it has just read: it goes by
// that only if it succeeds.
func (o *observations) write(process *faults, agent string) {
	key := view{process, agent}
	if known := o.views[key]; len(known) > 0 {
		o.views[key] = known[:len(known)-1]
	}
}

// known returns what a process knew of a breaker at a moment; false is nothing.
func (o *observations) known(process *faults, agent string, at uint64) (knowledge, bool) {
	for _, known := range slices.Backward(o.views[view{process, agent}]) {
		if known.from < at {
			return known, true
		}
	}
	return knowledge{}, false
}

// told is the word of an owner that an agent may act.
type told struct {
	permit string
	shard  int
	after  uint64 // the newest message of the shard then
	by     *faults
	newest bool // it had taken the shard over last
}

// A handing is an input in the hands of a process.
type handing struct {
	process  *faults
	sequence uint64
}

// A place is a message of a shard.
type place struct {
	shard    int
	sequence uint64
}

// A sighting says when a process decided and published a record and when it learned
// that the ledger had taken it.
type sighting struct {
	process *faults
	asked   uint64 // the beginning of the tick that did both, or unknown
	known   uint64
}

// unknown is a moment before all others.
const unknown = 0

func newWatch() observations {
	return observations{
		seen: map[place]sighting{}, newest: map[int]*faults{}, handed: map[handing]uint64{},
		ordinals: map[place]uint64{}, late: map[place]bool{}, adrift: map[place]bool{}, breakers: map[string][]schemas.Breaker{}, views: map[view][]knowledge{},
	}
}

func (o *observations) tick() {
	o.clock++
	o.began = o.clock
}

func (o *observations) learn(process *faults, sequence, asked uint64) {
	o.clock++
	o.seen[place{process.shard, sequence}] = sighting{process: process, asked: asked, known: o.clock}
}

// hand notes that a process has been given an input.
func (o *observations) hand(process *faults, sequence uint64) {
	o.clock++
	o.handed[handing{process, sequence}] = o.clock
}

func (w *World) streams() []string {
	streams := []string{bus.WorkStream}
	for shard := range w.configuration.shards {
		streams = append(streams, bus.ShardStream(shard))
	}
	return streams
}

// Digest is a hash over the whole ledger.
func (w *World) Digest() string {
	sum := sha256.New()
	for _, stream := range w.streams() {
		for message, err := range w.ledger.Scan(context.Background(), stream, 1) {
			w.must(err)
			header, err := schemas.Marshal(message.Header)
			w.must(err)
			_, _ = fmt.Fprintf(sum, "%s %d %s %d %s\n", stream, message.Sequence, message.Subject, message.Recorded.UnixNano(), header)
			_, _ = sum.Write(message.Body)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Dump writes the ledger for a person to read: one line for each message.
func (w *World) Dump(to io.Writer) {
	for _, stream := range w.streams() {
		for message, err := range w.ledger.Scan(context.Background(), stream, 1) {
			w.must(err)
			_, _ = fmt.Fprintf(to, "%s/%d %s %s %s\n", stream, message.Sequence, message.Recorded.Format("15:04:05.000"), message.Subject, brief(message))
		}
	}
	for i := range w.violations {
		_, _ = fmt.Fprintf(to, "%s: %s\n", w.violations[i].Invariant, w.violations[i].Detail)
	}
}

// brief is what a message says, shortened.
func brief(message bus.Message) string {
	var record schemas.Record
	if schemas.Unmarshal(message.Body, &record) != nil || record.Session == "" {
		return string(message.Body[:min(len(message.Body), dumpLength)])
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "#%d epoch %d", record.Number, record.Epoch)
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		cause, facts := &transition.Cause, transition.Facts
		switch {
		case cause.Deadline != nil:
			_, _ = fmt.Fprintf(&b, " | %s %s/%d", cause.Deadline.Kind, cause.Deadline.Task, cause.Deadline.Attempt)
		case cause.Grant != nil:
			_, _ = fmt.Fprintf(&b, " | grant %s", cause.Grant.Task)
		case cause.Absence != nil:
			_, _ = fmt.Fprintf(&b, " | absence %s", cause.Absence.Task)
		default:
			_, _ = fmt.Fprintf(&b, " | %d", cause.Sequence)
		}
		for _, f := range facts {
			_, _ = fmt.Fprintf(&b, ", %s %d/%s", f.Name(), schemas.RunOf(f), schemas.TaskOf(f))
			switch f := f.(type) {
			case *schemas.TaskDispatched:
				_, _ = fmt.Fprintf(&b, " %d %s", f.Attempt, f.Agent)
			case *schemas.TaskReady:
				b.WriteString(" " + f.Agent)
			case *schemas.TaskFailed:
				_, _ = fmt.Fprintf(&b, " %d %s %s", f.Attempt, f.Cause, f.Action)
			case *schemas.RunSettled:
				b.WriteString(" " + string(f.Reason))
			default:
			}
		}
	}
	return b.String()
}

const dumpLength = 160

// The invariants that speak of what owners share.
const (
	ResourcesHold = "no two tasks hold a resource at a time"
	BreakersHold  = "an agent whose breaker is open gets no request but one probe"
	BreakersMove  = "a breaker opens after failures in a row, and one probe at a time decides"
)

// margin is how late a record may arrive before a lease no longer covers it: the
// least that is left of one when a request is decided.
const margin = 20 * time.Second

// A use is a request that needs resources, on record from one moment to another.
type use struct {
	attempt     *attempt
	begun, over uint64 // by the order of all records; over 0 is never
	adrift      bool
}

// holds notes that a request begins to use what its task needs.
func (o *oracle) holds(m *moment, t *task) {
	if len(t.resources()) > 0 {
		t.use = &use{attempt: t.attempt, begun: o.world.watch.ordinals[m.at], adrift: o.world.watch.adrift[m.at]}
		o.uses = append(o.uses, t.use)
	}
}

// frees notes that it does not use that any longer.
func (o *oracle) frees(m *moment, t *task) {
	if t.use != nil {
		t.use.over = o.world.watch.ordinals[m.at]
		t.use = nil
	}
}

// resourcesHold: whoever begins to use a resource finds it free, or its user's
// request expired.
func resourcesHold(o *oracle) {
	for _, mine := range o.uses {
		for _, other := range o.uses {
			if mine == other || other.begun >= mine.begun || other.over != 0 && other.over <= mine.begun || mine.adrift ||
				!mine.attempt.decided.Before(other.attempt.fact.Expires) {
				continue
			}
			for _, resource := range mine.attempt.task.resources() {
				if other.attempt.needs(resource) {
					o.world.violate(ResourcesHold, "%s is used by %s/%s, and %s/%s begins to use it at %s", resource,
						other.attempt.task.run.id(), other.attempt.task.id, mine.attempt.task.run.id(), mine.attempt.task.id, mine.attempt.decided)
				}
			}
		}
	}
}

func (a *attempt) needs(resource string) bool {
	return slices.Contains(a.task.resources(), resource)
}

// breakersHold: an owner is held to what it knows of a breaker. A delivery that
// has not been tried is worth the try, a question to a person too, and so is one that a person has just asked for.
func breakersHold(o *oracle, m *moment, f *schemas.TaskDispatched) {
	if o.world.configuration.breaker.Failures == 0 || o.world.configuration.bulk != bulkSmall || (f.Task == schemas.DeliveryTask || noticeOf(f.Task) > 0) && (f.Attempt == 1 || m.run.reopened == m.at.sequence) {
		return
	}
	mine, seen := o.world.watch.seen[m.at]
	if !seen {
		return
	}
	known, read := o.world.watch.known(mine.process, f.Agent, mine.asked)
	b := &known.breaker
	if !read || b.State == schemas.BreakerClosed || b.State == "" || b.Probe == schemas.AttemptKey(f.Request) && b.State == schemas.BreakerHalfOpen {
		return
	}
	if probe := o.attempts[b.Probe]; probe != nil && probe.completed && b.State == schemas.BreakerHalfOpen {
		return // it has closed the breaker, and the ledger will be told
	}
	o.world.violate(BreakersHold, "%s: agent %s is asked by request %s, and its breaker is %s, with probe %q",
		m.id, f.Agent, f.Request, b.State, b.Probe)
}

// bars reports whether an owner may know of a breaker that lets nobody pass but a
// probe: the ledger has told it so, or what it has seen since is enough for that.
func (o *oracle) bars(m *moment, mine sighting, agent string) bool {
	if o.world.configuration.breaker.Failures == 0 {
		return false
	}
	known, _ := o.world.watch.known(mine.process, agent, mine.asked)
	failures := len(known.breaker.Failures)
	for _, f := range o.failures[agent] {
		seen, heard := o.world.watch.seen[f.at]
		if f.at.shard == m.at.shard && f.epoch == m.record.Epoch && (!heard || seen.known >= known.told) {
			failures++
		}
	}
	return known.breaker.State == schemas.BreakerOpen || known.breaker.State == schemas.BreakerHalfOpen || failures >= o.world.configuration.breaker.Failures
}

// breakersMove: each value of a breaker follows from the one before it and from
// what stands in the ledger. A probe may be under way when its time is over, and
// another begin: its owner has died before it could tell how long the request may
// take. That is right. A probe of which nobody hears has to be repeated, or the
// agent would be barred for ever; it costs one request for each time that the
// breaker stays open.
func breakersMove(o *oracle) {
	policy := o.world.configuration.breaker
	for agent, values := range o.world.watch.breakers {
		before := schemas.Breaker{State: schemas.BreakerClosed}
		for i := range values {
			now := &values[i]
			switch {
			case now.State == schemas.BreakerHalfOpen && before.State == schemas.BreakerHalfOpen && now.Probe != before.Probe &&
				now.Since.Before(before.Until) && o.underWayAt(before.Probe, now.Since):
				o.world.violate(BreakersMove, "agent %s: probe %s at %s, when probe %s is under way", agent, now.Probe, now.Since, before.Probe)
			case now.State == schemas.BreakerHalfOpen && before.State == schemas.BreakerOpen && now.Since.Before(before.Until):
				o.world.violate(BreakersMove, "agent %s: probe %s at %s, though nobody is to ask before %s", agent, now.Probe, now.Since, before.Until)
			case now.State == schemas.BreakerHalfOpen && before.State == schemas.BreakerClosed && o.failed(agent, time.Time{}) < policy.Failures:
				o.world.violate(BreakersMove, "agent %s: probe %s of a breaker that is closed", agent, now.Probe)
			case now.State == schemas.BreakerClosed && before.State == schemas.BreakerHalfOpen && !o.completed(before.Probe):
				o.world.violate(BreakersMove, "agent %s: the breaker closes, and its probe %s was not completed", agent, before.Probe)
			case now.State == schemas.BreakerClosed && before.State == schemas.BreakerOpen:
				o.world.violate(BreakersMove, "agent %s: the breaker closes without a probe", agent)
			case now.State == schemas.BreakerOpen && before.State != schemas.BreakerOpen && before.State != schemas.BreakerHalfOpen &&
				o.failed(agent, now.Since.Add(-policy.Within)) < policy.Failures:
				o.world.violate(BreakersMove, "agent %s: the breaker opens at %s, and nothing says why", agent, now.Since)
			}
			before = *now
		}
	}
}

// underWayAt reports whether a request had been made by a moment and had not ended
// by then, by any clock.
func (o *oracle) underWayAt(probe string, at time.Time) bool {
	a, skew := o.attempts[probe], 2*o.world.configuration.skew
	return a != nil && a.decided.Add(skew).Before(at) && a.over.After(at.Add(skew)) && at.Before(a.fact.Expires)
}

func (o *oracle) completed(probe string) bool {
	a := o.attempts[probe]
	return a != nil && a.completed
}

// A failure is a request that came to nothing, as a record says.
type failure struct {
	at    place
	epoch uint64
	time  time.Time
}

// failed counts the requests to an agent that came to nothing since a moment.
func (o *oracle) failed(agent string, since time.Time) int {
	n := 0
	for _, f := range o.failures[agent] {
		if f.time.After(since) {
			n++
		}
	}
	return n
}

// fails notes that an agent did not do what it was asked.
func (o *oracle) fails(m *moment, t *task, f *schemas.TaskFailed) {
	switch f.Cause {
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailureInvalidResult, schemas.FailureCrashed,
		schemas.FailureMalformed:
		if t.state == taskUnderWay {
			o.failures[t.attempt.agent] = append(o.failures[t.attempt.agent], failure{m.at, m.record.Epoch, m.cause.Time})
		}
	case schemas.FailurePermanent, schemas.FailureBlocked, schemas.FailureUnknownEffect, schemas.FailureUnavailable,
		schemas.FailureNoRoute, schemas.FailureArguments, schemas.FailureRejected, schemas.FailureUnapproved, schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
	}
}
