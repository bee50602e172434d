package service_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"podium/bus/embedded/serverprocess"
	"podium/bus/history"
	"podium/cmd/podium/service"
	"podium/ingest/cloudevents"
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
// an event of another conversation makes another one.
func TestEventFromSenderToAnswer(t *testing.T) {
	t.Parallel()
	running, _ := startReception(t)
	const body = `{"specversion":"1.0","id":"7","source":"https://tickets.example.com","type":"com.example.ticket.created","data":{"ticket":"T-1","words":"Calculate 12 + 13"}}`
	status, answer := offer(t, running, body, signedStructured(body))
	if status != http.StatusAccepted {
		t.Fatalf("status %d: %s", status, answer)
	}
	var first cloudevents.Accepted
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
		var repeat cloudevents.Accepted
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
	if got := runsOf(t, running, first.Session); got != 1 {
		t.Errorf("%d runs of one event", got)
	}
	if status, answer = offer(t, running, body, http.Header{"Content-Type": {"application/cloudevents+json"}}); status != http.StatusUnauthorized {
		t.Errorf("a stranger: status %d: %s", status, answer)
	}
	binary.Del("Authorization")
	binary.Set("Authorization", "Bearer "+accessCode)
	if status, answer = offer(t, running, "{}", binary); status != http.StatusUnauthorized {
		t.Errorf("the token of a chat channel: status %d: %s", status, answer)
	}
	if _, metrics := fetch(t, running.Address()+"/metrics"); !strings.Contains(metrics, `podium_http_events_total{outcome="refused",source="tickets"} 2`) {
		t.Errorf("metrics %s", metrics)
	}
}

// remote is an installation whose ledger is a server of its own.
const remote = `
ledger: {data: %q, nats: {url: %q, credentials: %q}}
http: {listen: "127.0.0.1:0", sources: {tickets: {profile: desk, token: token-of-the-tickets, types: {com.example.ticket.created: {text: /words}}}}}
agents: {calculator: {kind: calculator}}
profiles: {desk: {agents: [calculator], routers: [{kind: default, agent: calculator}]}}
`

// While the ledger is down an event is answered with 503. What was offered
// then and is offered again makes one run.
func TestEventsWhileTheLedgerIsDown(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: []string{"calculator", "chat"}})
	running := start(t, fmt.Sprintf(remote, t.TempDir(), server.URL(), server.Keys().Core.SeedFile))
	header := http.Header{
		"Authorization": {"Bearer token-of-the-tickets"}, "Content-Type": {"application/json"}, "Ce-Specversion": {"1.0"}, "Ce-Id": {"7"},
		"Ce-Source": {"/tickets"}, "Ce-Type": {"com.example.ticket.created"},
	}
	const words = `{"words":"12 + 13"}`
	var before cloudevents.Accepted
	if status, answer := offer(t, running, words, header); status != http.StatusAccepted || schemas.Unmarshal(answer, &before) != nil {
		t.Fatalf("status %d: %s", status, answer)
	}
	settled(t, running, before.Run)
	server.Kill()
	header.Set("Ce-Id", "8")
	for range 3 {
		status, answer := offer(t, running, words, header)
		if status != http.StatusServiceUnavailable || !strings.Contains(string(answer), "ledger-unavailable") {
			t.Errorf("status %d: %s", status, answer)
		}
	}
	server.Restart()
	var taken cloudevents.Accepted
	for limit := time.Now().Add(patience); ; {
		status, answer := offer(t, running, words, header)
		if status == http.StatusAccepted {
			if err := schemas.Unmarshal(answer, &taken); err != nil {
				t.Fatal(err)
			}
			break
		}
		if status != http.StatusServiceUnavailable || time.Now().After(limit) {
			t.Fatalf("status %d: %s", status, answer)
		}
	}
	if got := settled(t, running, taken.Run); !strings.Contains(got, `"status":"completed"`) || !strings.Contains(got, "25") {
		t.Errorf("run %s", got)
	}
	if got := runsOf(t, running, taken.Session); got != 1 {
		t.Errorf("%d runs of one event", got)
	}
}

// runsOf counts the runs that a session has begun.
func runsOf(t *testing.T, running *service.Service, session string) (runs int) {
	t.Helper()
	for record, err := range history.LoadSession(t.Context(), running.Ledger.Core, session) {
		if err != nil {
			t.Fatal(err)
		}
		for fact := range record.AllFacts() {
			if schemas.As[*schemas.RunStarted](fact) != nil {
				runs++
			}
		}
	}
	return runs
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
	var taken cloudevents.Accepted
	if err := schemas.Unmarshal(answer, &taken); err != nil || status != http.StatusAccepted {
		t.Fatalf("status %d: %s", status, answer)
	}
	got := settled(t, running, taken.Run)
	if !strings.Contains(got, `"status":"completed"`) || !strings.Contains(got, "9") || !strings.Contains(got, `"task":"b"`) {
		t.Errorf("run %s", got)
	}
}

// BenchmarkEvent counts events from the socket to the acknowledgment of an embedded
// ledger (interval), one a request and a hundred; the runs that they begin are in it.
func BenchmarkEvent(b *testing.B) {
	for name, size := range map[string]int{"single": 1, "batch": cloudevents.MaxBatch} {
		b.Run(name, func(b *testing.B) { benchmarkEvents(b, size) })
	}
}

func benchmarkEvents(b *testing.B, size int) {
	b.Helper()
	const senders = 16
	running, _ := startReception(b)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	b.ResetTimer()
	before := cpuTime(b)
	var group sync.WaitGroup
	for range senders {
		group.Go(func() {
			for n := next.Add(int64(size)); n <= int64(b.N+size-1); n = next.Add(int64(size)) {
				if err := sendEvents(b.Context(), client, running.Address(), n, size); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(b.N)/(cpuTime(b)-before).Seconds(), "events/CPU-s")
}

func sendEvents(ctx context.Context, client *http.Client, address string, first int64, size int) error {
	var list []string
	for i := range size {
		id := strconv.FormatInt(first*1000+int64(i), 10)
		list = append(list, `{"specversion":"1.0","id":"`+id+`","source":"/bench","type":"com.example.ticket.created","data":{"ticket":`+id+`,"words":"echo `+id+`"}}`)
	}
	body, mediaType := "["+strings.Join(list, ",")+"]", "application/cloudevents-batch+json"
	if size == 1 {
		body, mediaType = list[0], "application/cloudevents+json"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/v1/events/tickets", strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", mediaType)
	request.Header.Set("Authorization", "Bearer token-of-the-tickets")
	reply, err := client.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close() //nolint:errcheck // it was only read
	_, err = io.Copy(io.Discard, reply.Body)
	if reply.StatusCode != http.StatusAccepted {
		return fmt.Errorf("status %d", reply.StatusCode)
	}
	return err
}
