package http_test

import (
	"errors"
	"io"
	nethttp "net/http"
	"sync/atomic"
	"testing"
	"time"

	agenthttp "podium/agents/http"
	"podium/bus/agent"
	"podium/schemas"
)

const address = "https://podium.example.org/v1/agents/erp/answer/token"

func async(config *agenthttp.Config) {
	config.Secret, config.Callback = secret, func(*agent.Request) (string, error) { return address, nil }
}

// TestAcceptedMeansLater: 202 of an asynchronous endpoint is neither an answer nor a failure, also after a permit. The call
// says where to answer, under the id that all attempts have.
func TestAcceptedMeansLater(t *testing.T) {
	t.Parallel()
	for _, acts := range []bool{false, true} {
		var header nethttp.Header
		made := endpoint(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
			header = r.Header
			w.WriteHeader(nethttp.StatusAccepted)
			_, _ = io.WriteString(w, "ignored")
		}, async, func(config *agenthttp.Config) {
			if acts {
				external(config)
			}
		})
		if _, err := made.Handle(t.Context(), asked(), silent); !errors.Is(err, agent.ErrElsewhere) {
			t.Errorf("acts %t: %v", acts, err)
		}
		if header.Get("Podium-Callback") != address || header.Get("Webhook-Id") != "effect-1" {
			t.Errorf("acts %t: %v", acts, header)
		}
	}
}

// TestAcceptedWithoutACallback: an endpoint that nobody expects to answer later has not answered.
func TestAcceptedWithoutACallback(t *testing.T) {
	t.Parallel()
	made := endpoint(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.Header.Get("Podium-Callback") != "" {
			t.Error("it is told where to answer")
		}
		w.WriteHeader(nethttp.StatusAccepted)
	})
	_, err := made.Handle(t.Context(), asked(), silent)
	if failure, is := errors.AsType[*agent.Failure](err); !is || !failure.Permanent {
		t.Errorf("%v", err)
	}
}

// TestAnAsynchronousEndpointMayAnswerAtOnce, and what it fails with leaves open whether it calls back, unless
// it says that it has no room or was not reached.
func TestAnAsynchronousEndpointMayAnswerAtOnce(t *testing.T) {
	t.Parallel()
	made := endpoint(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) { _, _ = io.WriteString(w, "done") }, async)
	if outcome, err := made.Handle(t.Context(), asked(), silent); err != nil || outcome.Text != "done" {
		t.Errorf("%+v, %v", outcome, err)
	}
	for status, unknown := range map[int]bool{nethttp.StatusServiceUnavailable: false, nethttp.StatusBadGateway: true} {
		made = endpoint(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) { w.WriteHeader(status) }, async)
		_, err := made.Handle(t.Context(), asked(), silent)
		failure, is := errors.AsType[*agent.Failure](err)
		if !is || failure.Unknown != unknown || failure.Category == schemas.CategoryResource == unknown {
			t.Errorf("%d: %+v", status, failure)
		}
	}
	var called atomic.Bool
	var err error
	untilCalled(&called, func(timeout time.Duration) {
		made = endpoint(t, func(_ nethttp.ResponseWriter, r *nethttp.Request) {
			called.Store(true)
			_, _ = io.ReadAll(r.Body)
			<-r.Context().Done()
		}, async, func(config *agenthttp.Config) { config.Timeout = timeout })
		_, err = made.Handle(t.Context(), asked(), silent)
	})
	if failure, is := errors.AsType[*agent.Failure](err); !is || !failure.Unknown {
		t.Errorf("a call without an answer: %+v", failure)
	}
	made = endpoint(t, func(nethttp.ResponseWriter, *nethttp.Request) { t.Error("it is called without an address") }, async, func(config *agenthttp.Config) {
		config.Callback = func(*agent.Request) (string, error) { return "", errors.New("no key") }
	})
	_, err = made.Handle(t.Context(), asked(), silent)
	if failure, is := errors.AsType[*agent.Failure](err); !is || failure.Unknown {
		t.Errorf("a call that has no address: %+v", failure)
	}
}
