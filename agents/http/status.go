package http

import (
	"context"
	nethttp "net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
)

// A statusError is an answer that is none to use.
type statusError struct{ status int }

// Error implements error.
func (s *statusError) Error() string { return "the endpoint answered HTTP " + strconv.Itoa(s.status) }

// temporary reports whether another attempt may help.
func (s *statusError) temporary() bool {
	switch s.status {
	case nethttp.StatusRequestTimeout, nethttp.StatusTooEarly, nethttp.StatusTooManyRequests, nethttp.StatusInternalServerError,
		nethttp.StatusBadGateway, nethttp.StatusServiceUnavailable, nethttp.StatusGatewayTimeout:
		return true
	}
	return false
}

// busy reports whether the endpoint is well and has no room now.
func (s *statusError) busy() bool {
	return s.status == nethttp.StatusTooManyRequests || s.status == nethttp.StatusServiceUnavailable
}

// A trace knows whether a connection was there for a call: before that surely nothing was done.
type trace struct{ connected atomic.Bool }

func newTrace() *trace { return &trace{} }

func (t *trace) with(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { t.connected.Store(true) }})
}

func (t *trace) made() bool { return t.connected.Load() }
