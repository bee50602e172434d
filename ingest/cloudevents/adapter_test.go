package cloudevents_test

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/memory"
	"podium/ingest/cloudevents"
	"podium/schemas"
)

// An event keeps its id, and what makes it one is the source that it came in by with
// its attributes source and id, so that no two senders share one (I03).
func TestIdentity_I03(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	same := expect[cloudevents.Accepted](t, adapter, binary("application/json", note), 202)
	for name, test := range map[string]struct {
		call call
		one  bool
	}{
		"repeat":         {binary("application/json", note), true},
		"other mode":     {structured(event(`"data":` + note)), true},
		"other source":   {binary("application/json", note, "Ce-Source", "/others"), false},
		"other id":       {binary("application/json", note, "Ce-Id", "2"), false},
		"moved boundary": {binary("application/json", note, "Ce-Source", "/ticket", "Ce-Id", "s1"), false},
	} {
		if got := expect[cloudevents.Accepted](t, adapter, test.call, 202); (got.ID == same.ID) != test.one || (got.Session == same.Session) != test.one {
			t.Errorf("%s: %+v beside %+v", name, got, same)
		}
	}
	elsewhere := binary("application/json", note)
	elsewhere.path = "/v1/events/plain"
	if got := expect[cloudevents.Accepted](t, adapter, elsewhere, 202); got.ID == same.ID || got.Session == same.Session {
		t.Errorf("two tenants share an event: %+v", got)
	}
	first := inputs(t, ledger)[0]
	if message := read[schemas.ChatReceived](t, first.Data); message.MessageID != "1" || message.Provider != "http" || first.Source != "/podium/http/tickets" {
		t.Errorf("event %+v, message %+v", first, message)
	}
}

// A conversation is what the partition key names, inside the source.
func TestConversation(t *testing.T) {
	t.Parallel()
	adapter := newAdapter(t, memory.New(4))
	session := func(path, id string, header ...string) string {
		made := binary("application/json", note, append([]string{"Ce-Id", id}, header...)...)
		made.path = "/v1/events/" + path
		return expect[cloudevents.Accepted](t, adapter, made, 202).Session
	}
	alone, other := session("tickets", "1"), session("tickets", "2")
	keyed, again := session("tickets", "3", "Ce-Partitionkey", "k"), session("tickets", "4", "Ce-Partitionkey", "k")
	long := strings.Repeat("€", 300)
	if alone == other || keyed != again || keyed == alone || session("plain", "5", "Ce-Partitionkey", "k") == keyed ||
		session("tickets", "6", "Ce-Partitionkey", "webhook//web/t") == schemas.SessionID(profile, "webhook//web/t") ||
		session("tickets", "7", "Ce-Partitionkey", long) != session("tickets", "8", "Ce-Partitionkey", long) {
		t.Error("conversations are not told apart by their partition key and their source")
	}
	made := structured(event(`"partitionkey":"k"`, `"data":{"title":"x","ticket":{"id":7}}`)).as("com.example.ticket.created")
	first := expect[cloudevents.Accepted](t, adapter, made, 202).Session
	made = structured(`{"specversion":"1.0","id":"9","source":"/","type":"com.example.ticket.created","data":{"title":"y","ticket":{"id":"7"}}}`)
	if second := expect[cloudevents.Accepted](t, adapter, made, 202).Session; first != second || first == keyed {
		t.Error("the configured pointer does not name the conversation")
	}
}

func TestEventAttributes(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	expect[cloudevents.Accepted](t, newAdapter(t, ledger), binary("application/json", note,
		"Ce-Time", "2026-01-31T12:00:00+01:00", "Ce-Traceparent", trace, "Ce-Replyto", "podium.control.0", "Ce-Profile", "other"), 202)
	got := inputs(t, ledger)[0]
	want := schemas.Event{
		ID: got.ID, Source: "/podium/http/tickets", Type: schemas.TypeChatReceived, Time: time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC),
		DataContentType: "application/json", PartitionKey: got.PartitionKey, Profile: profile, TraceParent: trace, Data: got.Data,
	}
	if got.Data = nil; !got.Time.Equal(want.Time) {
		t.Errorf("time %s", got.Time)
	}
	if got.TraceParent != trace || got.Profile != profile || got.ReplyTo != "" {
		t.Errorf("event %+v", got)
	}
}

