package supervisor

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/fault"
	"podium/supervisor/eventloop"
	"podium/supervisor/restore"
)

// orphans are what agents say that names neither a session nor a request which a
// session in memory has made. Each of them may belong to one that this owner has not
// loaded yet, or to which a former owner has written since. So it waits until every
// session is known to be as the ledger had it when the orphan was stored; then it
// belongs to nobody.
//
// No session waits for that. What a session takes meanwhile it takes by an append,
// which proves that it is the ledger's and waits for none of the orphans. Else it
// is loaded, and those that are its own take their places among its inputs.
type orphans struct {
	waiting []*input                // in the order of the stream
	naming  map[requestKey][]*input // by the attempt that they name

	looking   bool
	confirmed uint64         // what was read up to here belongs to nobody, once all behind are loaded
	outdated  []*liveSession // of which there is a newer record
	rested    time.Time      // when the next look may begin
	tries     int            // that have failed in a row
}

// holdOrphan has an orphan wait.
func (o *Owner) holdOrphan(in *input) {
	s := &o.orphans
	if s.naming == nil {
		s.naming = map[requestKey][]*input{}
	}
	at, _ := slices.BinarySearchFunc(s.waiting, in, inOrder) // behind all others, unless it was somebody's before
	s.waiting = slices.Insert(s.waiting, at, in)
	s.naming[in.names()] = append(s.naming[in.names()], in)
}

func inOrder(a, b *input) int { return cmp.Compare(a.message.Sequence, b.message.Sequence) }

// assignOrphans gives a session, once its state is the ledger's, those orphans behind a
// sequence that name one of its requests: all of them when it was loaded, and those
// behind a record that was written here. What such a record asks for may have been sent
// by another owner before this one hears that the record is stored.
func (o *Owner) assignOrphans(live *liveSession, since uint64) {
	s := &o.orphans
	if len(s.waiting) == 0 {
		return
	}
	for _, request := range live.requests {
		for _, in := range s.naming[request] {
			if in.message.Sequence < since {
				continue
			}
			at, _ := slices.BinarySearchFunc(live.inputs, in, inOrder)
			at = fault.Either("inputs overtake an answer that waits for its session", len(live.inputs), at)
			live.inputs = slices.Insert(live.inputs, at, in)
			at, _ = slices.BinarySearchFunc(s.waiting, in, inOrder)
			s.waiting = slices.Delete(s.waiting, at, at+1)
		}
		s.remove(request, func(in *input) bool { return in.message.Sequence >= since })
	}
}

// remove takes some of the orphans that name a request out of the index.
func (o *orphans) remove(request requestKey, gone func(*input) bool) {
	if left := slices.DeleteFunc(o.naming[request], gone); len(left) > 0 {
		o.naming[request] = left
	} else {
		delete(o.naming, request)
	}
}

// sortOutOrphans dismisses the orphans that belong to nobody, and looks for the others.
func (o *Owner) sortOutOrphans(ctx context.Context) bool {
	s := &o.orphans
	s.outdated = slices.DeleteFunc(s.outdated, func(live *liveSession) bool { return live.known || o.sessions[live.id()] != live })
	if len(s.waiting) == 0 || s.looking || len(s.outdated) > 0 {
		return false
	}
	dismissed := 0
	for _, in := range s.waiting {
		if in.message.Sequence > s.confirmed {
			break
		}
		dismissed++
		s.remove(in.names(), func(other *input) bool { return other.message.Sequence <= s.confirmed })
		o.dropOrphan(ctx, in)
	}
	if s.waiting = slices.Delete(s.waiting, 0, dismissed); len(s.waiting) > 0 && !o.now.Before(s.rested) {
		o.lookUpSessions(ctx)
		return true
	}
	return dismissed > 0
}

