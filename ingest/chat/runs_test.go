package chat_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/memory"
	"podium/ingest/chat"
	"podium/ingest/runs"
	"podium/schemas"
	"podium/schemas/workflow"
)

const hello = `{"text":"2+2?","thread":"t"}`

func TestRunFromAcceptedToEnded(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	adapter := newAdapter(t, ledger)
	accepted := accept(t, adapter, post("web", hello))
	session := newScript(t, ledger, accepted.Session)
	at := func(status int) runs.Document {
		t.Helper()
		document, _ := expect[runs.Document](t, adapter, get(accepted.Run), status)
		if document.Run != accepted.Run || document.Events != accepted.Events {
			t.Errorf("URLs %q %q", document.Run, document.Events)
		}
		return document
	}
	if document := at(http.StatusAccepted); document.State != runs.StateAccepted || document.RunID != "" {
		t.Errorf("before the decision: %+v", document)
	}
	session.begin(accepted, 1)
	document := at(http.StatusOK)
	if document.State != "executing" || document.RunID != schemas.RunID(accepted.Session, 1) || document.Status != "" || document.Answer != "" {
		t.Errorf("under way: %+v", document)
	}
	session.settle(1, text("4"), text("  "), text("even"))
	if document := at(http.StatusOK); document.State != "complete" || document.Details.Phase != workflow.PhaseAssembling || document.Status != schemas.RunCompleted || document.Answer != "4\n\neven" {
		t.Errorf("settled: %+v", document)
	}
	session.end(1)
	if document := at(http.StatusOK); document.State != "complete" || document.Reason != "completed" || document.Answer != "4\n\neven" {
		t.Errorf("ended: %+v", document)
	}
	byRun, _ := expect[runs.Document](t, adapter, get("/v1/runs/"+document.RunID, "Authorization", "Bearer "+token), http.StatusOK)
	if byRun.Answer != "4\n\neven" || byRun.Details == nil || byRun.Details.ID != document.RunID {
		t.Errorf("by the run's own id: %+v", byRun)
	}
}

// A repeat that reached the ledger has no record of its own, and yet leads to the run.
func TestRepeatLeadsToTheRunOfTheFirst(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	message := post("web", hello, "Webhook-Id", "m1")
	first := accept(t, newAdapter(t, ledger), message)
	adapter := newAdapter(t, ledger) // a restart: nothing is remembered
	session := newScript(t, ledger, first.Session)
	session.begin(first, 1)
	session.settle(1, text("4"))
	repeat := accept(t, adapter, message)
	if repeat.Sequence == first.Sequence || repeat.ID != first.ID {
		t.Fatalf("repeat %+v of %+v", repeat, first)
	}
	document, _ := expect[runs.Document](t, adapter, get(repeat.Run), http.StatusOK)
	if document.RunID != schemas.RunID(first.Session, 1) || document.Answer != "4" {
		t.Errorf("the repeat leads to %+v", document)
	}
}

func TestDispositions(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	var accepted [4]chat.Accepted
	for i := range accepted {
		accepted[i] = accept(t, adapter, post("web", hello))
	}
	session := newScript(t, ledger, accepted[0].Session)
	session.begin(accepted[0], 1)
	queued := received(accepted[1], 2, schemas.DispositionQueued)
	message := incoming(accepted[1])
	schemas.As[*schemas.MessageReceived](queued).Message = &message
	session.record(queued)
	ignored, refused := received(accepted[2], 0, schemas.DispositionIgnored), received(accepted[3], 0, schemas.DispositionRefused)
	schemas.As[*schemas.MessageReceived](ignored).Reason, schemas.As[*schemas.MessageReceived](refused).Reason = "autoreply", "already_settled"
	session.record(ignored)
	session.record(refused)
	for i, want := range []runs.Document{
		{State: "executing", RunID: schemas.RunID(session.session, 1), Language: "en"},
		{State: runs.StateQueued, RunID: schemas.RunID(session.session, 2)},
		{State: runs.StateIgnored, Reason: "autoreply"},
		{State: runs.StateRefused, Reason: "already_settled"},
	} {
		got, _ := expect[runs.Document](t, adapter, get(accepted[i].Run), http.StatusOK)
		got.Run, got.Events, got.Details = "", "", nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("message %d: %+v, want %+v", i, got, want)
		}
	}
}

