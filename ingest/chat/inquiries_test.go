package chat_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/ingest/chat"
	"podium/ingest/runs"
	"podium/schemas"
)

// opened are the facts of a task that waits for a person, who is asked at once.
func opened(question string, people ...string) []schemas.Fact {
	return []schemas.Fact{
		&schemas.InquiryOpened{
			Run: 1, Inquiry: 1, Task: "t1", Attempt: 1, Kind: schemas.HumanTaskInput, Question: question, People: people, To: []schemas.Address{{Address: "bob@example.org"}}, Expire: schemas.Duration(72 * time.Hour),
		},
		&schemas.TaskDispatched{Run: 1, Task: schemas.NoticeTask(1, 1), Kind: schemas.TaskKindNotify, About: &schemas.TaskAbout{HumanTask: 1, Notification: schemas.NotificationQuestion}, Agent: "chat", Attempt: 1},
	}
}

// ask has the run of a session ask something.
func (s *script) ask(run, number int, question string) {
	s.t.Helper()
	s.record(&schemas.InquiryOpened{
		Run: run, Inquiry: number, Task: "t1", Attempt: number, Kind: schemas.HumanTaskInput, Question: question, Expire: schemas.Duration(72 * time.Hour),
	}, &schemas.TaskDispatched{Run: run, Task: schemas.NoticeTask(number, 1), Kind: schemas.TaskKindNotify, About: &schemas.TaskAbout{HumanTask: number, Notification: schemas.NotificationQuestion}, Agent: "chat", Attempt: 1})
}

// answered takes a message or a word as the answer to a question, and goes on.
func (s *script) answered(id string, sequence uint64, run, number int) {
	s.t.Helper()
	s.record(&schemas.MessageReceived{ID: id, Sequence: sequence, Run: run, Inquiry: number, Disposition: schemas.DispositionAnswered},
		&schemas.InquiryAnswered{Run: run, Inquiry: number, Choice: schemas.ChoiceAnswer, Sequence: sequence, Actor: schemas.Actor{Via: schemas.ViaChat}},
		&schemas.TaskCompleted{Run: run, Task: schemas.NoticeTask(number, 1), Attempt: 1},
		&schemas.TaskDispatched{Run: run, Task: "t1", Agent: "calculator", Attempt: number + 1})
}

// settleAfter is settle where the task has been asked for more than once.
func (s *script) settleAfter(run, attempt int, answer string) {
	s.t.Helper()
	s.record(&schemas.TaskCompleted{Run: run, Task: "t1", Attempt: attempt, Result: text(answer)},
		&schemas.RunSettled{Run: run, Status: schemas.RunCompleted, Reason: schemas.StopCompleted, Answer: []schemas.AnswerPart{{Task: "t1", Body: text(answer)}}},
		&schemas.TaskDispatched{Run: run, Task: schemas.DeliveryTask, Agent: "chat", Attempt: 1})
}

// TestQuestionEndsTheWait: whoever waits is told what the run asks as soon as it does; the message that answers it leads to the
// run and waits on, until the next question or the outcome.
func TestQuestionEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(2)
		adapter := newAdapter(t, ledger)
		first := accept(t, adapter, post("web", hello, "Webhook-Id", "m1"))
		session := newScript(t, ledger, first.Session)
		session.begin(first, 1)
		time.AfterFunc(2*time.Second, func() { session.ask(1, 1, "In which base?") })
		before := time.Now()
		again := post("web", hello, "Webhook-Id", "m1", "Prefer", "wait=30")
		document, _ := expect[runs.Document](t, adapter, again, http.StatusOK)
		run := schemas.RunID(first.Session, 1)
		if asked := document.Inquiry; time.Since(before) != 2*time.Second || asked == nil || asked.ID != run+".1" || asked.Kind != schemas.HumanTaskInput ||
			asked.Question != "In which base?" || asked.Expires.IsZero() || document.State != "executing" || document.Status != "" {
			t.Fatalf("after %s: %+v", time.Since(before), document)
		}
		if document, _ = expect[runs.Document](t, adapter, get(first.Run, "Prefer", "wait=30"), http.StatusOK); document.Inquiry == nil || time.Since(before) != 2*time.Second {
			t.Errorf("whoever comes later: %+v", document)
		}

		time.AfterFunc(time.Second, func() {
			second := inputs(t, ledger)[1]
			session.answered(second.ID, newestInput(t, ledger), 1, 1)
			time.AfterFunc(time.Second, func() { session.ask(1, 2, "Signed?") })
		})
		before = time.Now()
		document, _ = expect[runs.Document](t, adapter, post("web", `{"text":"ten","thread":"t"}`, "Webhook-Id", "m2", "Prefer", "wait=30"), http.StatusOK)
		if document.RunID != run || document.Inquiry == nil || document.Inquiry.ID != run+".2" || time.Since(before) != 2*time.Second {
			t.Errorf("after %s the answer leads to %+v", time.Since(before), document)
		}
		session.answered("elsewhere", 0, 1, 2)
		time.AfterFunc(time.Second, func() { session.settleAfter(1, 3, "4") })
		document, _ = expect[runs.Document](t, adapter, get(document.Run, "Prefer", "wait=30"), http.StatusOK)
		if document.Inquiry != nil || document.Answer != "4" || document.RunID != run {
			t.Errorf("in the end: %+v", document)
		}
	})
}

