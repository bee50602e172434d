package chat_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/memory"
	"podium/ingest/chat"
	"podium/ingest/runs"
	"podium/schemas"
)

func TestPostBecomesOneEvent_X02(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	adapter := newAdapter(t, ledger)
	accepted, header := expect[chat.Accepted](t, adapter, post("web",
		`{"text":"2+2?","thread":"t","tenant":"w","user":{"id":"u","name":"Ann"},"language":"en"}`, "Webhook-Id", "m1"), http.StatusAccepted)
	if header.Get("Location") != accepted.Run || accepted.ID != "chat:web:m1" || accepted.Sequence == 0 {
		t.Errorf("accepted %+v, Location %q", accepted, header.Get("Location"))
	}
	if !strings.HasPrefix(accepted.Run, "/v1/runs/"+accepted.Session+"~"+strconv.FormatUint(accepted.Sequence, 10)+"?key=") ||
		!strings.HasPrefix(accepted.Events, pathOf(accepted.Run)+"/events?key=") {
		t.Errorf("URLs %q %q", accepted.Run, accepted.Events)
	}
	events := inputs(t, ledger)
	if len(events) != 1 {
		t.Fatalf("%d events", len(events))
	}
	event := events[0]
	if event.Type != schemas.TypeChatReceived || event.Profile != profile || event.PartitionKey != "webhook/w/web/t" ||
		schemas.SessionID(event.Profile, event.PartitionKey) != accepted.Session || event.Source != "/podium/chat/web" {
		t.Errorf("event %+v", event)
	}
	want := schemas.ChatReceived{
		Provider: "webhook", Tenant: "w", Channel: "web", Thread: "t", MessageID: "m1",
		User: schemas.ChatUser{ID: "u", Name: "Ann"}, Text: "2+2?", Language: "en",
	}
	if got := read[schemas.ChatReceived](t, event.Data); !reflect.DeepEqual(got, want) {
		t.Errorf("message %+v, want %+v", got, want)
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	const hello = `{"text":"hello"}`
	full := memory.New(1, memory.WithMaxBytes(1))
	broken := func(err error) bus.Core { return &faulty{Ledger: memory.New(1), err: err} }
	for name, test := range map[string]struct {
		core   bus.Core
		call   call
		status int
		kind   string // the last part of the problem's type
		header string // name=value that must be there
	}{
		"accepted":            {call: post("web", hello), status: 202},
		"charset":             {call: post("web", hello, "Content-Type", `Application/JSON; charset="UTF-8"`), status: 202},
		"wrong token":         {call: post("web", hello, "Authorization", "Bearer nonsense-nonsense"), status: 401, kind: "unauthentic", header: `Www-Authenticate=Bearer realm="podium"`},
		"no token":            {call: post("web", hello, "Authorization", ""), status: 401, kind: "unauthentic"},
		"token of another":    {call: post("web", hello, "Authorization", "Bearer "+otherToken), status: 401, kind: "unauthentic"},
		"unknown channel":     {call: post("nowhere", hello), status: 401, kind: "unauthentic"},
		"bad JSON":            {call: post("web", `{"text":`), status: 400, kind: "invalid-message"},
		"no text":             {call: post("web", `{}`), status: 400, kind: "invalid-message"},
		"bad webhook id":      {call: post("web", hello, "Webhook-Id", strings.Repeat("x", 300)), status: 400, kind: "invalid-id"},
		"exactly 1 MiB":       {call: post("web", padded(chat.MaxBody)), status: 202},
		"one byte more":       {call: post("web", padded(chat.MaxBody+1)), status: 413, kind: "too-large"},
		"too large, a guest":  {call: post("web", padded(chat.MaxBody+1), "Authorization", ""), status: 401, kind: "unauthentic"},
		"no content type":     {call: post("web", hello, "Content-Type", ""), status: 415, kind: "media-type"},
		"a form":              {call: post("web", hello, "Content-Type", "application/x-www-form-urlencoded"), status: 415, kind: "media-type"},
		"Latin-1":             {call: post("web", hello, "Content-Type", "application/json; charset=iso-8859-1"), status: 415, kind: "media-type"},
		"compressed":          {call: post("web", hello, "Content-Encoding", "gzip"), status: 415, kind: "media-type"},
		"PUT on the webhook":  {call: call{method: "PUT", path: "/v1/chat/web"}, status: 405, kind: "method", header: "Allow=GET, HEAD, POST"},
		"POST on a run":       {call: call{method: "POST", path: "/v1/runs/x"}, status: 405, kind: "method", header: "Allow=GET, HEAD"},
		"DELETE of events":    {call: call{method: "DELETE", path: "/v1/runs/x/events"}, status: 405, kind: "method"},
		"elsewhere":           {call: get("/v1/elsewhere"), status: 404, kind: "no-such-page"},
		"ledger full":         {core: full, call: post("web", hello), status: 503, kind: "ledger-full", header: "Retry-After=30"},
		"publish full":        {core: broken(bus.ErrFull), call: post("web", hello), status: 503, kind: "ledger-full", header: "Retry-After=30"},
		"ledger down":         {core: broken(&bus.TemporaryError{Op: "publish", Err: errors.New("no responders")}), call: post("web", hello), status: 503, kind: "ledger-unavailable", header: "Retry-After=2"},
		"ledger closed":       {core: broken(bus.ErrClosed), call: post("web", hello), status: 503, kind: "ledger-unavailable", header: "Retry-After=2"},
		"too large for it":    {core: broken(bus.ErrTooLarge), call: post("web", hello), status: 413, kind: "too-large"},
		"down, not authentic": {core: broken(bus.ErrClosed), call: post("web", hello, "Authorization", ""), status: 401, kind: "unauthentic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			core := test.core
			if core == nil {
				core = memory.New(2)
			}
			recorder := test.call.do(t, newAdapter(t, core))
			if recorder.Code != test.status {
				t.Fatalf("status %d, want %d: %s", recorder.Code, test.status, recorder.Body)
			}
			if name, value, ok := strings.Cut(test.header, "="); ok && recorder.Header().Get(name) != value {
				t.Errorf("%s is %q, want %q", name, recorder.Header().Get(name), value)
			}
			if test.status < 400 {
				return
			}
			problem := read[chat.Problem](t, recorder.Body.Bytes())
			if recorder.Header().Get("Content-Type") != "application/problem+json" || problem.Status != test.status ||
				problem.Type != "urn:podium:problem:"+test.kind || problem.Title == "" || problem.Detail == "" {
				t.Errorf("problem %+v as %q", problem, recorder.Header().Get("Content-Type"))
			}
			if (test.status == 400 && test.kind == "invalid-message") != (len(problem.Errors) == 1) {
				t.Errorf("places %+v", problem.Errors)
			}
		})
	}
}