// dropOrphan ends what belongs to nobody. A question about a request that nobody waits
// for has its answer; progress says nothing to anybody; an answer goes to quarantine.
func (o *Owner) dropOrphan(ctx context.Context, in *input) {
	switch {
	case in.read.Malformed != nil:
		o.quarantine(ctx, in, schemas.QuarantineMalformed, in.read.Malformed.Detail)
		return
	case in.read.Permit != nil:
		o.answerPermit(in.agent, &schemas.PermitAnswer{Permit: in.event.ID, Reason: schemas.PermitStale})
	case in.kind == bus.KindProgress:
	default:
		o.quarantine(ctx, in, schemas.QuarantineUnknownRun, "in_reply_to names no request that waits for an answer")
		return
	}
	o.watermark.Leave(in.entry)
}

// lookUpSessions asks the ledger for the newest record of every session that may have asked
// somebody for something, and has those loaded of which it is not the one in memory.
// One look speaks for all orphans that have been read when it begins, and it rests
// for as long as it took: whoever floods a shard with orphans has the ledger look
// for half of the time at most, and keeps nobody waiting.
func (o *Owner) lookUpSessions(ctx context.Context) {
	s := &o.orphans
	newestSequence := s.waiting[len(s.waiting)-1].message.Sequence
	read, begun := o.watermark.Read, o.now
	var asked []string
	for id, live := range o.sessions {
		if !live.confirmed(newestSequence) && !live.hasNoRequests() && !(live.known && live.loaded && fault.Is("who asks is turned away as it is remembered")) {
			asked = append(asked, id)
		}
	}
	s.looking = true
	eventloop.StartResult(o.loop, func() (map[string]uint64, error) {
		return restore.NewestSequences(ctx, o.Core, o.Shard, asked)
	}, func(now time.Time, records map[string]uint64, err error) {
		s.looking = false
		rest := now.Sub(begun)
		if err != nil {
			o.Log.Warn().Err(err).Int("shard", o.Shard).Msg("answers to nobody wait for the ledger")
			rest += o.publisher.Backoff.After(s.tries)
			s.tries++
		} else {
			s.tries, s.confirmed = 0, read
			o.compareWithLedger(asked, records, read)
		}
		s.rested = now.Add(rest)
		o.loop.At(s.rested, func(time.Time) {})
	})
}

// hasNoRequests reports whether no request of a session can be under way: it waits for
// a message and has none, or it cannot be read.
func (live *liveSession) hasNoRequests() bool {
	return live.unreadable || live.loaded && live.state.Idle() && len(live.inputs) == 0 && !live.stage.busy()
}

// compareWithLedger holds the sessions in memory against the newest records, as they were when
// all up to a sequence had been read. A record that was written here since is no other's.
func (o *Owner) compareWithLedger(asked []string, records map[string]uint64, read uint64) {
	s := &o.orphans
	for _, id := range asked {
		live := o.sessions[id]
		switch {
		case live == nil:
		case records[id] > live.sequence:
			live.newestSequence = records[id]
			live.invalidate()
			s.outdated = append(s.outdated, live)
		default:
			live.confirmedTo = max(live.confirmedTo, read)
		}
	}
	slices.SortFunc(s.outdated, func(a, b *liveSession) int { return strings.Compare(a.id(), b.id()) })
	for _, live := range s.outdated {
		o.push(live)
	}
}

// lookUpOvertaken looks for the record that an overtaken input has caused. Without one it belongs
// to nobody: what is behind it has been taken.
func (o *Owner) lookUpOvertaken(ctx context.Context, live *liveSession, in *input) {
	attempt, before := o.askedBefore(live, in)
	fetchFor(ctx, o, live, func() (bool, error) {
		if before {
			return restore.IsAnswered(ctx, o.Core, live.id(), in.message.Sequence, attempt)
		}
		return restore.IsOnRecord(ctx, o.Core, live.id(), in.message.Sequence)
	}, func(_ time.Time, taken bool) {
		in.lookedUp = true
		if !taken {
			live.inputs = slices.Delete(live.inputs, 0, 1)
		}
		switch {
		case taken:
		case before:
			o.dropOrphan(ctx, in)
		default:
			o.holdOrphan(in)
		}
		o.end(live)
	})
}
