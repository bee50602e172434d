package session_test

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// The laws of the machine: what holds at every step, whatever happens.

// stored returns the record of an outcome as a ledger would give it back, once
// its schema has accepted it.
func (s *stage) stored(tb judge, outcome *session.Outcome) *schemas.Record {
	tb.Helper()
	body := canonical(tb, schemas.Record{Session: s.state.Session, Number: outcome.State.Records, Transitions: []schemas.Transition{{Cause: outcome.Cause, Facts: outcome.Facts}}})
	if err := schemas.Validate("record", body); err != nil {
		tb.Fatalf("the record breaks its schema: %v\n%s", err, body)
	}
	var read schemas.Record
	if err := schemas.Unmarshal(body, &read); err != nil {
		tb.Fatal(err)
	}
	return &read
}

// redecided: with nothing but the record's cause, deciding again gives the same
// facts, though the agents are asked no more.
func (s *stage) redecided(tb judge, input session.Input, record *schemas.Record) {
	tb.Helper()
	env := s.env(&s.state)
	env.Admission, env.Grants = session.ReplayAdmission(&record.First().Cause), nil
	input.Proven, input.References = record.First().Cause.Proven, nil
	again := session.Step(env, s.state, input)
	if got, want := canonical(tb, again.Facts), canonical(tb, record.First().Facts); !bytes.Equal(got, want) {
		tb.Fatalf("by its cause alone the record is another:\n%s\n%s\n%s", canonical(tb, record.First().Cause), got, want)
	}
}

// folds: a state is the fold of its records, also from a snapshot, and a
// snapshot says all of it.
func (s *stage) folds(tb judge, before []byte, record *schemas.Record, after *session.State) {
	tb.Helper()
	want := canonical(tb, *after)
	if folded := canonical(tb, s.state.FoldRecord(record)); !bytes.Equal(folded, want) {
		tb.Fatalf("the fold of the record is another state:\n%s\n%s", folded, want)
	}
	var loaded session.State
	if err := schemas.Unmarshal(before, &loaded); err != nil {
		tb.Fatal(err)
	}
	if folded := canonical(tb, loaded.FoldRecord(record)); !bytes.Equal(folded, want) {
		tb.Fatalf("the fold from a snapshot is another state:\n%s\n%s", folded, want)
	}
	if got := canonical(tb, snapshot(tb, after)); !bytes.Equal(got, want) {
		tb.Fatalf("the snapshot loses something:\n%s\n%s", got, want)
	}
}

func snapshot(tb judge, state *session.State) session.State {
	tb.Helper()
	var loaded session.State
	if err := schemas.Unmarshal(canonical(tb, *state), &loaded); err != nil {
		tb.Fatal(err)
	}
	return loaded
}

// follows: what only ever grows, and what may follow what.
func (s *stage) follows(tb judge, input *session.Input, record *schemas.Record, after *session.State) {
	tb.Helper()
	if after.Applied < s.state.Applied || input.Sequence > 0 && after.Applied != input.Sequence {
		tb.Fatalf("applied went from %d to %d by input %d", s.state.Applied, after.Applied, input.Sequence)
	}
	if after.Records != s.state.Records+1 || after.Runs < s.state.Runs {
		tb.Fatalf("records %d→%d, runs %d→%d", s.state.Records, after.Records, s.state.Runs, after.Runs)
	}
	s.moved(tb, record)
	if err := s.conversation.Apply(*record); err != nil {
		tb.Fatalf("%v\n%s", err, canonical(tb, record))
	}
	started := len(s.conversation.Runs)
	if started+after.Queue.Len() != after.Runs {
		tb.Fatalf("%d runs began and %d wait, of %d", started, after.Queue.Len(), after.Runs)
	}
	place := started
	for queued := range after.Queue.All() {
		if place++; queued.Run != place {
			tb.Fatalf("run %d waits where run %d does", queued.Run, place)
		}
	}
	for i := range s.conversation.Runs {
		run := &s.conversation.Runs[i]
		active := after.Active != nil && after.Active.Number == run.Number
		if ended := run.Phase == workflow.PhaseComplete; ended == active || active && i != started-1 && !after.Active.Reopened {
			tb.Fatalf("run %d is %s, active %v", run.Number, run.Phase, active)
		}
	}
	if after.Active == nil && len(after.Resends) > 0 {
		tb.Fatal("an answer that is to be sent again waits behind nothing")
	}
	if after.Active == nil && !after.Queue.IsZero() {
		tb.Fatal("a message waits behind nothing")
	}
}

