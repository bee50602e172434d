package dav

import (
	"errors"
	"strconv"

	"podium/bus/agent"
	"podium/schemas"
)

// Failure tells a person and the log of a call that has failed. What a *WriteError leaves open, it leaves open.
func (c *Client) Failure(language string, err error) *agent.Failure {
	failure := &agent.Failure{Err: err}
	if written, is := errors.AsType[*WriteError](err); is {
		failure.Unknown = written.Unknown
	}
	refused, isStatus := errors.AsType[*StatusError](err)
	switch {
	case errors.Is(err, ErrNoETag):
		failure.Message, failure.Permanent = c.words.Say(language, "no_etag"), true
		failure.Remedy = "the server gives the entry no strong ETag, or does not accept the one that it gives: look at the server, and at a proxy before it that makes ETags weak, as compression does"
	case errors.Is(err, ErrChanged):
		failure.Message = c.words.Say(language, "changed")
	case isStatus:
		failure.Message = c.words.Say(language, "status", "{status}", strconv.Itoa(refused.Status))
		failure.Permanent = !refused.temporary() && !failure.Unknown
		if refused.busy() && !failure.Unknown {
			failure.Category = schemas.CategoryResource
		}
		if refused.credentials() {
			failure.Remedy = "the server refuses user and password: look at the keys user and password of the agent"
		}
	case errors.Is(err, ErrOrigin):
		failure.Message, failure.Permanent = c.words.Say(language, "elsewhere"), true
		failure.Remedy = "the server names an address of another origin; credentials go to that of the url alone: look at the key url of the agent"
	case errors.Is(err, ErrNoCollection), errors.Is(err, ErrNotFound):
		failure.Message, failure.Permanent = c.words.Say(language, "no_collection"), true
		failure.Remedy = "the key url of the agent has to lead to a calendar or an address book, or to a server on which this user has exactly one"
	case errors.Is(err, ErrUnreadable):
		failure.Message, failure.Permanent = c.words.Say(language, "unreadable"), true
	case c.config.Barred != nil && c.config.Barred(err):
		failure.Message, failure.Permanent = c.words.Say(language, "barred"), true
	case errors.Is(err, errTimeout):
		failure.Message = c.words.Say(language, "timeout", "{timeout}", c.config.Timeout.String())
	default:
		failure.Message = c.words.Say(language, "unreachable")
	}
	return failure
}

// temporary reports whether another attempt may help.
func (s *StatusError) temporary() bool {
	return s.Status >= 500 || s.Status == 408 || s.Status == 423 || s.busy()
}

// busy reports whether the server is well and has no room now.
func (s *StatusError) busy() bool { return s.Status == 429 || s.Status == 503 }

// credentials reports whether it is the user or the password that is refused.
func (s *StatusError) credentials() bool { return s.Status == 401 || s.Status == 403 }
