package caldav_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/agents/caldav"
	"podium/agents/dav"
	"podium/agents/dav/radicale"
	"podium/bus/agent"
	"podium/schemas"
)

// now is a Monday in winter, four weeks before the days that the tests book on.
var now = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

func berlin(tb testing.TB) *time.Location {
	tb.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		tb.Fatal(err)
	}
	return zone
}

func noRedirects() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func config(tb testing.TB, at string) caldav.Config {
	tb.Helper()
	return caldav.Config{
		Server:   dav.Config{URL: at + radicale.Calendar, User: radicale.User, Password: radicale.Password, Client: noRedirects(), Timeout: 20 * time.Second},
		Location: berlin(tb), Now: func() time.Time { return now },
	}
}

func newAgent(tb testing.TB, at string, change ...func(*caldav.Config)) *caldav.Agent {
	tb.Helper()
	settings := config(tb, at)
	for _, apply := range change {
		apply(&settings)
	}
	made, err := caldav.New(settings)
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

// asked is the first delivery of a request.
func asked(effect, arguments string) *agent.Request {
	return &agent.Request{
		ExecutionRequest: schemas.ExecutionRequest{
			Envelope: schemas.Envelope{MessageID: "request-" + effect, Type: schemas.EnvelopeTypeExecutionRequest},
			Payload: schemas.RequestPayload{PlanID: "p", Tasks: []schemas.Task{{
				TaskID: "t1", Context: schemas.TaskContext{Arguments: []byte(arguments), Constraints: []byte(`{"language":"de"}`)},
			}}},
		},
		Attempt: 1, EffectID: effect, Deliveries: 1,
	}
}

// again is a further attempt at the same effect.
func again(request *agent.Request) *agent.Request {
	next := *request
	next.Attempt, next.Deliveries = request.Attempt+1, 1
	return &next
}

func booking(effect, day, clock, name string) *agent.Request {
	return asked(effect, fmt.Sprintf(`{"action":"schedule","appointment_data":{"date":%q,"time":%q,"person":%q}}`, day, clock, name))
}

func silent(int, string) {}

// handled is the outcome of a request that is done.
func handled(tb testing.TB, made *caldav.Agent, request *agent.Request) (agent.Outcome, caldav.Result) {
	tb.Helper()
	outcome, err := made.Handle(tb.Context(), request, silent)
	if err != nil {
		tb.Fatalf("%s: %v", request.Task().Context.Arguments, err)
	}
	var result caldav.Result
	if len(outcome.Data) > 0 {
		if err := json.Unmarshal(outcome.Data, &result); err != nil {
			tb.Fatal(err)
		}
	}
	return outcome, result
}

// failed is the failure of a request that is not done.
func failed(tb testing.TB, made *caldav.Agent, request *agent.Request) *agent.Failure {
	tb.Helper()
	outcome, err := made.Handle(tb.Context(), request, silent)
	failure, is := errors.AsType[*agent.Failure](err)
	if !is {
		tb.Fatalf("%s: %+v, %v", request.Task().Context.Arguments, outcome, err)
	}
	return failure
}

func stored(tb testing.TB, server *radicale.Server) int {
	tb.Helper()
	return len(server.Names(tb, radicale.Calendar, ".ics"))
}

// entry puts an entry of somebody else into the calendar.
func entry(tb testing.TB, server *radicale.Server, name string, lines ...string) {
	tb.Helper()
	server.Put(tb, radicale.Calendar+name+".ics", calendarOf(name, lines...))
}

func calendarOf(name string, lines ...string) string {
	return strings.Join(append(append([]string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//other//EN", "BEGIN:VEVENT", "UID:" + name, "DTSTAMP:20260101T000000Z",
	}, lines...), "END:VEVENT", "END:VCALENDAR", ""), "\r\n")
}

// A link is between the agent and the server, and may be cut.
type link struct {
	URL string

	mu  sync.Mutex
	cut func(r *http.Request) cutting
}

type cutting int

const (
	whole  cutting = iota
	before         // the server never gets the call
	after          // the server has done it, and nobody hears of it
)

func newLink(tb testing.TB, server *radicale.Server) *link {
	tb.Helper()
	target, err := url.Parse(server.URL)
	if err != nil {
		tb.Fatal(err)
	}
	l := &link{}
	forward := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch l.cutOf(r) {
		case before:
			panic(http.ErrAbortHandler)
		case after:
			forward.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
			panic(http.ErrAbortHandler)
		case whole:
			forward.ServeHTTP(w, r)
		}
	}))
	tb.Cleanup(front.Close)
	l.URL = front.URL
	return l
}

func (l *link) cutOf(r *http.Request) cutting {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut == nil {
		return whole
	}
	return l.cut(r)
}

func (l *link) set(cut func(r *http.Request) cutting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
}

// meanwhile is a permit, before which something happens.
func meanwhile(happens func()) func(context.Context) error {
	return func(context.Context) error {
		happens()
		return nil
	}
}