// wakes: whatever is under way, something will end it: a deadline, or a grant as
// soon as an agent has room.
func (s *stage) wakes(tb judge, after *session.State) {
	tb.Helper()
	deadlines := after.Deadlines()
	for range after.AwaitingGrant {
		return
	}
	if after.Active != nil && len(deadlines) == 0 {
		tb.Fatal("a run is under way and nothing will ever wake it")
	}
}

// rests: after a decision nothing is half done. No task is due, and the rules have nothing left to do.
func (s *stage) rests(tb judge, after *session.State) {
	tb.Helper()
	for task := range after.Active.All {
		if task.State == workflow.TaskDue {
			tb.Fatalf("task %s is left due", task.ID)
		}
	}
	var rules []string
	env := s.env(after)
	env.Rule = func(name string) { rules = append(rules, name) }
	if more := session.Step(env, *after, session.Input{Now: s.now}); len(more.Facts) > 0 {
		tb.Fatalf("without an input the rules %q go on\n%s", rules, canonical(tb, more.Facts))
	}
}

// returns: a message begins its run as it was queued, however it was kept meanwhile.
func (s *stage) returns(tb judge, record *schemas.Record) {
	tb.Helper()
	for i := range record.First().Facts {
		switch f := record.First().Facts[i]; {
		case schemas.As[*schemas.MessageReceived](f) != nil && schemas.As[*schemas.MessageReceived](f).Disposition == schemas.DispositionQueued:
			s.queued[schemas.As[*schemas.MessageReceived](f).Run] = *schemas.As[*schemas.MessageReceived](f).Message
		case schemas.As[*schemas.MessageReceived](f) != nil && schemas.As[*schemas.MessageReceived](f).Disposition == schemas.DispositionMerged:
			whole := s.queued[schemas.As[*schemas.MessageReceived](f).Run]
			whole.MergedTexts, whole.Reply = append(slices.Clip(whole.MergedTexts), schemas.As[*schemas.MessageReceived](f).Message.Text), schemas.As[*schemas.MessageReceived](f).Message.Reply
			s.queued[schemas.As[*schemas.MessageReceived](f).Run] = whole
		case schemas.As[*schemas.RunStarted](f) != nil:
			want, waited := s.queued[schemas.As[*schemas.RunStarted](f).Run]
			want.Text, want.Entities = schemas.As[*schemas.RunStarted](f).Message.Text, nil
			began := schemas.As[*schemas.RunStarted](f).Message
			want.Tainted = want.Tainted || began.Tainted // it inherits that
			if waited && !bytes.Equal(canonical(tb, began), canonical(tb, want)) {
				tb.Fatalf("run %d was queued with\n%s\nand begins with\n%s", schemas.As[*schemas.RunStarted](f).Run, canonical(tb, want), canonical(tb, began))
			}
		}
	}
}

// obeys: every fact is legal in the state that it stands in.
func (s *stage) obeys(tb judge, record *schemas.Record) {
	tb.Helper()
	for i := range record.First().Facts {
		before := s.state.FoldRecord(&schemas.Record{Number: record.Number, Transitions: []schemas.Transition{{Cause: record.First().Cause, Facts: record.First().Facts[:i]}}})
		after := s.state.FoldRecord(&schemas.Record{Number: record.Number, Transitions: []schemas.Transition{{Cause: record.First().Cause, Facts: record.First().Facts[:i+1]}}})
		fact := record.First().Facts[i]
		if before.Active != nil && after.Active != nil && before.Active.Number == after.Active.Number {
			phases(tb, before.Active, after.Active, fact)
		}
		if schemas.As[*schemas.TaskDispatched](fact) != nil && before.Active != nil {
			s.dispatchable(tb, before.Active, schemas.As[*schemas.TaskDispatched](fact), record)
		}
		if before.Active != nil {
			s.permits(tb, before.Active, fact)
			s.budget(tb, before.Active, fact)
		}
		if again := schemas.As[*schemas.DeliveryReopened](fact); again != nil {
			s.reopens(tb, &before, again)
		}
	}
}

