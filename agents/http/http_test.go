package http_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	agenthttp "podium/agents/http"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/schemas"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// endpoint starts a server, and an agent that asks it.
func endpoint(t *testing.T, serve nethttp.HandlerFunc, change ...func(*agenthttp.Config)) *agenthttp.Agent {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	config := agenthttp.Config{URL: server.URL + "/podium?key=hidden", Client: noRedirects(), Timeout: 10 * time.Second}
	for _, apply := range change {
		apply(&config)
	}
	made, err := agenthttp.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// untilCalled asks with ever longer timeouts until a call has reached the endpoint: a busy machine needs longer.
func untilCalled(called *atomic.Bool, ask func(timeout time.Duration)) {
	for timeout := 50 * time.Millisecond; !called.Load(); timeout *= 2 {
		ask(timeout)
	}
}

func noRedirects() *nethttp.Client {
	return &nethttp.Client{CheckRedirect: func(*nethttp.Request, []*nethttp.Request) error { return nethttp.ErrUseLastResponse }}
}

func asked() *agent.Request {
	return &agent.Request{
		ExecutionRequest: schemas.ExecutionRequest{
			Envelope: schemas.Envelope{MessageID: "request-1", Type: schemas.EnvelopeTypeExecutionRequest},
			Payload:  schemas.RequestPayload{PlanID: "p", Tasks: []schemas.Task{{TaskID: "t1", Description: "Grüße"}}},
		},
		Attempt: 2, EffectID: "effect-1", Artifacts: memory.New(1).Artifacts(),
	}
}

func silent(int, string) {}

func external(config *agenthttp.Config) { config.SideEffects = schemas.SideEffectsExternal }

// TestAnswerMeansWhatItSays: words, data and whole responses come back, nothing dropped.
func TestAnswerMeansWhatItSays(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]agent.Outcome{
		"Hello.\n":      agent.Text("Hello."),
		`{"total": 3}`:  {Result: schemas.Result{Data: []byte(`{"total": 3}`)}},
		`{"text": "x"}`: agent.Text("x"),
		`{"status": "partial", "result": {"text": "half"}, "recommendations": ["More."]}`: {
			Status: schemas.StatusPartial, Result: schemas.Result{Text: "half"}, Findings: schemas.Findings{Recommendations: []string{"More."}},
		},
	} {
		got, err := endpoint(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) { _, _ = io.WriteString(w, body) }).Handle(t.Context(), asked(), silent)
		if err != nil || got.Text != want.Text || string(got.Data) != string(want.Data) || got.Status != want.Status || len(got.Recommendations) != len(want.Recommendations) {
			t.Errorf("%q: %+v, %v, want %+v", body, got, err, want)
		}
	}
}

// TestCallIsSigned: the call has the documented request as its body, and the headers of Standard Webhooks with a
// signature over both. The id is that of the effect only for an agent that acts outside.
func TestCallIsSigned(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_614_265_330, 0)
	for _, acts := range []bool{false, true} {
		var header nethttp.Header
		var body []byte
		made := endpoint(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
			header = r.Header
			body, _ = io.ReadAll(r.Body)
			w.WriteHeader(nethttp.StatusNoContent)
		}, func(config *agenthttp.Config) {
			config.Secret, config.Now = secret, func() time.Time { return at }
			if acts {
				external(config)
			}
		})
		if _, err := made.Handle(t.Context(), asked(), silent); err != nil {
			t.Fatal(err)
		}
		id := map[bool]string{false: "request-1", true: "effect-1"}[acts]
		if header.Get("Webhook-Id") != id || header.Get("Webhook-Timestamp") != "1614265330" || !strings.HasPrefix(header.Get("Webhook-Signature"), "v1,") {
			t.Errorf("acts %t: %v", acts, header)
		}
		var request schemas.ExecutionRequest
		if err := json.Unmarshal(body, &request); err != nil || request.Payload.Tasks[0].Description != "Grüße" {
			t.Errorf("the body is %s (%v)", body, err)
		}
		again := nethttp.Header{}
		agenthttp.Sign(again, secret, id, at, body)
		if again.Get("Webhook-Signature") != header.Get("Webhook-Signature") {
			t.Error("the signature is not over what was sent")
		}
	}
}

