package service_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/cmd/podium/service"
	events "podium/ingest/http"
	"podium/schemas"
)

// offer sends a request to the source of the tickets.
func offer(t *testing.T, running *service.Service, body string, header http.Header) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, running.Address()+"/v1/events/tickets", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // it was only read
	answer, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, answer
}

func signedStructured(body string) http.Header {
	key, _ := base64.StdEncoding.DecodeString(signingKey)
	now := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte("m1." + now + "." + body))
	return http.Header{
		"Content-Type": {"application/cloudevents+json"}, "Webhook-Id": {"m1"}, "Webhook-Timestamp": {now},
		"Webhook-Signature": {"v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))},
	}
}

// settled waits for the outcome of a run by the URL that its event was answered with.
func settled(t *testing.T, running *service.Service, run string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, running.Address()+run, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Prefer", "wait=20")
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A signed event and four repeats of it, in both modes, make one run with one answer;
// an event of another conversation makes another one (X-02, G-34).
func TestEventFromSenderToAnswer_X02_G34(t *testing.T) {
	t.Parallel()
	running, _ := startReception(t)
	const body = `{"specversion":"1.0","id":"7","source":"https://tickets.example.com","type":"com.example.ticket.created","data":{"ticket":"T-1","words":"Calculate 12 + 13"}}`
	status, answer := offer(t, running, body, signedStructured(body))
	if status != http.StatusAccepted {
		t.Fatalf("status %d: %s", status, answer)
	}
	var first events.Accepted
	if err := schemas.Unmarshal(answer, &first); err != nil {
		t.Fatal(err)
	}
	if got := settled(t, running, first.Run); !strings.Contains(got, `"status":"completed"`) || !strings.Contains(got, "25") {
		t.Fatalf("run %s", got)
	}
	binary := http.Header{
		"Authorization": {"Bearer token-of-the-tickets"}, "Content-Type": {"application/json"}, "Ce-Specversion": {"1.0"}, "Ce-Id": {"7"},
		"Ce-Source": {"https://tickets.example.com"}, "Ce-Type": {"com.example.ticket.created"},
	}
	for i := range 4 {
		var repeat events.Accepted
		status, answer = offer(t, running, body, signedStructured(body))
		if i%2 == 1 {
			status, answer = offer(t, running, `{"ticket":"T-1","words":"Calculate 12 + 13"}`, binary)
		}
		if err := schemas.Unmarshal(answer, &repeat); err != nil || status != http.StatusAccepted || repeat.ID != first.ID || repeat.Session != first.Session {
			t.Errorf("repeat: status %d: %s", status, answer)
		}
		if got := settled(t, running, repeat.Run); !strings.Contains(got, schemas.RunID(first.Session, 1)) {
			t.Errorf("the repeat's URL leads to %s", got)
		}
	}
	binary["Ce-Id"] = []string{"8"}
	if status, answer = offer(t, running, `{"ticket":"T-2","words":"Calculate 1 + 1"}`, binary); status != http.StatusAccepted || strings.Contains(string(answer), first.Session) {
		t.Errorf("another ticket: status %d: %s", status, answer)
	}
	started := 0
	for record, err := range bus.LoadSession(t.Context(), running.Ledger.Core, first.Session) {
		if err != nil {
			t.Fatal(err)
		}
		for fact := range record.AllFacts() {
			if fact.RunStarted != nil {
				started++
			}
		}
	}
	if started != 1 {
		t.Errorf("%d runs of one event", started)
	}
	if status, answer = offer(t, running, body, http.Header{"Content-Type": {"application/cloudevents+json"}}); status != http.StatusUnauthorized {
		t.Errorf("a stranger: status %d: %s", status, answer)
	}
	binary.Del("Authorization")
	binary.Set("Authorization", "Bearer "+accessWord)
	if status, answer = offer(t, running, "{}", binary); status != http.StatusUnauthorized {
		t.Errorf("the token of a chat channel: status %d: %s", status, answer)
	}
	if _, metrics := fetch(t, running.Address()+"/metrics"); !strings.Contains(metrics, `podium_http_events_total{outcome="refused",source="tickets"} 2`) {
		t.Errorf("metrics %s", metrics)
	}
}

// A plan that comes as an event is carried out as it is (M-02).
func TestPlanByHTTP_M02(t *testing.T) {
	t.Parallel()
	running, _ := startReception(t)
	const id = "6a9b3b2e-0b0e-4f0e-8f0e-0b0e4f0e8f0e"
	plan := `{"message_id":"` + id + `","from":"erp","to":"supervisor","type":"execution_request","timestamp":"2026-01-31T12:00:00Z",
"payload":{"plan_id":"7a9b3b2e-0b0e-4f0e-8f0e-0b0e4f0e8f0e","request_id":"r1","tasks":[
{"task_id":"a","description":"Calculate 2 + 3","assigned_to":"calculator"},
{"task_id":"b","description":"Calculate 4 + 5","assigned_to":"calculator","dependencies":["a"]}]}}`
	status, answer := offer(t, running, plan, http.Header{
		"Authorization": {"Bearer token-of-the-tickets"}, "Content-Type": {"application/json"}, "Ce-Specversion": {"1.0"}, "Ce-Id": {id},
		"Ce-Source": {"/erp"}, "Ce-Type": {schemas.TypeExecutionRequest},
	})
	var taken events.Accepted
	if err := schemas.Unmarshal(answer, &taken); err != nil || status != http.StatusAccepted {
		t.Fatalf("status %d: %s", status, answer)
	}
	got := settled(t, running, taken.Run)
	if !strings.Contains(got, `"status":"completed"`) || !strings.Contains(got, "9") || !strings.Contains(got, `"task":"b"`) {
		t.Errorf("run %s", got)
	}
}