// phases: a run goes from one phase to the next, and only when the phase is done
// (P-12…P-14).
func phases(tb judge, before, after *workflow.Run, fact schemas.Fact) {
	tb.Helper()
	next := map[workflow.Phase][]workflow.Phase{
		workflow.PhaseDecomposing: {workflow.PhaseRouting, workflow.PhaseExecuting, workflow.PhaseAssembling},
		workflow.PhaseRouting:     {workflow.PhaseExecuting, workflow.PhaseAssembling},
		workflow.PhaseExecuting:   {workflow.PhaseReviewing, workflow.PhaseAssembling, workflow.PhaseDecomposing, workflow.PhaseRouting},
		workflow.PhaseReviewing:   {workflow.PhaseRouting, workflow.PhaseExecuting, workflow.PhaseAssembling},
		workflow.PhaseAssembling:  {workflow.PhaseComplete},
	}
	if before.Phase == after.Phase {
		return
	}
	if !slices.Contains(next[before.Phase], after.Phase) {
		tb.Fatalf("%s leads from %s to %s", fact.Name(), before.Phase, after.Phase)
	}
	for _, task := range after.Tasks {
		switch after.Phase {
		case workflow.PhaseExecuting:
			if !task.Routed {
				tb.Fatalf("the work begins while task %s has no agent", task.ID)
			}
		case workflow.PhaseReviewing, workflow.PhaseAssembling, workflow.PhaseComplete:
			if !task.State.Ended() {
				tb.Fatalf("the outcome is fixed while task %s is %s", task.ID, task.State)
			}
		case workflow.PhaseDecomposing, workflow.PhaseRouting:
		}
	}
}

// dispatchable: a request goes out only when its turn has come.
func (s *stage) dispatchable(tb judge, run *workflow.Run, f *schemas.TaskDispatched, record *schemas.Record) {
	tb.Helper()
	var asks *workflow.Inquiry
	if f.About != nil {
		asks = run.Inquiry(f.About.HumanTask)
	}
	ofAnswer := f.Task == schemas.DeliveryTask || asks != nil && asks.Task == schemas.DeliveryTask
	if settled := run.Settled(); settled != ofAnswer {
		tb.Fatalf("task %s is dispatched while the run is %s", f.Task, run.Phase)
	}
	holds := func(rule schemas.ApprovalRule) bool { return rule.Delivery && !rule.Tainted }
	if f.Task == schemas.DeliveryTask && !run.Reopened && slices.ContainsFunc(s.profiles[run.ProfileHash].Approval, holds) && f.Approval == 0 {
		tb.Fatalf("the answer of run %d is sent, and nobody has agreed to it", run.Number)
	}
	if !run.Settled() && !run.Expires.IsZero() && !run.Rests() && f.Expires.After(run.Expires) {
		tb.Fatalf("a request outlives its run, %s after %s", f.Expires, run.Expires)
	}
	undeclared := func(use schemas.AgentUse) bool { return use.Name == f.Agent && !use.Declares(f.Kind.RequestKind()) }
	if f.Kind == schemas.TaskKindAssess && slices.ContainsFunc(s.profiles[run.ProfileHash].Agents, undeclared) {
		tb.Fatalf("agent %s is asked for %s, and does not declare it", f.Agent, f.Task)
	}
	task := run.Task(f.Task)
	if task == nil || task.Plan == nil {
		return
	}
	if f.Attempt != task.Attempt+1 || task.State.UnderWay() || task.State.Ended() {
		tb.Fatalf("attempt %d of task %s, which is %s after attempt %d", f.Attempt, f.Task, task.State, task.Attempt)
	}
	if len(task.Resources()) > 0 && record.First().Cause.Grant == nil {
		tb.Fatalf("task %s takes %q without a grant", f.Task, task.Resources())
	}
	levels := s.profiles[run.ProfileHash].Execution.Schedule == schemas.ScheduleLevels
	for _, other := range run.Tasks {
		if needed := slices.Contains(task.Plan.Dependencies, other.ID); (needed || levels && other.Level < task.Level && other.ID != task.Recovers()) && !other.State.Ended() {
			tb.Fatalf("task %s is dispatched before %s, which is %s", f.Task, other.ID, other.State)
		}
	}
}