func TestFailureIsToldInTheLanguageOfTheRun_G28(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	accepted := accept(t, adapter, post("web", hello))
	session := newScript(t, ledger, accepted.Session)
	session.begin(accepted, 1)
	session.record(
		&schemas.TaskFailed{Run: 1, Task: "t1", Attempt: 1, Cause: schemas.FailurePermanent},
		&schemas.RunSettled{
			Run: 1, Status: schemas.RunFailed, Reason: schemas.StopTaskFailed,
			Error: &schemas.Error{
				ErrorType: schemas.ErrorToolFailure, SuggestedAction: schemas.ActionRetry,
				Message: map[string]string{"en": "That did not work.", "de": "Das ging nicht."}, Reasons: []schemas.Reason{schemas.Because(schemas.RunTaskFailed, "agent", "host db7")},
			},
		})
	session.record(&schemas.RunEnded{Run: 1, Status: schemas.RunFailed, Reason: schemas.StopTaskFailed})
	recorder := get(accepted.Run).do(t, adapter)
	document := read[runs.Document](t, recorder.Body.Bytes())
	if document.Answer != "That did not work." || document.Status != schemas.RunFailed || document.Details.Error.ErrorType != schemas.ErrorToolFailure {
		t.Errorf("document %+v", document)
	}
	events := get(accepted.Events).do(t, adapter).Body.String()
	if !strings.Contains(events, "run_settled") || !strings.Contains(events, "event: end") {
		t.Errorf("events %s", events)
	}
	if strings.Contains(recorder.Body.String()+events, "is away") {
		t.Errorf("what is for the log is shown: %s %s", recorder.Body, events)
	}
}

func TestWhoMayRead(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	adapter := newAdapter(t, ledger)
	mine, theirs := accept(t, adapter, post("web", hello)), accept(t, adapter, post("other", hello, "Authorization", "Bearer "+otherToken))
	newScript(t, ledger, mine.Session).begin(mine, 1)
	key := func(a chat.Accepted) string { return a.Run[strings.Index(a.Run, "?"):] }
	run := "/v1/runs/" + schemas.RunID(mine.Session, 1)
	stranger := "/v1/runs/" + schemas.SessionID(profile, "nobody")
	bearer := []string{"Authorization", "Bearer " + token}
	for name, test := range map[string]struct {
		call   call
		status int
	}{
		"key, message":                     {get(mine.Run), 200},
		"key, run":                         {get(run + key(mine)), 200},
		"token, message":                   {get(pathOf(mine.Run), bearer...), 200},
		"token, run":                       {get(run, bearer...), 200},
		"token beside a wrong key":         {get(run+"?key=x", bearer...), 200},
		"token, nothing decided yet":       {get(pathOf(theirs.Run), "Authorization", "Bearer "+otherToken), 202},
		"nothing":                          {get(run), 401},
		"wrong key":                        {get(run + key(mine) + "x"), 401},
		"empty key":                        {get(run + "?key="), 401},
		"key of another session":           {get(run + key(theirs)), 401},
		"wrong token":                      {get(run, "Authorization", "Bearer nonsense-nonsense"), 401},
		"token of another channel":         {get(run, "Authorization", "Bearer "+otherToken), 404},
		"token of another, message":        {get(pathOf(mine.Run), "Authorization", "Bearer "+otherToken), 404},
		"token, no such session":           {get(stranger+"-1", bearer...), 404},
		"token, no such run":               {get("/v1/runs/"+schemas.RunID(mine.Session, 2), bearer...), 404},
		"key, no such run":                 {get("/v1/runs/" + schemas.RunID(mine.Session, 2) + key(mine)), 404},
		"key, no such message":             {get("/v1/runs/" + mine.Session + "~9999" + key(mine)), 404},
		"key, a message of another":        {get("/v1/runs/" + mine.Session + "~" + strconv.FormatUint(theirs.Sequence+100, 10) + key(mine)), 404},
		"not a reference, a token":         {get("/v1/runs/nonsense", bearer...), 404},
		"not a reference, nothing":         {get("/v1/runs/nonsense"), 401},
		"events: nothing":                  {get(run + "/events"), 401},
		"events: token of another channel": {get(run+"/events", "Authorization", "Bearer "+otherToken), 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := test.call.do(t, adapter)
			if recorder.Code != test.status {
				t.Errorf("status %d, want %d: %s", recorder.Code, test.status, recorder.Body)
			}
			if recorder.Header().Get("Cache-Control") != "no-store" || recorder.Header().Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("headers %v", recorder.Header())
			}
		})
	}
}

