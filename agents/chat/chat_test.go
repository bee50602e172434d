package chat_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/chat"
	"podium/bus/agent"
	"podium/schemas"
)

const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	effect = "0f6d3f5e-6a1c-5c55-9a3c-4f7b1c9f0a11"
)

func requestWith(arguments, language string) *agent.Request {
	task := schemas.Task{TaskID: "reply", Context: schemas.TaskContext{
		Arguments:   jsontext.Value(arguments),
		Constraints: jsontext.Value(`{"language":"` + language + `"}`),
	}}
	return &agent.Request{
		ExecutionRequest: schemas.ExecutionRequest{Payload: schemas.RequestPayload{
			PlanID: "plan", Tasks: []schemas.Task{task},
		}},
		EffectID: effect, Run: "run-1", Attempt: 1,
	}
}

func newAgent(t *testing.T, config chat.Config) *chat.Agent {
	t.Helper()
	agent, err := chat.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

func ignore(int, string) {}

func TestDeliverySignedByStandardWebhooks(t *testing.T) {
	t.Parallel()
	type call struct {
		header http.Header
		body   []byte
	}
	calls := make(chan call, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- call{r.Header, body}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	at := time.Unix(1_790_000_000, 0)
	agent := newAgent(t, chat.Config{
		Channels: map[string]chat.Channel{"web": {Callback: server.URL + "/hook", Secret: secret}},
		Now:      func() time.Time { return at },
	})
	request := requestWith(`{"agent":"chat","channel":"web","thread":"t1","in_reply_to":"m7","text":"Grüße, \"25\""}`, "de")
	result, err := agent.Handle(t.Context(), request, ignore)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"reply_id":"` + effect + `","delivered":"push"}`; string(result.Data) != want || result.Text != "" {
		t.Errorf("result %q %s, want %s", result.Text, result.Data, want)
	}
	got := <-calls
	want := `{"type":"message","timestamp":"2026-09-21T14:13:20Z","data":{"channel":"web","thread":"t1",` +
		`"in_reply_to":"m7","text":"Grüße, \"25\"","run":"run-1","reply_id":"` + effect + `"}}`
	if string(got.body) != want {
		t.Errorf("body\n%s\nwant\n%s", got.body, want)
	}
	if _, err = agent.Handle(t.Context(), requestWith(`{"agent":"chat","channel":"web","text":"When?","inquiry":2}`, "en"), ignore); err != nil {
		t.Fatal(err)
	}
	if asked := <-calls; !strings.HasSuffix(string(asked.body), `"reply_id":"`+effect+`","inquiry":"run-1.2"}}`) {
		t.Errorf("a question is\n%s", asked.body)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(effect + ".1790000000." + string(got.body)))
	for name, value := range map[string]string{
		"webhook-id":        effect,
		"webhook-timestamp": "1790000000",
		"webhook-signature": "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)),
		"content-type":      "application/json",
	} {
		if got.header.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, got.header.Get(name), value)
		}
	}
}

func TestStatusDecidesWhetherAnotherAttemptHelps(t *testing.T) {
	t.Parallel()
	tests := map[int]struct{ delivered, permanent bool }{
		200: {delivered: true},
		204: {delivered: true},
		302: {},
		400: {permanent: true},
		401: {permanent: true},
		404: {permanent: true},
		408: {},
		410: {permanent: true},
		425: {},
		429: {},
		500: {},
		503: {},
	}
	for status, test := range tests {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			var elsewhere atomic.Bool
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/elsewhere" {
					elsewhere.Store(true)
					return
				}
				w.Header().Set("Location", "/elsewhere")
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(status)
			}))
			defer server.Close()
			agent := newAgent(t, chat.Config{Channels: map[string]chat.Channel{"web": {Callback: server.URL, Secret: secret}}})
			_, err := agent.Handle(t.Context(), requestWith(`{"channel":"web","text":"x"}`, "de"), ignore)
			if elsewhere.Load() {
				t.Error("the redirect was followed")
			}
			if test.delivered {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			failure := asFailure(t, err)
			if failure.Permanent != test.permanent {
				t.Errorf("permanent is %v, want %v", failure.Permanent, test.permanent)
			}
			if later := failure.Category == schemas.CategoryResource; later == test.permanent {
				t.Errorf("category %q", failure.Category)
			}
			if !strings.Contains(failure.Message, "Kanal „web“") {
				t.Errorf("message %q does not name the channel in German", failure.Message)
			}
		})
	}
}

func TestUnreachableCallbackIsTemporaryAndLeaksNoURL(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	agent := newAgent(t, chat.Config{Channels: map[string]chat.Channel{"web": {Callback: server.URL + "/?token=hidden", Secret: secret}}})
	_, err := agent.Handle(t.Context(), requestWith(`{"channel":"web","text":"private words"}`, "en"), ignore)
	failure := asFailure(t, err)
	if failure.Permanent {
		t.Error("an unreachable callback is said to be permanent")
	}
	for _, secretText := range []string{"hidden", "private words"} {
		if strings.Contains(failure.Error(), secretText) {
			t.Errorf("the error for the log holds %q: %s", secretText, failure.Error())
		}
	}
}

func TestSlowCallbackEndsAtTheTimeout(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	agent := newAgent(t, chat.Config{
		Channels: map[string]chat.Channel{"web": {Callback: server.URL, Secret: secret}},
		Timeout:  20 * time.Millisecond,
	})
	_, err := agent.Handle(t.Context(), requestWith(`{"channel":"web","text":"x"}`, "en"), ignore)
	if asFailure(t, err).Permanent {
		t.Error("a timeout is said to be permanent")
	}
}

// TestEveryCallIsBounded: also where the configuration holds no bound, or none that is one.
func TestEveryCallIsBounded(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, -time.Second, time.Minute} {
		bounded := make(chan bool, 1)
		agent := newAgent(t, chat.Config{
			Channels: map[string]chat.Channel{"web": {Callback: "http://127.0.0.1:1", Secret: secret}},
			Timeout:  timeout,
			Transport: transport(func(request *http.Request) (*http.Response, error) {
				_, is := request.Context().Deadline()
				bounded <- is
				return nil, errors.New("nobody is there")
			}),
		})
		_, err := agent.Handle(t.Context(), requestWith(`{"channel":"web","text":"x"}`, "en"), ignore)
		if asFailure(t, err).Permanent || !<-bounded {
			t.Errorf("with a timeout of %s the call has no end", timeout)
		}
	}
}

func TestCancelledDeliveryReturnsTheCause(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	agent := newAgent(t, chat.Config{Channels: map[string]chat.Channel{"web": {Callback: "http://127.0.0.1:1", Secret: secret}}})
	_, err := agent.Handle(ctx, requestWith(`{"channel":"web","text":"x"}`, "en"), ignore)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestChannelWithoutCallbackIsReadFromTheRun(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, chat.Config{Channels: map[string]chat.Channel{"cli": {}}})
	for _, channel := range []string{"cli", "not configured"} {
		result, err := agent.Handle(t.Context(), requestWith(`{"channel":"`+channel+`","text":"x"}`, "en"), ignore)
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"reply_id":"` + effect + `","delivered":"pull"}`; string(result.Data) != want {
			t.Errorf("data %s, want %s", result.Data, want)
		}
	}
}

