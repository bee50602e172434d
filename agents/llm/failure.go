package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"strconv"

	"podium/bus/agent"
	"podium/schemas"
)

// A Reason is why a client did not bring an answer.
type Reason int

// The reasons.
const (
	ReasonOther    Reason = iota // the connection, or nothing that the client knows
	ReasonBarred                 // it may not go there
	ReasonTooLarge               // it stopped reading
	ReasonSilent                 // it stopped waiting
)

// A statusError is an answer that is none to use.
type statusError struct{ status int }

// Error implements error.
func (s *statusError) Error() string {
	return "the server of the model answered HTTP " + strconv.Itoa(s.status)
}

// permanent reports whether no other attempt can help.
func (s *statusError) permanent() bool {
	switch s.status {
	case nethttp.StatusRequestTimeout, nethttp.StatusConflict, nethttp.StatusTooEarly, nethttp.StatusTooManyRequests:
		return false
	}
	return s.status < nethttp.StatusInternalServerError
}

// busy reports whether the server is well and has no room now.
func (s *statusError) busy() bool {
	return s.status == nethttp.StatusTooManyRequests || s.status == nethttp.StatusServiceUnavailable
}

// misunderstood reports whether the server may not know a part of what it was asked.
func (s *statusError) misunderstood() bool {
	return s.status == nethttp.StatusBadRequest || s.status == nethttp.StatusUnprocessableEntity
}

// An invalidError is an answer that is not what was asked for.
type invalidError struct{ fault string }

// Error implements error. What is wrong is not in it: it may repeat words of the answer.
func (*invalidError) Error() string { return "the answer of the model is not what was asked for" }

var (
	errTimeout  = errors.New("the model took too long")
	errFiltered = errors.New("the model refused to answer")
)

// failure says what a person reads of an error, and whether another attempt can help.
func (a *Agent) failure(ctx, limited context.Context, language string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("the call was stopped: %w", context.Cause(ctx))
	}
	made := &agent.Failure{Err: err}
	say := func(key string, places ...string) { made.Message = a.words.Say(language, key, places...) }
	reason := ReasonOther
	if a.config.Reason != nil {
		reason = a.config.Reason(err)
	}
	refused, isStatus := errors.AsType[*statusError](err)
	invalid, isInvalid := errors.AsType[*invalidError](err)
	switch {
	case isStatus:
		say("status", "{status}", strconv.Itoa(refused.status))
		made.Permanent = refused.permanent()
		if refused.busy() {
			made.Category = schemas.CategoryResource
		}
	case isInvalid:
		say("invalid", "{fault}", a.hide(invalid.fault))
		made.Category = schemas.CategoryValidation
	case reason == ReasonBarred:
		say("barred")
		made.Permanent = true
	case reason == ReasonTooLarge || errors.Is(err, errTooLarge):
		say("too_much")
		made.Permanent = true
	case reason == ReasonSilent:
		say("silent")
	case limited.Err() != nil:
		say("timeout", "{timeout}", a.config.Timeout.String())
	case errors.Is(err, errFiltered):
		say("filtered")
		made.Permanent = true
	case errors.Is(err, errBroken):
		say("broken")
	case errors.Is(err, errFetch):
		say("unfetched")
	case errors.Is(err, errUnusable):
		say("unusable")
		made.Permanent = true
	default:
		say("unreachable")
		made.Err = wordless(err)
	}
	return made
}

// A wordlessError is an error whose words may be those of a server.
type wordlessError struct{ error }

// Error implements error.
func (wordlessError) Error() string {
	return "the connection to the server of the model failed: what came is no HTTP"
}

// Unwrap is for errors.Is.
func (w wordlessError) Unwrap() error { return w.error }

// wordless keeps the words of what this machine says of a connection, and no others: what is wrong with a response is told by quoting it.
func wordless(err error) error {
	_, connection := errors.AsType[*net.OpError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	if connection || certificate || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return wordlessError{err}
}