// padded is a valid message of exactly that many bytes.
func padded(size int) string {
	const frame = `{"text":""}`
	return `{"text":"` + strings.Repeat("x", size-len(frame)) + `"}`
}

func TestUnknownChannelLooksLikeAWrongSecret(t *testing.T) {
	t.Parallel()
	adapter := newAdapter(t, memory.New(1))
	wrong := post("web", "not even JSON", "Authorization", "Bearer nonsense-nonsense").do(t, adapter)
	unknown := post("nowhere", "not even JSON").do(t, adapter)
	if wrong.Code != unknown.Code || !reflect.DeepEqual(wrong.Header(), unknown.Header()) || wrong.Body.String() != unknown.Body.String() {
		t.Errorf("a wrong secret:\n%d %v %s\nan unknown channel:\n%d %v %s",
			wrong.Code, wrong.Header(), wrong.Body, unknown.Code, unknown.Header(), unknown.Body)
	}
}

// TestTokenIsRecognized: a GET says whether a token is that of the channel, takes nothing
// in, and tells nobody else whether the channel exists.
func TestTokenIsRecognized(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger, everyProvider)
	bearer := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		known := call{method: method, path: "/v1/chat/web", header: http.Header{}}
		if answer := known.with(bearer(token)...).do(t, adapter); answer.Code != http.StatusNoContent || answer.Body.Len() > 0 ||
			answer.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s with the token: %d %v %s", method, answer.Code, answer.Header(), answer.Body)
		}
	}
	posted := post("nowhere", "").do(t, adapter)
	for name, refused := range map[string]call{
		"wrong token":         get("/v1/chat/web", bearer("nonsense-nonsense")...),
		"no token":            get("/v1/chat/web"),
		"token of another":    get("/v1/chat/web", bearer(otherToken)...),
		"another scheme":      get("/v1/chat/web", "Authorization", "Basic "+token),
		"a part of the token": get("/v1/chat/web", bearer(token[:8])...),
		"unknown channel":     get("/v1/chat/nowhere", bearer(token)...),
		"a channel of Slack":  get("/v1/chat/slack", bearer(token)...),
		"the query":           get("/v1/chat/web?token=" + token),
	} {
		answer := refused.do(t, adapter)
		if answer.Code != http.StatusUnauthorized || !reflect.DeepEqual(answer.Header(), posted.Header()) || answer.Body.String() != posted.Body.String() {
			t.Errorf("%s: %d %v %s", name, answer.Code, answer.Header(), answer.Body)
		}
	}
	if events := inputs(t, ledger); len(events) != 0 {
		t.Errorf("%d events", len(events))
	}
}