func TestWhoMaySend(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*call)
		status int
		kind   string
	}{
		"token":                 {func(*call) {}, 202, ""},
		"no token":              {func(c *call) { c.header.Del("Authorization") }, 401, "unauthentic"},
		"wrong token":           {func(c *call) { c.header.Set("Authorization", "Bearer no") }, 401, "unauthentic"},
		"no such source":        {func(c *call) { c.path = "/v1/events/nowhere" }, 401, "unauthentic"},
		"token in the query":    {func(c *call) { c.path += "?access_token=x" }, 400, "query-token"},
		"signed headers":        {func(c *call) { c.header.Del("Authorization"); c.header.Set("Webhook-Signature", signature) }, 401, "unsigned-attributes"},
		"GET":                   {func(c *call) { c.method = http.MethodGet }, 405, "method"},
		"elsewhere":             {func(c *call) { c.path = "/v1/events/" }, 404, "no-such-page"},
		"nonsense, no token":    {func(c *call) { c.header = http.Header{}; c.body = "{" }, 401, "unauthentic"},
		"signed and structured": {func(c *call) { *c = structured(event(`"data":` + note)); signed(c) }, 202, ""},
		"signed batch":          {func(c *call) { *c = batch("[" + event(`"data":`+note) + "]"); signed(c) }, 202, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := memory.New(1)
			made := binary("application/json", note)
			test.change(&made)
			recorder := made.do(t.Context(), newAdapter(t, ledger))
			if recorder.Code != test.status {
				t.Fatalf("status %d, want %d: %s", recorder.Code, test.status, recorder.Body)
			}
			if got := len(inputs(t, ledger)); (got == 1) != (test.status == 202) {
				t.Errorf("%d events", got)
			}
			if test.kind == "" {
				return
			}
			if problem := read[cloudevents.Problem](t, recorder.Body.Bytes()); problem.Type != "urn:podium:problem:"+test.kind {
				t.Errorf("problem %+v", problem)
			}
		})
	}
}

func signed(c *call) {
	c.header.Del("Authorization")
	c.header.Set("Webhook-Signature", signature)
}

// The good events of a batch are taken, the bad ones are named, and to send all of it
// again is free.
func TestBatch(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	good, other := event(`"data":`+note), strings.Replace(event(`"data":`+note), `"id":"1"`, `"id":"2"`, 1)
	if taken := expect[cloudevents.Batch](t, adapter, batch("["+good+","+other+"]"), 202); len(taken.Accepted) != 2 || taken.Accepted[1].Event != 1 ||
		taken.Accepted[0].Session == taken.Accepted[1].Session {
		t.Errorf("taken %+v", taken)
	}
	mixed := expect[cloudevents.Problem](t, adapter, batch("["+good+`,{"id":"3"},`+other+",7]"), 400)
	if len(mixed.Accepted) != 2 || len(mixed.Errors) != 2 || mixed.Accepted[1].Event != 2 || mixed.Errors[0].Event != 1 ||
		mixed.Errors[0].Attribute != "specversion" || mixed.Errors[1].Event != 3 {
		t.Errorf("problem %+v", mixed)
	}
	ids := map[string]bool{}
	for _, stored := range inputs(t, ledger) {
		ids[stored.ID] = true
	}
	if len(ids) != 2 {
		t.Errorf("%d events", len(ids))
	}
	if empty := expect[cloudevents.Batch](t, adapter, batch("[]"), 202); len(empty.Accepted) != 0 {
		t.Errorf("an empty batch gives %+v", empty)
	}
}

// A storm of repeats is one event in one conversation, so that it makes one run.
func TestRetryStorm(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	adapter := newAdapter(t, ledger)
	var storm sync.WaitGroup
	for range 16 {
		storm.Go(func() {
			if recorder := binary("application/json", note).do(t.Context(), adapter); recorder.Code != 202 || recorder.Header().Get("Location") == "" {
				t.Errorf("status %d", recorder.Code)
			}
		})
	}
	storm.Wait()
	events := inputs(t, ledger)
	for i := range events {
		if events[i].ID != events[0].ID || events[i].PartitionKey != events[0].PartitionKey || !slices.Equal(events[i].Data, events[0].Data) {
			t.Errorf("event %d differs: %+v", i, events[i])
		}
	}
	if len(events) != 16 {
		t.Errorf("%d of 16 that were acknowledged are on the ledger", len(events))
	}
}

