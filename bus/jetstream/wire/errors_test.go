package wire

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	api := func(status int, code jetstream.ErrorCode, description string) error {
		return fmt.Errorf("nats: %w", &jetstream.APIError{Code: status, ErrorCode: code, Description: description})
	}
	temporary := errors.New("temporary")
	permanent := errors.New("permanent")
	for _, test := range []struct {
		err  error
		want error
	}{
		{api(400, 10071, "wrong last sequence: 7"), bus.ErrConflict},
		{api(400, 10164, "wrong last sequence"), temporary}, // nothing is known of what stands there
		{api(503, 10077, "maximum bytes exceeded"), bus.ErrFull},
		{api(503, 10077, "no space left on device"), temporary},
		{api(400, 10002, "resource limits exceeded for account"), bus.ErrFull},
		{api(503, 10023, "insufficient resources"), bus.ErrFull},
		{api(500, 10047, "insufficient storage resources available"), bus.ErrFull},
		{api(400, 10054, "message size exceeds maximum allowed"), bus.ErrTooLarge},
		{api(400, 10097, "header size exceeds maximum allowed of 64k"), bus.ErrTooLarge},
		{api(404, 10037, "no message found"), bus.ErrNotFound},
		{api(503, 10008, "JetStream system temporarily unavailable"), temporary},
		{api(400, 10111, "rollup not permitted"), permanent},
		{nats.ErrMaxPayload, bus.ErrTooLarge},
		{nats.ErrConnectionClosed, bus.ErrClosed},
		{nats.ErrConnectionDraining, bus.ErrClosed},
		{nats.ErrReconnectBufExceeded, temporary},
		{nats.ErrDisconnected, temporary},
		{nats.ErrTimeout, temporary},
		{nats.ErrNoResponders, temporary},
		{jetstream.ErrNoStreamResponse, temporary},
		{ErrCrowded, temporary},
		{context.DeadlineExceeded, temporary},
		{fmt.Errorf("%w: for publish to x", nats.ErrPermissionViolation), bus.ErrDenied},
		{errSwallowed, permanent},
		{nats.ErrBadSubject, permanent},
	} {
		got := Classify("publish", test.err)
		switch {
		case errors.Is(test.want, temporary) || errors.Is(test.want, permanent):
			if bus.Temporary(got) != errors.Is(test.want, temporary) || !errors.Is(got, errors.Unwrap(test.err)) && !errors.Is(got, test.err) {
				t.Errorf("%v became %v, want a %v one that wraps it", test.err, got, test.want)
			}
		case !errors.Is(got, test.want) || bus.Temporary(got):
			t.Errorf("%v became %v, want %v", test.err, got, test.want)
		}
	}
	if Classify("publish", nil) != nil {
		t.Error("no error became one")
	}
}
