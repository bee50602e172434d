package agent

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"path"
	"strings"
	"time"

	"podium/bus"
	"podium/schemas"
)

// A Handler does one agent's work: one request, one outcome.
//
// An error is a failed response. Return a *Failure to say what a person may
// read and whether another attempt can help; any other error counts as worth
// another attempt and its text stays in the log. After a permit (see
// Request.Permit) such an error leaves open whether the effect has happened.
// The outcome is read beside an error, too: what the attempt has cost and found is kept.
// ErrElsewhere is no failure: the answer comes by another way.
type Handler interface {
	Handle(ctx context.Context, request *Request, report Report) (Outcome, error)
}

// A Checker is a Handler that can say whether it could do its work at this moment: whether a server answers, a program
// is there. Serve asks it before it announces the agent, and again with its signs of life. While it cannot, that is
// told and nobody asks it. Check changes nothing outside. The text of an error is shown to whoever runs the agent, so
// that it holds no secret and nobody's words.
type Checker interface {
	Check(ctx context.Context) error
}

// A HandlerFunc is a function as a Handler.
type HandlerFunc func(ctx context.Context, request *Request, report Report) (Outcome, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, request *Request, report Report) (Outcome, error) {
	return f(ctx, request, report)
}

// A Request is one execution_request as a Handler sees it.
type Request struct {
	schemas.ExecutionRequest
	Attempt  int       // 1 is the first
	EffectID string    // the same for every attempt: derive outward ids from it
	Expires  time.Time // after this nobody waits; zero is never
	Run      string    // the run, when the request names it
	// Artifacts opens what the request names, by the reference as it stands there,
	// and keeps files: an answer that repeats what Put has returned may pass them on.
	Artifacts bus.Artifacts
	// Deliveries is how often this attempt was handed out, as far as is known. 1 is
	// the first time for sure (see First). From 2 on another process may have worked on
	// it, and so it may have when it is 0: unknown.
	Deliveries int

	permit  func(ctx context.Context, action *schemas.Action) error
	partial func(text string)
	event   *schemas.Event // that it came by; nil for one that Serve has not made
}

// Permit asks for permission to act outside, which an agent does once everything that
// may fail for free has succeeded, right before it acts. Nil is permission: for this
// call of Handle, for one effect. Any other error says that it must not act; the
// handler returns it as it is. Without an answer it asks again, with the same
// question, every second until ctx ends. Calls wait for each other.
//
// Whoever made the request decides: one of the past is refused, and so is one
// whose effect may have happened already if the profile wants to be asked then. For a
// question, which is any other kind than work, there is no permit, and nobody is asked.
// The first to be handed the request (see First) may have the permit already: then Permit returns
// at once, and so it does when nobody is named who could refuse. Errors: a
// *Failure that wraps ErrNotPermitted; ErrElsewhere, when the work was permitted before and goes on elsewhere; or why ctx
// ended.
func (r *Request) Permit(ctx context.Context) error { return r.askPermit(ctx, nil) }

// PermitFor is Permit for an action, which it names: what stems from what comes from outside (TaskContext.Tainted) is refused where the
// profile does not allow it, unless the profile itself holds just this action. A request of which nobody is named who could refuse is refused
// then, too. The error wraps bus.ErrUnapproved; when the handler returns it, Serve answers blocked, with the action as the operation
// that is proposed. A permit is for one action: another one needs another request.
func (r *Request) PermitFor(ctx context.Context, action schemas.Action) error {
	return r.askPermit(ctx, &action)
}

func (r *Request) askPermit(ctx context.Context, action *schemas.Action) error {
	if r.permit == nil {
		return nil
	}
	return r.permit(ctx, action)
}

// WithPermit returns the request with somebody who answers Permit and PermitFor.
func (r *Request) WithPermit(permit func(ctx context.Context) error) *Request {
	return r.WithPermitFor(func(ctx context.Context, _ *schemas.Action) error { return permit(ctx) })
}

// WithPermitFor is WithPermit for whoever looks at the action, which is nil when the agent names none.
func (r *Request) WithPermitFor(permit func(ctx context.Context, action *schemas.Action) error) *Request {
	asking := *r
	asking.permit = permit
	return &asking
}

// ErrNotListed reports a file that a request does not list.
var ErrNotListed = errors.New("the request lists no such file")

// Open opens a file that the request lists among its attachments, by the id that it has there. Reading to the
// end verifies it. Errors: ErrNotListed, those of bus.Artifacts.
func (r *Request) Open(ctx context.Context, id string) (io.ReadCloser, error) {
	for i := range r.Task().Context.Attachments {
		if file := &r.Task().Context.Attachments[i]; file.ID == id {
			if r.Artifacts == nil {
				return nil, bus.ErrNotFound
			}
			return r.Artifacts.Get(ctx, file.Artifact())
		}
	}
	return nil, ErrNotListed
}

// Keep stores a file, so that the answer may name it: as metadata of a deliverable, or among the attachments
// of its data.
func (r *Request) Keep(ctx context.Context, content io.Reader, name, mediaType string) (schemas.Attachment, error) {
	if r.Artifacts == nil {
		return schemas.Attachment{}, bus.ErrNotFound
	}
	artifact, err := r.Artifacts.Put(ctx, content, mediaType)
	return schemas.Attachment{Name: name, MediaType: mediaType, Artifact: artifact}, err
}

// MediaTypeOf is the media type of a file by the ending of its name, for Keep.
func MediaTypeOf(name string) string {
	kind, _, _ := strings.Cut(mime.TypeByExtension(strings.ToLower(path.Ext(name))), ";")
	return cmp.Or(kind, "application/octet-stream")
}

// Task returns the one task of the request, which Serve has checked to exist.
func (r *Request) Task() *schemas.Task { return &r.Payload.Tasks[0] }

// Report tells how far the work is: a percentage (0–100) and one line for a
// person, which may be empty. It may be called from any goroutine until Handle returns.
type Report func(percentage int, message string)

// A Failure is an error with a sentence for a person.
type Failure struct {
	Message   string // for a person; it may be shown to whoever asked
	Permanent bool   // no other attempt can help
	Unknown   bool   // what was permitted outside may have happened all the same
	Crashed   bool   // the process has ended while it worked on the request, more than once
	Err       error  // for the log; may be nil
	// Remedy says to whoever runs the agent what is wrong and what to look at; it may be empty. It stands in records and logs, so it holds
	// no secret and nobody's words.
	Remedy string
	// RetryAfter is how long another attempt had better wait; 0 is as the profile has it.
	RetryAfter time.Duration
	// Category classifies it (M-44); it may be empty. CategoryResource says that the
	// agent is well and cannot do this now, for want of room within a rate or because a
	// server that it needs is away, and that nothing was done: its circuit breaker does
	// not count it, and an answer is tried for a day.
	Category schemas.FailureCategory
}

func (f *Failure) Error() string {
	if f.Err != nil {
		return f.Err.Error()
	}
	return f.Message
}

func (f *Failure) Unwrap() error { return f.Err }
