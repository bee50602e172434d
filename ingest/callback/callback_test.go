package callback_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/keyring"
	"podium/ingest/callback"
)

const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	page   = "/v1/agents/erp/answer/good"
)

func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

// adapter takes answers of the agent erp, for the token "good" and for "old", whose time is over.
func adapter(t *testing.T, log io.Writer, answer func(ticket *agent.Ticket, said []byte) error) http.Handler {
	t.Helper()
	return adapterAt(t, noon, log, answer)
}

func adapterAt(t *testing.T, now func() time.Time, log io.Writer, answer func(ticket *agent.Ticket, said []byte) error) http.Handler {
	t.Helper()
	made, err := callback.New(callback.Config{
		Agents: map[string]callback.Agent{"erp": {Secret: secret, Answer: func(_ context.Context, ticket *agent.Ticket, said []byte, _ string) error {
			return answer(ticket, said)
		}}},
		Open: func(_ context.Context, name, token string) (agent.Ticket, error) {
			expires := map[string]time.Time{"erp good": noon().Add(time.Hour), "erp old": noon()}[name+" "+token]
			if expires.IsZero() {
				return agent.Ticket{}, keyring.ErrNotSealed
			}
			return agent.Ticket{Request: "r1", Expires: expires}, nil
		},
		Now: now,
	}, zerolog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	return made.Handler()
}

// signed is a request as an endpoint makes it.
func signed(t *testing.T, path, body string) *http.Request {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	seconds, mac := strconv.FormatInt(noon().Unix(), 10), hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "a1.%s.%s", seconds, body)
	request.Header.Set("Webhook-Id", "a1")
	request.Header.Set("Webhook-Timestamp", seconds)
	request.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return request
}

// TestAnAnswerIsTakenOnceItIsStored: byte for byte, for the request that the token names.
func TestAnAnswerIsTakenOnceItIsStored(t *testing.T) {
	t.Parallel()
	var heard string
	handler := adapter(t, io.Discard, func(ticket *agent.Ticket, said []byte) error {
		heard += ticket.Request + " " + string(said)
		return nil
	})
	reply := httptest.NewRecorder()
	handler.ServeHTTP(reply, signed(t, page, " {\"n\": 1}\n"))
	var told struct{ Request, ID string }
	if err := json.Unmarshal(reply.Body.Bytes(), &told); err != nil || reply.Code != http.StatusAccepted || told.Request != "r1" || told.ID == "" {
		t.Errorf("HTTP %d: %s (%v)", reply.Code, reply.Body, err)
	}
	if heard != "r1  {\"n\": 1}\n" {
		t.Errorf("it has heard %q", heard)
	}
}

// TestRefusedAnswers: nothing of them is handed on, and each is told what to do.
func TestRefusedAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path   string
		change func(*http.Request)
		want   int
		kind   string
	}{
		"another token":          {"/v1/agents/erp/answer/forged", nil, http.StatusUnauthorized, "unauthentic"},
		"an agent that is not":   {"/v1/agents/desk/answer/good", nil, http.StatusUnauthorized, "unauthentic"},
		"no signature":           {page, func(r *http.Request) { r.Header.Del("Webhook-Signature") }, http.StatusUnauthorized, "unauthentic"},
		"a signature of another": {page, func(r *http.Request) { r.Header.Set("Webhook-Id", "a2") }, http.StatusUnauthorized, "unauthentic"},
		"an old signature":       {page, func(r *http.Request) { r.Header.Set("Webhook-Timestamp", "1") }, http.StatusUnauthorized, "unauthentic"},
		"a bearer token": {page, func(r *http.Request) {
			r.Header.Del("Webhook-Signature")
			r.Header.Set("Authorization", "Bearer "+secret)
		}, http.StatusUnauthorized, "unauthentic"},
		"too late":   {"/v1/agents/erp/answer/old", nil, http.StatusGone, "too-late"},
		"compressed": {page, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, http.StatusUnsupportedMediaType, "format"},
		"by GET":     {page, func(r *http.Request) { r.Method = http.MethodGet }, http.StatusMethodNotAllowed, "method"},
		"elsewhere":  {"/v1/agents/erp/answers", nil, http.StatusNotFound, "no-such-page"},
	} {
		handler := adapter(t, io.Discard, func(*agent.Ticket, []byte) error { t.Errorf("%s is handed on", name); return nil })
		request := signed(t, c.path, "done")
		if c.change != nil {
			c.change(request)
		}
		reply := httptest.NewRecorder()
		handler.ServeHTTP(reply, request)
		if reply.Code != c.want || !strings.Contains(reply.Body.String(), "urn:podium:problem:"+c.kind) {
			t.Errorf("%s: HTTP %d, want %d: %s", name, reply.Code, c.want, reply.Body)
		}
	}
}