// A sequence proves nothing: only a message of the very session can be named.
func TestReferenceToWhatIsNotAMessageOfTheSession(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	mine, theirs := accept(t, adapter, post("web", hello)), accept(t, adapter, post("web", `{"text":"x","thread":"another"}`))
	record := newScript(t, ledger, mine.Session).begin(mine, 1)
	_, key, _ := strings.Cut(mine.Run, "?")
	forged := inputs(t, ledger)[0] // the message itself, where an agent can write
	copied := publish(t, ledger, bus.ResponseSubject("calculator", 0), forged)
	for _, sequence := range []uint64{theirs.Sequence, record, copied} {
		path := "/v1/runs/" + mine.Session + "~" + strconv.FormatUint(sequence, 10) + "?" + key
		expect[chat.Problem](t, adapter, get(path), http.StatusNotFound)
	}
}

func TestUnreadableLedger(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	accepted := accept(t, newAdapter(t, ledger), post("web", hello))
	adapter := newAdapter(t, unreadable{ledger})
	problem, header := expect[chat.Problem](t, adapter, get(accepted.Run), http.StatusServiceUnavailable)
	if header.Get("Retry-After") == "" || problem.Detail == "" {
		t.Errorf("problem %+v, headers %v", problem, header)
	}
	// What was taken stays taken, whatever comes after it.
	accept(t, adapter, post("web", hello, "Prefer", "wait=5"))
}

// Records that no session writes are told apart from a ledger that is away.
func TestUnreadableRecords(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(session *script, a chat.Accepted){
		"a run that never began": func(session *script, a chat.Accepted) {
			session.record(received(a, 1, schemas.DispositionStarted))
			session.work(1)
		},
		"an end without an outcome": func(session *script, a chat.Accepted) {
			session.begin(a, 1)
			session.end(1)
		},
		"no record": func(session *script, a chat.Accepted) {
			session.begin(a, 1)
			session.records.Append(&schemas.Event{ID: "x", Source: "/podium/supervisor", Type: schemas.TypeControl, Data: []byte("{}")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := memory.New(1)
			adapter := newAdapter(t, ledger)
			accepted := accept(t, adapter, post("web", hello))
			write(newScript(t, ledger, accepted.Session), accepted)
			problem, _ := expect[chat.Problem](t, adapter, get(accepted.Run), http.StatusInternalServerError)
			if !strings.HasSuffix(problem.Type, "unreadable-run") {
				t.Errorf("problem %+v", problem)
			}
		})
	}
}

type unreadable struct{ *memory.Ledger }

func (unreadable) Get(_ context.Context, _ string, _ uint64) (bus.Message, error) {
	return bus.Message{}, &bus.TemporaryError{Op: "get", Err: errors.New("away")}
}

// A counting ledger knows how many readers are open.
type counting struct {
	*memory.Ledger
	open atomic.Int64
}

type countedReader struct {
	bus.Reader
	ledger *counting
}

func (c *counting) Read(ctx context.Context, stream string, from uint64, subjects ...string) (bus.Reader, error) {
	reader, err := c.Ledger.Read(ctx, stream, from, subjects...)
	if err == nil {
		c.open.Add(1)
	}
	return countedReader{reader, c}, err
}

func (r countedReader) Close() {
	r.ledger.open.Add(-1)
	r.Reader.Close()
}

func TestReadersAreClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := &counting{Ledger: memory.New(1)}
		adapter := newAdapter(t, ledger)
		accepted := accept(t, adapter, post("web", hello))
		var live tap
		done := follow(t.Context(), adapter, &live, get(accepted.Events))
		synctest.Wait()
		if open := ledger.open.Load(); open != 1 {
			t.Errorf("%d readers are open during a stream", open)
		}
		expect[runs.Document](t, adapter, get(accepted.Run, "Prefer", "wait=1"), http.StatusAccepted)
		adapter.Close()
		<-done
		if open := ledger.open.Load(); open != 0 {
			t.Errorf("%d readers are left open", open)
		}
	})
}

