package session_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/supervisor/session"
)

// tell writes down what came of an input, for a person to read.
func (s *story) tell(d decided, malformed error) string {
	switch {
	case malformed != nil:
		return "quarantine: malformed\n"
	case d.outcome.Refusal != nil:
		return fmt.Sprintf("quarantine: %s (%s)\n", d.outcome.Refusal.Reason, d.outcome.Refusal.Detail)
	case d.record == nil:
		return "nothing changes\n"
	}
	var told strings.Builder
	fmt.Fprintf(&told, "%s, record %d\n", s.clock(d.record.Cause.Time), d.record.Number)
	for i := range d.record.Facts {
		fmt.Fprintf(&told, "  %s\n", s.fact(&d.record.Facts[i]))
	}
	for i := range d.outputs {
		told.WriteString(s.output(&d.outputs[i]))
	}
	return told.String()
}

func (s *story) clock(moment time.Time) string { return "+" + moment.Sub(start()).String() }

func (s *story) fact(f *schemas.Fact) string {
	switch {
	case f.MessageReceived != nil:
		return message(f.MessageReceived)
	case f.RunStarted != nil:
		return fmt.Sprintf("run %d starts: %s in %s by %s, answer by %s", f.RunStarted.Run, body(f.RunStarted.Message.Words),
			f.RunStarted.Message.Language, f.RunStarted.Message.Channel, reply(&f.RunStarted.Message.Reply))
	case f.ComplexityAssessed != nil:
		return fmt.Sprintf("run %d complex: %v", f.ComplexityAssessed.Run, f.ComplexityAssessed.Complexity.Complex)
	case f.PlanCreated != nil:
		return planned(f.PlanCreated)
	case f.RunSettled != nil:
		return settled(f.RunSettled)
	case f.RunEnded != nil:
		return strings.TrimSpace(fmt.Sprintf("run %d ends: %s (%s) %s", f.RunEnded.Run, f.RunEnded.Status, f.RunEnded.Reason, f.RunEnded.Replied))
	}
	return fmt.Sprintf("run %d %s %s", f.Run(), f.Task(), s.task(f))
}

func (s *story) task(f *schemas.Fact) string {
	switch {
	case f.TaskRouted != nil && f.TaskRouted.Decision.NextAgent == "":
		return "no router decides"
	case f.TaskRouted != nil:
		return "goes to " + f.TaskRouted.Decision.NextAgent + " by " + f.TaskRouted.Decision.Router
	case f.TaskDispatched != nil:
		s.remember(f.TaskDispatched)
		return fmt.Sprintf("attempt %d: %s asked, to begin by %s, expires %s", f.TaskDispatched.Attempt,
			f.TaskDispatched.Agent, s.clock(f.TaskDispatched.Queue), s.clock(f.TaskDispatched.Expires))
	case f.TaskStarted != nil:
		return fmt.Sprintf("attempt %d: begun, to answer by %s", f.TaskStarted.Attempt, s.clock(f.TaskStarted.Deadline))
	case f.TaskProgressed != nil:
		return fmt.Sprintf("attempt %d: %d %% %q", f.TaskProgressed.Attempt, f.TaskProgressed.Percentage, f.TaskProgressed.Message)
	case f.TaskCompleted != nil:
		return fmt.Sprintf("attempt %d: completed with %s", f.TaskCompleted.Attempt, body(f.TaskCompleted.Result))
	case f.TaskFailed != nil:
		return s.failed(f.TaskFailed)
	case f.TaskSkipped != nil:
		return "skipped: " + f.TaskSkipped.Reason
	case f.TaskCancelled != nil:
		return fmt.Sprintf("attempt %d: cancelled", f.TaskCancelled.Attempt)
	case f.ResponseLate != nil:
		return fmt.Sprintf("attempt %d: late answer %s, input %d", f.ResponseLate.Attempt, f.ResponseLate.Status, f.ResponseLate.Sequence)
	}
	return f.Name()
}

func (s *story) remember(f *schemas.TaskDispatched) {
	if s.asked == nil {
		s.asked = map[string]string{}
	}
	s.asked[fmt.Sprint(f.Run, "/", f.Task)] = f.Agent
}

func (s *story) failed(f *schemas.TaskFailed) string {
	told := fmt.Sprintf("attempt %d: failed, %s", f.Attempt, f.Cause)
	if f.Detail != "" {
		told += fmt.Sprintf(" %q", f.Detail)
	}
	if f.RetryAt.IsZero() {
		return told + ", for good"
	}
	return told + ", again at " + s.clock(f.RetryAt)
}