// TestWhatBecomesOfAnAnswer that is not stored: the endpoint knows whether to send it again. No log has its words.
func TestWhatBecomesOfAnAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		body  string
		want  int
		again bool
	}{
		"unreadable":  {fmt.Errorf("%w: no status", agent.ErrUnreadable), "Frau Beispiel", http.StatusBadRequest, false},
		"too large":   {bus.ErrTooLarge, "Frau Beispiel", http.StatusRequestEntityTooLarge, false},
		"a long body": {nil, strings.Repeat("x", callback.MaxBody+1), http.StatusRequestEntityTooLarge, false},
		"full":        {bus.ErrFull, "Frau Beispiel", http.StatusServiceUnavailable, true},
		"away":        {&bus.TemporaryError{Op: "publish", Err: errors.New("no responders")}, "Frau Beispiel", http.StatusServiceUnavailable, true},
		"closed":      {bus.ErrClosed, "Frau Beispiel", http.StatusServiceUnavailable, true},
	} {
		var log bytes.Buffer
		reply := httptest.NewRecorder()
		adapter(t, &log, func(*agent.Ticket, []byte) error { return c.err }).ServeHTTP(reply, signed(t, page, c.body))
		if reply.Code != c.want || reply.Header().Get("Retry-After") != "" != c.again {
			t.Errorf("%s: HTTP %d, again after %q: %s", name, reply.Code, reply.Header().Get("Retry-After"), reply.Body)
		}
		if strings.Contains(log.String(), "Beispiel") {
			t.Errorf("%s: the log says %s", name, log.String())
		}
	}
}