func TestSignedPost(t *testing.T) {
	t.Parallel()
	ledger, now := memory.New(1), time.Unix(1_700_000_000, 0)
	adapter := newAdapter(t, ledger, func(c *chat.Config) {
		c.Channels["web"] = chat.Channel{Profile: profile, Secrets: []string{secret()}}
		c.Now = func() time.Time { return now }
	})
	const body = `{"text":"hello"}`
	signed := func(at time.Time, over string) call {
		timestamp := strconv.FormatInt(at.Unix(), 10)
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret(), "whsec_"))
		if err != nil {
			t.Fatal(err)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("m1." + timestamp + "." + over))
		return post("web", body, "Authorization", "", "Webhook-Id", "m1", "Webhook-Timestamp", timestamp,
			"Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	accept(t, adapter, signed(now, body))
	for name, refused := range map[string]call{
		"another body": signed(now, body+" "), "ten minutes old": signed(now.Add(-10*time.Minute), body), "bearer": post("web", body),
	} {
		if recorder := refused.do(t, adapter); recorder.Code != http.StatusUnauthorized {
			t.Errorf("%s: status %d", name, recorder.Code)
		}
	}
	if events := inputs(t, ledger); len(events) != 1 {
		t.Errorf("%d events", len(events))
	}
}

func TestRepeatedWebhook(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		receipts int
		between  string // the id of a message between two repeats
		events   int
	}{
		"remembered": {receipts: 16, events: 1},
		"forgotten":  {receipts: 1, between: "other", events: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := memory.New(2)
			adapter := newAdapter(t, ledger, func(c *chat.Config) { c.Receipts = test.receipts })
			var first chat.Accepted
			for i := range 4 {
				accepted := accept(t, adapter, post("web", `{"text":"hello"}`, "Webhook-Id", "m1"))
				if i == 0 {
					first = accepted
				}
				if accepted.ID != first.ID || accepted.Session != first.Session {
					t.Errorf("repeat %d: %+v, want that of %+v", i, accepted, first)
				}
				if test.between == "" && accepted != first {
					t.Errorf("repeat %d: %+v, want %+v", i, accepted, first)
				}
				if test.between != "" {
					accept(t, adapter, post("web", `{"text":"hello"}`, "Webhook-Id", test.between))
				}
			}
			same := 0
			for _, event := range inputs(t, ledger) {
				if event.ID == first.ID {
					same++
				}
			}
			if same != test.events {
				t.Errorf("%d events of one id, want %d", same, test.events)
			}
		})
	}
}

