package session_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"podium/schemas"
	"podium/supervisor/review"
	"podium/supervisor/session"
)

// tell writes down what came of an input, for a person to read.
func (s *story) tell(d decided, malformed error) string {
	switch {
	case malformed != nil:
		return "quarantine: malformed (" + malformed.Error() + ")\n"
	case d.record == nil:
		return s.alone(d.outcome.Outputs)
	}
	var told strings.Builder
	fmt.Fprintf(&told, "%s, record %d\n", s.clock(d.record.First().Cause.Time), d.record.Number)
	for i := range d.record.First().Cause.Limits {
		limit := &d.record.First().Cause.Limits[i]
		if limit.Day != nil {
			fmt.Fprintf(&told, "  the day has no room for %s\n", limit.Agent)
			continue
		}
		fmt.Fprintf(&told, "  %s has room for %d, breaker open: %v\n", limit.Agent, limit.Room, limit.Open)
	}
	for i := range d.record.First().Facts {
		fmt.Fprintf(&told, "  %s\n", s.fact(d.record.First().Facts[i]))
	}
	told.WriteString(s.resumed())
	for i := range d.outputs {
		told.WriteString(s.output(&d.outputs[i]))
	}
	return told.String()
}

// alone tells what comes of an input that changes nothing.
func (s *story) alone(outputs []session.Output) string {
	for i := range outputs {
		switch output := &outputs[i]; output.Kind {
		case session.OutputQuarantine:
			return fmt.Sprintf("quarantine: %s (%s)\n", output.Refusal.Reason, output.Refusal.Detail)
		case session.OutputRepeatedResponse:
			if s.goesOn(output.Run) {
				return fmt.Sprintf("nothing changes, run %d goes on; it is refused if it asks for something else\n", output.Run)
			}
			return fmt.Sprintf("nothing changes, the answer of run %d is owed once more\n", output.Run)
		case session.OutputPermitAnswer:
			return "nothing changes, the answer is " + s.permitted(output.Permit) + "\n"
		case session.OutputCancelHint, session.OutputRequest, session.OutputResponse, session.OutputReusable:
		}
	}
	return "nothing changes\n"
}

// goesOn reports whether a run is under way, or waits to be.
func (s *story) goesOn(run int) bool {
	under := s.state.Active != nil && s.state.Active.Number == run
	for queued := range s.state.Queue.All() {
		under = under || queued.Run == run
	}
	return under
}

func (s *story) clock(moment time.Time) string { return "+" + moment.Sub(start()).String() }

// called returns what a story calls an id.
func (s *story) called(id string) string {
	if name, known := s.names[id]; known {
		return name
	}
	return id
}

func (s *story) fact(f schemas.Fact) string {
	switch f := f.(type) {
	case *schemas.MessageReceived:
		return s.message(f)
	case *schemas.RunStarted:
		return s.started(f)
	case *schemas.ComplexityAssessed:
		return fmt.Sprintf("run %d complex: %v", f.Run, f.Complexity.Complex)
	case *schemas.PlanCreated:
		return planned(f)
	case *schemas.PlanRefused:
		return fmt.Sprintf("run %d plan by %s refused:\n    - %s", f.Run, f.Source,
			strings.Join(codesOf(f.Faults), "\n    - "))
	case *schemas.Judged, *schemas.PlanChanged, *schemas.ReviewBegan:
		return judged(f)
	case *schemas.RunSettled:
		return settled(f)
	case *schemas.RunEnded:
		told := fmt.Sprintf("run %d ends: %s (%s) %s", f.Run, f.Status, f.Reason, f.Replied)
		if f.Final {
			told += "for good"
		}
		return strings.TrimSpace(told)
	case *schemas.ReplyWithheld:
		return fmt.Sprintf("run %d answer withheld (%s)", f.Run, f.Reason)
	case *schemas.AnswerDelayed:
		return fmt.Sprintf("run %d answer by %s delayed until %s", f.Run, f.Agent, s.clock(f.Until))
	case *schemas.DeliveryBounced:
		told := fmt.Sprintf("run %d answer reported by %s: %s %s, failed for good: %v", f.Run,
			s.called(f.Message), f.Action, f.Status, f.Failed)
		if f.Recipient != "" {
			told += ", of " + f.Recipient
		}
		return told
	case *schemas.ResendRequested:
		return fmt.Sprintf("run %d answer is to be sent again, maybe twice: %v", f.Run, f.AllowDuplicate)
	case *schemas.DeliveryReopened:
		return reopened(f)
	case *schemas.ArgumentsFilled, *schemas.InquiryOpened, *schemas.InquiryAnswered, *schemas.InquiryClosed:
		return s.inquiry(f)
	default:
		return fmt.Sprintf("run %d %s %s", schemas.RunOf(f), schemas.TaskOf(f), s.task(f))
	}
}