// permits: only work may act outside. An effect is permitted once, unless the agent has said that nothing came
// of it, or the profile wants it again when nobody knows.
func (s *stage) permits(tb judge, run *workflow.Run, fact schemas.Fact) {
	tb.Helper()
	effect := fmt.Sprint(run.Number, "/", schemas.TaskOf(fact))
	outstanding := s.effects[effect]
	if question := run.Task(schemas.TaskOf(fact)); question != nil && !question.Kind.MayActOutside() && schemas.As[*schemas.PermitGranted](fact) != nil ||
		schemas.As[*schemas.TaskDispatched](fact) != nil && schemas.As[*schemas.TaskDispatched](fact).Permitted && !schemas.As[*schemas.TaskDispatched](fact).Kind.MayActOutside() {
		tb.Fatalf("question %s is permitted to act", schemas.TaskOf(fact))
	}
	switch {
	case schemas.As[*schemas.InquiryAnswered](fact) != nil && schemas.As[*schemas.InquiryAnswered](fact).Choice == schemas.ChoiceRetry:
		if task := run.Task(run.Inquiry(schemas.As[*schemas.InquiryAnswered](fact).Inquiry).Task); task != nil && task.Failure().Cause == schemas.FailureUnknownEffect { // somebody has looked
			s.forget(run, task.ID)
		}
	case schemas.As[*schemas.TaskDispatched](fact) != nil && schemas.As[*schemas.TaskDispatched](fact).Permitted:
		if outstanding != "" {
			tb.Fatalf("task %s brings a permit, but %s is not answered for", schemas.TaskOf(fact), outstanding)
		}
		s.effects[effect] = schemas.PermitID(schemas.As[*schemas.TaskDispatched](fact).Request)
	case schemas.As[*schemas.PermitGranted](fact) != nil:
		granted, task := schemas.As[*schemas.PermitGranted](fact), run.Task(schemas.TaskOf(fact))
		if !task.State.UnderWay() || granted.Attempt != task.Attempt || !s.now.Before(task.Expires) {
			tb.Fatalf("attempt %d of task %s is permitted, which is %s with attempt %d", granted.Attempt, task.ID, task.State, task.Attempt)
		}
		asks := slices.ContainsFunc(s.profiles[run.ProfileHash].Agents, func(use schemas.AgentUse) bool {
			return use.Name == task.Agent && use.OnUnknown == schemas.OnUnknownAsk
		})
		if granted.Again != (outstanding != "") || granted.Again && asks {
			tb.Fatalf("task %s is permitted, again: %v, after %q", task.ID, granted.Again, outstanding)
		}
		s.effects[effect] = granted.Permit
		if upstream := run.Message.Upstream; upstream != nil && upstream.Effect != "" {
			common := upstream.Effect + "/" + task.ID
			if before := s.effects[common]; asks && before != "" && before != effect && s.effects[before] != "" {
				tb.Fatalf("task %s is permitted, and the same was permitted in %s", effect, before)
			}
			s.effects[common] = effect
		}
	case schemas.As[*schemas.TaskFailed](fact) != nil && schemas.As[*schemas.TaskFailed](fact).Undone():
		delete(s.effects, effect)
	}
}

// reopens: an answer is sent again when nothing is under way and somebody has asked for
// it; one that may have been sent, when that person says so.
func (s *stage) reopens(tb judge, before *session.State, f *schemas.DeliveryReopened) {
	tb.Helper()
	asked := slices.Contains(before.Resends, schemas.ResendRequested{Run: f.Run, AllowDuplicate: f.AllowDuplicate})
	effect := fmt.Sprint(f.Run, "/", schemas.DeliveryTask)
	if before.Active != nil || !asked || s.effects[effect] != "" && !f.AllowDuplicate {
		tb.Fatalf("run %d is reopened, asked for: %v, after permit %q", f.Run, asked, s.effects[effect])
	}
	delete(s.effects, effect)
}

// asksRequester reports whether a request of a run tells the requester what they are asked.
func asksRequester(run *workflow.Run, sent *schemas.TaskDispatched) bool {
	if sent.About == nil {
		return false
	}
	inquiry := run.Inquiry(sent.About.HumanTask)
	return inquiry != nil && len(inquiry.People) == 0
}

// agreed reports whether people have agreed to the answer, which its budget does not hold back then.
func agreed(run *workflow.Run) bool {
	return slices.ContainsFunc(run.Inquiries, func(i *workflow.Inquiry) bool { return i.Task == schemas.DeliveryTask && i.Approved() })
}

