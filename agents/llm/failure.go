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
	"time"

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
type statusError struct {
	status int
	after  time.Duration // how long it asks to wait; 0 if it does not say
}

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

// refusesKey reports whether the server does not let the caller in.
func (s *statusError) refusesKey() bool {
	return s.status == nethttp.StatusUnauthorized || s.status == nethttp.StatusForbidden
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

// failure says what a person reads of an error, what whoever runs the agent does, and whether another attempt can help. The person's words
// are about the model alone; keys of the configuration are for the other.
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
		refused.tell(made, say)
	case isInvalid:
		say("invalid", "{fault}", a.hide(invalid.fault))
		made.Category = schemas.CategoryValidation
	case reason == ReasonBarred:
		say("barred")
		made.Permanent, made.Remedy = true, "egress does not let the agent go to base_url"
	case reason == ReasonTooLarge || errors.Is(err, errTooLarge):
		say("too_much")
		made.Permanent = true
	case reason == ReasonSilent:
		say("silent")
		made.Remedy = "the server of the model fell silent: look at its load, and at idle"
	case limited.Err() != nil:
		say("timeout", "{timeout}", a.config.Timeout.String())
		made.Remedy = "the model had not answered after " + a.config.Timeout.String() + ": look at the load of its server, and at timeout"
	case errors.Is(err, errFiltered):
		say("filtered")
		made.Permanent = true
	case errors.Is(err, errBroken):
		say("broken")
		made.Remedy = "what answered is no chat completion, or not the whole of one: look at base_url; is it the server of a model?"
	case errors.Is(err, errFetch):
		say("unfetched")
	case errors.Is(err, errUnusable):
		say("unusable")
		made.Permanent = true
	default:
		say("unreachable")
		made.Err = wordless(err)
		made.Category, made.Remedy = schemas.CategoryDependency, remedyFor(made.Err)
	}
	return made
}

// tell says what an answer of the server means.
func (s *statusError) tell(made *agent.Failure, say func(key string, places ...string)) {
	said := "the server of the model answered HTTP " + strconv.Itoa(s.status)
	made.Permanent = s.permanent()
	switch {
	case s.busy():
		say("busy")
		made.Category, made.RetryAfter = schemas.CategoryResource, s.after
		made.Remedy = said + ": it has no room now"
		if s.after > 0 {
			made.Remedy += ", and asks to wait " + s.after.Round(time.Second).String()
		}
	case s.refusesKey():
		say("refused")
		made.Category, made.Remedy = schemas.CategoryDependency, said+": look at key"
	case s.status == nethttp.StatusNotFound:
		say("refused")
		made.Category, made.Remedy = schemas.CategoryDependency, said+": look at model and base_url"
	case s.status >= nethttp.StatusMultipleChoices && s.status < nethttp.StatusBadRequest:
		say("refused")
		made.Category, made.Remedy = schemas.CategoryDependency, said+", a redirect, which is not followed: look at base_url"
	case s.permanent():
		say("refused")
		made.Remedy = said + ": look at model, max_tokens and structured"
	default:
		say("status")
		made.Remedy = said + ": look at the log of that server"
	}
}

// remedyFor says what to look at when a connection has failed. It has no address: one may hold a secret.
func remedyFor(err error) string {
	if failed, is := errors.AsType[*net.OpError](err); is && failed.Op == "dial" {
		return "nothing takes the connection: look at base_url; is the server up?"
	}
	if _, is := errors.AsType[*tls.CertificateVerificationError](err); is {
		return "the certificate of the server of the model does not verify: look at base_url"
	}
	if _, is := errors.AsType[wordlessError](err); is {
		return "what answers there is no HTTP: look at base_url"
	}
	return "the connection to the server of the model broke: look at the log of that server"
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
