package session_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/session"
)

// A script is bytes read as things that happen to a session. Every byte
// sequence is one.
type script struct {
	*stage
	bytes []byte
	// recovering has people say what is done about failures.
	recovering bool
}

// run plays a script to its end; the stage checks every law at every step.
func run(tb judge, bytes []byte) *stage {
	tb.Helper()
	s := &script{bytes: bytes}
	return s.playedBy(tb, s.profile())
}

// runJudged is the same with a judge, which takes no byte of the script, so that others stay as they are.
func runJudged(tb judge, bytes []byte) *stage {
	tb.Helper()
	s := &script{bytes: bytes}
	p := s.profile()
	p.Replan = &schemas.Replan{Agent: "replanner", After: schemas.OccasionFailure, Attempts: len(bytes) % 4, Conditions: []schemas.Condition{{Name: "n", Pointer: "/n"}}}
	if p.Execution.Mode == schemas.ExecutionSingle {
		p.Execution.Mode = schemas.ExecutionSequence
	}
	if p.Execution.Mode == schemas.ExecutionSequence {
		p.Replan.After = schemas.OccasionStep
	}
	p.Execution.Steps = len(bytes) % 11
	p.Agents[0].Verdict = &schemas.Verdict{Pointer: "/ok", Detail: "/why"}
	return s.playedBy(tb, p)
}

func (s *script) playedBy(tb judge, p schemas.Profile) *stage {
	tb.Helper()
	s.stage = newStage(tb, p)
	for len(s.bytes) > 0 {
		s.happen(tb)
	}
	return s.stage
}

func (s *script) next() int {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b)
}

func (s *script) pick(choices ...string) string { return choices[s.next()%len(choices)] }

// one is true in one of n cases.
func (s *script) one(n int) bool { return s.next()%n == 0 }

func (s *script) span(choices ...time.Duration) schemas.Duration {
	return schemas.Duration(choices[s.next()%len(choices)])
}

// profile is the story's, with whatever a profile can say otherwise.
func (s *script) profile() schemas.Profile {
	p := storyProfile()
	p.Language = s.pick("user", "de", "en")
	p.Retry.Attempts, p.Retry.TimeoutGrowth = 1+s.next()%3, float64(s.next()%3)*0.75
	p.Execution = schemas.Execution{
		Mode: schemas.ExecutionMode(s.pick("dag", "sequence", "single")), MaxSteps: s.next() % 4,
		Schedule:  schemas.Schedule(s.pick("", "levels", "ready")),
		OnFailure: schemas.OnFailure(s.pick("", "continue", "abort", "skip")), ContextLimit: 37 * (s.next() % 2),
	}
	if s.one(2) {
		p.Execution.AllowedChains = [][]string{{"calculator", "clerk"}, {"calculator", "summary", "clerk"}}
	}
	p.Deadlines.Run, p.Deadlines.Plan = s.span(0, time.Minute), s.span(0, 5*time.Second)
	p.Conversation.WhileRunning = schemas.WhileRunning(s.pick("", "merge", "supersede"))
	p.Conversation.RepliesPerHour, p.Conversation.Answer = s.next()%10, schemas.AnswerPolicy(s.pick("", "", "proven"))
	if !s.one(3) {
		p.Conversation.Entities = []schemas.Entity{{Name: "customer", Pattern: `customer (\d+)`}}
	}
	s.agents(&p)
	s.routers(&p)
	s.planner(&p)
	s.waiting(&p)
	return p
}

func (s *script) agents(p *schemas.Profile) {
	for i := range p.Agents {
		use := &p.Agents[i]
		use.Description = s.pick("", "calculate numbers", "write and summarize texts")
		if fallback := p.Agents[s.next()%len(p.Agents)].Name; fallback != use.Name {
			use.Fallback = fallback
		}
		use.OnUnknown = schemas.OnUnknown(s.pick("ask", "ask", "", "resend"))
		use.Heartbeat, use.Reuse = s.span(0, 0, 2*time.Second), s.span(0, 0, time.Minute)
		use.Async = use.Reuse > 0
		use.Supervisor = i == 2 && !use.Async
	}
	for i := range p.Agents {
		if s.one(4) {
			break // the others are asked for work alone
		}
		p.Agents[i].Kinds = [][]schemas.RequestKind{{schemas.KindWork}, {schemas.KindWork, schemas.KindAssess}}[s.next()%2]
		if s.one(2) {
			word := schemas.Keyword{Word: s.pick("calculate", "write", "summarize"), Mode: schemas.ModePrefix}
			p.Agents[i].Capabilities = []schemas.Capability{{Words: []schemas.Keyword{word}, Score: 0.25 * float64(s.next()%5)}}
		}
	}
	if s.one(3) {
		p.Agents[0].OutputSchema = jsontext.Value(`{"type":["array","null"]}`)
	}
	if s.one(4) {
		p.Agents[1].InputSchema = jsontext.Value(`{"type":["object","null"],"required":["n"]}`)
	}
}