func message(f *schemas.MessageReceived) string {
	told := fmt.Sprintf("message %s: %s", f.ID, f.Disposition)
	if f.Run > 0 {
		told += fmt.Sprintf(", run %d", f.Run)
	}
	if f.Reason != "" {
		told += " (" + f.Reason + ")"
	}
	return told
}

func planned(f *schemas.PlanCreated) string {
	var told strings.Builder
	fmt.Fprintf(&told, "run %d plan:", f.Run)
	for i := range f.Tasks {
		fmt.Fprintf(&told, " %s %s", f.Tasks[i].Task, body(f.Tasks[i].Description))
		if len(f.Tasks[i].Dependencies) > 0 {
			told.WriteString(" after " + strings.Join(f.Tasks[i].Dependencies, ", "))
		}
	}
	return told.String()
}

func settled(f *schemas.RunSettled) string {
	var told strings.Builder
	fmt.Fprintf(&told, "run %d settled: %s (%s)", f.Run, f.Status, f.Reason)
	for i := range f.Answer {
		fmt.Fprintf(&told, ", %s of %s", body(f.Answer[i].Body), f.Answer[i].Task)
	}
	if f.Error != nil {
		for _, language := range slices.Sorted(maps.Keys(f.Error.Message)) {
			fmt.Fprintf(&told, "; told in %s: %q", language, f.Error.Message[language])
		}
		fmt.Fprintf(&told, "; logged: %q; %s, %s", f.Error.InternalDetails, f.Error.ErrorType, f.Error.SuggestedAction)
	}
	return told.String()
}

func reply(r *schemas.Reply) string {
	switch r.Agent {
	case "":
		return "nobody"
	case session.MailAgent:
		return "mail to " + r.To[0].Address
	}
	return r.Agent
}

// body writes words in place, or where they stand.
func body(b schemas.Body) string {
	if b.Sequence != 0 {
		return fmt.Sprintf("[bytes %d to %d of input %d]", b.Offset, b.Offset+b.Size, b.Sequence)
	}
	if b.Text == "" && len(b.Data) > 0 {
		return string(b.Data)
	}
	return short(b.Text)
}

func short(text string) string {
	const most = 72
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q… (%d bytes)", strings.ToValidUTF8(text[:most/2], ""), len(text))
}

func (s *story) output(o *session.Output) string {
	if o.Cancel != "" {
		return "→ " + o.Agent + ": stop, nobody waits any more\n"
	}
	request, err := schemas.DecodeExecutionRequest(o.Event.Data)
	if err != nil {
		return err.Error() + "\n"
	}
	task := &request.Payload.Tasks[0]
	var told strings.Builder
	fmt.Fprintf(&told, "→ %s: %s attempt %d %s %s\n", o.Agent, task.TaskID, o.Event.Attempt, short(task.Description), task.Context.Constraints)
	if task.Context.Request != "" {
		fmt.Fprintf(&told, "    request %s\n", short(task.Context.Request))
	}
	for _, id := range slices.Sorted(maps.Keys(task.Context.Inputs)) {
		fmt.Fprintf(&told, "    input %s %s\n", id, short(task.Context.Inputs[id].Text))
	}
	if inputs, dependencies := len(task.Context.Inputs), len(task.Dependencies); inputs != dependencies {
		fmt.Fprintf(&told, "    %d inputs for %d dependencies\n", inputs, dependencies)
	}
	var delivery schemas.DeliveryArguments
	if len(task.Context.Arguments) > 0 && schemas.Unmarshal(task.Context.Arguments, &delivery) == nil {
		fmt.Fprintf(&told, "    text %s\n", short(delivery.Text))
	}
	return told.String()
}

// describe writes down the state as far as a person asks for it.
func (s *story) describe() string {
	var told strings.Builder
	fmt.Fprintf(&told, "%s, %d runs, %d records, applied %d\n", s.clock(s.now), s.state.Runs, s.state.Records, s.state.Applied)
	if active := s.state.Active; active != nil {
		fmt.Fprintf(&told, "run %d %s:", active.Number, active.Phase)
		for i := range active.Tasks {
			task := active.Tasks[i]
			fmt.Fprintf(&told, " %s %s %d%%", task.ID, task.State, task.Percentage)
		}
		told.WriteString("\n")
	}
	for _, queued := range s.state.Queue {
		fmt.Fprintf(&told, "run %d waits, cancelled %v\n", queued.Run, queued.Cancelled)
	}
	for _, deadline := range s.state.Deadlines() {
		fmt.Fprintf(&told, "waits for run %d %s attempt %d: %s at %s\n", deadline.Run, deadline.Task, deadline.Attempt, deadline.Kind, s.clock(deadline.At))
	}
	return told.String()
}
