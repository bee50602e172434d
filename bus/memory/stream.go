package memory

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"podium/bus"
)

// A stream is guarded by its ledger's lock.
type stream struct {
	name     string
	messages []bus.Message // the message with sequence n stands at n-1
	last     map[string]uint64
	bytes    uint64
	readers  []*reader // in order of opening
}

func newStream(name string) *stream { return &stream{name: name, last: make(map[string]uint64)} }

func sizeOf(message bus.Message) int {
	size := len(message.Body)
	for name, values := range message.Header {
		for _, v := range values {
			size += len(name) + len(v)
		}
	}
	return size
}

func (s *stream) append(message bus.Message, size int, now time.Time) uint64 {
	sequence := uint64(len(s.messages)) + 1
	s.messages = append(s.messages, bus.Message{
		Subject: message.Subject, Header: copied(message.Header), Body: slices.Clip(slices.Clone(message.Body)),
		Stream: s.name, Sequence: sequence, Recorded: now.UTC(),
	})
	s.last[message.Subject] = sequence
	s.bytes += uint64(size) //nolint:gosec // a size is not negative
	for _, r := range s.readers {
		if r.subjects.match(message.Subject) {
			r.signal()
		}
	}
	return sequence
}

// copied is a header that shares nothing with the one it was.
func copied(header bus.Header) bus.Header {
	header = maps.Clone(header)
	all := make([]string, 0, len(header)) // most have one value
	for name, values := range header {
		from := len(all)
		all = append(all, values...)
		header[name] = all[from:len(all):len(all)]
	}
	return header
}

// next returns the first message from a sequence up to a limit that the subjects name.
func (s *stream) next(from, limit uint64, subjects *filter) (bus.Message, bool) {
	for sequence := max(from, 1); sequence <= limit; sequence++ {
		if m := &s.messages[sequence-1]; subjects.match(m.Subject) {
			return *m, true
		}
	}
	return bus.Message{}, false
}

// A filter is the subjects that somebody wants. It remembers what it has said: a
// stream has far fewer subjects than messages.
type filter struct {
	patterns []string
	known    map[string]bool
}

func newFilter(patterns []string) *filter {
	return &filter{patterns: slices.Clone(patterns), known: make(map[string]bool)}
}

func (f *filter) match(subject string) bool {
	if len(f.patterns) == 0 {
		return true
	}
	matches, known := f.known[subject]
	if !known {
		matches = MatchAny(f.patterns, subject)
		f.known[subject] = matches
	}
	return matches
}

func (s *stream) end() uint64 { return uint64(len(s.messages)) }

// Read implements bus.Ledger. The context bounds nothing but the call.
func (l *Ledger) Read(ctx context.Context, stream string, from uint64, subjects ...string) (bus.Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.stream(stream)
	if err != nil {
		return nil, err
	}
	r := &reader{ledger: l, stream: s, from: from, subjects: newFilter(subjects), wake: make(chan struct{}, 1)}
	s.readers = append(s.readers, r)
	r.signal()
	return r, nil
}

// Scan implements bus.Ledger.
func (l *Ledger) Scan(ctx context.Context, stream string, from uint64, subjects ...string) iter.Seq2[bus.Message, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.stream(stream)
	if err != nil {
		return func(yield func(bus.Message, error) bool) { yield(bus.Message{}, err) }
	}
	limit, wanted := s.end(), newFilter(subjects)
	return func(yield func(bus.Message, error) bool) {
		for position := from; ; {
			if err := ctx.Err(); err != nil {
				yield(bus.Message{}, err)
				return
			}
			l.mu.Lock()
			message, ok := s.next(position, limit, wanted)
			l.mu.Unlock()
			if !ok || !yield(message, nil) {
				return
			}
			position = message.Sequence + 1
		}
	}
}

// Get implements bus.Ledger.
func (l *Ledger) Get(_ context.Context, stream string, sequence uint64) (bus.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.stream(stream)
	if err != nil {
		return bus.Message{}, err
	}
	if sequence == 0 || sequence > s.end() {
		return bus.Message{}, fmt.Errorf("message %d of %s: %w", sequence, stream, bus.ErrNotFound)
	}
	return s.messages[sequence-1], nil
}

// Last implements bus.Ledger.
func (l *Ledger) Last(_ context.Context, subject string) (bus.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.streamOf(subject); s != nil {
		if sequence := s.last[subject]; sequence > 0 {
			return s.messages[sequence-1], nil
		}
	}
	return bus.Message{}, fmt.Errorf("last of %s: %w", subject, bus.ErrNotFound)
}

// LastOf implements bus.Ledger. The messages come in the order of the subjects.
func (l *Ledger) LastOf(_ context.Context, shard int, subjects []string) ([]bus.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.stream(bus.ShardStream(shard))
	if err != nil {
		return nil, err
	}
	var found []bus.Message
	for _, subject := range subjects {
		if sequence := s.last[subject]; sequence > 0 {
			found = append(found, s.messages[sequence-1])
		}
	}
	return found, nil
}

// State implements bus.Ledger.
func (l *Ledger) State(_ context.Context, stream string) (bus.StreamState, error) {
	if stream == bus.ArtifactStream {
		return l.artifacts.state(), nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.stream(stream)
	if err != nil {
		return bus.StreamState{}, err
	}
	return bus.StreamState{First: min(1, s.end()), Last: s.end(), Messages: s.end(), Bytes: s.bytes, MaxBytes: l.maxBytes}, nil
}

type reader struct {
	ledger   *Ledger
	stream   *stream
	from     uint64 // guarded by the ledger's lock, as is closed
	subjects *filter
	wake     chan struct{}
	closed   bool
}

func (r *reader) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Next implements bus.Reader.
func (r *reader) Next() (bus.Message, bool, error) {
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	if r.closed {
		return bus.Message{}, false, bus.ErrClosed
	}
	end := r.stream.end()
	message, ok := r.stream.next(r.from, end, r.subjects)
	if ok {
		r.from = message.Sequence + 1
	} else {
		r.from = max(r.from, end+1)
	}
	return message, ok, nil
}

// Wake implements bus.Reader.
func (r *reader) Wake() <-chan struct{} { return r.wake }

// Close implements bus.Reader.
func (r *reader) Close() {
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.stream.readers = slices.DeleteFunc(r.stream.readers, func(other *reader) bool { return other == r })
		r.signal()
	}
}