// TestAnswersByHTTP: whoever may read a run may answer what it asks; the word says whose it is, and where it leads tells what
// became of it.
func TestAnswersByHTTP(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	adapter := newAdapter(t, ledger)
	first := accept(t, adapter, post("web", hello))
	session := newScript(t, ledger, first.Session)
	run := schemas.RunID(first.Session, 1)
	_, key, _ := strings.Cut(first.Run, "?")
	path := "/v1/runs/" + run + "/answers"
	answer := func(path, mediaType, body string, header ...string) call {
		return call{method: http.MethodPost, path: path, body: body, header: http.Header{"Content-Type": {mediaType}}}.with(header...)
	}
	byKey := answer(path+"?"+key, "text/plain; charset=utf-8", " ten\n")
	refused := func(name string, c call, status int, kind string) {
		t.Helper()
		if problem, _ := expect[chat.Problem](t, adapter, c, status); problem.Type != "urn:podium:problem:"+kind || problem.Detail == "" {
			t.Errorf("%s: %+v", name, problem)
		}
	}
	refused("no run yet", answer(pathOf(first.Run)+"/answers?"+key, "text/plain", "ten"), http.StatusConflict, "nothing-asked")
	session.begin(first, 1)
	refused("nothing is asked", byKey, http.StatusConflict, "nothing-asked")
	session.ask(1, 1, "In which base?")
	for name, c := range map[string]struct {
		call   call
		status int
		kind   string
	}{
		"no key":             {answer(path, "text/plain", "ten"), 401, "unauthorized"},
		"the key of another": {answer(path+"?key=x", "text/plain", "ten"), 401, "unauthorized"},
		"another channel":    {answer(path, "text/plain", "ten", "Authorization", "Bearer "+otherToken), 404, "unknown-run"},
		"another run":        {answer("/v1/runs/"+schemas.RunID(first.Session, 2)+"/answers?"+key, "text/plain", "ten"), 404, "unknown-run"},
		"another question":   {answer(path+"?"+key, "application/json", `{"text":"ten","inquiry":"`+run+`.2"}`), 409, "nothing-asked"},
		"no words":           {answer(path+"?"+key, "text/plain", " \n"), 400, "invalid-answer"},
		"no text":            {answer(path+"?"+key, "application/json", `{"words":"ten"}`), 400, "invalid-answer"},
		"no JSON":            {answer(path+"?"+key, "application/json", `ten`), 400, "invalid-answer"},
		"a form":             {answer(path+"?"+key, "application/x-www-form-urlencoded", "text=ten"), 415, "media-type"},
		"Latin-1":            {answer(path+"?"+key, "text/plain; charset=iso-8859-1", "ten"), 415, "media-type"},
		"too long":           {answer(path+"?"+key, "text/plain", strings.Repeat("x", runs.MaxAnswer+1)), 413, "too-large"},
		"GET":                {get(path + "?" + key), 405, "method"},
	} {
		refused(name, c.call, c.status, c.kind)
	}
	if words := controls(t, ledger); len(words) != 0 {
		t.Fatalf("published %+v", words)
	}

	taken, header := expect[runs.AnswerTaken](t, adapter, byKey, http.StatusAccepted)
	if header.Get("Location") != taken.Run || taken.Inquiry != run+".1" || !strings.HasPrefix(taken.Run, fmt.Sprintf("/v1/runs/%s~%d?key=", first.Session, taken.Sequence)) {
		t.Errorf("taken %+v", taken)
	}
	if document, _ := expect[runs.Document](t, adapter, get(taken.Run), http.StatusAccepted); document.State != runs.StateAccepted || document.RunID != run || document.Inquiry != nil {
		t.Errorf("nobody has looked at it: %+v", document)
	}
	late, _ := expect[runs.AnswerTaken](t, adapter, answer(path, "application/json", `{"text":"two"}`, "Authorization", "Bearer "+token), http.StatusAccepted)
	words := controls(t, ledger)
	if want := (schemas.Control{Action: schemas.ControlAnswer, Run: run, Inquiry: 1, Text: "ten", By: "web"}); len(words) != 2 || !reflect.DeepEqual(words[0], want) || words[1].Text != "two" {
		t.Errorf("published %+v", words)
	}
	session.answered(taken.ID, taken.Sequence, 1, 1)
	session.record(&schemas.MessageReceived{ID: late.ID, Sequence: late.Sequence, Run: 1, Disposition: schemas.DispositionRefused, Reason: "already_decided"})
	session.settleAfter(1, 2, "4")
	if document, _ := expect[runs.Document](t, adapter, get(taken.Run), http.StatusOK); document.RunID != run || document.Answer != "4" || document.Inquiry != nil {
		t.Errorf("the word that counts leads to %+v", document)
	}
	document, _ := expect[runs.Document](t, adapter, get(late.Run, "Authorization", "Bearer "+token), http.StatusOK)
	if document.State != runs.StateRefused || document.Reason != "already_decided" || document.Answer != "" || !document.Done() {
		t.Errorf("the word that came late leads to %+v", document)
	}
}

