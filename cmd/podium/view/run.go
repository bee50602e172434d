package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"podium/cmd/podium/chronicle"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/budget"
	"podium/supervisor/say"
)

// Run tells a whole run: what was asked, who did what and why, and the answer. Kept is what its records say beside its state; nil is nothing. About
// are a word and what it stands for, each: who has asked, and the runs it has led to.
func Run(run *workflow.RunHistory, kept *chronicle.Run, answer string, about ...[2]string) string {
	var b strings.Builder
	line := func(format string, arguments ...any) { _, _ = fmt.Fprintf(&b, format+"\n", lines(arguments)...) }
	line("run       %s", run.ID)
	line("channel   %s, profile %s, language %s", run.Message.Channel, run.Profile, run.Message.Language)
	line("state     %s", outcome(run))
	line("started   %s", run.Started.Local().Format(time.DateTime))
	if !run.Settled.IsZero() && run.Delivery != nil {
		line("settled   %s, after %s", at(run.Settled), run.Settled.Sub(run.Started).Round(time.Millisecond))
	}
	if !run.Ended.IsZero() {
		line("ended     %s", at(run.Ended))
		line("took      %s", run.Ended.Sub(run.Started).Round(time.Millisecond))
	}
	spent(line, run.Account)
	line("asked     %s", cmp.Or(short(run.Message.Text.Text), Asked(run)))
	for _, told := range about {
		line("%-9s %s", told[0], told[1])
	}
	if run.Complexity != nil {
		line("plan      %s", say.Reasons(say.English(), run.Complexity.Reasons))
	}
	if run.Template != "" {
		line("template  %s", run.Template)
	}
	for _, fault := range run.PlanFaults {
		line("refused   the plan: %s", Line(say.Reason(say.English(), fault), detailLength))
	}
	if why := why(run); why != "" {
		line("why       %s", why)
	}
	for i := range run.Mismatches {
		line("flagged   the answer of %s is about another %s", run.Mismatches[i].Task, run.Mismatches[i].Entity)
	}
	line("")
	for i := range run.DecisionTasks {
		task(line, run, kept, run.DecisionTasks[i])
	}
	for i := range run.Tasks {
		task(line, run, kept, run.Tasks[i])
	}
	if run.Delivery != nil {
		task(line, run, kept, run.Delivery)
	}
	rounds(line, run, kept)
	for _, asked := range run.Inquiries {
		inquiry(line, run, kept, asked)
	}
	if run.Resends > 0 {
		line("resent    on request: %d", run.Resends)
	}
	if run.Phase == workflow.PhaseAssembling && run.GiveUpObjection() == "" && !run.AnswerHeld() {
		line("next      podium runs give-up %s, if the answer is not to be sent any more", run.ID)
	}
	if run.ResendRequested {
		line("resend    requested; it begins when no other run of the session is under way")
	} else if run.AnswerFailed() || run.Withheld != nil || run.Reason == schemas.StopGivenUp {
		resend(line, run)
	}
	if run.Withheld != nil {
		line("withheld  %s", withheld(run.Withheld))
	}
	if run.Replied != "" {
		line("answered as %s", run.Replied)
	}
	for i := range run.Bounces {
		line("reported  %s", bounce(&run.Bounces[i]))
	}
	if answer != "" {
		b.WriteString("\n" + answer + "\n")
	}
	return Plain(b.String())
}

// spent tells what a run has used and has reserved, where its profile has a budget: all of it, and each agent's part where there are several.
func spent(line func(string, ...any), account *workflow.Account) {
	if account == nil {
		return
	}
	told := Amount(account.Used(""))
	if reserved := account.Taken("").Less(account.Used("")); reserved != (schemas.Usage{}) {
		told += "; reserved: " + Amount(reserved)
	}
	line("used      %s", told+raised(account, ""))
	if len(account.Agents) < 2 {
		return
	}
	for i := range account.Agents {
		if of := &account.Agents[i]; of.Usage != (schemas.Usage{}) {
			line("          %s", Line(of.Agent, shortLength)+": "+Amount(of.Usage)+raised(account, of.Agent))
		}
	}
}

func raised(account *workflow.Account, agent string) string {
	if by := account.Raised(agent); by != (schemas.Usage{}) {
		return "; its budget was raised by " + Amount(by)
	}
	return ""
}

