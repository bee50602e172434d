package llm_test

import (
	"context"
	"errors"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"podium/agents/llm"
	"podium/agents/llm/modelserver"
	"podium/bus/agent"
	"podium/schemas"
)

// A roundTrip is what a server answers to the n-th call; header is its Retry-After.
type roundTrip func(call int) (status int, header, body string)

// RoundTrip implements http.RoundTripper.
func (r *roundTrips) RoundTrip(request *nethttp.Request) (*nethttp.Response, error) {
	_ = request.Body.Close()
	r.calls++
	status, after, body := r.answer(r.calls)
	header := nethttp.Header{"Content-Type": {"application/json"}}
	if after != "" {
		header.Set("Retry-After", after)
	}
	return &nethttp.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: request}, nil
}

type roundTrips struct {
	answer roundTrip
	calls  int
}

// TestRetryAfterIsHeeded: a server without room is waited for within a few seconds and within the time of the request; if it asks for
// more, the core is told when to come back, and the slot is free at once.
func TestRetryAfterIsHeeded(t *testing.T) {
	t.Parallel()
	const said = `{"choices": [{"message": {"content": "Done."}, "finish_reason": "stop"}]}`
	moment := func(in time.Duration) string { return time.Now().Add(in).UTC().Format(nethttp.TimeFormat) }
	for _, test := range []struct {
		name    string
		after   func() string
		busy    int // so often, and then it answers
		timeout time.Duration
		took    time.Duration
		calls   int
		retry   time.Duration // when the core is told to come back; with no answer
		fails   bool
	}{
		{"a second", func() string { return "1" }, 1, time.Minute, time.Second, 2, 0, false},
		{"a moment", func() string { return moment(2 * time.Second) }, 1, time.Minute, 2 * time.Second, 2, 0, false},
		{"again and again", func() string { return "1" }, 9, time.Minute, 3 * time.Second, 4, time.Second, true},
		{"longer", func() string { return "20" }, 9, time.Minute, 0, 1, 20 * time.Second, true},
		{"longer than there is time", func() string { return "2" }, 9, time.Second, 0, 1, 2 * time.Second, true},
		{"next year", func() string { return "31536000" }, 9, time.Minute, 0, 1, 5 * time.Minute, true},
		{"the past", func() string { return moment(-time.Hour) }, 9, time.Minute, 0, 1, 0, true},
		{"not said", func() string { return "" }, 9, time.Minute, 0, 1, 0, true},
		{"garbage", func() string { return "soon" }, 9, time.Minute, 0, 1, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &roundTrips{answer: func(call int) (int, string, string) {
					if call <= test.busy {
						return nethttp.StatusTooManyRequests, test.after(), ""
					}
					return nethttp.StatusOK, "", said
				}}
				made, err := llm.New(llm.Config{
					Role: llm.RoleRouter, BaseURL: "http://model.test/v1", Model: "m", Client: &nethttp.Client{Transport: server}, Timeout: test.timeout,
				})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				_, err = made.Handle(t.Context(), request(llm.RoleRouter, "energy"), func(int, string) {})
				failure, _ := errors.AsType[*agent.Failure](err)
				if took := time.Since(began); took != test.took || server.calls < test.calls || test.fails && server.calls != test.calls {
					t.Errorf("%d calls in %s", server.calls, took)
				}
				if failure == nil || failure.Category == schemas.CategoryResource != test.fails || failure.RetryAfter != test.retry {
					t.Errorf("%+v", failure)
				}
			})
		})
	}
}

// TestWaitingEndsWithTheRequest: whoever is not waited for any more waits for no server.
func TestWaitingEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := &roundTrips{answer: func(int) (int, string, string) { return nethttp.StatusServiceUnavailable, "3", "" }}
		made, err := llm.New(llm.Config{Role: llm.RoleWorker, BaseURL: "http://model.test/v1", Model: "m", Client: &nethttp.Client{Transport: server}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		time.AfterFunc(time.Second, cancel)
		_, err = made.Handle(ctx, request(llm.RoleWorker, "energy"), func(int, string) {})
		if !errors.Is(err, context.Canceled) || time.Since(began) != time.Second || server.calls != 1 {
			t.Errorf("%v after %s and %d calls", err, time.Since(began), server.calls)
		}
	})
}

// TestNobodyListens: where no server is, whoever runs the agent is told where to look.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	made, _ := asking(t, llm.RoleWorker, says(modelserver.Answer{}), func(c *llm.Config) { c.BaseURL = "http://user:" + key + "@" + address + "/v1" })
	outcome, failure := handle(t, made, request(llm.RoleWorker, "energy"))
	check(t, &ending{category: schemas.CategoryDependency, says: "cannot be reached", remedy: "look at base_url; is the server up?"}, &outcome, failure)
}
