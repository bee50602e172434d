package bus_test

import (
	"context"
	"errors"
	"testing"

	"podium/bus"
	"podium/bus/memory"
)

// silent never says what became of a publish.
type silent struct{ *memory.Ledger }

func (silent) Publish(bus.Message, bus.Expect, func(bus.Ack, error)) {}

func TestAppendAndNextEndWithTheirContext(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := bus.Message{Subject: bus.ControlSubject(0)}
	if _, err := bus.Append(ctx, silent{ledger}, m, bus.Expect{}); !errors.Is(err, context.Canceled) || !bus.Temporary(err) {
		t.Errorf("append without an outcome: %v", err)
	}
	if ack, err := bus.Append(ctx, ledger, m, bus.Expect{}); err != nil || ack.Sequence != 1 {
		t.Errorf("a known outcome outranks the context: %+v, %v", ack, err)
	}
	r, err := ledger.Read(t.Context(), bus.ShardStream(0), 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bus.Next(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("next without a message: %v", err)
	}
	r.Close()
	if _, err := bus.Next(t.Context(), r); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("next of a closed reader: %v", err)
	}
}