// mailboxOf is where the answer of a run goes.
func mailboxOf(run *workflow.Run) string {
	if reply := run.Message.Reply; reply != nil && len(reply.To) > 0 {
		return schemas.Mailbox(reply.To[0].Address)
	}
	return ""
}

// budget: within any hour a correspondent of a session has as many answers by mail as its profile
// allows, and none is withheld while there is room (I20), unless nobody vouches for who
// wrote: then none goes out, and for forged mail nobody is asked for work. A person
// may have one sent.
func (s *stage) budget(tb judge, run *workflow.Run, fact schemas.Fact) {
	tb.Helper()
	recent := 0
	for _, sent := range s.mailed {
		if s.now.Sub(sent.Time) < time.Hour && sent.To == mailboxOf(run) {
			recent++
		}
	}
	limit := s.profiles[run.ProfileHash].Conversation.RepliesPerHour
	if limit == 0 {
		limit = schemas.DefaultRepliesPerHour
	}
	if slices.ContainsFunc(run.Inquiries, func(i *workflow.Inquiry) bool { return len(i.People) == 0 }) {
		limit++ // whoever was asked something is answered
	}
	doubt := run.Message.Withheld
	switch sent := schemas.As[*schemas.TaskDispatched](fact); {
	case schemas.As[*schemas.AnswerDelayed](fact) != nil:
		if until := schemas.As[*schemas.AnswerDelayed](fact).Until; recent < limit || doubt != "" || !until.After(s.now) || until.Sub(s.now) > time.Hour {
			tb.Fatalf("an answer waits until %s after %d of %d, %q", until, recent, limit, doubt)
		}
	case schemas.As[*schemas.ReplyWithheld](fact) != nil && doubt == "":
		tb.Fatal("an answer that may go out later is withheld")
	case schemas.As[*schemas.ReplyWithheld](fact) != nil && doubt != "":
		if schemas.As[*schemas.ReplyWithheld](fact).Reason != doubt {
			tb.Fatalf("withheld for %s, and not for %s", schemas.As[*schemas.ReplyWithheld](fact).Reason, doubt)
		}
	case sent != nil && (doubt == schemas.WithheldRefuted || doubt != "" && sent.Task == schemas.DeliveryTask && !run.Reopened):
		tb.Fatalf("%s is asked although %s", sent.Agent, doubt)
	case schemas.As[*schemas.ReplyWithheld](fact) != nil && (recent < limit || run.Message.Channel != schemas.ChannelEmail):
		tb.Fatalf("an answer by %s is withheld after %d of %d", run.Message.Channel, recent, limit)
	case sent == nil || sent.Task != schemas.DeliveryTask && !asksRequester(run, sent) || sent.Attempt != 1 || run.Message.Channel != schemas.ChannelEmail:
	case recent >= limit && !run.Reopened && !agreed(run) && (sent.Task == schemas.DeliveryTask || sent.Task == schemas.NoticeTask(1, 1)): // whoever has been asked may be asked again
		tb.Fatalf("%d answers in an hour, of %d", recent+1, limit)
	default:
		s.mailed = append(s.mailed, session.SentReply{Time: s.now, To: mailboxOf(run)})
	}
}

// told: at any moment the progress of a run places every task in exactly one
// list, and says so in a message that its schema accepts (M-15).
func (s *stage) told(tb judge, after *session.State) {
	tb.Helper()
	if after.Active == nil {
		return
	}
	for task := range after.Active.All {
		if task.WaitingUntil() != nil && task.State != workflow.TaskRunning {
			tb.Fatalf("%s is %s, and waits until %s", task.ID, task.State, task.WaitingUntil())
		}
	}
	for _, eta := range []schemas.ETA{schemas.ETACriticalPath, schemas.ETASum} {
		payload := plan.Progress(after.Active, eta, s.now)
		if payload.ProgressPercentage < 0 || payload.ProgressPercentage > 100 || payload.EstimatedCompletion.Before(s.now) && !payload.EstimatedCompletion.IsZero() {
			tb.Fatalf("%d %%, done at %s", payload.ProgressPercentage, payload.EstimatedCompletion)
		}
		var listed []string
		for _, list := range [][]string{payload.TasksCompleted, payload.TasksPending, payload.TasksFailed, payload.TasksSkipped} {
			listed = append(listed, list...)
		}
		for _, task := range payload.TasksInProgress {
			listed = append(listed, task.TaskID)
		}
		for _, task := range payload.TasksBlocked {
			listed = append(listed, task.TaskID)
		}
		var want []string
		for _, task := range after.Active.Tasks {
			want = append(want, task.ID)
		}
		slices.Sort(listed)
		slices.Sort(want)
		if !slices.Equal(listed, want) {
			tb.Fatalf("progress lists %q of the tasks %q", listed, want)
		}
		payload.PlanID = schemas.PlanID(schemas.RunID(after.Session, after.Active.Number))
		body := canonical(tb, schemas.ProgressUpdate{Envelope: schemas.Envelope{
			MessageID: schemas.EffectID("progress", "1"), From: "podium", To: "planner", Type: schemas.EnvelopeTypeProgressUpdate, Timestamp: s.now,
		}, Payload: payload})
		if _, err := schemas.DecodeProgressUpdate(body); err != nil {
			tb.Fatalf("a progress update breaks its schema: %v\n%s", err, body)
		}
	}
}

