package jetstream

import (
	"crypto/rand"
	"maps"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"

	"podium/bus"
)

const (
	// batchFrom is the number of messages from which on an atomic batch is
	// faster than as many single ones: a batch costs four syncs and a folder of
	// its own, whatever its size (BenchmarkGroupCommit).
	batchFrom = 16
	// MaxBatch is the largest number of messages in a batch, and maxBatchBytes the
	// size of their bodies together: the server keeps a batch aside until it ends.
	MaxBatch      = 500
	maxBatchBytes = 4 << 20
)

// The headers of an atomic batch (ADR-50 of NATS).
const (
	batchIDHeader       = "Nats-Batch-Id"
	batchSequenceHeader = "Nats-Batch-Sequence"
	batchCommitHeader   = "Nats-Batch-Commit"
)

// A batcher is the way to one stream whose server syncs each message by itself, one
// after the other. While messages are under way the next ones gather, and when
// there are many of them they go as one batch: group commit. A batch that the
// server refuses, for the fault of one of its messages, has stored nothing; then
// each goes by itself and has its own outcome.
type batcher struct {
	publisher *publisher

	mu       sync.Mutex
	waiting  []*publication
	underway int
}

// group has the messages to each stream of the ledger share the syncs.
func (p *publisher) group(shards int) {
	p.batchers = make([]*batcher, shards+1)
	for i := range p.batchers {
		p.batchers[i] = &batcher{publisher: p}
	}
}

// batcherOf returns nil for what goes alone.
func (p *publisher) batcherOf(subject string) *batcher {
	if len(p.batchers) == 0 {
		return nil
	}
	parsed, err := bus.ParseSubject(subject)
	work := len(p.batchers) - 1
	switch {
	case err != nil || parsed.Shard >= work:
		return nil // the server says that no stream holds it
	case parsed.Shard < 0:
		return p.batchers[work]
	}
	return p.batchers[parsed.Shard]
}

func (l *batcher) enter(publishing *publication) {
	l.mu.Lock()
	defer l.mu.Unlock()
	publishing.batcher = l
	l.waiting = append(l.waiting, publishing)
	if l.underway == 0 {
		l.next()
	}
}

// leave says that the outcome of so many is known.
func (l *batcher) leave(count int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.underway -= count; l.underway == 0 && len(l.waiting) > 0 {
		l.next()
	}
}

// next sends what waits. The lock is held, so that nothing overtakes.
func (l *batcher) next() {
	waiting := l.waiting
	l.waiting = nil
	if fit := together(waiting); fit >= batchFrom {
		l.waiting = append(l.waiting, waiting[fit:]...)
		l.underway = fit
		l.batch(waiting[:fit])
		return
	}
	l.underway = len(waiting)
	for _, publishing := range waiting {
		l.publisher.send(publishing, publishing.header)
	}
}

// together returns how many of the first messages can be one batch: the server
// refuses an expectation of a subject that the batch has written before.
func together(waiting []*publication) int {
	if len(waiting) < batchFrom {
		return 0
	}
	written := make(map[string]struct{}, len(waiting))
	size := 0
	for i, publishing := range waiting {
		_, again := written[publishing.subject]
		size += len(publishing.body)
		if i == MaxBatch || size > maxBatchBytes || again && publishing.checked {
			return i
		}
		written[publishing.subject] = struct{}{}
	}
	return len(waiting)
}

// batch sends messages as one. The server answers the last one. Its id is secret:
// an agent that knew it could add an end, so that a part is stored and the rest
// refused.
func (l *batcher) batch(members []*publication) {
	id := rand.Text()
	last := members[len(members)-1]
	last.before, last.batch = members[:len(members)-1], id
	for i, publishing := range last.before {
		err := l.publisher.connection.PublishMsg(&nats.Msg{
			Subject: publishing.subject, Header: batched(publishing.header, id, i+1), Data: publishing.body,
		})
		if err != nil {
			l.publisher.unsent(last, err) // the server drops a batch without an end
			return
		}
	}
	header := batched(last.header, id, len(members))
	header[batchCommitHeader] = []string{"1"}
	l.publisher.send(last, header)
}

func batched(header nats.Header, id string, sequence int) nats.Header {
	out := make(nats.Header, len(header)+3)
	maps.Copy(out, header)
	out[batchIDHeader] = []string{id}
	out[batchSequenceHeader] = []string{strconv.Itoa(sequence)}
	return out
}

// part sends the members of a batch that was refused one by one.
func (l *batcher) part(last *publication) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.apart(last)
}

// apart is part for who holds the lock.
func (l *batcher) apart(last *publication) {
	members := append(last.before, last)
	last.before, last.batch = nil, ""
	for _, publishing := range members {
		l.publisher.send(publishing, publishing.header)
	}
}