func TestNotARepeat(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	adapter := newAdapter(t, ledger)
	for _, c := range []call{
		post("web", `{"text":"a","thread":"t1"}`, "Webhook-Id", "m1"),
		post("web", `{"text":"a","thread":"t2"}`, "Webhook-Id", "m1"), // another conversation
		post("web", `{"text":"a","thread":"t1"}`, "Webhook-Id", "m2"),
		post("other", `{"text":"a","thread":"t1"}`, "Webhook-Id", "m1", "Authorization", "Bearer "+otherToken),
		post("web", `{"text":"a","thread":"t1"}`), // without an id every one is new
		post("web", `{"text":"a","thread":"t1"}`),
	} {
		accept(t, adapter, c)
	}
	if events := inputs(t, ledger); len(events) != 6 {
		t.Errorf("%d events, want 6", len(events))
	}
}

func TestRepeatAfterAFailureIsPublished(t *testing.T) {
	t.Parallel()
	core := &faulty{Ledger: memory.New(1), err: &bus.TemporaryError{Op: "publish", Err: errors.New("away")}}
	adapter := newAdapter(t, core)
	message := post("web", `{"text":"hello"}`, "Webhook-Id", "m1")
	expect[chat.Problem](t, adapter, message, http.StatusServiceUnavailable)
	core.err = nil
	accept(t, adapter, message)
	if events := inputs(t, core); len(events) != 1 {
		t.Errorf("%d events", len(events))
	}
}

func TestSilentLedgerIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		adapter, before := newAdapter(t, silent{memory.New(1)}), time.Now()
		expect[chat.Problem](t, adapter, post("web", `{"text":"hello"}`), http.StatusServiceUnavailable)
		if took := time.Since(before); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestLargeMessageIsKept(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	accept(t, newAdapter(t, ledger), post("web", padded(chat.MaxBody)))
	event := inputs(t, ledger)[0]
	if event.Artifact == nil {
		t.Fatal("it stands in the message")
	}
	if err := artifact.Resolve(t.Context(), ledger.Artifacts(), &event); err != nil {
		t.Fatal(err)
	}
	if got := read[schemas.ChatReceived](t, event.Data); len(got.Text) != chat.MaxBody-len(`{"text":""}`) {
		t.Errorf("%d bytes of text", len(got.Text))
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	adapter := newAdapter(t, memory.New(1), func(c *chat.Config) { c.Runs.BaseURL = "https://podium.example.org/" })
	if accepted := accept(t, adapter, post("web", `{"text":"hello"}`)); !strings.HasPrefix(accepted.Run, "https://podium.example.org/v1/runs/") {
		t.Errorf("run %q", accepted.Run)
	}
}

func TestConfigNamesEveryWrongChannel(t *testing.T) {
	t.Parallel()
	config := chat.Config{
		Runs: runs.Config{CapabilityKey: make([]byte, 32)},
		Channels: map[string]chat.Channel{
			"open": {Profile: profile}, "homeless": {Token: token}, "a/b": {Profile: profile, Token: token},
			"weak": {Profile: profile, Token: "weak-token"}, "fine": {Profile: profile, Token: token},
		},
	}
	_, err := chat.New(config, memory.New(1), zerolog.Nop())
	if err == nil {
		t.Fatal("it is accepted")
	}
	for _, want := range []string{`"open"`, `"homeless"`, `"a/b"`, `"weak"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not named: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "fine") || strings.Contains(err.Error(), "weak-token") {
		t.Errorf("it says too much: %v", err)
	}
	if _, err := chat.New(chat.Config{Runs: runs.Config{CapabilityKey: make([]byte, 31)}}, memory.New(1), zerolog.Nop()); err == nil {
		t.Error("a short capability key is accepted")
	}
}
