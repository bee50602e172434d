package supervisor

import (
	"context"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/supervisor/session"
)

// A conversation is one session in the owner's memory. While an operation is
// under way it is busy, and only that operation's completion touches it.
type conversation struct {
	id       string
	state    session.State
	sequence uint64 // of the newest record; 0 when there is none
	snap     uint64 // of the newest record with a snapshot
	behind   behind
	tip      schemas.Tip
	chain    digest // of the newest record
	// confirmedTo is a sequence of the shard: the newest record was the ledger's when
	// everything up to there had been stored.
	confirmedTo uint64
	newest      uint64 // a record that stands in the ledger; maybe behind the one in memory

	fresh    bool // its newest record was written here, and none of its outputs has been published
	known    bool // what the ledger says of it has been read, or written
	early    bool // it was met before the tail was read
	loaded   bool
	unread   bool // it stands there, and nobody can read it
	presumed bool // without a look at the ledger it was taken for new, once
	busy     bool
	queued   bool // in Owner.ready
	inputs   []*input
	alone    bool  // the next input gets a record of its own: with others it could not be stored
	damaged  bool  // the ledger has lost something that it stands on
	misses   uint8 // reads in a row that found nothing where something was
	tries    int32 // with four bytes more, a session would take the next larger piece of the heap
	// hold keeps the floor below a record that no input has caused until its
	// outputs are acknowledged.
	hold *entry

	requests []string // its keys in Owner.waiting
	asked    []string // the agents of its requests under way
	// inherited are those of its requests under way that a former owner has made, one behind
	// the other.
	inherited string
	reserved  []string                      // the agents that the decision at hand has been admitted to
	waits     map[schemas.Grant]*waiter     // its ready tasks
	grants    []*waiter                     // that may be dispatched
	usages    []*usage                      // what its tasks have to do with shared resources
	alarm     *alarm                        // for its earliest deadline
	telling   *telling                      // what somebody upstream has been told
	recalled  map[uint64]recalled           // inputs that were fetched for the decision at hand
	formers   map[formerRun]*session.Former // runs that are over, which were
}

func (o *Owner) conversation(id string) *conversation {
	c := o.sessions[id]
	if c == nil {
		c = &conversation{id: id, state: session.New(id)}
		o.sessions[id] = c
		o.checkpoint.move(id)
		if o.tail != 0 && o.floor.read <= o.tail {
			c.early = true
			o.early++
		}
	}
	return c
}

// learn notes that the ledger's word about a conversation is known from now on.
func (o *Owner) learn(c *conversation) {
	c.known = true
	if c.early {
		c.early = false
		o.early--
	}
}

// forget drops a conversation that nothing is left to do for.
func (o *Owner) forget(c *conversation) {
	o.learn(c)
	delete(o.sessions, c.id)
	o.checkpoint.move(c.id)
}

func (o *Owner) enqueue(id string, in *input) {
	c := o.conversation(id)
	c.inputs = append(c.inputs, in)
	o.push(c)
}

func (o *Owner) push(c *conversation) {
	if !c.queued && !c.busy {
		c.queued = true
		o.ready = append(o.ready, c)
	}
}

func (o *Owner) begin(c *conversation) {
	c.busy = true
	o.busy++
}

// end lets a conversation go on with its next input.
func (o *Owner) end(c *conversation) {
	o.rest(c)
	o.push(c)
}

// rest ends the operation of a conversation, which does nothing until it is pushed.
func (o *Owner) rest(c *conversation) {
	c.busy = false
	o.busy--
	if c.hold != nil {
		o.floor.leave(c.hold)
		c.hold = nil
	}
}

// retry lets a conversation go on after a wait, because of a temporary error.
func (o *Owner) retry(c *conversation, now time.Time, err error) {
	o.complain(zerolog.WarnLevel, err).Str("session", c.id).Int("shard", o.Shard).Msg("session waits for the ledger")
	wait := o.backoff(int(c.tries))
	c.tries++
	o.alarms.add(now.Add(wait), func(time.Time) { o.end(c) })
}

// work does the next thing for a conversation that is not busy.
func (o *Owner) work(ctx context.Context, c *conversation, now time.Time) {
	o.inform(ctx, c, now)
	switch {
	case c.busy:
	case !c.loaded && !c.presume():
		o.load(ctx, c)
	case len(c.inputs) > 0 && o.overtaken(c, c.inputs[0]):
		o.seekRecord(ctx, c, c.inputs[0])
	case len(c.inputs) > 0 && c.inputs[0].event.Artifact != nil:
		o.resolve(ctx, c, c.inputs[0])
	case len(c.inputs) > 0 && c.inputs[0].foreign:
		o.refresh(ctx, c, c.inputs[0])
	case len(c.inputs) > 0 && c.inputs[0].broken():
		o.isolateFirst(ctx, c, c.inputs[0])
	case len(c.inputs) > 0:
		o.decide(ctx, c, now)
	case len(c.grants) > 0 && !o.usable(c.grants[0]):
		o.granted(c)
		o.push(c)
	case len(c.grants) > 0:
		o.prompt(ctx, c, session.Input{Now: now, Grant: &c.grants[0].grant})
	default:
		deadline, due := c.due(now)
		if due && !o.caughtUp(now) {
			o.alarms.add(now.Add(o.CatchUp/4), func(time.Time) { o.push(c) })
			return
		}
		if due {
			o.prompt(ctx, c, session.Input{Now: now, Deadline: &deadline})
			return
		}
		if absence := o.absence(c, now); absence != nil {
			o.prompt(ctx, c, session.Input{Now: now, Absence: absence})
			return
		}
		c.recalled, c.formers = nil, nil
		o.watch(c)
		o.evict(c)
	}
}

