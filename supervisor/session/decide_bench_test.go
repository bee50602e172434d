package session_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/session"
)

// A decision is what one call of Step is given.
type decision struct {
	env   session.Env
	state session.State
	input session.Input
}

// A recording is a stage that keeps what each Step was given.
type recording struct {
	*stage
	decisions []decision
	bytes     int // of the records
}

func record(tb testing.TB, change func(*schemas.Profile)) *recording {
	tb.Helper()
	profile := storyProfile()
	change(&profile)
	p := &recording{stage: newStage(tb, profile)}
	p.decides = func(input session.Input) decided {
		// Without an Admission every agent has room: one that is kept would answer otherwise the second time.
		env := p.env(&p.state)
		env.Admission = nil
		p.decisions = append(p.decisions, decision{env, p.state, input})
		outcome := session.Step(env, p.state, input)
		result := decided{outcome: outcome}
		if len(outcome.Facts) > 0 {
			result.record = p.stored(tb, &outcome)
			p.bytes += len(canonical(tb, result.record))
			p.state, p.records = outcome.State, append(p.records, result.record)
		}
		return result
	}
	return p
}

func (p *recording) mail(tb testing.TB, id, text string) {
	tb.Helper()
	sender := schemas.Address{Address: "ana@example.org"}
	p.takes(tb, p.event(tb, id, schemas.TypeEmailReceived, schemas.EmailReceived{
		Account: "a", Mailbox: "m", MessageID: id, Text: text, Class: schemas.MailHuman, Received: p.now, Parse: schemas.ParseOK,
		UIDValidity: 1, UID: 1, Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1}, From: []schemas.Address{sender}, AnswerTo: sender,
	}))
}

// request asks for a plan of tasks.
func (p *recording) request(tb testing.TB, tasks []schemas.Task) {
	tb.Helper()
	id := identify("request")
	p.takes(tb, p.event(tb, id, schemas.TypeExecutionRequest, schemas.ExecutionRequest{
		Envelope: schemas.Envelope{MessageID: id, From: "planner", To: "podium", Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: p.now},
		Payload:  schemas.RequestPayload{PlanID: identify("plan"), RequestID: id, Tasks: tasks},
	}))
}