// TestAnswersAtATime: more than may be worked on are sent away, and nothing of them is lost.
func TestAnswersAtATime(t *testing.T) {
	t.Parallel()
	at, goOn := make(chan struct{}), make(chan struct{})
	made, err := callback.New(callback.Config{
		Agents: map[string]callback.Agent{"erp": {Secret: secret, Answer: func(context.Context, *agent.Ticket, []byte, string) error {
			close(at)
			<-goOn
			return nil
		}}},
		Open: func(context.Context, string, string) (agent.Ticket, error) {
			return agent.Ticket{Expires: noon().Add(time.Hour)}, nil
		}, Now: noon, Answers: 1,
	}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	first, second, done := httptest.NewRecorder(), httptest.NewRecorder(), make(chan struct{})
	one := signed(t, page, "one")
	go func() {
		defer close(done)
		made.Handler().ServeHTTP(first, one)
	}()
	<-at
	made.Handler().ServeHTTP(second, signed(t, page, "two"))
	close(goOn)
	<-done
	if first.Code != http.StatusAccepted || second.Code != http.StatusServiceUnavailable || second.Header().Get("Retry-After") == "" {
		t.Errorf("HTTP %d and %d", first.Code, second.Code)
	}
}

func TestBrokenSecretsAreNamed(t *testing.T) {
	t.Parallel()
	_, err := callback.New(callback.Config{Agents: map[string]callback.Agent{"erp": {Secret: "whsec_x"}, "bank": {}}}, zerolog.Nop())
	if err == nil || !strings.Contains(err.Error(), `"erp"`) || !strings.Contains(err.Error(), `"bank"`) || strings.Contains(err.Error(), "whsec_x") {
		t.Errorf("%v", err)
	}
}

// TestAnswersWaitForTheKeys: whether a token was sealed here is not told as long as the keys cannot be read. Without the header that an endpoint
// sends nobody looks for them.
func TestAnswersWaitForTheKeys(t *testing.T) {
	t.Parallel()
	opened, closed := 0, fmt.Errorf("read the keys: %w", bus.ErrClosed)
	made, err := callback.New(callback.Config{
		Agents: map[string]callback.Agent{"erp": {Secret: secret, Answer: func(context.Context, *agent.Ticket, []byte, string) error {
			t.Error("it is handed on")
			return nil
		}}},
		Open: func(context.Context, string, string) (agent.Ticket, error) {
			opened++
			return agent.Ticket{}, closed
		}, Now: noon,
	}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"erp", "desk"} { // one that is not there is told the same
		reply := httptest.NewRecorder()
		made.Handler().ServeHTTP(reply, signed(t, "/v1/agents/"+name+"/answer/00000000.AAAA", "done"))
		if reply.Code != http.StatusServiceUnavailable || reply.Header().Get("Retry-After") == "" || !strings.Contains(reply.Body.String(), "ledger-unavailable") {
			t.Errorf("%s: HTTP %d: %s", name, reply.Code, reply.Body)
		}
	}
	reply := httptest.NewRecorder()
	made.Handler().ServeHTTP(reply, httptest.NewRequestWithContext(t.Context(), http.MethodPost, page, strings.NewReader("done")))
	if reply.Code != http.StatusUnauthorized || opened != 2 {
		t.Errorf("without a signature: HTTP %d, and %d tokens were read", reply.Code, opened)
	}
}

// TestRefusedAnswersAreLogged: the operator reads whose answers are refused and why, once a minute for each reason, and nothing of
// what came.
func TestRefusedAnswersAreLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	now := noon()
	handler := adapterAt(t, func() time.Time { return now }, &log, func(_ *agent.Ticket, said []byte) error {
		if bytes.Contains(said, []byte("status")) {
			return fmt.Errorf("%w: the status is none", agent.ErrUnreadable)
		}
		return nil
	})
	post := func(path string, change func(*http.Request)) {
		request := signed(t, path, `{"status": "Frau Beispiel"}`)
		if change != nil {
			change(request)
		}
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
	unsigned := func(r *http.Request) { r.Header.Set("Webhook-Id", "Beispiel") }
	for range 50 {
		post(page, nil)
		post(page, unsigned)
		post("/v1/agents/erp/answer/forged-Beispiel", nil)
		post("/v1/agents/Beispiel/answer/good", nil)
		post("/v1/agents/Another-Beispiel/answer/good", nil)
		post("/v1/agents/erp/answer/old", nil)
	}
	now = now.Add(time.Minute)
	post(page, unsigned)
	handler.ServeHTTP(httptest.NewRecorder(), signed(t, page, "done"))
	var lines []string
	for line := range strings.Lines(log.String()) {
		var told struct {
			Level, Reason, Detail, Agent, Request, Message string
			Refused                                        int
		}
		if err := json.Unmarshal([]byte(line), &told); err != nil || told.Level != "warn" || told.Message != "an answer by callback is refused" {
			t.Errorf("%s (%v)", line, err)
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s %s: %s %s", told.Refused, told.Agent, told.Request, told.Reason, told.Detail)))
	}
	want := []string{
		"1 erp r1: The answer cannot be read what was said is no outcome: the status is none",
		"1 erp r1: the signature does not hold",
		"1 erp : the token was not sealed for this agent",
		"1  : the token was not sealed for this agent",
		"1 erp r1: Nobody waits for this answer any more",
		"51 erp r1: the signature does not hold",
	}
	if !slices.Equal(lines, want) || strings.Contains(log.String(), "Beispiel") || strings.Contains(log.String(), "forged") {
		t.Errorf("%s\nwant\n%s", log.String(), strings.Join(want, "\n"))
	}
}