// TestSignatureVector is the example of the Standard Webhooks specification's libraries.
func TestSignatureVector(t *testing.T) {
	t.Parallel()
	header := nethttp.Header{}
	agenthttp.Sign(header, secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1_614_265_330, 0), []byte(`{"test": 2432232314}`))
	if got := header.Get("Webhook-Signature"); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("%q", got)
	}
}

// TestStatuses: what each status means for another attempt, and whether the effect is in doubt.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct{ permanent, busy bool }{
		400: {true, false}, 401: {true, false}, 404: {true, false}, 408: {}, 425: {}, 429: {false, true}, 500: {}, 501: {true, false}, 502: {}, 503: {false, true},
		302: {true, false}, 202: {true, false},
	} {
		serve := func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			w.Header().Set("Location", "http://169.254.169.254/")
			w.WriteHeader(status)
		}
		for _, acts := range []bool{false, true} {
			made := endpoint(t, serve)
			if acts {
				made = endpoint(t, serve, external)
			}
			_, err := made.Handle(t.Context(), asked(), silent)
			failure, is := errors.AsType[*agent.Failure](err)
			if !is || failure.Permanent != want.permanent || failure.Unknown != acts || !acts && (failure.Category == schemas.CategoryResource) != want.busy {
				t.Errorf("%d, acts %t: %+v", status, acts, failure)
			}
			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("%d: the error names the URL: %v", status, err)
			}
		}
	}
}

// TestBrokenConnections: an effect is in doubt when a connection was there, and never when none was.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	breaks := func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		conn, _, err := w.(nethttp.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	halfway := func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "half")
	}
	away := func(config *agenthttp.Config) { config.URL = "http://127.0.0.1:1/?key=hidden" }
	for name, c := range map[string]struct {
		serve   nethttp.HandlerFunc
		change  func(*agenthttp.Config)
		unknown bool
	}{
		"it breaks":         {breaks, func(*agenthttp.Config) {}, true},
		"the answer breaks": {halfway, func(*agenthttp.Config) {}, true},
		"nobody listens":    {breaks, away, false},
	} {
		_, err := endpoint(t, c.serve, c.change).Handle(t.Context(), asked(), silent)
		checkBroken(t, name, err, false)
		_, err = endpoint(t, c.serve, c.change, external).Handle(t.Context(), asked(), silent)
		checkBroken(t, name+", and the agent acts outside", err, c.unknown)
	}
	for _, acts := range []bool{false, true} {
		var called atomic.Bool
		hangs := func(_ nethttp.ResponseWriter, r *nethttp.Request) {
			called.Store(true)
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}
		var err error
		untilCalled(&called, func(timeout time.Duration) {
			_, err = endpoint(t, hangs, func(config *agenthttp.Config) {
				config.Timeout = timeout
				if acts {
					external(config)
				}
			}).Handle(t.Context(), asked(), silent)
		})
		checkBroken(t, "it takes too long", err, acts)
	}
}

// checkBroken holds the failure of a call whose connection broke to what every such failure has to say.
func checkBroken(t *testing.T, name string, err error, unknown bool) {
	t.Helper()
	failure, is := errors.AsType[*agent.Failure](err)
	if !is || failure.Permanent || failure.Unknown != unknown || failure.Message == "" || failure.Category != "" {
		t.Errorf("%s: %+v (%v), want unknown %t", name, failure, err, unknown)
	}
	if err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("%s: the error names the URL: %v", name, err)
	}
}

