package memory

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"podium/bus"
)

// A Ledger implements bus.Core. Messages that it hands out are shared with it:
// nobody changes them.
type Ledger struct {
	now        func() time.Time
	maxBytes   int64
	maxMessage int

	mu        sync.Mutex
	shards    []*stream
	work      *stream
	places    map[string]*stream   // by each subject that was asked for
	consumers map[string]*consumer // by agent
	buckets   map[string]*store
	artifacts *artifacts
	services  []*service           // in order of registration
	workers   map[string][]*Worker // by agent, in order of creation
	starts    int                  // of the server
}

var _ bus.Core = (*Ledger)(nil)

// DefaultMaxMessage is the limit in bytes of one message, header and body, as
// nats-server has it.
const DefaultMaxMessage = 1 << 20

// An Option changes a new ledger.
type Option func(*Ledger)

// WithClock makes now the ledger's only clock; without it that is time.Now.
func WithClock(now func() time.Time) Option { return func(l *Ledger) { l.now = now } }

// WithMaxBytes limits what each stream holds, and the artifacts; without it there is no
// limit.
func WithMaxBytes(bytes int64) Option { return func(l *Ledger) { l.maxBytes = bytes } }

// WithMaxMessage limits one message in bytes; without it that is DefaultMaxMessage.
func WithMaxMessage(bytes int) Option { return func(l *Ledger) { l.maxMessage = bytes } }

// New returns an empty ledger with 1 to 65535 shards.
func New(shards int, options ...Option) *Ledger {
	l := &Ledger{
		now:        time.Now,
		maxBytes:   -1,
		maxMessage: DefaultMaxMessage,
		places:     make(map[string]*stream),
		consumers:  make(map[string]*consumer),
		buckets:    make(map[string]*store),
		workers:    make(map[string][]*Worker),
	}
	for _, option := range options {
		option(l)
	}
	for shard := range shards {
		l.shards = append(l.shards, newStream(bus.ShardStream(shard)))
	}
	l.work = newStream(bus.WorkStream)
	for _, bucket := range [...]string{bus.AgentBucket, bus.MailboxBucket, bus.LeaseBucket, bus.BudgetBucket} {
		l.buckets[bucket] = &store{values: make(map[string]value)}
	}
	l.artifacts = &artifacts{maxBytes: l.maxBytes, now: l.now, contents: make(map[string][]byte), pending: make(map[string]time.Time)}
	return l
}

// Shards implements bus.Ledger.
func (l *Ledger) Shards() int { return len(l.shards) }

// Publish implements bus.Ledger. It calls done before it returns.
func (l *Ledger) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	done(l.append(message, expect))
}

func (l *Ledger) append(message bus.Message, expect bus.Expect) (bus.Ack, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.streamOf(message.Subject)
	if s == nil {
		return bus.Ack{}, fmt.Errorf("publish to %s: no stream holds it: %w", message.Subject, bus.ErrNotFound)
	}
	size := sizeOf(message)
	switch {
	case size > l.maxMessage:
		return bus.Ack{}, fmt.Errorf("publish to %s: %w", message.Subject, bus.ErrTooLarge)
	case expect.Check && s.last[message.Subject] != expect.Last:
		return bus.Ack{}, fmt.Errorf("publish to %s: %w", message.Subject, bus.ErrConflict)
	case l.maxBytes >= 0 && s.bytes+uint64(size) > uint64(l.maxBytes): //nolint:gosec // both are not negative
		return bus.Ack{}, fmt.Errorf("publish to %s: %w", message.Subject, bus.ErrFull)
	}
	sequence := s.append(message, size, l.now())
	if s == l.work {
		l.wakeConsumer(message.Subject)
	}
	return bus.Ack{Stream: s.name, Sequence: sequence}, nil
}

// streamOf returns the stream that holds a subject, or nil.
func (l *Ledger) streamOf(subject string) *stream {
	s := l.places[subject]
	if s == nil {
		if s = l.place(subject); s != nil {
			l.places[subject] = s
		}
	}
	return s
}

func (l *Ledger) place(subject string) *stream {
	parsed, err := bus.ParseSubject(subject)
	switch {
	case err != nil:
		return nil
	case parsed.Shard < 0:
		if slices.Contains([]bus.Kind{bus.KindRequest, bus.KindResponse, bus.KindProgress}, parsed.Kind) {
			return l.work
		}
		return nil
	case parsed.Shard >= len(l.shards) || !MatchAny(bus.ShardSubjects(parsed.Shard), subject):
		return nil
	}
	return l.shards[parsed.Shard]
}

// stream returns a stream by its name.
func (l *Ledger) stream(name string) (*stream, error) {
	if name == bus.WorkStream {
		return l.work, nil
	}
	for _, s := range l.shards {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("stream %s: %w", name, bus.ErrNotFound)
}

// KeyValue implements bus.Core.
func (l *Ledger) KeyValue(bucket string) bus.KeyValue {
	if s, ok := l.buckets[bucket]; ok {
		return s
	}
	return &store{missing: bucket}
}

// Artifacts implements bus.Core.
func (l *Ledger) Artifacts() bus.ArtifactStore { return l.artifacts }
