package session_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// output writes down a message that a record owes.
func (s *story) output(o *session.Output) string {
	switch o.Kind {
	case session.OutputCancelHint:
		return "→ " + o.Agent + ": stop, nobody waits any more\n"
	case session.OutputPermitAnswer:
		return "→ " + o.Agent + ": " + s.permitted(o.Permit) + "\n"
	case session.OutputResponse:
		return s.responded(o)
	case session.OutputQuarantine, session.OutputRepeatedResponse, session.OutputReusable:
		return string(o.Kind) + "\n"
	case session.OutputRequest:
	}
	request, err := schemas.DecodeExecutionRequest(o.Event.Data)
	if err != nil {
		return err.Error() + "\n"
	}
	task := &request.Payload.Tasks[0]
	var told strings.Builder
	fmt.Fprintf(&told, "→ %s: %s attempt %d %s %s\n", o.Agent, task.TaskID, o.Event.Attempt, short(task.Description), task.Context.Constraints)
	line := func(is bool, format string, arguments ...any) {
		if is {
			fmt.Fprintf(&told, "    "+format+"\n", arguments...)
		}
	}
	line(task.Context.Request != "", "request %s", short(task.Context.Request))
	line(len(task.Context.Entities) > 0, "about%s", strings.TrimPrefix(about(task.Context.Entities), ","))
	for _, answer := range task.Context.Answers {
		line(true, "answered %q to %q%s", answer.Text, answer.Question, in(" says %s", string(answer.Values)))
	}
	line(task.Context.Feedback != "", "feedback %q", task.Context.Feedback)
	line(task.Context.Stream != o.Streamed, "streamed by one word and not by the other")
	line(task.Context.Stream, "its text is shown while it comes")
	if told := task.Context.Conversation; told != nil && told.State == schemas.ConversationOngoing {
		line(true, "conversation%s", recent(told.Recent))
		for _, said := range told.Messages {
			line(true, "said by %s: %s%s", said.By, short(said.Text), map[bool]string{true: ", cut"}[said.Cut])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(task.Context.Inputs)) {
		input := task.Context.Inputs[id]
		line(true, "input %s %s%s%s", id, short(input.Text), string(input.Data), status(input.Status))
	}
	if message := task.Context.Message; message != nil {
		line(true, "from %s%s%s", author(message.From), in(" about %q", message.Subject), in(", %s", string(message.Origin)))
		line(message.Quoted != "", "quoting %s", short(message.Quoted))
	}
	for _, file := range task.Context.Attachments {
		line(true, "file %s %q %s, %d bytes, %.8s… of %s, %s", file.ID, file.Name, file.MediaType, file.Size, file.SHA256, file.From, file.Grant)
	}
	if plan := task.Context.Plan; plan != nil {
		line(true, "step %d of %q", plan.Current, plan.Steps)
	}
	if standing := task.Context.Run; standing != nil {
		line(true, "iteration %d, artifacts so far: %d", standing.Iteration, standing.Artifacts)
	}
	line(len(task.Context.Tainted) > 0, "from outside: %s", strings.Join(task.Context.Tainted, " "))
	if agreed := task.Context.Approved; agreed != nil {
		line(true, "agreed: %s %s (%s)", agreed.Name, agreed.Arguments, agreed.Summary)
	}
	inputs, dependencies := len(task.Context.Inputs), len(task.Dependencies)
	line(inputs != dependencies, "%d inputs for %d dependencies", inputs, dependencies)
	var delivery schemas.DeliveryArguments
	if tells := task.TaskID == schemas.DeliveryTask || schemas.HasNotificationID(task.TaskID); tells && schemas.Unmarshal(task.Context.Arguments, &delivery) == nil {
		line(true, "text %s", short(delivery.Text))
		line(delivery.Inquiry > 0, "of inquiry %d", delivery.Inquiry)
		line(delivery.Requester != "", "counted to requester %.8s…", delivery.Requester)
		for i := range delivery.Attachments {
			file := &delivery.Attachments[i]
			line(true, "attached %q %s, %d bytes, %.8s…, %s", file.Name, file.MediaType, file.Artifact.Size, file.Artifact.SHA256, file.Artifact.Grant)
		}
		for _, file := range delivery.Data {
			line(true, "attached %q %s: %s", file.Name, file.MediaType, short(file.Text))
		}
		for _, other := range delivery.Cc {
			line(true, "besides %s", other.Address)
		}
		line(delivery.ReplyRef != "", "reply_ref %s", delivery.ReplyRef)
	} else {
		line(len(task.Context.Arguments) > 0, "arguments %s", task.Context.Arguments)
	}
	line(len(task.Deliverables)+len(task.ValidationCriteria) > 0, "to yield %q so that %q", task.Deliverables, task.ValidationCriteria)
	line(len(task.Context.FilesToModify)+len(task.Context.References) > 0, "to change %q by %q", task.Context.FilesToModify, task.Context.References)
	line(len(task.Resources) > 0, "holds %q", task.Resources)
	return told.String()
}

func status(status schemas.ResponseStatus) string { return in(" (%s)", string(status)) }

// in puts a text into a format; nothing stays nothing.
func in(format, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(format, text)
}

func author(author *schemas.Author) string {
	if author == nil {
		return "nobody"
	}
	return strings.TrimSpace(author.Name + in(" <%s>", author.Address) + in(" @%s", author.User))
}

func recent(calls []schemas.RecentCall) string {
	told := []string{" goes on"}
	for i := range calls {
		told = append(told, fmt.Sprintf("%s %s %s", calls[i].Agent, calls[i].Task, calls[i].Status))
	}
	return strings.Join(told, ", ")
}

// responded writes down the answer to a request (M-07…M-12).
func (s *story) responded(o *session.Output) string {
	response, err := schemas.DecodeExecutionResponse(o.Event.Data)
	if err != nil {
		return err.Error() + "\n"
	}
	p := &response.Payload
	var told strings.Builder
	fmt.Fprintf(&told, "→ %s answers %s to %s: %s, %d %% of %d tasks, %d completed, %d failed, %d skipped\n", response.From, s.called(response.InReplyTo), response.To,
		p.Status, p.ExecutionSummary.CompletionPercentage, p.ExecutionSummary.TotalTasks,
		p.ExecutionSummary.TasksCompleted, p.ExecutionSummary.TasksFailed, p.ExecutionSummary.TasksSkipped)
	if p.Result != nil {
		fmt.Fprintf(&told, "    result %s%s\n", short(p.Result.Text), string(p.Result.Data))
	}
	for i := range p.Deliverables {
		d := &p.Deliverables[i]
		fmt.Fprintln(&told, strings.TrimRight(fmt.Sprintf("    deliverable %s %s %s of %s by %s %s", d.DeliverableID, d.Type, d.Path, d.TaskID, d.Agent, d.Metadata), " "))
	}
	fmt.Fprintf(&told, "    used %d tokens in %g s", tokensOf(p.ResourceUsage), p.ResourceUsage.TimeElapsedSeconds)
	for _, agent := range slices.Sorted(maps.Keys(p.ResourceUsage.AgentExecutionTimes)) {
		fmt.Fprintf(&told, ", %s %g s", agent, p.ResourceUsage.AgentExecutionTimes[agent])
	}
	told.WriteString("\n")
	for i := range p.IssuesEncountered {
		issue := &p.IssuesEncountered[i]
		fmt.Fprintf(&told, "    issue %s of %s by %s: %q, %s (%s)", issue.Severity, s.called(issue.TaskID), issue.Agent, issue.Description, issue.Resolution, issue.ResolutionDetails)
		if issue.AttemptsUsed > 0 {
			fmt.Fprintf(&told, ", all %d attempts used", issue.AttemptsUsed)
		}
		told.WriteByte('\n')
	}
	for i := range p.ValidationResults {
		fmt.Fprintf(&told, "    check %s %s %q\n", p.ValidationResults[i].Validator, p.ValidationResults[i].Status, p.ValidationResults[i].Details)
	}
	for _, advice := range p.Recommendations {
		fmt.Fprintf(&told, "    recommends %q\n", advice)
	}
	for i := range p.Needs {
		fmt.Fprintf(&told, "    needs %s %q\n", p.Needs[i].Name, p.Needs[i].Question["en"])
	}
	if p.Operation != nil {
		fmt.Fprintf(&told, "    proposes %s %s %q\n", p.Operation.Name, p.Operation.Arguments, p.Operation.Summary)
	}
	return told.String()
}

// describe writes down the state as far as a person asks for it.
func (s *story) describe() string {
	var told strings.Builder
	fmt.Fprintf(&told, "%s, %d runs, %d records, applied %d%s\n", s.clock(s.now), s.state.Runs, s.state.Records, s.state.Applied, about(s.state.Entities))
	if active := s.state.Active; active != nil {
		fmt.Fprintf(&told, "run %d %s:", active.Number, active.Phase)
		for _, task := range active.Tasks {
			fmt.Fprintf(&told, " %s %s %d%%", task.ID, task.State, task.Percentage)
		}
		told.WriteString("\n")
	}
	for queued := range s.state.Queue.All() {
		fmt.Fprintf(&told, "run %d waits, cancelled %v\n", queued.Run, queued.Cancelled)
	}
	for grant, task := range s.state.AwaitingGrant {
		fmt.Fprintf(&told, "waits for a grant: run %d %s of %s, rank %d\n", grant.Run, grant.Task, task.Agent, task.Priority())
	}
	for _, deadline := range s.state.Deadlines() {
		fmt.Fprintf(&told, "waits for run %d %s attempt %d: %s at %s\n", deadline.Run, deadline.Task, deadline.Attempt, deadline.Kind, s.clock(deadline.At))
	}
	return told.String()
}

// foretold writes down the progress of the run under way (M-14, M-15).
func (s *story) foretold(eta schemas.ETA) string {
	p := plan.Progress(s.state.Active, eta, s.now)
	var told strings.Builder
	fmt.Fprintf(&told, "%s, %d %%", s.clock(s.now), p.ProgressPercentage)
	if p.EstimatedCompletion.IsZero() {
		told.WriteString(", nobody knows for how long\n")
	} else {
		fmt.Fprintf(&told, ", done at %s\n", s.clock(p.EstimatedCompletion))
	}
	if !p.WaitingUntil.IsZero() {
		fmt.Fprintf(&told, "  all of it waits, the first until %s\n", s.clock(p.WaitingUntil))
	}
	list := func(name string, tasks []string) {
		if len(tasks) > 0 {
			fmt.Fprintf(&told, "  %s: %s\n", name, strings.Join(tasks, ", "))
		}
	}
	list("completed", p.TasksCompleted)
	for i := range p.TasksInProgress {
		task := &p.TasksInProgress[i]
		fmt.Fprintf(&told, "  in progress: %s by %s since %s", task.TaskID, task.Agent, s.clock(task.StartedAt))
		if !task.EstimatedCompletion.IsZero() {
			fmt.Fprintf(&told, ", done at %s", s.clock(task.EstimatedCompletion))
		}
		told.WriteString("\n")
	}
	list("pending", p.TasksPending)
	for i := range p.TasksBlocked {
		fmt.Fprintf(&told, "  blocked: %s %q, replanning: %v\n", p.TasksBlocked[i].TaskID, p.TasksBlocked[i].Reason, p.TasksBlocked[i].RequiresReplanning)
	}
	list("failed", p.TasksFailed)
	list("skipped", p.TasksSkipped)
	return told.String()
}

// schedule writes down the order of work by the plan alone (M-22).
func (s *story) schedule() string {
	tasks := make([]schemas.PlannedTask, len(s.state.Active.Tasks))
	for i, task := range s.state.Active.Tasks {
		tasks[i] = *task.Plan
	}
	var told strings.Builder
	for _, entry := range plan.ByLevel(tasks) {
		fmt.Fprintf(&told, "level %d: %s", entry.Level, entry.Task)
		if len(entry.ParallelWith) > 0 {
			fmt.Fprintf(&told, " beside %s", strings.Join(entry.ParallelWith, ", "))
		}
		told.WriteString("\n")
	}
	return told.String()
}

func tokensOf(used *schemas.ResourceUsage) int {
	if used.TokensUsed == nil {
		return 0
	}
	return *used.TokensUsed
}