// TestNothingIsSentWithoutAPermit, and nothing twice by the client itself.
func TestNothingIsSentWithoutAPermit(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	serve := func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		calls.Add(1)
		_, _ = io.WriteString(w, "done")
	}
	refusal := errors.New("not permitted")
	request := asked().WithPermit(func(context.Context) error {
		if calls.Load() > 0 {
			t.Error("it is asked after the call")
		}
		return refusal
	})
	if _, err := endpoint(t, serve, external).Handle(t.Context(), request, silent); !errors.Is(err, refusal) || calls.Load() != 0 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
	if _, err := endpoint(t, serve).Handle(t.Context(), request, silent); err != nil || calls.Load() != 1 {
		t.Errorf("without effects: %d calls, %v", calls.Load(), err)
	}
}

// TestFilesGoThere_G42: files of the request come along in base64, and those of the answer are kept.
func TestFilesGoThere_G42(t *testing.T) {
	t.Parallel()
	request := asked()
	kept, err := request.Artifacts.Put(t.Context(), strings.NewReader("the file"), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	context := &request.Payload.Tasks[0].Context
	context.Attachments = []schemas.TaskAttachment{
		{ID: "a1", Name: "x.txt", SHA256: kept.SHA256, Size: kept.Size, From: schemas.FromMessage, Grant: "secret-grant"},
		{ID: "a2", Name: "gone", SHA256: strings.Repeat("a", 64), Size: 1, From: schemas.FromMessage},
		{ID: "a3", Name: "large", SHA256: kept.SHA256, Size: 1 << 30, From: schemas.FromMessage},
	}
	var sent struct {
		Payload struct {
			Tasks []struct {
				Context struct {
					Attachments []struct {
						Name    string
						Content []byte
					}
				}
			}
		}
	}
	made := endpoint(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &sent); err != nil || strings.Contains(string(body), "secret-grant") {
			t.Errorf("%s, %v", body, err)
		}
		_, _ = io.WriteString(w, `{"status": "completed", "deliverables": [{"deliverable_id": "d", "type": "report", "path": "sum.csv", "metadata": {"pages": 2, "media_type": "text/csv", "content": "`+
			base64.StdEncoding.EncodeToString([]byte("a;b"))+`"}}]}`)
	})
	outcome, err := made.Handle(t.Context(), request, silent)
	if err != nil {
		t.Fatal(err)
	}
	files := sent.Payload.Tasks[0].Context.Attachments
	if len(files) != 3 || string(files[0].Content) != "the file" || files[1].Content != nil || files[2].Content != nil {
		t.Errorf("the endpoint got %+v", files)
	}
	var reference struct {
		schemas.Artifact
		Pages   int
		Content string
	}
	if err := json.Unmarshal(outcome.Deliverables[0].Metadata, &reference); err != nil || reference.Size != 3 || reference.Pages != 2 || reference.Content != "" {
		t.Errorf("%s, %v", outcome.Deliverables[0].Metadata, err)
	}
}

// TestAnswersAreBounded: more than may be is refused, and not read.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	made := endpoint(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 2000))
	},
		func(config *agenthttp.Config) { config.MaxBody = 1000 })
	_, err := made.Handle(t.Context(), asked(), silent)
	if failure, is := errors.AsType[*agent.Failure](err); !is || !failure.Permanent || !strings.Contains(failure.Message, "1000") {
		t.Errorf("%v", err)
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	client := noRedirects()
	for name, config := range map[string]agenthttp.Config{
		"no url":                      {Client: client},
		"no host":                     {URL: "https://", Client: client},
		"another scheme":              {URL: "ftp://x/", Client: client},
		"no client":                   {URL: "https://x/"},
		"a broken secret":             {URL: "https://x/", Client: client, Secret: "whsec_!"},
		"a callback without a secret": {URL: "https://x/", Client: client, Callback: func(*agent.Request) (string, error) { return "", nil }},
		"a negative bound":            {URL: "https://x/", Client: client, MaxBody: -1},
	} {
		if _, err := agenthttp.New(config); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