func reopened(again *schemas.DeliveryReopened) string {
	told := []string{fmt.Sprintf("run %d goes on to deliver: %s (%s) by %s after attempt %d", again.Run, again.Status, again.Reason, again.Agent, again.Attempt)}
	for i := range again.Made {
		told = append(told, "files of "+again.Made[i].Task)
	}
	return strings.Join(told, ", ")
}

func (s *story) task(f schemas.Fact) string {
	switch f := f.(type) {
	case *schemas.TaskRouted:
		return routed(&f.Decision)
	case *schemas.TaskReady:
		return s.ready(f)
	case *schemas.TaskDispatched:
		s.remember(f)
		agreed := ""
		if f.Approval > 0 {
			agreed = fmt.Sprintf(", agreed to by inquiry %d", f.Approval)
		}
		return fmt.Sprintf("attempt %d: %s asked, to begin by %s, expires %s", f.Attempt,
			f.Agent, s.clock(f.Queue), s.clock(f.Expires)) + agreed + amount(", reserves ", f.Reserved)
	case *schemas.TaskUnserved:
		if f.Since.IsZero() {
			return "nobody has ever served " + f.Agent
		}
		return fmt.Sprintf("nobody serves %s since %s", f.Agent, s.clock(f.Since))
	case *schemas.TaskStarted:
		return s.begun(f)
	case *schemas.TaskProgressed:
		return fmt.Sprintf("attempt %d: %d %% %q", f.Attempt, f.Percentage, f.Message)
	case *schemas.TaskHeartbeat:
		return fmt.Sprintf("attempt %d: alive", f.Attempt) + s.silent(f.Silence, f.WaitingUntil)
	case *schemas.TaskDelayed:
		return fmt.Sprintf("attempt %d: takes more than twice its %d s", f.Attempt, f.Seconds)
	case *schemas.TaskCompleted:
		return completed(f)
	case *schemas.TaskFailed:
		return s.failed(f)
	case *schemas.TaskSkipped:
		return strings.TrimSpace("skipped: " + f.Reason + " " + f.Dependency)
	case *schemas.TaskCancelled:
		return fmt.Sprintf("attempt %d: cancelled", f.Attempt)
	case *schemas.ResponseLate:
		told := fmt.Sprintf("attempt %d: late answer %s, input %d", f.Attempt, f.Status, f.Sequence)
		if f.Undone {
			told += ", nothing has gone out"
		}
		return told + used(f.Usage)
	case *schemas.EntityMismatched:
		return fmt.Sprintf("speaks of another %s: %q", f.Entity, f.Found)
	case *schemas.PermitGranted, *schemas.PermitRefused:
		return s.permit(f)
	default:
		return f.Name()
	}
}

func (s *story) remember(f *schemas.TaskDispatched) {
	if s.asked == nil {
		s.asked = map[string]string{}
	}
	s.asked[fmt.Sprint(f.Run, "/", f.Task)] = f.Agent
}

func (s *story) message(f *schemas.MessageReceived) string {
	told := fmt.Sprintf("message %s: %s", s.called(f.ID), f.Disposition)
	if f.Run > 0 {
		told += fmt.Sprintf(", run %d", f.Run)
	}
	if f.Inquiry > 0 {
		told += fmt.Sprintf(", inquiry %d", f.Inquiry)
	}
	if f.Reason != "" {
		told += " (" + f.Reason + ")"
	}
	if f.Final {
		told += ", for good"
	}
	return told
}

