package supervisor

import (
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

// outdate has a session loaded before anything else is decided: the ledger says
// something else of it.
func (c *conversation) outdate() { c.known, c.loaded, c.presumed = false, false, true }

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

// settle ends a record: its outputs are acknowledged.
func (o *Owner) settle(c *conversation, inputs []*input) {
	o.leave(c, inputs)
	o.end(c)
}

// leave leaves the conversation's first inputs behind, all together: they are
// dealt with.
func (o *Owner) leave(c *conversation, inputs []*input) {
	for i, in := range inputs {
		o.watermark.Leave(in.entry)
		c.inputs[i] = nil
	}
	if c.inputs = c.inputs[len(inputs):]; len(c.inputs) == 0 {
		c.inputs = nil
	}
	c.alone, c.tries, c.misses = false, 0, 0
}

// track keeps the index of requests that wait for an answer, once a
// conversation's state is the ledger's.
func (o *Owner) track(c *conversation) {
	if c.sequence >= c.newest {
		o.learn(c)
	}
	o.admission.Track(&c.admission)
	for _, request := range c.requests {
		delete(o.waiting, request)
	}
	c.requests = c.state.Requests(o.Shard)
	for _, request := range c.requests {
		o.waiting[request] = c
	}
}

func (o *Owner) fail(err error) {
	if o.failed == nil {
		o.failed = err
	}
}