func (s *script) routers(p *schemas.Profile) {
	assigned, keywords := schemas.Router{Kind: schemas.RouterAssigned}, p.Routers[0]
	score := schemas.Router{Kind: schemas.RouterScore, Deadline: s.span(0, time.Second), Silent: 0.5 * float64(s.next()%2), Least: 0.4 * float64(s.next()%2)}
	model := schemas.Router{Kind: schemas.RouterAgent, Agent: "model", Deadline: s.span(0, time.Second)}
	otherwise := schemas.Router{Kind: schemas.RouterDefault, Agent: "clerk"}
	p.Routers = [][]schemas.Router{
		{keywords}, {assigned, keywords}, {score}, {model, otherwise}, {keywords, model}, {assigned, score, model, otherwise}, {assigned},
	}[s.next()%7]
}

func (s *script) planner(p *schemas.Profile) {
	if s.one(2) {
		p.Complexity = nil
	}
	planner := schemas.Planner{
		Kind:      schemas.PlannerKind(s.pick("none", "agent", "template", "external", "rules")),
		Otherwise: schemas.PlannerFallback(s.pick("", "single")), MaxTasks: 5 * (s.next() % 2), MaxSeconds: 90 * (s.next() % 2),
	}
	switch planner.Kind {
	case schemas.PlannerAgent:
		planner.Agent = "planner"
	case schemas.PlannerTemplate:
		planner.Templates = []schemas.Template{{
			Name: "diamond", Parameters: []schemas.Parameter{{Name: "what", Pattern: `calculate (\w+)`, Required: s.one(2)}},
			Tasks: []schemas.TemplateTask{
				{Task: "top", Description: "calculate {what}", Agent: "calculator", Seconds: 5},
				{Task: "left", Description: "write {request}", Dependencies: []string{"top"}, Optional: true},
				{Task: "right", Description: "summarize", Dependencies: []string{"top"}, Resources: []string{"disk"}, Priority: schemas.PriorityCritical},
				{Task: "end", Description: "write", Dependencies: []string{"left", "right"}, Arguments: jsontext.Value(`{"n":"{what}"}`)},
			},
		}}
	case schemas.PlannerRules:
		p.Complexity = storyProfile().Complexity
	case schemas.PlannerNone, schemas.PlannerExternal:
		if s.one(2) {
			return
		}
	}
	p.Planner = &planner
}

func (s *script) happen(tb judge) {
	tb.Helper()
	if s.recovering && s.asksAboutFailure() > 0 && s.one(3) {
		s.word(tb)
		return
	}
	switch s.next() % 20 {
	case 0, 1:
		s.message(tb)
	case 2:
		s.upstream(tb)
	case 3, 4, 5, 6, 7:
		s.answer(tb)
	case 8:
		agent := s.pick("calculator", "summary", "clerk", "mail", "chat", "model", "planner")
		event := s.progressOf(tb, agent, s.number(), s.task(), s.attempt(), s.next()%101, s.pick("", "half", "more"))
		s.put(tb, s.blurred(event), agent)
	case 9:
		s.sign(tb)
	case 10:
		s.control(tb)
	case 11:
		s.expire(tb, schemas.Deadline{
			Run: s.number(), Task: s.task(), Attempt: s.attempt(), At: s.now.Add(-time.Second),
			Kind: schemas.DeadlineKind(s.pick("queue", "work", "retry", "slow", "silence", "run", "remind", "inquiry", "")),
		})
	case 12, 13:
		s.ring(tb)
	case 14:
		s.garbage(tb)
	case 15: // another profile for new runs
		s.adopt(tb, s.profile())
	case 16:
		s.grant(tb)
	case 17:
		s.limit()
	case 18:
		s.permit(tb)
	case 19:
		s.word(tb)
	}
}

