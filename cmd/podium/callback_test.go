package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

const (
	callbackConfig = `
agents:
  erp: {kind: http, url: "%[1]s/erp", secret: %[2]q, async: true, side_effects: external, concurrency: 1}
  bank: {kind: http, url: "%[1]s/bank", secret: %[3]q, async: true}
  hasty: {kind: http, url: "%[1]s/hasty", secret: %[2]q, async: true}
profiles:
  desk:
    language: en
    agents: [{name: erp, on_tainted: allow}, bank]
    routers:
      - {kind: keywords, groups: [{agent: bank, keywords: [pay]}]}
      - {kind: default, agent: erp}
    retry: {attempts: 1, wait: 50ms}
    deadlines: {work: 10m}
  rush:
    language: en
    agents: [hasty]
    routers: [{kind: default, agent: hasty}]
    retry: {attempts: 1, wait: 50ms}
    deadlines: {queue: 4s, work: 1s}
`
	bankSecret = "whsec_YW5vdGhlciBrZXkgZm9yIHRoZSB0ZXN0cyBvbmx5"
)

// An office is an endpoint that accepts what it is asked, and answers later.
type office struct {
	*httptest.Server
	mu    sync.Mutex
	calls []officeCall
	quick func(officeCall) // called before the call is answered, when it is there
}

// An officeCall is one call that was accepted.
type officeCall struct{ agent, id, callback string }

