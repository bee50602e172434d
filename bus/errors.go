package bus

import (
	"errors"
	"fmt"
	"slices"
)

var (
	// ErrConflict reports that a subject or a key is not where the caller expected it.
	ErrConflict = errors.New("it was changed by someone else")
	// ErrNotFound reports that there is no such message, key or artifact.
	ErrNotFound = errors.New("not found")
	// ErrFull reports a stream that takes no more. Nothing was stored.
	ErrFull = errors.New("the ledger is full")
	// ErrFailed reports a ledger whose disk did not keep what was written to it. Nothing is stored until
	// its process is started again.
	ErrFailed = errors.New("the ledger's disk has failed")
	// ErrTooLarge reports a message over the server's limit. Nothing was stored.
	ErrTooLarge = errors.New("the message is too large")
	// ErrClosed reports use after Close.
	ErrClosed = errors.New("the connection to the ledger is closed")
	// ErrTooManyReaders reports, in a temporary error, a stream that has as many
	// readers as it may. Another one finds room when one of them has ended.
	ErrTooManyReaders = errors.New("too many readers at a time; try again in a few seconds")
	// ErrDenied reports that the server's permissions refuse it.
	ErrDenied = errors.New("permission denied")
	// ErrNotGranted reports an artifact for which an agent shows no valid grant.
	ErrNotGranted = errors.New("no valid grant for the artifact")
	// ErrRefused reports that a core service does not do it for this agent; no other
	// try can succeed.
	ErrRefused = errors.New("the core refuses it")
	// ErrNotPermitted reports that whoever made a request does not want its effect any
	// more, or that it asks a question.
	ErrNotPermitted = errors.New("the agent may not act")
	// ErrUnapproved is ErrNotPermitted because what the agent would do stems from what comes from outside, and nobody has agreed to it.
	ErrUnapproved = fmt.Errorf("%w: nobody has agreed to what comes from outside", ErrNotPermitted)
	// ErrUndeclared reports a request of a kind that its agent does not declare.
	ErrUndeclared = errors.New("the kind is not declared")
	// ErrSealed reports a body that is encrypted (attribute keyid): this version opens none.
	ErrSealed = errors.New("the body is encrypted, and this version opens no such body")
	// ErrCorrupt reports bytes that do not match the hash they are named by.
	ErrCorrupt = errors.New("the content does not match its hash")
)

// A MalformedError reports a message that is not an event Podium can read. It
// belongs into quarantine: no other try can help.
type MalformedError struct {
	Detail string // English: what is wrong; it quotes no value of the message
	Err    error  // what callers branch on, if anything
}

func (e *MalformedError) Error() string { return "malformed message: " + e.Detail }
func (e *MalformedError) Unwrap() error { return e.Err }

// A RefusedError is ErrRefused with a sentence that says why, and what to do.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }
func (e *RefusedError) Unwrap() error { return ErrRefused }

// A TemporaryError is one that another try may not meet. After a publish that
// failed so, the message may be in the stream or not.
type TemporaryError struct {
	Op  string
	Err error
}

func (e *TemporaryError) Error() string { return fmt.Sprintf("%s: %v", e.Op, e.Err) }
func (e *TemporaryError) Unwrap() error { return e.Err }

// Temporary reports whether another try may succeed.
func Temporary(err error) bool {
	_, temporary := errors.AsType[*TemporaryError](err)
	return temporary
}

// IsAny reports whether an error is one of several.
func IsAny(err error, several ...error) bool {
	return slices.ContainsFunc(several, func(one error) bool { return errors.Is(err, one) })
}
