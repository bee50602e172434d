package supervisor

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"podium/schemas"
	"podium/supervisor/admission"
	"podium/supervisor/checkpoint"
	"podium/supervisor/eventloop"
	"podium/supervisor/history"
	"podium/supervisor/progress"
	"podium/supervisor/session"
)

// A conversation is one session in the owner's memory. While an operation is
// under way it is busy, and only that operation's completion touches it.
type conversation struct {
	state    session.State
	sequence uint64 // of the newest record; 0 when there is none
	snap     uint64 // of the newest record with a snapshot
	behind   history.SinceSnapshot
	tip      schemas.Tip
	chain    history.Digest // of the newest record
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
	hold *checkpoint.Entry

	requests  []string // its keys in Owner.waiting
	admission admission.Session
	alarm     *eventloop.Timer              // for its earliest deadline
	report    *progress.Report              // what somebody upstream has been told
	recalled  map[uint64]history.Input      // inputs that were fetched for the decision at hand
	formers   map[formerRun]*session.Former // runs that are over, which were
}

func (c *conversation) id() string { return c.state.Session }

// sessions are those in memory.
type sessions map[string]*conversation

// Len implements checkpoint.Sessions.
func (s sessions) Len() int { return len(s) }

// Has implements checkpoint.Sessions.
func (s sessions) Has(id string) bool { return s[id] != nil }

// IDs implements checkpoint.Sessions.
func (s sessions) IDs() iter.Seq[string] { return maps.Keys(s) }

// Live implements admission.Sessions.
func (s sessions) Live(a *admission.Session) bool {
	c := s[a.State.Session]
	return c != nil && &c.admission == a
}

// InOrder implements admission.Sessions.
func (s sessions) InOrder() iter.Seq[*admission.Session] {
	return func(yield func(*admission.Session) bool) {
		for _, id := range slices.Sorted(maps.Keys(s)) {
			if !yield(&s[id].admission) {
				return
			}
		}
	}
}

// pushWoken lets those go on of which the admission says that they may.
func (o *Owner) pushWoken() {
	for _, woken := range o.admission.Woken() {
		if c := o.sessions[woken.State.Session]; c != nil {
			o.push(c)
		}
	}
}

func (o *Owner) conversation(id string) *conversation {
	c := o.sessions[id]
	if c == nil {
		c = &conversation{state: session.New(id)}
		c.admission.State = &c.state
		o.sessions[id] = c
		o.checkpoint.Move(id)
		if o.tail != 0 && o.watermark.Read <= o.tail {
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
	delete(o.sessions, c.id())
	o.checkpoint.Move(c.id())
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
		o.watermark.Leave(c.hold)
		c.hold = nil
	}
}

// retry lets a conversation go on after a wait, because of a temporary error.
func (o *Owner) retry(c *conversation, now time.Time, err error) {
	o.publisher.Complain(zerolog.WarnLevel, err).Str("session", c.id()).Int("shard", o.Shard).Msg("session waits for the ledger")
	wait := o.backoff.After(int(c.tries))
	c.tries++
	o.loop.At(now.Add(wait), func(time.Time) { o.end(c) })
}

// work does the next thing for a conversation that is not busy.
func (o *Owner) work(ctx context.Context, c *conversation, now time.Time) {
	c.report = o.progress.Follow(ctx, c.report, &c.state, now)
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
	default:
		o.workAlone(ctx, c, now)
	}
}

// workAlone does what no input has caused.
func (o *Owner) workAlone(ctx context.Context, c *conversation, now time.Time) {
	grant, granted := c.admission.Granted()
	switch {
	case granted && !o.admission.Usable(&c.admission):
		o.admission.EndGrant(&c.admission)
		o.push(c)
	case granted:
		o.prompt(ctx, c, session.Input{Now: now, Grant: &grant})
	default:
		deadline, due := c.due(now)
		if due && !o.caughtUp(now) {
			o.loop.At(now.Add(o.CatchUp/4), func(time.Time) { o.push(c) })
			return
		}
		if due {
			o.prompt(ctx, c, session.Input{Now: now, Deadline: &deadline})
			return
		}
		if absence := o.admission.Absence(&c.admission, now); absence != nil {
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
	if at, set := c.alarm.Due(); set && at.Equal(earliest) {
		return
	}
	o.loop.Stop(c.alarm)
	c.alarm = nil
	if !earliest.IsZero() {
		c.alarm = o.loop.At(earliest, func(time.Time) { o.push(c) })
	}
}

// evict forgets a session that waits for nothing, once its last record is below
// the floor: whoever loads it then knows that it owes nothing.
func (o *Owner) evict(c *conversation) {
	switch {
	case !c.state.Idle() || o.sessions[c.id()] != c:
	case c.sequence <= o.watermark.Value:
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
		case !c.state.Idle() || c.busy || len(c.inputs) > 0 || o.sessions[c.id()] != c:
		case c.sequence <= o.watermark.Value:
			o.forget(c)
		default:
			kept = append(kept, c)
		}
	}
	clear(o.closing[len(kept):])
	o.closing = kept
}

// recall returns what has been fetched for the conversation and notes what has not.
func (o *Owner) recall(c *conversation, missing *[]uint64) func(uint64) history.Input {
	return func(sequence uint64) history.Input {
		known, fetched := c.recalled[sequence]
		if !fetched && !slices.Contains(*missing, sequence) {
			*missing = append(*missing, sequence)
		}
		return known
	}
}

func (o *Owner) fetchProfile(ctx context.Context, c *conversation, hash string) {
	o.begin(c)
	o.loop.Await(func() error {
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