func TestReplyIDWithoutAnEffectIsStillTheSameForEveryAttempt(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, chat.Config{})
	request := requestWith(`{"channel":"cli","text":"x"}`, "en")
	request.EffectID = ""
	first, err := agent.Handle(t.Context(), request, ignore)
	if err != nil {
		t.Fatal(err)
	}
	request.Attempt = 2
	second, err := agent.Handle(t.Context(), request, ignore)
	if err != nil {
		t.Fatal(err)
	}
	if string(first.Data) != string(second.Data) || strings.Contains(string(first.Data), `"reply_id":""`) {
		t.Errorf("attempts differ or have no id: %s, %s", first.Data, second.Data)
	}
}

func TestUnreadableArgumentsArePermanent(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, chat.Config{})
	for _, arguments := range []string{``, `{}`, `[]`, `{"channel":7}`, `{"text":"x"}`} {
		_, err := agent.Handle(t.Context(), requestWith(arguments, "fr"), ignore)
		failure := asFailure(t, err)
		if !failure.Permanent || failure.Message == "" {
			t.Errorf("arguments %s: permanent %v, message %q", arguments, failure.Permanent, failure.Message)
		}
	}
}

func TestConfigErrorsNameTheChannel(t *testing.T) {
	t.Parallel()
	tests := map[string]chat.Channel{
		"no secret":         {Callback: "https://example.org"},
		"prefix only":       {Callback: "https://example.org", Secret: "whsec_"},
		"secret not base64": {Callback: "https://example.org", Secret: "what?"},
		"not a URL":         {Callback: "://", Secret: secret},
		"other scheme":      {Callback: "file:///etc/passwd", Secret: secret},
		"no host":           {Callback: "https:///hook", Secret: secret},
	}
	for name, channel := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := chat.New(chat.Config{Channels: map[string]chat.Channel{"web": channel}})
			if err == nil || !strings.Contains(err.Error(), `"web"`) {
				t.Errorf("got %v, want an error that names the channel", err)
			}
			if err != nil && channel.Secret != "" && strings.Contains(err.Error(), channel.Secret+" ") {
				t.Errorf("the error shows the secret: %v", err)
			}
		})
	}
}

func asFailure(t *testing.T, err error) *agent.Failure {
	t.Helper()
	var failure *agent.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want a *agent.Failure", err)
	}
	if failure.Err == nil {
		t.Error("the failure has no error for the log")
	}
	return failure
}
