package supervisor

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/history"
)

// strangers are what agents say that names neither a session nor a request which a
// session in memory has made. Each of them may belong to one that this owner has not
// loaded yet, or to which a former owner has written since. So it waits until every
// session is known to be as the ledger had it when the stranger was stored; then it
// belongs to nobody.
//
// No session waits for that. What a session takes meanwhile it takes by an append,
// which proves that it is the ledger's and waits for none of the strangers. Else it
// is loaded, and those that are its own take their places among its inputs.
type strangers struct {
	waiting []*input            // in the order of the stream
	naming  map[string][]*input // by the request that they name

	looking   bool
	confirmed uint64          // what was read up to here belongs to nobody, once all behind are loaded
	behind    []*conversation // of which there is a newer record
	rested    time.Time       // when the next look may begin
	tries     int             // that have failed in a row
}

// meet has a stranger wait.
func (o *Owner) meet(in *input) {
	s := &o.strangers
	if s.naming == nil {
		s.naming = map[string][]*input{}
	}
	at, _ := slices.BinarySearchFunc(s.waiting, in, inOrder) // behind all others, unless it was somebody's before
	s.waiting = slices.Insert(s.waiting, at, in)
	s.naming[in.answers()] = append(s.naming[in.answers()], in)
}

func inOrder(a, b *input) int { return cmp.Compare(a.message.Sequence, b.message.Sequence) }

// recognize gives a session, once its state is the ledger's, those strangers behind a
// sequence that name one of its requests: all of them when it was loaded, and those
// behind a record that was written here. What such a record asks for may have been sent
// by another owner before this one hears that the record is stored.
func (o *Owner) recognize(c *conversation, behind uint64) {
	s := &o.strangers
	if len(s.waiting) == 0 {
		return
	}
	for _, request := range c.requests {
		for _, in := range s.naming[request] {
			if in.message.Sequence < behind {
				continue
			}
			at, _ := slices.BinarySearchFunc(c.inputs, in, inOrder)
			c.inputs = slices.Insert(c.inputs, at, in)
			at, _ = slices.BinarySearchFunc(s.waiting, in, inOrder)
			s.waiting = slices.Delete(s.waiting, at, at+1)
		}
		s.leave(request, func(in *input) bool { return in.message.Sequence >= behind })
	}
}

// leave takes some of the strangers that name a request out of the index.
func (s *strangers) leave(request string, gone func(*input) bool) {
	if left := slices.DeleteFunc(s.naming[request], gone); len(left) > 0 {
		s.naming[request] = left
	} else {
		delete(s.naming, request)
	}
}

// sift dismisses the strangers that belong to nobody, and looks for the others.
func (o *Owner) sift(ctx context.Context) bool {
	s := &o.strangers
	s.behind = slices.DeleteFunc(s.behind, func(c *conversation) bool { return c.known || o.sessions[c.id()] != c })
	if len(s.waiting) == 0 || s.looking || len(s.behind) > 0 {
		return false
	}
	dismissed := 0
	for _, in := range s.waiting {
		if in.message.Sequence > s.confirmed {
			break
		}
		dismissed++
		s.leave(in.answers(), func(other *input) bool { return other.message.Sequence <= s.confirmed })
		o.dismiss(ctx, in)
	}
	if s.waiting = slices.Delete(s.waiting, 0, dismissed); len(s.waiting) > 0 && !o.now.Before(s.rested) {
		o.identify(ctx)
		return true
	}
	return dismissed > 0
}

// dismiss ends what belongs to nobody. A question about a request that nobody waits
// for has its answer; progress says nothing to anybody; an answer goes to quarantine.
func (o *Owner) dismiss(ctx context.Context, in *input) {
	switch {
	case in.read.Malformed != nil:
		o.quarantine(ctx, in, schemas.QuarantineMalformed, in.read.Malformed.Detail)
		return
	case in.read.Permit != nil:
		o.tell(in.agent, &schemas.PermitAnswer{Permit: in.event.ID, Reason: schemas.PermitStale})
	case in.kind == bus.KindProgress:
	default:
		o.quarantine(ctx, in, schemas.QuarantineUnknownRun, "in_reply_to names no request that waits for an answer")
		return
	}
	o.watermark.Leave(in.entry)
}

// identify asks the ledger for the newest record of every session that may have asked
// somebody for something, and has those loaded of which it is not the one in memory.
// One look speaks for all strangers that have been read when it begins, and it rests
// for as long as it took: whoever floods a shard with strangers has the ledger look
// for half of the time at most, and keeps nobody waiting.
func (o *Owner) identify(ctx context.Context) {
	s := &o.strangers
	newest := s.waiting[len(s.waiting)-1].message.Sequence
	read, begun := o.watermark.Read, o.now
	var asked []string
	for id, c := range o.sessions {
		if !c.confirmed(newest) && !c.asksNobody() {
			asked = append(asked, id)
		}
	}
	var records map[string]uint64
	s.looking = true
	o.loop.Await(func() (err error) {
		records, err = history.Newest(ctx, o.Core, o.Shard, asked)
		return err
	}, func(now time.Time, err error) {
		s.looking = false
		rest := now.Sub(begun)
		if err != nil {
			o.Log.Warn().Err(err).Int("shard", o.Shard).Msg("answers to nobody wait for the ledger")
			rest += o.backoff.After(s.tries)
			s.tries++
		} else {
			s.tries, s.confirmed = 0, read
			o.compare(asked, records, read)
		}
		s.rested = now.Add(rest)
		o.loop.At(s.rested, func(time.Time) {})
	})
}

// asksNobody reports whether no request of a session can be under way: it waits for
// a message and has none, or it cannot be read.
func (c *conversation) asksNobody() bool {
	return c.unread || c.loaded && c.state.Idle() && len(c.inputs) == 0 && !c.busy
}

// compare holds the sessions in memory against the newest records, as they were when
// all up to a sequence had been read. A record that was written here since is no other's.
func (o *Owner) compare(asked []string, records map[string]uint64, read uint64) {
	s := &o.strangers
	for _, id := range asked {
		c := o.sessions[id]
		switch {
		case c == nil:
		case records[id] > c.sequence:
			c.newest = records[id]
			c.outdate()
			s.behind = append(s.behind, c)
		default:
			c.confirmedTo = max(c.confirmedTo, read)
		}
	}
	slices.SortFunc(s.behind, func(a, b *conversation) int { return strings.Compare(a.id(), b.id()) })
	for _, c := range s.behind {
		o.push(c)
	}
}