func openOffice(t *testing.T) *office {
	t.Helper()
	o := &office{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		call := officeCall{strings.TrimPrefix(r.URL.Path, "/"), r.Header.Get("Webhook-Id"), r.Header.Get("Podium-Callback")}
		secret := map[string]string{"erp": webSecret, "hasty": webSecret, "bank": bankSecret}[call.agent]
		if err != nil || r.Header.Get("Webhook-Signature") != signatureOf(secret, call.id, r.Header.Get("Webhook-Timestamp"), body) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		o.mu.Lock()
		o.calls = append(o.calls, call)
		quick := o.quick
		o.mu.Unlock()
		if quick != nil {
			quick(call)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(o.Close)
	return o
}

// effects are the ids under which an agent's work was asked for, without repeats, and the newest call.
func (o *office) effects(agent string) (ids map[string]bool, last officeCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	ids = map[string]bool{}
	for _, call := range o.calls {
		if call.agent == agent {
			ids[call.id], last = true, call
		}
	}
	return ids, last
}

func signatureOf(secret, id, seconds string, body []byte) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, seconds, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// callBack posts an answer as an endpoint with a secret does, and returns the status and what was said.
func callBack(t *testing.T, address, secret, body string) (status int, said string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	seconds := strconv.FormatInt(time.Now().Unix(), 10)
	request.Header.Set("Webhook-Id", "answer-1")
	request.Header.Set("Webhook-Timestamp", seconds)
	if secret != "" {
		request.Header.Set("Webhook-Signature", signatureOf(secret, "answer-1", seconds, []byte(body)))
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}

// responsesOf counts the responses of an agent on the ledger, by id.
func (i *deployment) responsesOf(agent string) map[string]int {
	i.t.Helper()
	count := map[string]int{}
	for _, line := range lines[replayed](i.t, i.podium("replay", "--subject", "podium.agent."+agent+".response.>", "-o", "json")) {
		var event struct {
			ID string `json:"id"`
		}
		if err := schemas.Unmarshal(line.Event, &event); err != nil {
			i.t.Fatal(err)
		}
		count[event.ID]++
	}
	return count
}

const orderDone = `{"status": "completed", "result": {"text": "Order 12 is placed."}, "deliverables": [{"path": "order.txt", "type": "report", "metadata": {"content": "b3JkZXIgMTI=", "media_type": "text/plain"}}]}`

// TestCallbackOutlivesTheService: an endpoint accepts work, the service is killed, and the answer comes when it runs
// again. It is answered once, though the endpoint calls back twice, and what was to be done outside is one effect. Of an
// agent with one place nothing else is asked before that.
func TestCallbackOutlivesTheService_X03(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	i := install(t, fmt.Sprintf(callbackConfig, o.URL, webSecret, bankSecret), "ledger: {shards: 1}")
	i.up()
	for _, words := range []string{"order a printer", "order another printer"} {
		i.podium("send", "--profile", "desk", words).succeeds(t)
	}
	eventually(t, "the work goes on elsewhere", func() bool { return i.waits("erp") > 0 })
	i.kill()
	i.up()
	answered := map[string]bool{}
	for over := range 2 {
		var call officeCall
		var ids map[string]bool
		eventually(t, "it is asked for the next order", func() bool {
			ids, call = o.effects("erp")
			return !answered[call.id]
		})
		if len(ids) != over+1 || !strings.HasPrefix(call.callback, "http://"+i.listen+"/v1/agents/erp/answer/") {
			t.Errorf("after %d answers there are %d effects, and the newest call is %+v", over, len(ids), call)
		}
		answered[call.id] = true
		for range 2 {
			if status, said := callBack(t, call.callback, webSecret, orderDone); status != http.StatusAccepted {
				t.Fatalf("HTTP %d: %s", status, said)
			}
		}
	}
	eventually(t, "both are done", func() bool {
		done := 0
		for _, run := range i.runs() {
			if run.Status == schemas.RunCompleted {
				done++
			}
		}
		return done == 2
	})
	for _, run := range i.runs() {
		run = i.run(run.ID)
		if task := run.Tasks[0]; task.Attempt != 1 || task.Result.Text != "Order 12 is placed." || len(task.Deliverables) != 1 || len(task.Unproven) != 0 ||
			!strings.Contains(string(task.Deliverables[0].Metadata), `"sha256"`) {
			t.Errorf("run %s: attempt %d, %+v", run.ID, task.Attempt, task)
		}
	}
	i.stop()
	if responses := i.responsesOf("erp"); len(responses) != 2 {
		t.Errorf("the responses are %v", responses)
	}
	i.verify()
}

// waits counts the progress updates of an agent that say that its work goes on elsewhere.
func (i *deployment) waits(agent string) (silent int) {
	i.t.Helper()
	for _, line := range lines[replayed](i.t, i.podium("replay", "--subject", "podium.agent."+agent+".progress.>", "-o", "json")) {
		if bytes.Contains(line.Event, []byte("waiting_until")) {
			silent++
		}
	}
	return silent
}

// TestCallbackBeforeItWasAccepted: an endpoint may be faster than its own 202.
func TestCallbackBeforeItWasAccepted(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	i := install(t, fmt.Sprintf(callbackConfig, o.URL, webSecret, bankSecret))
	o.quick = func(call officeCall) {
		if status, said := callBack(t, call.callback, webSecret, orderDone); status != http.StatusAccepted {
			t.Errorf("HTTP %d: %s", status, said)
		}
		time.Sleep(200 * time.Millisecond) // the answer is told while the call is under way
	}
	i.up()
	run, answer := i.answered("--profile", "desk", "order a printer")
	if answer != "Order 12 is placed." || run.Status != schemas.RunCompleted || run.Tasks[0].Permit == "" {
		t.Errorf("the answer is %q, %s: %+v", answer, run.Status, run.Tasks[0])
	}
	i.stop()
	if ids, _ := o.effects("erp"); len(ids) != 1 {
		t.Errorf("it is %d effects", len(ids))
	}
	i.verify()
}

// TestForgedCallbacks: nobody answers for an agent without its secret and a token that was sealed for it, and nobody when
// the time is over. What cannot be read is refused, and the right answer counts afterwards.
func TestForgedCallbacks(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	i := install(t, fmt.Sprintf(callbackConfig, o.URL, webSecret, bankSecret))
	i.up("-vv")
	sending := spawn(t, "--data", i.data, "send", "--profile", "desk", "--wait", "order a printer")
	i.podium("send", "--profile", "desk", "pay the bill").succeeds(t)
	i.podium("send", "--profile", "rush", "hurry").succeeds(t)
	called := func(agent string) (last officeCall) {
		eventually(t, agent+" is called", func() bool {
			_, last = o.effects(agent)
			return last.id != ""
		})
		return last
	}
	erp, bank, hasty := called("erp").callback, called("bank").callback, called("hasty").callback
	before, token, _ := strings.Cut(erp, "/answer/")
	bankToken := bank[strings.LastIndexByte(bank, '/')+1:]
	last := "A"
	if strings.HasSuffix(token, "A") {
		last = "Q"
	}
	for name, c := range map[string]struct {
		address, secret, body string
		want                  int
	}{
		"no signature":                     {erp, "", orderDone, http.StatusUnauthorized},
		"another secret":                   {erp, bankSecret, orderDone, http.StatusUnauthorized},
		"an altered token":                 {before + "/answer/" + token[:len(token)-1] + last, webSecret, orderDone, http.StatusUnauthorized},
		"a token of the sender's making":   {before + "/answer/00000000.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", webSecret, orderDone, http.StatusUnauthorized},
		"another agent's token":            {before + "/answer/" + bankToken, webSecret, orderDone, http.StatusUnauthorized},
		"an agent that there is not":       {strings.Replace(erp, "/erp/", "/desk/", 1), webSecret, orderDone, http.StatusUnauthorized},
		"an answer that cannot be read":    {erp, webSecret, `{"status": "partial"}`, http.StatusBadRequest},
		"an answer that is too large":      {erp, webSecret, strings.Repeat("x", 8<<20+1), http.StatusRequestEntityTooLarge},
		"a page that is not there at all":  {before + "/answers", webSecret, orderDone, http.StatusNotFound},
		"the answer to a payment that was": {bank, bankSecret, "Paid.", http.StatusAccepted},
	} {
		if status, said := callBack(t, c.address, c.secret, c.body); status != c.want || status >= 400 && !strings.Contains(said, "urn:podium:problem:") {
			t.Errorf("%s: HTTP %d, want %d: %s", name, status, c.want, said)
		}
	}
	eventually(t, "the time is over", func() bool {
		status, said := callBack(t, hasty, webSecret, `{"status": "partial"}`)
		return status == http.StatusGone && strings.Contains(said, "urn:podium:problem:too-late")
	})
	if status, said := callBack(t, erp, webSecret, `{"status": "failed", "issues_encountered": [{"severity": "high", "description": "The printer is sold out.", "resolution": "escalated"}]}`); status != http.StatusAccepted {
		t.Fatalf("HTTP %d: %s", status, said)
	}
	sending.ends(t, exitFailed)
	if said := sending.stdout.String() + sending.stderr.String(); !strings.Contains(said, "The printer is sold out.") {
		t.Errorf("whoever asked is told %s", said)
	}
	i.stop()
	i.verify()
	if log := i.process.stderr.String(); strings.Contains(log, token) || strings.Contains(log, bankToken) {
		t.Error("the log has a token")
	}
}

// nestedCallbackConfig has a supervisor ask another one, again and again, for what an endpoint does that takes longer.
const nestedCallbackConfig = `
agents:
  erp: {kind: http, url: "%s/erp", secret: %q, async: true, concurrency: 8}
  desk: {kind: supervisor, profile: desk}
profiles:
  front:
    language: en
    agents: [desk]
    routers: [{kind: default, agent: desk}]
    deadlines: {queue: 10m, work: 3s}
    retry: {attempts: 20, wait: 1s, timeout_growth: 1}
  desk:
    language: en
    agents: [{name: erp, work: 10m}]
    routers: [{kind: default, agent: erp}]
`

// TestCallbackToAnEarlierRun: an endpoint that answers to the address of the first call is heard, also when the supervisor that has asked has given that up and
// asks again: both calls are one effect, and what the endpoint says counts for the call that is under way.
func TestCallbackToAnEarlierRun_X03(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	i := install(t, fmt.Sprintf(nestedCallbackConfig, o.URL, webSecret), "ledger: {shards: 1}")
	i.up()
	i.podium("send", "--profile", "front", "order a printer").succeeds(t)
	calls := func() []officeCall {
		o.mu.Lock()
		defer o.mu.Unlock()
		return slices.Clone(o.calls)
	}
	eventually(t, "it is called by two runs", func() bool { return len(calls()) > 1 })
	first := calls()[0]
	eventually(t, "the answer to the first call is taken while one is under way", func() bool {
		if status, said := callBack(t, first.callback, webSecret, orderDone); status != http.StatusAccepted {
			t.Fatalf("HTTP %d: %s", status, said)
		}
		return slices.ContainsFunc(i.runs(), func(run workflow.RunHistory) bool {
			return run.Profile == "front" && run.Phase == workflow.PhaseComplete
		})
	})
	for _, call := range calls() {
		if call.id != first.id {
			t.Errorf("a call is the effect %s, and the first was %s", call.id, first.id)
		}
	}
	completed := 0
	for _, run := range i.runs() {
		run = i.run(run.ID)
		if run.Status != schemas.RunCompleted {
			continue
		}
		completed++
		if task := run.Tasks[0]; task.Result.Text != "Order 12 is placed." || run.Profile == "desk" && run.Number < 2 {
			t.Errorf("run %s of profile %s: %+v", run.ID, run.Profile, task)
		}
	}
	if completed != 2 {
		t.Errorf("%d runs are completed, want that of the front and the last of the desk", completed)
	}
	i.stop()
	i.verify()
}