// limit changes what is known of the agents.
func (s *script) limit() {
	agent := s.pick("calculator", "summary", "clerk", "mail", "chat", "model", "planner")
	switch s.next() % 4 {
	case 0:
		number := s.next()
		s.stage.agents.room = set(s.stage.agents.room, agent, number%3)
		s.stage.agents.nameless = number%8 == 7
	case 1:
		delete(s.stage.agents.room, agent)
	default:
		s.stage.agents.gates = set(s.stage.agents.gates, agent, breaker(s.pick("open", "closed", "probe")))
	}
}

// handlePermit is the question of an agent whether it may act outside.
func (s *script) permit(tb judge) {
	tb.Helper()
	run, task, attempt, agent := s.number(), s.task(), s.attempt(), s.pick("calculator", "summary", "clerk", "mail", "chat")
	if asked := s.asked(); asked != nil && !s.one(4) {
		run, task, attempt, agent = s.state.Active.Number, asked.ID, asked.Attempt-s.next()%2, asked.Agent
	}
	request := s.request(run, task, attempt)
	for range 1 + s.next()%2 {
		id := identify(s.pick("p1", "p2", "p3") + request)
		if s.one(6) {
			id = schemas.PermitID(request)
		}
		s.put(tb, s.blurred(s.about(s.event(tb, id, schemas.TypePermitRequest, schemas.PermitRequest{Envelope: schemas.Envelope{
			MessageID: id, From: agent, To: session.Supervisor, Type: schemas.EnvelopeTypePermitRequest, Timestamp: s.now, InReplyTo: request,
		}}), run, task, attempt)), agent)
	}
}

// absence is mostly that of an agent which a task waits for.
func (s *script) absence(tb judge) {
	tb.Helper()
	absence := schemas.Absence{Run: s.number(), Task: s.task(), Agent: s.pick("calculator", "summary", "clerk", "mail")}
	for task := range s.state.AwaitingAgent {
		if s.one(2) {
			absence.Run, absence.Task, absence.Agent = s.state.Active.Number, task.ID, task.Agent
		}
	}
	if s.one(2) {
		absence.Since = s.now.Add(-time.Minute)
	}
	s.step(tb, session.Input{Now: s.now, Absence: &absence})
}

// grant is mostly one that a task waits for.
func (s *script) grant(tb judge) {
	tb.Helper()
	if s.one(4) {
		s.absence(tb)
		return
	}
	grant := schemas.Grant{Run: s.number(), Task: s.task()}
	for waiting := range s.state.AwaitingGrant {
		if s.one(2) {
			grant = waiting
		}
	}
	s.step(tb, session.Input{Now: s.now, Grant: &grant})
}

func (s *script) put(tb judge, event schemas.Event, agent string) {
	tb.Helper()
	if _, err := s.take(tb, event, agent); err != nil && event.Subject != "garbage" {
		tb.Fatalf("the script itself: %v", err)
	}
}

// number is mostly that of the newest run.
func (s *script) number() int {
	if n := s.next() % 8; n < 3 {
		return n + 1
	}
	return max(len(s.conversation.Runs), 1)
}

func (s *script) task() string {
	return s.pick("t1", "t1", "t2", "t3", "t0", "reply", "reply", "t9", "", "plan", "assess:t1:clerk", "route:t1:model", "top", "a")
}

func (s *script) attempt() int { return 1 + s.next()%4 }

func (s *script) message(tb judge) {
	tb.Helper()
	said := s.pick("please calculate", "bitte berechnen und dann", "calculate this, then summarize that, then write ä letter",
		"nothing at all", "", "calculate, then juggle, then write", strings.Repeat("calculate großes, then write ", 300),
		"calculate it for customer 12, then write", "calculate for customer 15", "write to customer 16")
	id := "m" + s.pick("1", "2", "3", "4", "5", "6", "7", "8")
	if s.one(3) {
		s.put(tb, s.event(tb, id, schemas.TypeChatReceived, schemas.ChatReceived{Provider: "p", Channel: "c", MessageID: id, Text: said}), "")
		return
	}
	mail := schemas.EmailReceived{
		Account: "a", Mailbox: "m", MessageID: id, Text: said, Class: schemas.MailHuman, Received: s.now,
		Parse: schemas.ParseOK, UIDValidity: 1, UID: 1, Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1},
		Answers: s.letter(), Origin: schemas.MailOrigin(s.pick("unchecked", "unchecked", "proven", "unproven")),
	}
	switch s.next() % 5 {
	case 0:
		mail.Class = schemas.MailAutoReply
	case 4:
		mail.Class = schemas.MailBounce
		mail.Bounce = &schemas.Bounce{
			MessageID:       schemas.EffectID(schemas.RunID(s.state.Session, s.number()), s.pick("reply", "reply", "ask:1:1", "ask:2:1")) + "@example.org",
			RecipientStatus: schemas.RecipientStatus{Action: s.pick("failed", "delayed"), Status: s.pick("5.1.1", "4.4.1", "")},
		}
	case 1: // nobody to answer
	default:
		mail.From = []schemas.Address{{Address: "ana@example.org"}}
		mail.AnswerTo = mail.From[0]
		mail.Cc = []schemas.Address{{Address: s.pick("bob@example.org", "Ana@example.org")}}
	}
	s.put(tb, s.event(tb, id, schemas.TypeEmailReceived, mail), "")
}