// owed: outputs are a pure function of state and record; each request is one
// that an agent accepts, and says no more than the agent is to know (P-11).
func (s *stage) owed(tb judge, after *session.State, record *schemas.Record) []session.Output {
	tb.Helper()
	outputs, err := session.Outputs(s.env(after), *after, record.Last())
	if err != nil {
		tb.Fatal(err)
	}
	if len(outputs) > 0 && !session.MayHaveOutputs(record.Last()) {
		tb.Fatalf("%d outputs of facts that seem to owe none: another transition might have followed", len(outputs))
	}
	again, err := session.Outputs(s.env(after), snapshot(tb, after), record.Last())
	if err != nil || !bytes.Equal(canonical(tb, outputs), canonical(tb, again)) {
		tb.Fatalf("the same record owes something else the second time: %v", err)
	}
	requests := map[string]bool{}
	for i := range outputs {
		switch outputs[i].Kind {
		case session.OutputCancelHint:
			if !schemas.ValidAgentName(outputs[i].Agent) {
				tb.Fatalf("a hint for agent %q", outputs[i].Agent)
			}
		case session.OutputPermitAnswer:
			if !schemas.ValidAgentName(outputs[i].Agent) || outputs[i].Permit.Granted != (outputs[i].Permit.Reason == "") {
				tb.Fatalf("agent %q is told %+v", outputs[i].Agent, *outputs[i].Permit)
			}
		case session.OutputResponse:
			s.answers(tb, after, &outputs[i])
		case session.OutputRequest:
			requests[s.accepted(tb, after, &outputs[i])] = true
		case session.OutputQuarantine, session.OutputRepeatedResponse, session.OutputReusable:
			tb.Fatalf("a record owes %+v", outputs[i])
		}
	}
	for i := range record.First().Facts {
		f := schemas.As[*schemas.TaskDispatched](record.First().Facts[i])
		if f == nil {
			continue
		}
		waits := after.Active != nil && after.Active.Number == f.Run && after.Active.Task(f.Task).State.UnderWay()
		if requests[f.Request] != waits {
			tb.Fatalf("request %s was decided, is waited for: %v, is sent: %v", f.Request, waits, requests[f.Request])
		}
		delete(requests, f.Request)
	}
	if len(requests) > 0 {
		tb.Fatalf("nobody has decided %v", requests)
	}
	for _, run := range after.Ended {
		if run.Message.Upstream != nil && run.Reason != schemas.StopSuperseded && s.answered[run.Number] == "" {
			tb.Fatalf("run %d has ended, and whoever asked is not told", run.Number)
		}
	}
	return outputs
}

// brought reports whether the request that a run was begun by has an input of this name.
func (s *stage) brought(run *workflow.Run, name string) bool {
	var request struct {
		Tasks []schemas.Task `json:"tasks"`
	}
	return schemas.Unmarshal(s.contents[run.Message.Sequence].Data, &request) == nil &&
		slices.ContainsFunc(request.Tasks, func(task schemas.Task) bool {
			_, there := task.Context.Inputs[name]
			return there
		})
}

