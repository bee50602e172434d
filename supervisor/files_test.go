package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/history"
	"podium/schemas"
)

// A shelf counts what the owner fetches from the object store.
type shelf struct {
	bus.Core
	fetched map[string]int
}

func (s *shelf) Artifacts() bus.ArtifactStore { return &shelfStore{s.Core.Artifacts(), s} }

type shelfStore struct {
	bus.ArtifactStore
	shelf *shelf
}

func (s *shelfStore) Get(ctx context.Context, artifact schemas.Artifact) (io.ReadCloser, error) {
	s.shelf.fetched[artifact.SHA256]++
	return s.ArtifactStore.Get(ctx, artifact)
}

// The owner fetches no body for an agent that has not put it: whatever hash an
// answer refers to, it goes to quarantine with the reason, and the agent may
// still answer.
func TestUnprovenBodyIsQuarantined_X06(t *testing.T) {
	t.Parallel()
	for name, grant := range map[string]func(grants *artifact.Grants, hash string) string{
		"none":            func(*artifact.Grants, string) string { return "" },
		"forged":          func(*artifact.Grants, string) string { return "put.00000000.." + strings.Repeat("A", 43) },
		"another agent's": func(grants *artifact.Grants, hash string) string { return grants.Put("stranger", hash) },
		"to read it": func(grants *artifact.Grants, hash string) string {
			return grants.Read("worker", "r", hash, time.Time{})
		},
		"of another body": func(grants *artifact.Grants, _ string) string { return grants.Put("worker", strings.Repeat("0", 64)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			seen := &shelf{Core: d.ledger, fetched: map[string]int{}}
			o := d.open("one", seen, 0)
			d.say("thread", "m1", "please do")
			d.must(d.work(o))
			request := d.requests("worker")[0]
			stolen, err := d.ledger.Artifacts().Put(t.Context(), strings.NewReader("somebody else's"), "")
			d.must(err)
			stolen.Grant = grant(d.grants(), stolen.SHA256)
			message, err := binding.Encode(bus.ResponseSubject("worker", 0), &schemas.Event{
				ID: schemas.ResponseID(request.ID), Source: "/podium/worker", Type: schemas.TypeExecutionResponse, Subject: request.Subject,
				CausationID: request.ID, Attempt: 1, Artifact: &stolen,
			})
			d.must(err)
			_, err = bus.Append(t.Context(), d.ledger, message, bus.Expect{})
			d.must(err)
			d.must(d.work(o))
			refused := d.quarantined(0)
			if len(refused) != 1 || refused[0].Reason != schemas.QuarantineUnproven || !strings.Contains(refused[0].Detail, "not put by agent worker") {
				t.Errorf("in quarantine: %+v", refused)
			}
			if seen.fetched[stolen.SHA256] > 0 {
				t.Error("the body was fetched")
			}
			d.answerWhole("worker", &request, strings.Repeat("x", artifact.MessageInlineLimit))
			d.deliverAll(o, "chat")
			if run := d.sessionHistory("thread").Run(1); run.Status != schemas.RunCompleted {
				t.Errorf("the run is %s %s", run.Phase, run.Status)
			}
			d.clean()
		})
	}
}

// fileIn returns the reference to a file in data {"file": …}.
func fileIn(t *testing.T, data []byte) schemas.Artifact {
	t.Helper()
	var named struct {
		File schemas.Artifact `json:"file"`
	}
	if err := schemas.Unmarshal(data, &named); err != nil {
		t.Errorf("%s: %v", data, err)
	}
	return named.File
}

func dataOf(t *testing.T, file schemas.Artifact) []byte {
	t.Helper()
	data, err := schemas.Marshal(map[string]any{"file": file})
	if err != nil {
		t.Error(err)
	}
	return data
}

func contentOf(ctx context.Context, request *agent.Request, file schemas.Artifact) (string, error) {
	opened, err := request.Artifacts.Get(ctx, file)
	if err != nil {
		return "", err
	}
	defer func() { _ = opened.Close() }()
	content, err := io.ReadAll(opened)
	return string(content), err
}