func TestLedgerInTrouble(t *testing.T) {
	t.Parallel()
	down := &bus.TemporaryError{Op: "publish", Err: errors.New("no responders")}
	for name, test := range map[string]struct {
		core   bus.Core
		status int
		after  string
	}{
		"down":      {&faulty{Ledger: memory.New(1), err: down}, 503, "2"},
		"closed":    {&faulty{Ledger: memory.New(1), err: bus.ErrClosed}, 503, "2"},
		"full":      {memory.New(1, memory.WithMaxBytes(1)), 429, "30"},
		"too large": {&faulty{Ledger: memory.New(1), err: bus.ErrTooLarge}, 413, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := binary("application/json", note).do(t.Context(), newAdapter(t, test.core))
			if recorder.Code != test.status || recorder.Header().Get("Retry-After") != test.after {
				t.Errorf("status %d, Retry-After %q: %s", recorder.Code, recorder.Header().Get("Retry-After"), recorder.Body)
			}
		})
	}
}

// When the ledger goes away in the middle of a batch, its repeat brings what was lost
// and changes nothing about what was stored.
func TestLedgerDownInABatchLosesNothing(t *testing.T) {
	t.Parallel()
	ledger := &faulty{Ledger: memory.New(1), good: 1, err: bus.ErrClosed}
	adapter := newAdapter(t, ledger)
	list := batch("[" + event(`"data":`+note) + "," + strings.Replace(event(`"data":`+note), `"id":"1"`, `"id":"2"`, 1) + "]")
	expect[cloudevents.Problem](t, adapter, list, 503)
	ledger.err = nil
	taken := expect[cloudevents.Batch](t, adapter, list, 202)
	events := inputs(t, ledger)
	if len(taken.Accepted) != 2 || len(events) != 3 || events[0].ID != events[1].ID || events[2].ID != taken.Accepted[1].ID {
		t.Errorf("taken %+v, events %d", taken, len(events))
	}
	if tally := adapter.Tallies()[1]; tally.Source != "tickets" || tally.Accepted != 3 || tally.Failed != 1 {
		t.Errorf("tally %+v", tally)
	}
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	limited := func(c *cloudevents.Config) {
		source := c.Sources["tickets"]
		source.PerMinute = 120
		c.Sources["tickets"] = source
	}
	free := newAdapter(t, memory.New(1))
	bound := newAdapter(t, memory.New(1), limited)
	for name, test := range map[string]struct {
		adapter      *cloudevents.Adapter
		source       string
		origin, rate string
		status       int
		allowed      string
	}{
		"allowed":            {free, "tickets", "eventemitter.example.com", "", 200, ""},
		"in capitals":        {free, "tickets", "EventEmitter.example.com", "", 200, ""},
		"asks a rate":        {free, "tickets", "eventemitter.example.com", "60", 200, "60"},
		"asks nonsense":      {free, "tickets", "eventemitter.example.com", "many", 200, "*"},
		"limited":            {bound, "tickets", "eventemitter.example.com", "", 200, "120"},
		"asks more":          {bound, "tickets", "eventemitter.example.com", "1000", 200, "120"},
		"asks less":          {bound, "tickets", "eventemitter.example.com", "10", 200, "10"},
		"a stranger":         {free, "tickets", "evil.example.com", "", 405, ""},
		"no origin":          {free, "tickets", "", "", 405, ""},
		"none are allowed":   {free, "plain", "eventemitter.example.com", "", 405, ""},
		"source is not here": {free, "nowhere", "eventemitter.example.com", "", 405, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{"Webhook-Request-Callback": {"http://127.0.0.1:1/confirm"}}
			if test.origin != "" {
				header.Set("Webhook-Request-Origin", test.origin)
			}
			if test.rate != "" {
				header.Set("Webhook-Request-Rate", test.rate)
			}
			got := call{method: http.MethodOptions, path: "/v1/events/" + test.source, header: header}.do(t.Context(), test.adapter)
			if got.Code != test.status || got.Header().Get("Webhook-Allowed-Rate") != test.allowed || got.Header().Get("Allow") != "POST" {
				t.Errorf("status %d, %v", got.Code, got.Header())
			}
			if allowed := got.Header().Get("Webhook-Allowed-Origin"); (allowed != "") != (test.status == 200) || allowed != "" && allowed != test.origin {
				t.Errorf("allowed origin %q", allowed)
			}
		})
	}
}