func (s *story) started(f *schemas.RunStarted) string {
	words := []string{body(f.Message.Text)}
	for _, more := range f.Message.MergedTexts {
		words = append(words, body(more))
	}
	told := fmt.Sprintf("run %d starts: %s in %s by %s, answer by %s", f.Run, strings.Join(words, " and "),
		f.Message.Language, f.Message.Channel, reply(&f.Message))
	if f.Retries > 0 {
		told += fmt.Sprintf(", in the place of run %d", f.Retries)
	}
	if !f.Expires.IsZero() {
		told += ", until " + s.clock(f.Expires)
	}
	if f.Message.Withheld != "" {
		told += ", but for nobody (" + string(f.Message.Withheld) + ")"
	}
	return told + about(f.Entities)
}

// about lists what a session is about.
func about(entities map[string]string) string {
	var told strings.Builder
	for _, name := range slices.Sorted(maps.Keys(entities)) {
		fmt.Fprintf(&told, ", %s %q", name, entities[name])
	}
	return told.String()
}

func (s *story) ready(f *schemas.TaskReady) string {
	told := "ready, waits for " + f.Agent
	if f.Held {
		told = "held by the budget, waits to go to " + f.Agent
	}
	if day := f.Day; day != nil {
		told += amount(", needs ", &day.Need) + " of the day"
		if day.Raised != (schemas.Usage{}) {
			told += amount(" with ", &day.Raised) + " more"
		}
		if day.Short != nil {
			told += amount(", where ", &day.Short.Taken) + amount(" are taken of ", &day.Short.Limit) + " on " + day.Short.Day
		}
		if day.Alone {
			told += ", alone"
		}
		if day.Parked {
			told += ", parked"
		}
	}
	if !f.Until.IsZero() {
		told += " until " + s.clock(f.Until)
	}
	return told
}

func (s *story) begun(f *schemas.TaskStarted) string {
	told := fmt.Sprintf("attempt %d: begun, to answer by %s", f.Attempt, s.clock(f.Deadline))
	if !f.Slow.IsZero() {
		told += ", slow from " + s.clock(f.Slow) + " on"
	}
	return told + s.silent(f.Silence, f.WaitingUntil)
}

// silent tells of what an agent that works may be silent.
func (s *story) silent(silence, waiting time.Time) (told string) {
	if !silence.IsZero() {
		told += ", counts as crashed from " + s.clock(silence) + " on"
	}
	if !waiting.IsZero() {
		told += ", waits without a place until " + s.clock(waiting)
	}
	return told
}

// routed names the winner and, where agents have been asked, all whom they spoke of.
func routed(d *schemas.RouteDecision) string {
	told := "no router decides"
	if d.NextAgent != "" {
		told = "goes to " + d.NextAgent + " by " + d.Router
	}
	if d.Degraded {
		told += ", degraded"
	}
	if d.Ambiguous {
		told += ", ambiguous"
	}
	for i := range d.Candidates {
		candidate := &d.Candidates[i]
		switch schemas.RouterKind(candidate.Router) {
		case schemas.RouterScore:
			told += "\n    " + candidate.Agent + " " + strconv.FormatFloat(candidate.Score, 'g', -1, 64)
			if len(candidate.Lost) > 0 {
				told += ": " + strings.Join(codesOf(candidate.Lost), "; ")
			}
		case schemas.RouterAgent:
			told += fmt.Sprintf("\n    said: %q", candidate.Said)
		case schemas.RouterAssigned, schemas.RouterKeywords, schemas.RouterDefault:
		}
	}
	if d.Degraded || d.NextAgent == "" && len(d.Candidates) > 0 {
		told += "\n    " + strings.Join(codesOf(d.Reasons), "; ")
	}
	return told
}

func completed(f *schemas.TaskCompleted) string {
	told := []string{fmt.Sprintf("attempt %d: completed with %s", f.Attempt, body(f.Result))}
	if f.Reused > 0 {
		told = append(told, fmt.Sprintf("the answer of input %d again", f.Reused))
	}
	if f.Brought > 0 {
		told = append(told, fmt.Sprintf("brought from run %d", f.Brought))
	}
	if f.Recovered != "" {
		told = append(told, "after "+string(f.Recovered))
	}
	if f.Tokens > 0 {
		told = append(told, fmt.Sprintf("%d tokens", f.Tokens))
	}
	for i := range f.Deliverables {
		told = append(told, strings.TrimSpace("made "+f.Deliverables[i].DeliverableID+" "+string(f.Deliverables[i].Metadata)))
	}
	for _, hash := range f.Proven {
		told = append(told, fmt.Sprintf("may pass on %.8s…", hash))
	}
	for _, name := range f.Unproven {
		told = append(told, fmt.Sprintf("may not pass on %q", name))
	}
	if f.Partial {
		told = append(told, "not all of it")
	}
	return strings.Join(append(told, found(f.Findings)...), ", ") + used(f.Usage)
}