// presume takes a session for new when a message is the first that is heard of
// it, as it is for most. Nothing is risked: the append expects that there is no
// record, and if there is one, the session is loaded and the message decided again.
func (c *conversation) presume() bool {
	if c.presumed || len(c.inputs) == 0 || c.inputs[0].read.Message == nil {
		return false
	}
	c.presumed, c.loaded = true, true
	return true
}

// misjudged reports whether a session that has a record was taken for new, and
// then has it loaded.
func (c *conversation) misjudged() bool {
	if !c.presumed || c.sequence != 0 {
		return false
	}
	c.outdate()
	return true
}

func (c *conversation) due(now time.Time) (schemas.Deadline, bool) {
	for _, deadline := range c.state.Deadlines() {
		if !deadline.At.After(now) {
			return deadline, true
		}
	}
	return schemas.Deadline{}, false
}

// watch sets an alarm for the conversation's earliest deadline.
func (o *Owner) watch(c *conversation) {
	earliest := time.Time{}
	for _, deadline := range c.state.Deadlines() {
		if earliest.IsZero() || deadline.At.Before(earliest) {
			earliest = deadline.At
		}
	}
	if c.alarm != nil && c.alarm.index >= 0 && c.alarm.at.Equal(earliest) {
		return
	}
	o.alarms.cancel(c.alarm)
	c.alarm = nil
	if !earliest.IsZero() {
		c.alarm = o.alarms.add(earliest, func(time.Time) { o.push(c) })
	}
}

// evict forgets a session that waits for nothing, once its last record is below
// the floor: whoever loads it then knows that it owes nothing.
func (o *Owner) evict(c *conversation) {
	switch {
	case !c.state.Idle() || o.sessions[c.id] != c:
	case c.sequence <= o.floor.value:
		o.forget(c)
	default:
		o.closing = append(o.closing, c)
	}
}

// sweep evicts closed sessions that the floor has passed by now.
func (o *Owner) sweep() {
	kept := o.closing[:0]
	for _, c := range o.closing {
		switch {
		case !c.state.Idle() || c.busy || len(c.inputs) > 0 || o.sessions[c.id] != c:
		case c.sequence <= o.floor.value:
			o.forget(c)
		default:
			kept = append(kept, c)
		}
	}
	clear(o.closing[len(kept):])
	o.closing = kept
}

// recalled is an input that was fetched, and its content.
type recalled struct {
	input   session.Input
	content schemas.Result
}

// recall returns what has been fetched for the conversation and notes what has not.
func (o *Owner) recall(c *conversation, missing *[]uint64) func(uint64) recalled {
	return func(sequence uint64) recalled {
		known, fetched := c.recalled[sequence]
		if !fetched && !slices.Contains(*missing, sequence) {
			*missing = append(*missing, sequence)
		}
		return known
	}
}

func (o *Owner) fetchProfile(ctx context.Context, c *conversation, hash string) {
	o.begin(c)
	o.operate(func() error {
		_, err := o.Profiles.Fetch(ctx, hash)
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			o.missing(ctx, c, now, err)
			return
		}
		o.end(c)
	})
}

// fetch reads bodies that stand in the ledger, for the decision at hand.
func (o *Owner) fetch(ctx context.Context, c *conversation, sequences []uint64) {
	o.begin(c)
	o.collect(ctx, c, sequences, func(now time.Time, err error) {
		if err != nil {
			o.missing(ctx, c, now, err)
			return
		}
		o.end(c)
	})
}

// Recall reads an input of a shard again, and what a Body that points at it stands
// for, whole.
func Recall(ctx context.Context, core bus.Core, shard int, sequence uint64) (session.Input, schemas.Result, error) {
	message, err := core.Get(ctx, bus.ShardStream(shard), sequence)
	if err != nil {
		return session.Input{}, schemas.Result{}, err
	}
	event, err := artifact.DecodeWhole(ctx, core.Artifacts(), message)
	if err != nil {
		return session.Input{}, schemas.Result{}, err
	}
	input, err := session.Read(event, "", sequence)
	return input, input.Content(), err
}