func TestPreferWait(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prefer, applied string
		decide          time.Duration // when the supervisor settles; 0 is never
		close           time.Duration // when the adapter closes; 0 is never
		took            time.Duration
		status          int
	}{
		"in time":              {prefer: "wait=10", applied: "wait=10", decide: 3 * time.Second, took: 3 * time.Second, status: 200},
		"too late":             {prefer: "wait=10", applied: "wait=10", decide: 11 * time.Second, took: 10 * time.Second, status: 202},
		"never":                {prefer: "respond-async, wait=2", applied: "wait=2", took: 2 * time.Second, status: 202},
		"capped":               {prefer: "wait=3600", applied: "wait=20", took: 20 * time.Second, status: 202},
		"not at all":           {prefer: "wait=0", status: 202},
		"without a preference": {status: 202},
		"the adapter closes":   {prefer: "wait=10", applied: "wait=10", close: time.Second, took: time.Second, status: 202},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ledger := memory.New(1)
				adapter := newAdapter(t, ledger, func(c *chat.Config) { c.Runs.MaxWait = 20 * time.Second })
				first := accept(t, adapter, post("web", hello, "Webhook-Id", "m0"))
				if test.decide > 0 {
					time.AfterFunc(test.decide, func() {
						session := newScript(t, ledger, first.Session)
						session.begin(first, 1)
						session.settle(1, text("4"))
					})
				}
				if test.close > 0 {
					time.AfterFunc(test.close, adapter.Close)
				}
				before := time.Now()
				recorder := post("web", hello, "Webhook-Id", "m0", "Prefer", test.prefer).do(t, adapter)
				if took := time.Since(before); took != test.took || recorder.Code != test.status {
					t.Errorf("status %d after %v, want %d after %v", recorder.Code, took, test.status, test.took)
				}
				if recorder.Header().Get("Location") != first.Run || recorder.Header().Get("Preference-Applied") != test.applied {
					t.Errorf("headers %v", recorder.Header())
				}
				if test.status == http.StatusOK {
					document := read[runs.Document](t, recorder.Body.Bytes())
					if document.Answer != "4" || document.Details != nil || document.Status != schemas.RunCompleted {
						t.Errorf("document %+v", document)
					}
				} else if accepted := read[chat.Accepted](t, recorder.Body.Bytes()); accepted != first {
					t.Errorf("accepted %+v, want %+v", accepted, first)
				}
				time.Sleep(test.decide) // the script ends inside the bubble
			})
		})
	}
}

func TestWaitingOnARun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		adapter := newAdapter(t, ledger, func(c *chat.Config) { c.Runs.Readers = 1 })
		accepted := accept(t, adapter, post("web", hello))
		session := newScript(t, ledger, accepted.Session)
		time.AfterFunc(2*time.Second, func() { session.begin(accepted, 1) })
		time.AfterFunc(4*time.Second, func() { session.settle(1, text("4")) })
		time.AfterFunc(time.Second, func() {
			// The one place is taken: the answer comes at once, and says that nothing was waited for.
			recorder := get(accepted.Run, "Prefer", "wait=10").do(t, adapter)
			if recorder.Code != http.StatusAccepted || recorder.Header().Get("Preference-Applied") != "" {
				t.Errorf("status %d, headers %v", recorder.Code, recorder.Header())
			}
		})
		before := time.Now()
		document, _ := expect[runs.Document](t, adapter, get(accepted.Run, "Prefer", "wait=10"), http.StatusOK)
		if took := time.Since(before); took != 4*time.Second || document.Answer != "4" {
			t.Errorf("%+v after %v", document, took)
		}
	})
}