// work answers whatever agents are asked, the first of the plan first, until nobody is asked any more.
func (p *recording) work(tb testing.TB, answer func(task string) schemas.ResponsePayload) {
	tb.Helper()
	for {
		var tasks []string
		for task := range p.state.UnderWay {
			tasks = append(tasks, task.ID)
		}
		if len(tasks) == 0 {
			return
		}
		for _, id := range tasks {
			run := p.state.Active
			task := run.Task(id)
			if _, err := p.take(tb, p.answerTo(tb, task.Agent, run.Number, id, task.Attempt, answer(id)), task.Agent); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

func done(task string) schemas.ResponsePayload {
	return schemas.ResponsePayload{Status: schemas.StatusCompleted, Result: &schemas.Result{Text: "done: " + task}}
}

func planOf(count int, dependencies func(n int) []string) []schemas.Task {
	tasks := make([]schemas.Task, count)
	for n := range tasks {
		tasks[n] = schemas.Task{TaskID: fmt.Sprint("t", n), Description: fmt.Sprint("write part ", n), AssignedTo: "clerk", Dependencies: dependencies(n)}
	}
	return tasks
}

func planFrom(count int) func(*schemas.Profile) {
	return func(p *schemas.Profile) {
		p.Complexity = nil
		p.Execution = schemas.Execution{Mode: schemas.ExecutionDAG}
		p.Planner = &schemas.Planner{Kind: schemas.PlannerExternal, MaxTasks: count}
		p.Routers = []schemas.Router{{Kind: schemas.RouterAssigned}}
	}
}

func fanned(count int) func(tb testing.TB) *recording {
	return func(tb testing.TB) *recording {
		tb.Helper()
		p := record(tb, planFrom(count))
		p.request(tb, planOf(count, func(int) []string { return nil }))
		p.work(tb, done)
		return p
	}
}

func single(tb testing.TB) *recording {
	tb.Helper()
	p := record(tb, func(*schemas.Profile) {})
	p.mail(tb, "m1", "please calculate")
	p.work(tb, done)
	return p
}

func diamond(tb testing.TB) *recording {
	tb.Helper()
	p := record(tb, planFrom(4))
	p.request(tb, planOf(4, func(n int) []string { return [][]string{nil, {"t0"}, {"t0"}, {"t1", "t2"}}[n] }))
	p.work(tb, done)
	return p
}

func approved(tb testing.TB) *recording {
	tb.Helper()
	p := record(tb, func(p *schemas.Profile) {
		p.People = map[string]schemas.Person{"anna": {Mail: "anna@example.org", Account: "a"}}
		p.Approval = []schemas.ApprovalRule{{Agents: []string{"clerk"}, People: []string{"anna"}, Expire: schemas.Duration(time.Hour)}}
		p.Waiting = &schemas.WaitingPolicy{Expire: schemas.Duration(time.Hour), Asks: 2}
	})
	p.mail(tb, "m1", "please write to the bank")
	p.work(tb, done)
	p.takes(tb, p.event(tb, "w1", schemas.TypeControl, schemas.Control{
		Action: schemas.ControlApprove, Run: schemas.RunID(p.state.Session, 1), Via: schemas.ViaCLI, By: "root", As: "anna", Inquiry: 1,
	}))
	p.work(tb, done)
	return p
}

// reviewed has one file checked twice: the first time there is something to mend.
func reviewed(tb testing.TB) *recording {
	tb.Helper()
	p := record(tb, func(profile *schemas.Profile) {
		planFrom(3)(profile)
		profile.Agents = append(profile.Agents, schemas.AgentUse{Name: "critic", Kinds: []schemas.RequestKind{schemas.KindJudge}})
		profile.Review = &schemas.Review{Rounds: 2, Checks: []schemas.Check{{Agent: "critic"}}}
	})
	p.request(tb, planOf(1, func(int) []string { return nil }))
	p.work(tb, func(task string) schemas.ResponsePayload {
		hash, status := strings.Repeat("a", 64), schemas.ValidationFailed
		if strings.Contains(task, "fix") || strings.HasSuffix(task, ":2") {
			hash, status = strings.Repeat("b", 64), schemas.ValidationPassed
		}
		if p.state.Active.Task(task).Kind.AsksEvaluator() {
			if status == schemas.ValidationPassed {
				return schemas.ResponsePayload{Status: schemas.StatusCompleted, Result: &schemas.Result{Data: []byte(`{"validator":"eye","status":"passed"}`)}}
			}
			issue := schemas.ValidationIssue{Severity: "error", Message: "so", File: "a/b", Line: 7}
			return schemas.ResponsePayload{Status: schemas.StatusFailed, ValidationResults: []schemas.ValidationResult{{Validator: "eye", Status: status, Issues: []schemas.ValidationIssue{issue}}}}
		}
		payload := done(task)
		payload.Deliverables = []schemas.Deliverable{{DeliverableID: "d", Type: "code", Path: "a/b", Metadata: jsontext.Value(`{"sha256":"` + hash + `","size":1,"grant":"put"}`)}}
		return payload
	})
	return p
}

// BenchmarkDecide decides all that one run needs, from its message to its end: one operation is a whole run. What is stored,
// folded and sent is not measured. bytes/run is the size of the records of the run, decisions/run the number of calls of Step.
func BenchmarkDecide(b *testing.B) {
	for _, run := range []struct {
		name string
		play func(tb testing.TB) *recording
	}{
		{"single", single},
		{"diamond", diamond},
		{"fan100", fanned(100)},
		{"fan1000", fanned(1000)},
		{"approval", approved},
		{"review", reviewed},
		{"fail1000", failing(1000)},
	} {
		b.Run(run.name, func(b *testing.B) {
			played := run.play(b)
			if played.state.Active != nil || len(played.records) == 0 {
				b.Fatalf("the run has not ended after %d decisions", len(played.decisions))
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, d := range played.decisions {
					session.Step(d.env, d.state, d.input)
				}
			}
			b.ReportMetric(float64(played.bytes), "bytes/run")
			b.ReportMetric(float64(len(played.decisions)), "decisions/run")
		})
	}
}