// upstream is a request with a plan, or with one task in words.
func (s *script) upstream(tb judge) {
	tb.Helper()
	id := s.pick("r1", "r2", "r3", "r4", "r5", "r6")
	tasks := []schemas.Task{{
		TaskID: "whole", Description: s.pick("please calculate", "calculate, then write", ""), AssignedTo: "podium",
		Context: schemas.TaskContext{Request: "bitte", Entities: map[string]string{"customer": s.pick("12", "13", ""), "ward": "north"}},
	}}
	if !s.one(3) {
		tasks = s.plan()
	}
	event := s.event(tb, identify(id), schemas.TypeExecutionRequest, schemas.ExecutionRequest{
		Envelope: schemas.Envelope{MessageID: identify(id), From: "planner", To: "podium", Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: s.now},
		Payload:  schemas.RequestPayload{PlanID: identify("plan of " + id), RequestID: id, Tasks: tasks},
	})
	event.EffectID, event.Attempt = s.pick("", "e1", "e2"), s.next()%3
	if s.one(3) {
		event.Expires = s.now.Add(time.Duration(s.next()) * time.Second)
	}
	s.put(tb, event, "")
}

// plan is a graph of a few tasks, mostly one that can be carried out.
func (s *script) plan() []schemas.Task {
	tasks := make([]schemas.Task, 1+s.next()%6)
	for i := range tasks {
		task := &tasks[i]
		task.TaskID, task.Description = string(rune('a'+i)), s.pick("calculate", "write it", "juggle")
		task.AssignedTo = s.pick("calculator", "summary", "clerk", "podium", "clerk", "calculator", "summary", "stranger")
		for j := range i {
			if s.one(3) {
				task.Dependencies = append(task.Dependencies, tasks[j].TaskID)
			}
		}
		task.Priority = schemas.Priority(s.pick("", "critical", "high", "low", "nice_to_have"))
		task.Optional, task.EstimatedTimeSeconds = s.one(5), s.next()%40
		if s.one(5) {
			task.Resources = []string{s.pick("disk", "printer")}
		}
	}
	switch s.next() % 12 {
	case 0:
		tasks[0].Dependencies = []string{tasks[len(tasks)-1].TaskID}
	case 1:
		tasks[len(tasks)-1].TaskID = s.pick("a", "reply", "plan", "route:x")
	case 2:
		tasks[0].EstimatedTimeSeconds = 1 << (s.next() % 53)
	}
	return tasks
}

func (s *script) control(tb judge) {
	tb.Helper()
	id := "x" + s.pick("1", "2", "3", "4", "5")
	if s.one(3) {
		s.put(tb, s.event(tb, id, schemas.TypeControl, schemas.Control{
			Action: schemas.ControlCancel, Request: identify(s.pick("r1", "r2", "r9")), By: "planner",
		}), "")
		return
	}
	if s.one(2) {
		run, allowDuplicate := s.number(), s.one(2)
		if id == "x5" { // as many draws as ever, so that a script stays what it is otherwise
			s.put(tb, s.retry(tb, id, run, "", allowDuplicate), "")
			return
		}
		s.put(tb, s.resend(tb, id, run, allowDuplicate), "")
		return
	}
	s.put(tb, s.cancel(tb, id, 1+s.next()%4), "")
}

// asked returns one of the tasks that an agent has been asked for, or nil.
func (s *script) asked() *workflow.Task {
	var under []*workflow.Task
	for task := range s.state.UnderWay {
		under = append(under, task)
	}
	if len(under) == 0 {
		return nil
	}
	return under[s.next()%len(under)]
}