// Amount is what work costs, in words.
func Amount(amount schemas.Usage) string {
	var parts []string
	if amount.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", amount.Tokens))
	}
	if amount.Milliseconds > 0 {
		parts = append(parts, (time.Duration(amount.Milliseconds) * time.Millisecond).String())
	}
	if amount.CostMicros > 0 {
		parts = append(parts, "a cost of "+budget.Money(amount.CostMicros, "."))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

// resend tells how an answer that nobody has got is sent again.
func resend(line func(string, ...any), run *workflow.RunHistory) {
	switch run.Resendable(false) {
	case "":
		line("next      podium runs resend %s", run.ID)
	case schemas.ResendUncertain:
		line("next      it may have been sent all the same; if it has not: podium runs resend %s --allow-duplicate", run.ID)
	}
}

// bounce tells what a mail system has reported of an answer.
func bounce(f *schemas.DeliveryBounced) string {
	told := "delivery "
	if f.Inquiry > 0 {
		told = fmt.Sprintf("delivery of question %d ", f.Inquiry)
	}
	told += short(cmp.Or(f.Action, "returned"))
	if f.Status != "" {
		told += " (" + short(f.Status) + ")"
	}
	if f.Failed {
		told += ", it has not arrived"
	}
	return told
}

// Asked is what a run was asked, in at most forty characters. It is never empty.
func Asked(run *workflow.RunHistory) string {
	asked := Line(cmp.Or(strings.TrimSpace(run.Message.Subject), strings.TrimSpace(run.Message.Text.Text)), 40)
	switch {
	case asked != "":
		return asked
	case run.Message.Text.Size > 0:
		return fmt.Sprintf("(%d bytes of words)", run.Message.Text.Size)
	case run.Message.Upstream != nil && run.Message.Upstream.Planned && len(run.Tasks) == 0: // it was refused
		return Line("(a plan by "+run.Message.Upstream.From+")", 40)
	case run.Message.Upstream != nil && run.Message.Upstream.Planned:
		return Line(fmt.Sprintf("(a plan of %d tasks by %s)", len(run.Tasks), run.Message.Upstream.From), 40)
	case run.Message.Upstream != nil:
		return Line("(a task by "+run.Message.Upstream.From+")", 40)
	}
	return "(no words)"
}

// why is what a run that did not complete has failed of; empty when nothing is known.
func why(run *workflow.RunHistory) string {
	if run.Error == nil || run.Phase != workflow.PhaseAssembling && run.Phase != workflow.PhaseComplete {
		return ""
	}
	return Line(say.Reasons(say.English(), run.Error.Reasons), detailLength)
}

// Why is the same for programs: what was wrong with the plan, and what has failed.
func Why(run *workflow.RunHistory) []string {
	var told []string
	for _, fault := range run.PlanFaults {
		told = append(told, say.Reason(say.English(), fault))
	}
	if failed := why(run); failed != "" {
		told = append(told, failed)
	}
	return told
}

func task(line func(string, ...any), run *workflow.RunHistory, kept *chronicle.Run, task *workflow.Task) {
	mark, about := markOf(task, kept)
	line("%s %-8s %-10s %-10s %s", mark, task.ID, task.Agent, task.State, cmp.Or(short(task.Description()), about))
	if decision := run.Decision(task.ID); decision != nil && task.Plan != nil {
		line("           why: %s", say.Reasons(say.English(), decision.Reasons))
	}
	mended := mendings(line, kept, task)
	if task.Failure().Cause != "" && !mended {
		line("           %s", Failure(task))
		for _, needed := range remedies(task) {
			line("           needs: %s", needed)
		}
	}
	if task.Failure().Quarantine != "" {
		line("           what it answered: podium quarantine show %s", task.Failure().Quarantine)
	}
	attempts(line, kept.AttemptsOf(task.ID))
	if len(task.Dependencies()) > 0 && !task.State.Ended() {
		line("           after: %s", Line(strings.Join(task.Dependencies(), ", "), shortLength))
	}
	switch {
	case task.Unserved != nil:
		line("           waits: %s", unserved(task.Agent, task.Unserved.Since))
	case task.WaitingUntil() != nil:
		line("           %s", elsewhere(task))
	case task.State == workflow.TaskReady && !extracts(run, task):
		line("           %s", room(task))
	case task == run.Delivery && run.AnswerDelayed():
		line("           waits until %s: its conversation has had as many answers in an hour as it may (conversation.replies_per_hour)", at(task.RetryAt()))
	case !task.RetryAt().IsZero():
		line("           next attempt at %s", at(task.RetryAt()))
	}
	if task.Delayed {
		line("           it takes more than twice its estimate")
	}
	for i := range task.Deliverables {
		line("           made: %s %s", task.Deliverables[i].Type, short(task.Deliverables[i].Path))
	}
	for _, name := range task.Unproven {
		line("           left out: %s (%s has not shown that it is its own or was given to it)", short(name), task.Agent)
	}
}

// attempts tells each attempt of a task: when its agent was asked, how long the request waited and was worked on, and what came of it.
func attempts(line func(string, ...any), of []chronicle.Attempt) {
	for i := range of {
		attempt := &of[i]
		told := fmt.Sprintf("%s attempt %d", at(attempt.Asked), attempt.Attempt)
		if attempt.Agent == "" { // no agent was asked
			told = at(attempt.Asked) + " not asked"
		}
		end := attempt.Ended
		switch {
		case !attempt.Begun.IsZero():
			told += ", waited " + lasted(attempt.Asked, attempt.Begun)
			if !end.IsZero() {
				told += ", worked " + lasted(attempt.Begun, end)
			}
		case !end.IsZero() && attempt.Agent != "":
			told += ", took " + lasted(attempt.Asked, end)
		}
		told += ": " + Spoken(attempt.Outcome)
		if attempt.Cause != "" {
			told += ", " + Spoken(attempt.Cause)
		}
		if detail := Line(attempt.Detail, detailLength); detail != "" {
			told += ": " + detail
		}
		line("           %s", told)
	}
}

func lasted(from, to time.Time) string { return to.Sub(from).Round(time.Millisecond).String() }

// at is a moment, in local time.
func at(moment time.Time) string { return moment.Local().Format(time.DateTime) }

// detailLength is how much is told of what an agent or a server says of a failure, in
// characters.
const detailLength = 700

// said is why a task has failed, as its agent and Podium say.
func said(failed *schemas.TaskFailed) string {
	if failed == nil {
		return ""
	}
	return say.Failure(say.English(), failed)
}

// Failure tells the last attempt that failed and its cause; one that no agent was asked for has no number.
func Failure(task *workflow.Task) string {
	failed := task.Failure()
	told := string(failed.Cause)
	if failed.Attempt > 0 {
		told = fmt.Sprintf("attempt %d: %s", failed.Attempt, told)
	}
	if detail := Line(said(&failed), detailLength); detail != "" {
		told += " " + detail
	}
	if failed.Action != "" && (!escalates(failed.Action) || failed.Recovering != "" || task.Judged) {
		told += " (" + Spoken(failed.Action) + ")"
	}
	return told
}

// escalates reports whether others are asked then, where a profile names them.
func escalates(action schemas.Recovery) bool {
	return action == schemas.RecoveryEscalateToPlanner || action == schemas.RecoveryEscalateToCoordinator || action == schemas.RecoveryEscalateToHuman
}

// remedies are what the agent says that is needed after a failure, such as what to look at; not what every failure says.
func remedies(task *workflow.Task) (told []string) {
	failed := task.Failure()
	if failed.Findings == nil {
		return nil
	}
	for i := range failed.Findings.Issues {
		needed := Line(failed.Findings.Issues[i].ResolutionDetails, detailLength)
		usual := needed == "" || needed == schemas.DetailsDeferred || needed == schemas.DetailsEscalated
		if !usual && !slices.Contains(told, needed) {
			told = append(told, needed)
		}
	}
	return told
}

func outcome(run *workflow.RunHistory) string {
	if run.Status == "" {
		return State(run)
	}
	if run.Phase == workflow.PhaseComplete {
		return because(run.Status, run.Reason)
	}
	return string(run.Phase) + ", " + because(run.Status, run.Reason)
}

// because names a status, and its reason where that says more.
func because[S, R ~string](status S, reason R) string {
	if string(reason) == string(status) || reason == "" {
		return string(status)
	}
	return fmt.Sprintf("%s (%s)", status, reason)
}