// A file that an agent puts reaches whoever builds on it, through a supervisor in
// between, down and up again. Nobody opens it by its hash. Deciding again needs no
// grant, and no key.
func TestFilesGoFromTaskToTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 2, tier("top", "branch", "maker", "reader"), tier("branch", "leaf"))
		errs := make(chan error, 10)
		n.employ("maker", func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			if _, err := request.Artifacts.Put(ctx, strings.NewReader("a file that no answer names"), "text/plain"); err != nil {
				return agent.Outcome{}, err
			}
			put, err := request.Artifacts.Put(ctx, strings.NewReader("the file"), "text/plain")
			return agent.Outcome{Result: schemas.Result{Data: dataOf(t, put)}}, err
		})
		n.employ("leaf", func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			file := fileIn(t, request.Task().Context.Inputs["one"].Data)
			got, err := contentOf(ctx, request, file)
			if err != nil || got != "the file" {
				errs <- fmt.Errorf("below the supervisor: %q, %w", got, err)
			}
			hash := schemas.Artifact{SHA256: file.SHA256, Size: file.Size}
			if _, err = contentOf(ctx, request, hash); !errors.Is(err, bus.ErrNotGranted) {
				errs <- fmt.Errorf("by its hash: %w", err)
			}
			put, err := request.Artifacts.Put(ctx, strings.NewReader(got+" and more"), "text/plain")
			return agent.Outcome{Result: schemas.Result{Data: dataOf(t, put)}}, err
		})
		n.employ("reader", func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			got, err := contentOf(ctx, request, fileIn(t, request.Task().Context.Inputs["two"].Data))
			return agent.Outcome{Result: schemas.Result{Text: got}}, err
		})
		n.appoint("branch", "branch")
		n.appoint("top", "top")
		n.ask("top", "work", 1, taskFor("maker", "one"), taskFor("branch", "two", "one"), taskFor("reader", "three", "two"))
		time.Sleep(time.Minute)
		synctest.Wait()
		close(errs)
		for err := range errs {
			t.Error(err)
		}
		answers := n.answers("top")
		if len(answers) != 1 || answers[0].Payload.Status != schemas.StatusCompleted || !strings.HasSuffix(answers[0].Payload.Result.Text, "the file and more") {
			t.Fatalf("answered %+v", answers)
		}
		for shard := range 2 {
			for _, event := range n.events(bus.ShardStream(shard), "podium.session.*.*") {
				if strings.Contains(string(event.Data), `"grant":"`) {
					t.Errorf("a record holds a grant: %s", event.Data)
				}
			}
		}
		// What an answer names stays; what no answer names is removed.
		removed, err := n.ledger.Artifacts().RemovePending(t.Context(), time.Now().Add(time.Hour))
		if err != nil || removed != 1 {
			t.Errorf("%d files were removed, want the one that no answer names: %v", removed, err)
		}
		n.must(n.ledger.KeyValue(bus.AgentBucket).Delete(t.Context(), "key.grants"))
		n.clean() // it reads all again
	})
}

// TestFilesThatAreGoneAreLeftOut: an answer that names a file which was removed, because it was put more than a day before,
// counts without it, as without any other that its agent may not pass on.
func TestFilesThatAreGoneAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]bool{"there": false, "gone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			o := d.open("one", d.ledger, 0)
			d.say("thread", "m1", "please do")
			d.must(d.work(o))
			request := d.requests("worker")[0]
			put, err := d.ledger.Artifacts().PutPending(t.Context(), strings.NewReader("the file"), "")
			d.must(err)
			put.Grant = d.grants().Put("worker", put.SHA256)
			response := d.response("worker", &request, "done")
			response.Payload.Result.Data = dataOf(t, put)
			body, err := schemas.Marshal(response)
			d.must(err)
			if gone {
				_, err = d.ledger.Artifacts().RemovePending(t.Context(), time.Now().Add(time.Hour))
				d.must(err)
			}
			d.put(bus.ResponseSubject("worker", 0), &schemas.Event{
				ID: response.MessageID, Source: "/podium/worker", Type: schemas.TypeExecutionResponse, Subject: request.Subject, Time: d.now,
				CausationID: request.ID, Attempt: 1, DataContentType: schemas.MediaTypeJSON, Data: body,
			})
			d.must(d.work(o))
			d.deliverAll(o, "chat")
			run := d.sessionHistory("thread").Run(1)
			if run.Status != schemas.RunCompleted {
				t.Errorf("the run is %s %s", run.Phase, run.Status)
			}
			if completed, proven := d.provenIn("thread"); !completed || slices.Contains(proven, put.SHA256) == gone {
				t.Errorf("completed: %t, with %v", completed, proven)
			}
			if _, err := d.ledger.Artifacts().RemovePending(t.Context(), time.Now().Add(time.Hour)); err != nil {
				t.Error(err)
			}
			if _, err := d.ledger.Artifacts().Get(t.Context(), put); errors.Is(err, bus.ErrNotFound) != gone {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// What a message from outside says of grants counts for nothing, be they valid or
// not: it is known from where they came.
func TestGrantsFromAnAdapterProveNothing(t *testing.T) {
	t.Parallel()
	for adapter, passes := range map[string]bool{"http": false, "agent": true} {
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			o := d.open("one", d.ledger, 0)
			put, err := d.ledger.Artifacts().Put(t.Context(), strings.NewReader("somebody else's"), "")
			d.must(err)
			task := taskFor("supervisor", "whole")
			request := schemas.ExecutionRequest{
				Envelope: schemas.Envelope{MessageID: schemas.PlanID("r"), From: "erp", To: "supervisor", Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: d.now},
				Payload:  schemas.RequestPayload{PlanID: schemas.PlanID("p"), RequestID: "r", Tasks: []schemas.Task{task}},
			}
			put.Grant = d.grants().Read("supervisor", request.MessageID, put.SHA256, d.now.Add(time.Hour))
			request.Payload.Tasks[0].Context.Arguments = dataOf(t, put)
			body, err := schemas.Marshal(request)
			d.must(err)
			d.put(bus.InSubject(adapter, 0), &schemas.Event{
				ID: request.MessageID, Source: "/erp", Type: schemas.TypeExecutionRequest, Time: d.now, Profile: "desk", PartitionKey: "key", Data: body,
			})
			d.must(d.work(o))
			asked, err := schemas.DecodeExecutionRequest(d.requests("worker")[0].Data)
			d.must(err)
			given := fileIn(t, asked.Payload.Tasks[0].Context.Arguments)
			opens := d.grants().MayRead(given.Grant, "worker", asked.MessageID, put.SHA256, d.now)
			if given.SHA256 != put.SHA256 || opens != passes || !passes && given.Grant != "" {
				t.Errorf("the worker is given %+v", given)
			}
		})
	}
}