// sign is a sign of life that somebody waits for.
func (s *script) sign(tb judge) {
	tb.Helper()
	if task := s.asked(); task != nil {
		s.now = s.now.Add(time.Duration(s.next()%3) * time.Second)
		percentage, message := s.next()%101, s.pick("", "half")
		var until time.Time
		if percentage%4 == 3 {
			until = s.now.Add(time.Minute)
		}
		event := s.progressOf(tb, task.Agent, s.state.Active.Number, task.ID, task.Attempt, percentage, message, until)
		s.put(tb, event, task.Agent)
	}
}

// answerOf is mostly one that somebody waits for.
func (s *script) answer(tb judge) {
	tb.Helper()
	task := s.asked()
	payload := s.payload(task)
	if task != nil && !s.one(4) {
		s.put(tb, s.answerTo(tb, task.Agent, s.state.Active.Number, task.ID, task.Attempt, payload), task.Agent)
		return
	}
	agent := s.pick("calculator", "summary", "clerk", "mail", "chat", "model", "planner")
	s.put(tb, s.blurred(s.answerTo(tb, agent, s.number(), s.task(), s.attempt(), payload)), agent)
}

// handleMalformed is an answer that cannot be read, mostly to what an agent was asked.
func (s *script) malformed(tb judge) {
	tb.Helper()
	request, agent := s.request(s.number(), s.task(), s.attempt()), s.pick("calculator", "summary", "clerk", "mail", "chat")
	if task := s.asked(); task != nil && !s.one(3) {
		request, agent = task.Request, task.Agent
	}
	input := session.MalformedInput(schemas.Event{}, agent, s.sequence, request, "no sense", fmt.Sprint("PODIUM_3:", s.sequence))
	input.Now = s.now
	s.step(tb, input)
}

func (s *script) payload(task *workflow.Task) schemas.ResponsePayload {
	payload := schemas.ResponsePayload{Status: schemas.ResponseStatus(s.pick("completed", "completed", "completed", "partial", "failed", "blocked"))}
	if size := s.next() % 4; size > 0 {
		payload.Result = &schemas.Result{Text: strings.Repeat("ü", 1<<(6*size-6)), MediaType: strings.Repeat("x", 200*(s.next()%3))}
	}
	if s.one(3) {
		payload.Result = &schemas.Result{Data: []byte(s.pick(
			`{"message_id":"r"}`, `{"reply_id":"c"}`, `[1, 2]`, `"x"`, `{"message_id":7}`, `{"customer":"12"}`,
			`{"customer":13,"ward":"south"}`, `{"customer":14,"ward":"west"}`))}
	}
	if s.one(4) {
		payload.Deliverables = []schemas.Deliverable{{DeliverableID: "d", Type: "code", Path: "a/b"}}
		if s.current.Review != nil {
			hash := strings.Repeat(string(rune('a'+s.next()%4)), 64)
			payload.Deliverables[0].Metadata = jsontext.Value(`{"sha256":"` + hash + `","size":1,"grant":"put"}`)
		}
		payload.ResourceUsage = &schemas.ResourceUsage{TokensUsed: new(s.next())}
	}
	if s.one(4) {
		payload.IssuesEncountered = []schemas.Issue{{
			Category: schemas.FailureCategory(s.pick("", "", "input")), Severity: "low", Description: s.pick("", "no {task} {detail}"), Resolution: schemas.Resolution(s.pick("deferred", "escalated")),
		}}
	}
	s.needs(&payload)
	if task != nil && task.Kind == schemas.TaskKindCheck && !s.one(4) {
		issue := schemas.ValidationIssue{Severity: s.pick("warning", "info", "error"), Message: "so", File: s.pick("a/b", "", "x/a/b", "c"), Line: s.next()}
		payload.ValidationResults = []schemas.ValidationResult{{Validator: "v", Status: s.pick("passed", "passed", "failed"), Issues: []schemas.ValidationIssue{issue}}}
	}
	if task == nil || task.Kind.MayActOutside() || s.one(6) {
		return payload
	}
	payload.Result = &schemas.Result{}
	s.judgement(task.Kind, payload.Result)
	if task.Kind.AsksEvaluator() && string(payload.Result.Data) == "{}" { // it says so by its checks
		payload.ValidationResults = []schemas.ValidationResult{{Validator: "eye", Status: schemas.ValidationPassed}}
	}
	return payload
}