// However slow the rate of a source is, its first request after a start is taken, and
// then one in each of its intervals.
func TestSlowRate(t *testing.T) {
	t.Parallel()
	for _, perMinute := range []int{1, 2, 5, 6} {
		now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
		adapter := newAdapter(t, memory.New(1), func(c *cloudevents.Config) {
			source := c.Sources["tickets"]
			source.PerMinute = perMinute
			c.Sources["tickets"], c.Now = source, func() time.Time { return now }
		})
		interval := time.Minute / time.Duration(perMinute)
		for n := range 3 {
			if got := binary("application/json", note).do(t.Context(), adapter); got.Code != 202 {
				t.Errorf("%d a minute: request %d: status %d, Retry-After %s", perMinute, n+1, got.Code, got.Header().Get("Retry-After"))
			}
			if got := binary("application/json", note).do(t.Context(), adapter); got.Code != 429 || got.Header().Get("Retry-After") != strconv.Itoa(int(interval.Seconds())) {
				t.Errorf("%d a minute: one more right after request %d: status %d, Retry-After %q", perMinute, n+1, got.Code, got.Header().Get("Retry-After"))
			}
			now = now.Add(interval)
		}
		now = now.Add(time.Hour) // no more is kept than one
		for n, want := range []int{202, 429} {
			if got := binary("application/json", note).do(t.Context(), adapter); got.Code != want {
				t.Errorf("%d a minute, after an hour: request %d: status %d", perMinute, n+1, got.Code)
			}
		}
	}
}

// A source may send as often as the handshake says, and a stranger uses up nothing of it.
func TestRate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	adapter := newAdapter(t, memory.New(1), func(c *cloudevents.Config) {
		source := c.Sources["tickets"]
		source.PerMinute = 60
		c.Sources["tickets"], c.Now = source, func() time.Time { return now }
	})
	send := func(change ...string) (int, string) {
		recorder := binary("application/json", note, change...).do(t.Context(), adapter)
		return recorder.Code, recorder.Header().Get("Retry-After")
	}
	for range 100 {
		if status, _ := send("Authorization", "Bearer no"); status != 401 {
			t.Fatalf("status %d", status)
		}
	}
	for i := range 10 {
		if status, _ := send(); status != 202 {
			t.Fatalf("request %d: status %d", i, status)
		}
	}
	if status, after := send(); status != 429 || after != "1" {
		t.Errorf("status %d, Retry-After %q", status, after)
	}
	now = now.Add(time.Second)
	if status, _ := send(); status != 202 {
		t.Errorf("a second later: status %d", status)
	}
	if status, _ := send(); status != 429 {
		t.Errorf("twice in a second: status %d", status)
	}
}

// While every place is taken, more requests are told to come again.
func TestBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		held := &silent{Ledger: memory.New(1)}
		adapter := newAdapter(t, held, func(c *cloudevents.Config) { c.Requests = 1 })
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if recorder := binary("application/json", note).do(t.Context(), adapter); recorder.Code != 503 {
				t.Errorf("a ledger that says nothing: status %d", recorder.Code)
			}
		})
		synctest.Wait()
		began := time.Now()
		if recorder := binary("application/json", note).do(t.Context(), adapter); recorder.Code != 429 || recorder.Header().Get("Retry-After") != "2" {
			t.Errorf("status %d", recorder.Code)
		}
		waiting.Wait()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the ledger was waited for %s", took)
		}
	})
}

// A silent ledger never says what became of a publish.
type silent struct{ *memory.Ledger }

func (silent) Publish(bus.Message, bus.Expect, func(bus.Ack, error)) {}