// TestWorkOfOthersIsToldWithoutTheirAddresses: who has asked reads that others are waited for, answers nothing in their place, and
// waits on; where they are told is nobody's business.
func TestWorkOfOthersIsToldWithoutTheirAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		adapter := newAdapter(t, ledger)
		first := accept(t, adapter, post("web", hello))
		session := newScript(t, ledger, first.Session)
		session.begin(first, 1)
		session.record(opened("Please call her.", "bob")...)
		before := time.Now()
		document, _ := expect[runs.Document](t, adapter, get(first.Run, "Prefer", "wait=5"), http.StatusOK)
		if asked := document.Inquiry; asked == nil || !slices.Equal(asked.People, []string{"bob"}) || document.Final() || time.Since(before) != 5*time.Second {
			t.Errorf("after %s: %+v", time.Since(before), document)
		}
		c := call{method: http.MethodPost, path: strings.Replace(first.Run, "?", "/answers?", 1), body: "done", header: http.Header{"Content-Type": {"text/plain"}}}
		expect[chat.Problem](t, adapter, c, http.StatusConflict)
		session.record(&schemas.InquiryClosed{Run: 1, Inquiry: 1, Reason: schemas.InquiryExpired}, &schemas.TaskFailed{Run: 1, Task: "t1", Attempt: 1, Cause: schemas.FailureBlocked},
			&schemas.TaskCancelled{Run: 1, Task: schemas.NoticeTask(1, 1), Attempt: 1},
			&schemas.RunSettled{Run: 1, Status: schemas.RunFailed, Reason: schemas.StopNoAnswer}, &schemas.RunEnded{Run: 1, Status: schemas.RunFailed, Reason: schemas.StopNoAnswer})
		for _, path := range []string{first.Run, first.Events} {
			if told := get(path).do(t, adapter).Body.String(); !strings.Contains(told, "Please call her.") || strings.Contains(told, "bob@example.org") {
				t.Errorf("%s tells %s", path, told)
			}
		}
	})
}