// judgement is the answer to a question: of use, or not.
func (s *script) judgement(kind schemas.TaskKind, result *schemas.Result) {
	var said string
	switch kind {
	case schemas.TaskKindAssess:
		said = s.pick(`{"score":0.9}`, `{"score":0.2}`, `{"can_handle":true}`, `{"score":7}`, `0.5`)
	case schemas.TaskKindRoute:
		said = s.pick(`{"next_agent":"calculator"}`, `{"next_agent":"Clerk"}`, `{"next_agent":"RESPOND","response":"so"}`, `{"next_agent":"RESPOND"}`,
			`{"next_agent":"FINISH"}`, `{"next_agent":"weather"}`)
	case schemas.TaskKindPlan:
		said = s.pick(`{"steps":["calculate","write it"]}`, `["calculate"]`, `{"tasks":[{"task_id":"a","description":"calculate"},{"task_id":"b","description":"write","dependencies":["a"],"assigned_to":"clerk"}]}`,
			`{"tasks":[{"task_id":"a","dependencies":["a"],"priority":"urgent","estimated_time_seconds":-9223372036854775808,"estimated_tokens":9223372036854775807}]}`,
			`{"tasks":[{"task_id":"a","context":{"arguments":[1],"constraints":7}}]}`, `{"tasks":[]}`, `{"steps":[]}`, `{}`)
	case schemas.TaskKindExtract:
		said = s.pick(`{"n":"seven"}`, `{}`, `[1]`)
	case schemas.TaskKindEvaluate, schemas.TaskKindCheck, schemas.TaskKindMerge, schemas.TaskKindSummarize:
		said = s.pick(`{"steps":["calculate it once more","write"]}`, `{"response":"so"}`, `{"response":"so","steps":["write"]}`, `{"tasks":[{"task_id":"t1","description":"else"}]}`,
			`{"tasks":[{"task_id":"x","description":"write","dependencies":["t1"]},{"task_id":"y","description":"calculate","dependencies":["x"]}]}`, `{}`)
	case schemas.TaskKindWork, schemas.TaskKindNotify, schemas.TaskKindDeliver:
	}
	if s.one(3) {
		result.Text = fmt.Sprintf("Well, [I] think {so}:\n```json\n%s\n```\n", said)
		return
	}
	result.Data = jsontext.Value(said)
}

// blurred is an event whose attributes say less, or something else.
func (s *script) blurred(event schemas.Event) schemas.Event {
	switch s.next() % 6 {
	case 0:
		event.Subject, event.Attempt, event.CausationID = "", 0, ""
	case 1:
		event.Subject = s.pick("/", "x/t1", schemas.RunID(conversationID(), 2)+"/t1", schemas.RunID(conversationID(), 1))
	case 2:
		event.Attempt = s.next() % 5
	}
	return event
}

// ring lets time pass to the next deadline, or not quite.
func (s *script) ring(tb judge) {
	tb.Helper()
	deadline, ok := s.due(s.now.Add(24 * time.Hour))
	if !ok {
		s.now = s.now.Add(time.Duration(s.next()) * time.Hour)
		return
	}
	if deadline.At.After(s.now) {
		s.now = deadline.At.Add(-time.Duration(s.next()%2) * time.Nanosecond)
	}
	s.expire(tb, deadline)
}

// garbage is what a machine must survive though no adapter lets it through.
func (s *script) garbage(tb judge) {
	tb.Helper()
	s.sequence++
	if s.one(3) {
		s.malformed(tb)
		return
	}
	input := session.Input{
		Now: s.now, Sequence: s.sequence, Agent: s.pick("", "calculator", "nobody"),
		Event: schemas.Event{ID: fmt.Sprint("garbage", s.sequence)},
	}
	switch s.next() % 8 {
	case 0:
	case 1:
		input.Response = &schemas.ExecutionResponse{}
	case 2:
		input.Progress = &schemas.ProgressUpdate{}
	case 3:
		input.Control = &schemas.Control{Action: schemas.ControlCancel, Run: s.pick("", "x", conversationID()+"-0", conversationID()+"-1")}
	case 4:
		input.Deadline = &schemas.Deadline{}
	case 5: // one that was decided already
		input.Sequence = max(min(uint64(s.next()), s.state.Applied), 1)
		s.sequence--
		input.Message = &session.Message{Channel: schemas.ChannelChat, Text: "calculate"}
	case 6:
		input.Grant = &schemas.Grant{}
	case 7: // a request whose plan is empty
		input.Event.ID = identify(input.Event.ID)
		input.Message = &session.Message{Channel: schemas.ChannelAgent, Upstream: &schemas.Upstream{
			Request: input.Event.ID, From: "planner", To: "podium", PlanID: input.Event.ID, Planned: true,
		}}
	}
	s.step(tb, input)
}