// used writes down what a request has used.
func used(spent *schemas.Spent) string {
	if spent == nil {
		return ""
	}
	if spent.Day != "" {
		return amount(", used ", &spent.Usage) + " of " + spent.Day
	}
	return amount(", used ", &spent.Usage)
}

// amount writes down what is used or reserved; nil is nothing.
func amount(what string, of *schemas.Usage) string {
	if of == nil {
		return ""
	}
	told := fmt.Sprintf("%d tokens", of.Tokens)
	if of.Milliseconds > 0 {
		told += fmt.Sprintf(" %d ms", of.Milliseconds)
	}
	if of.CostMicros > 0 {
		told += fmt.Sprintf(" %d µ", of.CostMicros)
	}
	return what + told
}

// found writes down what an agent has said beside its result.
func found(said *schemas.Findings) []string {
	if said == nil {
		return nil
	}
	var told []string
	for i := range said.Issues {
		told = append(told, fmt.Sprintf("noticed %q", said.Issues[i].Description))
	}
	for i := range said.ValidationResults {
		told = append(told, fmt.Sprintf("check %s %s", said.ValidationResults[i].Validator, said.ValidationResults[i].Status))
	}
	for _, advice := range said.Recommendations {
		told = append(told, fmt.Sprintf("recommends %q", advice))
	}
	return told
}

// judged writes down what a judge has made of a run.
func judged(f schemas.Fact) string {
	switch f := f.(type) {
	case *schemas.Judged:
		var told strings.Builder
		fmt.Fprintf(&told, "run %d judged by %s in round %d: %s", f.Run, cmp.Or(f.Question, string(f.Occasion)), f.Round, f.Outcome)
		for _, step := range f.Repeated {
			fmt.Fprintf(&told, "\n    %q is done", step)
		}
		for i := range f.Issues {
			fmt.Fprintf(&told, "\n    %s", issue(&f.Issues[i]))
			fmt.Fprintf(&told, " (%s, of %s)", cmp.Or(f.Issues[i].Check, "by rule"), cmp.Or(f.Issues[i].Task, "nobody"))
		}
		for _, merged := range f.Merged {
			fmt.Fprintf(&told, "\n    %s is %s of %v", merged.Path, merged.Deliverable.Metadata, merged.Of)
		}
		return told.String()
	case *schemas.ReviewBegan:
		told := fmt.Sprintf("run %d is reviewed, round %d", f.Run, f.Round)
		if f.Forced {
			told += ", by force"
		}
		return told
	case *schemas.PlanChanged:
		var told strings.Builder
		fmt.Fprintf(&told, "run %d plan changed, %d:", f.Run, f.Change)
		if len(f.Replaces) > 0 {
			told.WriteString(" instead of " + strings.Join(f.Replaces, ", "))
		}
		for _, id := range f.Kept {
			told.WriteString("\n    " + id + " stays")
		}
		for i := range f.Tasks {
			told.WriteString("\n    " + f.Tasks[i].Task + " " + body(f.Tasks[i].Description))
			if depends := f.Tasks[i].Dependencies; len(depends) > 0 {
				told.WriteString(" after " + strings.Join(depends, ", "))
			}
		}
		return told.String()
	default:
		return f.Name()
	}
}

func (s *story) failed(f *schemas.TaskFailed) string {
	told := fmt.Sprintf("attempt %d: failed, %s", f.Attempt, f.Cause)
	if f.Detail != "" {
		told += fmt.Sprintf(" %q", f.Detail)
	}
	if len(f.Reasons) > 0 {
		told += " (" + strings.Join(codesOf(f.Reasons), "; ") + ")"
	}
	told += fmt.Sprintf(" (%s: %s)", f.Category, f.Action) + used(f.Usage)
	if f.AttemptsUsed > 0 {
		told += fmt.Sprintf(", all %d attempts used", f.AttemptsUsed)
	}
	switch {
	case !f.RetryAt.IsZero():
		return told + ", again at " + s.clock(f.RetryAt)
	case f.Agent != "":
		return told + ", now " + f.Agent
	case f.Recovering != "":
		return told + ", blocked"
	case f.Unrecovered != "":
		return told + ", for good, by " + string(f.Unrecovered)
	case f.Action == schemas.RecoverySkip:
		return told + ", without it"
	}
	return told + ", for good"
}