// TestAnswerThatIsWaitedFor: the wait for what becomes of an answer is not over because of the question that it answers.
func TestAnswerThatIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		adapter := newAdapter(t, ledger)
		first := accept(t, adapter, post("web", hello))
		session := newScript(t, ledger, first.Session)
		session.begin(first, 1)
		session.ask(1, 1, "In which base?")
		time.AfterFunc(3*time.Second, func() {
			word := controlEvents(t, ledger)[0]
			session.answered(word.ID, 0, 1, 1)
			time.AfterFunc(time.Second, func() { session.settleAfter(1, 2, "4") })
		})
		before := time.Now()
		c := call{method: http.MethodPost, path: strings.Replace(first.Run, "?", "/answers?", 1), body: "ten", header: http.Header{
			"Content-Type": {"text/plain"}, "Prefer": {"wait=30"},
		}}
		document, header := expect[runs.Document](t, adapter, c, http.StatusOK)
		if time.Since(before) != 4*time.Second || document.Answer != "4" || header.Get("Preference-Applied") != "wait=30" {
			t.Errorf("after %s: %+v", time.Since(before), document)
		}
	})
}

func controlEvents(t *testing.T, ledger bus.Ledger) (events []schemas.Event) {
	t.Helper()
	for shard := range ledger.Shards() {
		for message, err := range ledger.Scan(t.Context(), bus.ShardStream(shard), 1, bus.ControlSubject(shard)) {
			if err != nil {
				t.Fatal(err)
			}
			event, err := binding.Decode(message)
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, event)
		}
	}
	return events
}

func controls(t *testing.T, ledger bus.Ledger) (words []schemas.Control) {
	t.Helper()
	for _, event := range controlEvents(t, ledger) {
		words = append(words, read[schemas.Control](t, event.Data))
	}
	return words
}

// newestInput is the sequence of the newest message.
func newestInput(t *testing.T, ledger bus.Ledger) (sequence uint64) {
	t.Helper()
	for shard := range ledger.Shards() {
		if message, err := ledger.Last(t.Context(), bus.InSubject("chat", shard)); err == nil {
			sequence = message.Sequence
		}
	}
	return sequence
}

// TestProgressEndsWithAQuestion: a line that is there says that a person is waited for, and no more follow; the answer goes on
// with the lines of the run that it belongs to, behind the question.
func TestProgressEndsWithAQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		var mutex sync.Mutex
		var notes []string
		adapter := newAdapter(t, ledger, everyProvider, func(c *chat.Config) {
			channel := c.Channels["slack"]
			channel.Progress = true
			c.Channels["slack"] = channel
			c.Note = func(_ context.Context, name, ref string, questions int, text string) error {
				mutex.Lock()
				defer mutex.Unlock()
				notes = append(notes, fmt.Sprint(name, " ", ref, " ", questions, " ", text))
				return nil
			}
		})
		slackPost(slackEvent("message", "Ev1", "1.2", "2+2")).do(t, adapter)
		event := inputs(t, ledger)[0]
		first := chat.Accepted{ID: event.ID, Sequence: 1, Session: schemas.SessionID(event.Profile, event.PartitionKey)}
		session := newScript(t, ledger, first.Session)
		fact := started(first, 1)
		*schemas.As[*schemas.RunStarted](fact).Message.Reply = schemas.Reply{Agent: "chat", Provider: "slack", Channel: "slack", ReplyRef: "the run's"}
		session.record(received(first, 1, schemas.DispositionStarted), fact, &schemas.PlanCreated{Run: 1, Tasks: []schemas.PlannedTask{{Task: "t1"}}},
			&schemas.TaskRouted{Run: 1, Task: "t1", Decision: schemas.RouteDecision{NextAgent: "calculator"}},
			&schemas.TaskDispatched{Run: 1, Task: "t1", Agent: "calculator", Attempt: 1})
		time.Sleep(5 * time.Second)
		session.ask(1, 1, "In which base?")
		time.Sleep(time.Hour)
		slackPost(strings.Replace(slackEvent("message", "Ev2", "1.3", "ten"), `"channel"`, `"thread_ts":"1.2","channel"`, 1)).do(t, adapter)
		session.answered(inputs(t, ledger)[1].ID, newestInput(t, ledger), 1, 1)
		time.Sleep(time.Minute)
		adapter.Close()
		adapter.Wait()
		want := []string{
			"slack the run's 0 Your message has arrived and is being worked on.", "slack the run's 0 Waits for your answer.",
			"slack the run's 1 Your message has arrived and is being worked on.",
		}
		if !slices.Equal(notes, want) {
			t.Errorf("shown\n%s\nwant\n%s", strings.Join(notes, "\n"), strings.Join(want, "\n"))
		}
	})
}