const request = `{"message_id":"6a9b3b2e-0b0e-4f0e-8f0e-0b0e4f0e8f0e","from":"erp","to":"supervisor","type":"execution_request",
"timestamp":"2026-01-31T12:00:00Z","payload":{"plan_id":"7a9b3b2e-0b0e-4f0e-8f0e-0b0e4f0e8f0e","request_id":"r1",
"tasks":[{"task_id":"a","description":"Calculate 2 + 3","assigned_to":"calculator","dependencies":[],"estimated_tokens":0,
"estimated_time_seconds":1,"deliverables":[],"validation_criteria":[],"context":{"files_to_modify":[],"references":[]}}],
"agent_assignments":{"calculator":["a"]},"validation_criteria":[],"risks":[]}}`

// An execution_request is taken as it is, when it is addressed to the supervisor, and
// never answers where its sender says.
func TestPlan_M02(t *testing.T) {
	t.Parallel()
	const id = "6a9b3b2e-0b0e-4f0e-8f0e-0b0e4f0e8f0e"
	plan := func(body string, header ...string) call {
		return binary("application/json", body, append([]string{"Ce-Type", schemas.TypeExecutionRequest, "Ce-Id", id}, header...)...)
	}
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	accepted := expect[cloudevents.Accepted](t, adapter, plan(request, "Ce-Replyto", "podium.control.0", "Ce-Correlationid", "c",
		"Ce-Expires", "2030-01-01T00:00:00Z", "Ce-Attempt", "2", "Ce-Effectid", "e"), 202)
	got := inputs(t, ledger)[0]
	if accepted.ID != id || got.ID != id || got.Type != schemas.TypeExecutionRequest || got.Profile != profile || string(got.Data) != request ||
		got.ReplyTo != "" || got.CorrelationID != "c" || got.Attempt != 2 || got.EffectID != "e" || got.Expires.Year() != 2030 {
		t.Errorf("event %+v", got)
	}
	if again := expect[cloudevents.Accepted](t, adapter, plan(request, "Ce-Effectid", "e"), 202); again.Session != accepted.Session {
		t.Error("a second attempt of one effect has a session of its own")
	}
	for name, test := range map[string]struct {
		call      call
		attribute string
		pointer   string
	}{
		"another id":     {plan(request, "Ce-Id", "other"), "id", ""},
		"another agent":  {plan(strings.Replace(request, `"to":"supervisor"`, `"to":"calculator"`, 1)), "data", "#/to"},
		"no tasks":       {plan(strings.Replace(request, `"tasks"`, `"task"`, 1)), "data", "#/payload"},
		"a question":     {plan(strings.Replace(request, `"references":[]`, `"references":[],"kind":"assess"`, 1)), "data", "#/payload/tasks"},
		"attempt":        {plan(request, "Ce-Attempt", "x"), "attempt", ""},
		"expires":        {plan(request, "Ce-Expires", "soon"), "expires", ""},
		"source without": {at(plan(request), "plain"), "type", ""},
	} {
		problem := expect[cloudevents.Problem](t, adapter, test.call, 400)
		if len(problem.Errors) != 1 || problem.Errors[0].Attribute != test.attribute || problem.Errors[0].Pointer != test.pointer {
			t.Errorf("%s: %+v", name, problem.Errors)
		}
	}
}

func at(c call, source string) call {
	c.path = "/v1/events/" + source
	return c
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*cloudevents.Config){
		"no profile": func(c *cloudevents.Config) { c.Sources["x"] = cloudevents.Source{} },
		"who sends":  func(c *cloudevents.Config) { c.Sources["x"] = cloudevents.Source{Profile: "p"} },
		"no type of event": func(c *cloudevents.Config) {
			c.Sources["x"] = cloudevents.Source{Profile: "p", Verifier: authenticator{}}
		},
		"the name": func(c *cloudevents.Config) {
			c.Sources["a b"] = cloudevents.Source{Profile: "p", Verifier: authenticator{}, Types: map[string]cloudevents.Type{"t": {}}}
		},
		"not a JSON Pointer": func(c *cloudevents.Config) {
			c.Sources["x"] = cloudevents.Source{Profile: "p", Verifier: authenticator{}, Types: map[string]cloudevents.Type{"t": {Text: []string{"x"}}}}
		},
		"URLs of runs": func(c *cloudevents.Config) { c.RunURLs = nil },
	} {
		made := config()
		change(&made)
		if _, err := cloudevents.New(made, memory.New(1), nolog()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