func planned(f *schemas.PlanCreated) string {
	var told strings.Builder
	fmt.Fprintf(&told, "run %d plan", f.Run)
	if f.Source != "" {
		told.WriteString(" by " + string(f.Source))
	}
	if f.Template != "" {
		told.WriteString(" " + f.Template)
	}
	told.WriteString(":")
	for i := range f.Tasks {
		task := &f.Tasks[i]
		if f.Source != "" {
			told.WriteString("\n   ")
		}
		fmt.Fprintf(&told, " %s %s", task.Task, body(task.Description))
		if len(task.Dependencies) > 0 {
			told.WriteString(" after " + strings.Join(task.Dependencies, ", "))
		}
		told.WriteString(details(task))
	}
	return told.String()
}

// details is what a plan says of a task besides its words and dependencies.
func details(task *schemas.PlannedTask) string {
	var told []string
	add := func(is bool, what string) {
		if is {
			told = append(told, what)
		}
	}
	add(task.Agent != "", "by "+task.Agent)
	add(task.Priority != "", string(task.Priority))
	add(task.Optional, "optional")
	add(task.Seconds > 0, fmt.Sprintf("%d s", task.Seconds))
	add(task.Tokens > 0, fmt.Sprintf("%d tokens", task.Tokens))
	more := task.Options()
	add(len(more.Resources) > 0, "takes "+strings.Join(more.Resources, ", "))
	add(len(more.Arguments) > 0, string(more.Arguments))
	if len(told) == 0 {
		return ""
	}
	return " (" + strings.Join(told, ", ") + ")"
}

func settled(f *schemas.RunSettled) string {
	var told strings.Builder
	fmt.Fprintf(&told, "run %d settled: %s (%s)", f.Run, f.Status, f.Reason)
	for i := range f.Answer {
		fmt.Fprintf(&told, ", %s of %s", body(f.Answer[i].Body), f.Answer[i].Task)
		if f.Answer[i].Told != "" {
			fmt.Fprintf(&told, " told as %q", f.Answer[i].Told)
		}
	}
	if f.Summary != "" {
		fmt.Fprintf(&told, "; summed up %q", f.Summary)
	}
	if f.Notes != "" {
		fmt.Fprintf(&told, "; below it %q", f.Notes)
	}
	if f.Error != nil {
		for _, language := range slices.Sorted(maps.Keys(f.Error.Message)) {
			fmt.Fprintf(&told, "; told in %s: %q", language, f.Error.Message[language])
		}
		fmt.Fprintf(&told, "; because of %s; %s, %s", strings.Join(codesOf(f.Error.Reasons), "; "), f.Error.ErrorType, f.Error.SuggestedAction)
	}
	return told.String()
}

func reply(message *schemas.Incoming) string {
	r := message.Reply
	switch {
	case message.Upstream != nil:
		return "response to " + message.Upstream.From
	case message.ReplyAgent() == "":
		return "nobody"
	case r.Agent == session.MailAgent:
		return "mail to " + r.To[0].Address
	}
	return r.Agent
}

// body writes words in place, or where they stand.
func body(b schemas.Content) string {
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

// code is a reason as it stands on record.
func code(reason schemas.Reason) string {
	told := []string{string(reason.Code)}
	for _, name := range slices.Sorted(maps.Keys(reason.Values)) {
		told = append(told, fmt.Sprintf("%s=%q", name, reason.Values[name]))
	}
	return strings.Join(told, " ")
}

func codesOf(reasons []schemas.Reason) []string {
	told := make([]string, len(reasons))
	for i := range reasons {
		told[i] = code(reasons[i])
	}
	return told
}

// issue is what a review has found.
func issue(of *schemas.ReviewIssue) string {
	told := review.Where(of) + of.Severity + ": "
	if len(of.Reasons) > 0 {
		told += strings.Join(codesOf(of.Reasons), "; ") + " "
	}
	return strings.TrimSpace(told + of.Message)
}
