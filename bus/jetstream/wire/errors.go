package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
)

// Error codes of the server (server/errors.json) that the library does not name.
const (
	codeAccountResources jetstream.ErrorCode = 10002
	codeInsufficient     jetstream.ErrorCode = 10023
	CodeStorageResources jetstream.ErrorCode = 10047
	codeStoreFailed      jetstream.ErrorCode = 10077
	codeHeaderTooLarge   jetstream.ErrorCode = 10097
)

// errSwallowed reports an append that the server took for a repeat.
var errSwallowed = errors.New("the server took the message for a repeat and did not store it")

// ErrInProcess reports an append that was refused, and not stored, because the leader of a replicated stream still works
// on the one before. It says nothing of what stands in the stream: the same append may succeed a moment later.
var ErrInProcess = errors.New("the append before is still in process")

// ErrCrowded reports more publishes under way than the server can be expected to
// answer in time.
var ErrCrowded = errors.New("too many publishes wait for the server")

// Classify gives an error of the client or the server the meaning that bus knows.
func Classify(op string, err error) error {
	if err == nil || bus.Temporary(err) {
		return err
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return ClassifyAPI(op, api)
	}
	switch {
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrConnectionDraining):
		return fmt.Errorf("%s: %w", op, bus.ErrClosed)
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%s: %w", op, bus.ErrTooLarge)
	case errors.Is(err, nats.ErrPermissionViolation):
		return fmt.Errorf("%s: %w", op, bus.ErrDenied)
	case transient(err):
		return &bus.TemporaryError{Op: op, Err: err}
	}
	return fmt.Errorf("%s: %w", op, err)
}

// Unsendable tells what the client has against a message from what is wrong with
// the connection: then the server may have the message or not.
func Unsendable(err error) error {
	if bus.IsAny(err, nats.ErrMaxPayload, nats.ErrBadSubject, nats.ErrBadHeaderMsg, nats.ErrHeadersNotSupported, nats.ErrInvalidMsg,
		nats.ErrConnectionClosed, nats.ErrConnectionDraining, nats.ErrInvalidConnection) {
		return err
	}
	return &bus.TemporaryError{Op: "publish", Err: err}
}

func transient(err error) bool {
	return bus.IsAny(err, nats.ErrNoResponders, nats.ErrTimeout, nats.ErrDisconnected, nats.ErrReconnectBufExceeded,
		nats.ErrConnectionReconnecting, nats.ErrStaleConnection,
		jetstream.ErrNoStreamResponse, ErrCrowded, jetstream.ErrInvalidJSAck, context.DeadlineExceeded, context.Canceled)
}

// ClassifyAPI is Classify for an error in the server's own words.
func ClassifyAPI(op string, api *jetstream.APIError) error {
	switch api.ErrorCode {
	case jetstream.JSErrCodeStreamWrongLastSequence:
		return fmt.Errorf("%s: %w", op, bus.ErrConflict)
	case jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return &bus.TemporaryError{Op: op, Err: fmt.Errorf("%w: %w", ErrInProcess, api)}
	case jetstream.JSErrCodeStreamMessageExceedsMaximum, codeHeaderTooLarge:
		return fmt.Errorf("%s: %w", op, bus.ErrTooLarge)
	case jetstream.JSErrCodeMessageNotFound:
		return fmt.Errorf("%s: %w", op, bus.ErrNotFound)
	case codeAccountResources, codeInsufficient, CodeStorageResources:
		return fmt.Errorf("%s: %w", op, bus.ErrFull)
	case jetstream.JSErrCodeMaximumConsumersLimit:
		return TooManyReaders(op)
	case codeStoreFailed:
		if strings.Contains(api.Description, "maximum") { // bytes or messages exceeded
			return fmt.Errorf("%s: %w", op, bus.ErrFull)
		}
		return &bus.TemporaryError{Op: op, Err: api}
	}
	if api.Code >= 500 {
		return &bus.TemporaryError{Op: op, Err: api}
	}
	return fmt.Errorf("%s: %w", op, api)
}

// NotFound maps the library's ways to say so.
func NotFound(err error) error {
	if bus.IsAny(err, jetstream.ErrStreamNotFound, jetstream.ErrMsgNotFound, jetstream.ErrKeyNotFound,
		jetstream.ErrBucketNotFound, jetstream.ErrObjectNotFound, jetstream.ErrConsumerNotFound) {
		return fmt.Errorf("%w: %w", bus.ErrNotFound, err)
	}
	return err
}

// ClassifyStore keeps a meaning that is already there: the library's own errors
// wrap an API error whose code says less.
func ClassifyStore(op string, err error) error {
	if bus.IsAny(err, bus.ErrConflict, bus.ErrNotFound) {
		return fmt.Errorf("%s: %w", op, err)
	}
	return Classify(op, err)
}

// TooManyReaders is bus.ErrTooManyReaders, and what was found instead of room.
func TooManyReaders(found string) error {
	return &bus.TemporaryError{Op: found, Err: bus.ErrTooManyReaders}
}
