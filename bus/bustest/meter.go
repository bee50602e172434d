package bustest

import (
	"context"
	"iter"
	"sync/atomic"

	"podium/bus"
)

// A Meter is a ledger that counts the messages which are read of it.
type Meter struct {
	bus.Core
	messages, bytes atomic.Int64
}

// Reset begins to count anew.
func (m *Meter) Reset() {
	m.messages.Store(0)
	m.bytes.Store(0)
}

// Count returns how many messages were read, and the bytes of their bodies.
func (m *Meter) Count() (messages, bytes int64) { return m.messages.Load(), m.bytes.Load() }

func (m *Meter) count(message bus.Message) {
	m.messages.Add(1)
	m.bytes.Add(int64(len(message.Body)))
}

// Get implements bus.Ledger.
func (m *Meter) Get(ctx context.Context, stream string, sequence uint64) (bus.Message, error) {
	message, err := m.Core.Get(ctx, stream, sequence)
	m.count(message)
	return message, err
}

// Last implements bus.Ledger.
func (m *Meter) Last(ctx context.Context, subject string) (bus.Message, error) {
	message, err := m.Core.Last(ctx, subject)
	m.count(message)
	return message, err
}

// Scan implements bus.Ledger.
func (m *Meter) Scan(ctx context.Context, stream string, from uint64, subjects ...string) iter.Seq2[bus.Message, error] {
	return func(yield func(bus.Message, error) bool) {
		for message, err := range m.Core.Scan(ctx, stream, from, subjects...) {
			if m.count(message); !yield(message, err) {
				return
			}
		}
	}
}

// Read implements bus.Ledger.
func (m *Meter) Read(ctx context.Context, stream string, from uint64, subjects ...string) (bus.Reader, error) {
	reader, err := m.Core.Read(ctx, stream, from, subjects...)
	return meteredReader{reader, m}, err
}

type meteredReader struct {
	bus.Reader
	meter *Meter
}

func (r meteredReader) Next() (bus.Message, bool, error) {
	message, ok, err := r.Reader.Next()
	if ok {
		r.meter.count(message)
	}
	return message, ok, err
}