// accepted: a request is one that its agent accepts.
func (s *stage) accepted(tb judge, after *session.State, output *session.Output) string {
	tb.Helper()
	request, err := schemas.DecodeExecutionRequest(output.Event.Data)
	if err != nil {
		tb.Fatalf("a request breaks its schema: %v\n%s", err, output.Event.Data)
	}
	if shard, ok := schemas.ShardOfRequest(request.MessageID); !ok || shard != s.shard || request.MessageID != output.Event.ID {
		tb.Fatalf("request %s does not name its shard", request.MessageID)
	}
	asked := &request.Payload.Tasks[0]
	if request.To != output.Agent || asked.AssignedTo != output.Agent || !schemas.ValidAgentName(output.Agent) {
		tb.Fatalf("a request to %s for %s goes to %s", request.To, asked.AssignedTo, output.Agent)
	}
	if asked.TaskID == schemas.DeliveryTask || after.Active.Task(asked.TaskID).HumanTask() > 0 {
		return request.MessageID
	}
	run, size := after.Active, 0
	for id, input := range asked.Context.Inputs {
		if asked.Context.Kind == schemas.KindJudge { // it is told of all that was done
			if task := run.Task(id); task == nil || task.Plan == nil || !task.Worked() {
				tb.Fatalf("judge %s is told about task %s, which has not ended", asked.TaskID, id)
			}
		} else if slices.Contains(asked.Dependencies, id) {
			if run.Task(id).State != workflow.TaskCompleted {
				tb.Fatalf("task %s is told about task %s, which is %s", asked.TaskID, id, run.Task(id).State)
			}
		} else if fix := run.Task(asked.TaskID).Plan.Options().Fixes; fix != "" && run.Review != nil && id == schemas.ReviewInput(run.Review.Round) {
			if !slices.ContainsFunc(run.Review.Issues, func(issue schemas.ReviewIssue) bool { return issue.Task == fix }) {
				tb.Fatalf("task %s mends what nobody has found", asked.TaskID)
			}
		} else if id != "" && id == run.Task(asked.TaskID).Recovers() {
			if failed := run.Task(id); !failed.Mending() {
				tb.Fatalf("task %s mends what %s has found, which is %s", asked.TaskID, id, failed.State)
			}
		} else if !s.brought(run, id) {
			tb.Fatalf("task %s is told about %s, which nobody has brought", asked.TaskID, id)
		}
		size += len(input.Text) + len(input.Data)
	}
	limit := s.profiles[run.ProfileHash].Execution.ContextLimit
	if limit == 0 {
		limit = schemas.DefaultContextLimit
	}
	if size > limit {
		tb.Fatalf("a request carries %d bytes of other results, more than %d", size, limit)
	}
	if !bytes.Equal(canonical(tb, asked.Context.Entities), canonical(tb, run.Entities)) {
		tb.Fatalf("the run is about %v, the request about %v", run.Entities, asked.Context.Entities)
	}
	return request.MessageID
}

// answers: there is one answer to whoever asked upstream.
func (s *stage) answers(tb judge, after *session.State, output *session.Output) {
	tb.Helper()
	response, err := schemas.DecodeExecutionResponse(output.Event.Data)
	if err != nil {
		tb.Fatalf("a response breaks its schema: %v\n%s", err, output.Event.Data)
	}
	at := slices.IndexFunc(after.Ended, func(run *workflow.Run) bool {
		return run.Message.Upstream != nil && run.Message.Upstream.Request == response.InReplyTo
	})
	if at < 0 {
		tb.Fatalf("an answer to %s, which nobody waits for", response.InReplyTo)
	}
	run := after.Ended[at]
	if s.answered[run.Number] != "" {
		tb.Fatalf("run %d is answered twice", run.Number)
	}
	s.answered[run.Number] = response.MessageID
	summary, total := response.Payload.ExecutionSummary, 0
	for _, task := range run.Tasks {
		if !task.Replaced {
			total++
		}
	}
	if summary.TasksCompleted+summary.TasksFailed+summary.TasksSkipped != summary.TotalTasks || summary.TotalTasks != total {
		tb.Fatalf("a summary that does not add up: %+v", *summary)
	}
	if response.From != run.Message.Upstream.To || response.To != run.Message.Upstream.From || response.Payload.PlanID != run.Message.Upstream.PlanID {
		tb.Fatalf("the answer of %s to %s about %s", response.From, response.To, response.Payload.PlanID)
	}
}

// forget forgets what nobody knew of the effect of a task.
func (s *stage) forget(run *workflow.Run, task string) {
	delete(s.effects, fmt.Sprint(run.Number, "/", task))
	if upstream := run.Message.Upstream; upstream != nil && upstream.Effect != "" {
		delete(s.effects, upstream.Effect+"/"+task)
	}
}