// An owner learns of a key that another process has made before it refuses what
// that key has signed.
func TestOwnerLearnsAnotherKey(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "please do")
	d.say("other", "m2", "please do")
	d.must(d.work(o))
	requests := d.requests("worker")
	later, err := artifact.OpenGrants(t.Context(), d.ledger, d.now.Add(100*24*time.Hour))
	d.must(err)
	put, err := d.ledger.Artifacts().PutPending(t.Context(), strings.NewReader("x"), "")
	d.must(err)
	hash := put.SHA256
	d.answerWithData(&requests[0], string(dataOf(t, schemas.Artifact{SHA256: hash, Size: 1, Grant: later.Put("worker", hash)})))
	response := d.response("worker", &requests[1], strings.Repeat("x", artifact.MessageInlineLimit))
	body, err := schemas.Marshal(response)
	d.must(err)
	large := schemas.Event{
		ID: response.MessageID, Source: "/podium/worker", Type: schemas.TypeExecutionResponse, Subject: requests[1].Subject,
		CausationID: requests[1].ID, Attempt: 1, Data: body,
	}
	d.must(artifact.Offload(t.Context(), d.ledger.Artifacts(), &large))
	later.GrantBody(bus.ResponseSubject("worker", 0), &large)
	d.put(bus.ResponseSubject("worker", 0), &large)
	d.must(d.work(o))
	if refused := d.quarantined(0); len(refused) != 0 {
		t.Errorf("in quarantine: %+v", refused)
	}
	_, proven := d.provenIn("thread")
	if len(proven) != 1 || proven[0] != hash {
		t.Errorf("proven is %q", proven)
	}
	// A key that nobody has made holds up nobody, and proves nothing.
	d.say("third", "m3", "please do")
	d.must(d.work(o))
	forged := schemas.Artifact{SHA256: hash, Size: 1, Grant: "put.ffffffff.." + strings.Repeat("A", 43)}
	d.answerWithData(&d.requests("worker")[2], string(dataOf(t, forged)))
	d.must(d.work(o))
	if completed, proven := d.provenIn("third"); !completed || len(proven) > 0 {
		t.Errorf("completed is %t, proven %q", completed, proven)
	}
	d.deliverAll(o, "chat")
	d.clean()
}

// provenIn returns what the first task of a thread may pass on.
func (d *desk) provenIn(thread string) (completed bool, proven []string) {
	d.tb.Helper()
	id, _ := d.session(thread)
	for record, err := range history.LoadSession(context.Background(), d.ledger, id) {
		d.must(err)
		for fact := range record.AllFacts() {
			if schemas.As[*schemas.TaskCompleted](fact) != nil {
				return true, schemas.As[*schemas.TaskCompleted](fact).Proven
			}
		}
	}
	return false, nil
}

// The requests that a successor publishes again open the same files.
func TestGrantsOutliveATakeover(t *testing.T) {
	t.Parallel()
	d := newSequenceDesk(t)
	first := d.open("first", d.ledger, 0)
	d.say("thread", "m1", "calculate this then summarize that")
	d.must(d.work(first))
	put, err := d.ledger.Artifacts().PutPending(t.Context(), strings.NewReader("x"), "")
	d.must(err)
	hash := put.SHA256
	d.answerWithData(&d.requests("worker")[0], string(dataOf(t, schemas.Artifact{SHA256: hash, Size: 1, Grant: d.grants().Put("worker", hash)})))
	d.must(d.work(first))
	second := d.open("second", d.ledger, 0)
	d.must(d.work(second))
	given := map[string]int{}
	for _, event := range d.requests("worker") {
		request, err := schemas.DecodeExecutionRequest(event.Data)
		d.must(err)
		for _, input := range request.Payload.Tasks[0].Context.Inputs {
			file := fileIn(t, input.Data)
			if !d.grants().MayRead(file.Grant, "worker", event.ID, hash, event.Expires) {
				t.Errorf("%+v opens nothing", file)
			}
			given[file.Grant]++
		}
	}
	if len(given) != 1 {
		t.Errorf("granted %v", given)
	}
}
