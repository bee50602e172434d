package supervisor

import (
	"crypto/sha256"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"podium/schemas"
	"podium/supervisor/admission"
	"podium/supervisor/checkpoint"
	"podium/supervisor/eventloop"
	"podium/supervisor/progress"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// A liveSession is one session in the owner's memory. While an operation is
// under way it is busy, and only that operation's completion touches it.
type liveSession struct {
	state            session.State
	sequence         uint64 // of the newest record; 0 when there is none
	snapshotSequence uint64 // of the newest record with a snapshot
	sinceSnapshot    restore.SinceSnapshot
	tip              schemas.Tip
	link             schemas.Link // of the newest record
	// confirmedTo is a sequence of the shard: the newest record was the ledger's when
	// everything up to there had been stored.
	confirmedTo    uint64
	newestSequence uint64 // a record that stands in the ledger; maybe behind the one in memory

	fresh      bool // its newest record was written here, and none of its outputs has been published
	known      bool // what the ledger says of it has been read, or written
	beforeTail bool // it was met before the tail was read
	loaded     bool
	unreadable bool // it stands there, and nobody can read it
	assumedNew bool // without a look at the ledger it was taken for new, once
	stage      stage
	inputs     []*input
	alone      bool  // the next input gets a record of its own: with others it could not be stored
	damaged    bool  // the ledger has lost something that it stands on
	misses     uint8 // reads in a row that found nothing where something was
	tries      int32 // with four bytes more, a session would take the next larger piece of the heap
	// watermarkPin keeps the low watermark below a record that no input has caused until its
	// outputs are acknowledged.
	watermarkPin *checkpoint.Entry

	requests      []requestKey // its keys in Owner.byRequest
	demand        admission.Demand
	timer         *eventloop.Timer                  // for its earliest deadline
	report        *progress.Report                  // what somebody upstream has been told
	fetchedInputs map[uint64]restore.Input          // inputs that were fetched for the decision at hand
	endedRuns     map[endedRunKey]*session.EndedRun // runs that are over, which were
}

func (live *liveSession) id() string { return live.state.Session }

// sessions are the live sessions of an owner, by id. Checkpoints and admission see them by
// narrower interfaces.
type sessions map[string]*liveSession

// Len implements checkpoint.Sessions.
func (s sessions) Len() int { return len(s) }

// Has implements checkpoint.Sessions.
func (s sessions) Has(id string) bool { return s[id] != nil }

// IDs implements checkpoint.Sessions.
func (s sessions) IDs() iter.Seq[string] { return maps.Keys(s) }

// Live implements admission.Sessions.
func (s sessions) Live(a *admission.Demand) bool {
	live := s[a.State.Session]
	return live != nil && &live.demand == a
}

// InOrder implements admission.Sessions.
func (s sessions) InOrder() iter.Seq[*admission.Demand] {
	return func(yield func(*admission.Demand) bool) {
		for _, id := range slices.Sorted(maps.Keys(s)) {
			if !yield(&s[id].demand) {
				return
			}
		}
	}
}

func (o *Owner) liveSession(id string) *liveSession {
	live := o.sessions[id]
	if live == nil {
		live = &liveSession{state: session.New(id)}
		live.demand.State = &live.state
		o.sessions[id] = live
		o.checkpoint.MarkChanged(id)
		if o.stream.tail != 0 && o.watermark.Read <= o.stream.tail {
			live.beforeTail = true
			o.stream.unknown++
		}
	}
	return live
}

// becomeKnown notes that the ledger's word about a session is known from now on.
func (o *Owner) becomeKnown(live *liveSession) {
	live.known = true
	if live.beforeTail {
		live.beforeTail = false
		o.stream.unknown--
	}
}

// forget drops a session that nothing is left to do for.
func (o *Owner) forget(live *liveSession) {
	o.becomeKnown(live)
	delete(o.sessions, live.id())
	o.checkpoint.MarkChanged(live.id())
}

// invalidate has a session loaded before anything else is decided: the ledger says
// something else of it.
func (live *liveSession) invalidate() { live.known, live.loaded, live.assumedNew = false, false, true }

func (o *Owner) enqueue(id string, in *input) {
	live := o.liveSession(id)
	live.inputs = append(live.inputs, in)
	o.push(live)
}

func (o *Owner) push(live *liveSession) {
	if live.stage == stageWaiting || live.stage == stageDeciding {
		o.enter(live, stageQueued)
		o.queue.ready = append(o.queue.ready, live)
	}
}

// begin begins an operation of a session, or goes on with another.
func (o *Owner) begin(live *liveSession, at stage) {
	if !live.stage.busy() {
		o.queue.busy++
	}
	o.enter(live, at)
}

// end lets a session go on with its next input.
func (o *Owner) end(live *liveSession) {
	o.rest(live)
	o.push(live)
}

// rest ends the operation of a session, which does nothing until it is pushed.
func (o *Owner) rest(live *liveSession) {
	o.enter(live, stageWaiting)
	o.queue.busy--
	if live.watermarkPin != nil {
		o.watermark.Leave(live.watermarkPin)
		live.watermarkPin = nil
	}
}

// retry lets a session go on after a wait, because of a temporary error.
func (o *Owner) retry(live *liveSession, now time.Time, err error) {
	o.publisher.LogFailure(zerolog.WarnLevel, err).Str("session", live.id()).Int("shard", o.Shard).Msg("session waits for the ledger")
	o.begin(live, stageRetrying)
	wait := o.publisher.Backoff.After(int(live.tries))
	live.tries++
	o.loop.At(now.Add(wait), func(time.Time) { o.end(live) })
}

// complete ends the work on a record, or on an input in quarantine: all outputs are
// acknowledged, and the session goes on.
func (o *Owner) complete(live *liveSession, inputs []*input) {
	o.completeInputs(live, inputs)
	o.end(live)
}

// completeInputs lets the low watermark pass the session's first inputs, all together.
func (o *Owner) completeInputs(live *liveSession, inputs []*input) {
	for i, in := range inputs {
		o.watermark.Leave(in.entry)
		live.inputs[i] = nil
	}
	if live.inputs = live.inputs[len(inputs):]; len(live.inputs) == 0 {
		live.inputs = nil
	}
	live.alone, live.tries, live.misses = false, 0, 0
}

// trackSession has admission queue the tasks that have become ready, and keeps the index of requests
// that wait for an answer, once a session's state is the ledger's.
func (o *Owner) trackSession(live *liveSession) {
	if live.sequence >= live.newestSequence {
		o.becomeKnown(live)
	}
	o.admission.Track(&live.demand)
	for _, request := range live.requests {
		delete(o.byRequest, request)
	}
	live.requests = live.requests[:0]
	for request := range live.state.Requests(o.Shard) {
		key := keyOf(request)
		live.requests = append(live.requests, key)
		o.byRequest[key] = live
	}
}

// A requestKey stands for one of State.Requests, of which an owner has many thousands in
// memory, in whichever epoch it was dispatched.
type requestKey [16]byte

// uuidLength is that of the one spelling of an id: the library knows others.
const uuidLength = 36

// keyOf is made for every open request with each record of its session. So what is an id of
// ours is not hashed: it is its own 16 bytes, without those of the epoch. What anybody else has
// written stands as the beginning of its SHA-256.
func keyOf(request string) requestKey {
	id, err := uuid.Parse(request)
	if err != nil || len(request) != uuidLength || slices.ContainsFunc([]byte(request), upperCase) {
		sum := sha256.Sum256([]byte(request))
		return requestKey(sum[:len(requestKey{})])
	}
	if id.Version() == 8 {
		clear(id[2:6]) // as schemas.AttemptKey
	}
	return requestKey(id)
}

func upperCase(c byte) bool { return 'A' <= c && c <= 'Z' }

func (o *Owner) fail(err error) {
	if o.failed == nil {
		o.failed = err
	}
}
