package plan

import (
	"cmp"
	"slices"
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/budget"
	"podium/supervisor/recovery"
	"podium/supervisor/say"
)

// need is what a request for a task reserves; nil is nothing: the profile has no budget, or the task tells people something.
func need(v *View, task *workflow.Task) *schemas.Usage {
	policy := v.Profile.Budget
	if policy == nil || task.NotifiesPeople() {
		return nil
	}
	need := budget.Need(policy, task.Agent, task.Plan)
	if fault.Is("questions reserve nothing") && task.Plan == nil {
		return nil
	}
	return &need
}

// exceedsBudget reports whether a request for a task does not fit what is left of the budget.
func exceedsBudget(v *View, task *workflow.Task) bool {
	need := need(v, task)
	return need != nil && budget.Lacking(v.Profile.Budget, v.Run.Account, task.Agent, *need) != nil
}

// hold has a task wait until what is under way has left enough of the budget.
func hold(v *View, task *workflow.Task) events {
	known := v.Run.Task(task.ID)
	if known != nil && known.State == workflow.TaskReady && known.Held && !known.HeldForDay() && known.Agent == task.Agent {
		return nil
	}
	held := taskReady(v, task)
	held.Held = true
	if wait := waitFor(v, task); wait > 0 && task.Kind != schemas.TaskKindPlan {
		if held.Until = v.Now.Add(wait); known != nil && known.State == workflow.TaskReady && !known.Due.IsZero() {
			held.Until = known.Due // it was ready before
		}
	}
	return events{held}
}

// dayClaim is what a request for a task needs of the budget of a day; nil is nothing.
func dayClaim(v *View, task *workflow.Task) *schemas.DayClaim {
	need, agent := need(v, task), task.Agent
	if need == nil || !budget.LimitsDay(v.Profile.Budget, agent, *need) {
		return nil
	}
	day := schemas.Day(v.Now)
	return &schemas.DayClaim{
		Need: *need, Run: v.Profile.Budget.Day, Agent: v.Profile.Budget.DayAgents[agent],
		Raised: v.Run.Account.RaisedOn(day, ""), AgentRaised: v.Run.Account.RaisedOn(day, agent), Day: day,
	}
}

// admit asks whether a request may go to an agent now. What needs some of the budget of a day waits for a grant, which brings that.
func admit(v *View, task *workflow.Task) AdmissionResult {
	if dayClaim(v, task) != nil {
		return Full
	}
	return v.room(task.Agent)
}

// dayShortage is what the budget of the day lacks for the task that is granted; nil is nothing.
func dayShortage(v *View, task *workflow.Task) *schemas.Shortage {
	if dayClaim(v, task) == nil || fault.Is("a grant skips the budget of the day") {
		return nil
	}
	return v.Admission.LacksDay(task.Agent)
}

// holdForDay has the task that is granted wait for the budget of the day: its owner sees when there is some left.
func holdForDay(v *View, task *workflow.Task, lacking *schemas.Shortage) events {
	claim, short := dayClaim(v, task), *lacking
	short.Offer = offer(v, &short)
	claim.Short, claim.Alone = &short, !hasWorkBeside(v, task)
	claim.Parked = claim.Alone && v.Profile.Budget.Exhausted == schemas.BudgetWaits && budget.FitsAnotherDay(&short)
	held := taskReady(v, task)
	if held.Held, held.Day = true, claim; task.Kind != schemas.TaskKindPlan {
		held.Until = task.Due
	}
	return events{held}
}

// askForDay has the budget of the day looked at anew for a task that waits for it.
func askForDay(v *View, task *workflow.Task) events {
	ready := taskReady(v, task)
	ready.Until, ready.Day = task.Due, dayClaim(v, task)
	if wait := v.Profile.questionTimeout(task.Kind, task.Agent); wait > 0 && task.Due.IsZero() {
		ready.Until = v.Now.Add(wait)
	}
	return events{ready}
}

// spend notes what the attempt of a task that is answered now has used.
func spend(d *Decision, task *workflow.Task, answer *Response) {
	if d.Profile.Budget == nil {
		return
	}
	said := answer.Said
	if !task.NotifiesPeople() {
		since := task.Started
		if since.IsZero() {
			since = task.Dispatched
		}
		said.Measured = d.Now.Sub(since).Milliseconds()
		if said.Measured > 0 {
			said.Milliseconds = min(said.Milliseconds, said.Measured) // it has not worked longer than it was waited for
		}
	}
	d.spent, d.spentBy = d.Profile.Spent(d.Run, task, answer.Request, said), task.ID
}

// Spent is what a request for a task has used, by its answer; nil is nothing: an answer to it has been counted before, or the profile has no budget.
func (p *Profile) Spent(run *workflow.Run, task *workflow.Task, request string, said budget.Said) *schemas.Spent {
	reserved, open := run.Account.Reserved(request)
	if p.Budget == nil || !open && !task.NotifiesPeople() && !fault.Is("what comes late counts twice") {
		return nil
	}
	if !open {
		reserved.Agent = task.Agent // it only counts
	}
	return &schemas.Spent{Request: request, Day: reserved.Day, Usage: budget.Used(p.Budget, reserved.Agent, reserved.Usage, said)}
}

// takeSpent returns what the attempt of a task has used, once: the fact that ends it says so.
func takeSpent(d *Decision, task *workflow.Task) *schemas.Spent {
	spent := d.spent
	if spent == nil || d.spentBy != task.ID {
		return nil
	}
	d.spent = nil
	return spent
}

// restartHeld starts the first task that the budget has held back and that fits it now.
func restartHeld(v *View) events {
	for _, id := range heldTasks(v) {
		if task := v.Run.Task(id); !task.HeldForDay() && !v.Run.HoldsBack(task) {
			if done := restart(v, task); len(done) > 0 {
				return done
			}
		}
	}
	return nil
}

// handleShortage acts when no task is under way and none fits the budget: for the first held task it fails what the run can do without, asks people for more budget,
// waits for another day, or ends the run.
func handleShortage(v *View) events {
	held := firstHeld(v)
	switch {
	case held == nil || v.Run.AsksForBudget() != nil || hasWorkUnderWay(v):
		return nil
	case held.HeldForDay() && !held.Day.Alone:
		return askForDay(v, held) // what was under way then may have left some
	}
	return exhausted(v, held)
}

// withdrawBudgetTask withdraws what people are asked about the budget when nothing is held back any more.
func withdrawBudgetTask(v *View) events {
	if firstHeld(v) != nil {
		return nil
	}
	return closeBudgetTask(v)
}

// closeBudgetTask withdraws what people are asked about the budget.
func closeBudgetTask(v *View) events {
	if asked := v.Run.AsksForBudget(); asked != nil {
		return closeInquiry(v, asked, schemas.InquiryWithdrawn)
	}
	return nil
}

// heldTasks are the tasks that wait for the budget, in the order in which they may begin: who asks decides first.
func heldTasks(v *View) []string {
	if v.Profile.Budget == nil {
		return nil
	}
	var ranks [6][]string
	for i := range v.Run.TaskCount() {
		task := v.Run.TaskAt(i)
		if task.State == workflow.TaskReady && task.Held {
			rank := task.Priority() + 1
			ranks[rank] = append(ranks[rank], task.ID)
		}
	}
	return slices.Concat(ranks[:]...)
}

// firstHeld is the first task that waits for the budget alone, or nil.
func firstHeld(v *View) *workflow.Task {
	for _, id := range heldTasks(v) {
		if task := v.Run.Task(id); !v.Run.HoldsBack(task) {
			return task
		}
	}
	return nil
}

// restart begins a task that was held, if it fits now.
func restart(v *View, task *workflow.Task) events {
	if task.Plan != nil {
		return start(v, task)
	}
	return pose(v, task)
}

// hasWorkUnderWay reports whether anything of the run goes on without more of the budget. Where people are asked for more, whom else the run waits for does
// not keep them from being asked.
func hasWorkUnderWay(v *View) bool { return hasWorkBeside(v, nil) }

// hasWorkBeside is hasWorkUnderWay, without one of the tasks.
func hasWorkBeside(v *View, but *workflow.Task) bool {
	asks := asksForMore(v)
	for i := range v.Run.TaskCount() {
		task := v.Run.TaskAt(i)
		switch {
		case task == but || task.NotifiesPeople() || task.State.Ended() || task.State == workflow.TaskPending:
		case task.State == workflow.TaskReady && task.Held && !v.Run.HoldsBack(task):
		case waitsForEvaluator(v, task), waitsForOthers(task, asks):
		case asks && task.State.WaitsForPerson():
		default:
			return true
		}
	}
	return false
}

// waitsForEvaluator reports whether a task goes on once a judge has answered, for whom the budget may have no room.
func waitsForEvaluator(v *View, task *workflow.Task) bool {
	waits := task.State == workflow.TaskReady || task.State == workflow.TaskWaiting
	return waits && !fault.Is("what waits for a judge keeps it waiting") && v.Run.HoldsBack(task)
}

// waitsForOthers reports whether a task that has failed goes on once others have mended what it has found, for whom the budget may have no room, or once
// somebody has said what is done about it, who keeps nobody from being asked for more.
func waitsForOthers(task *workflow.Task, asks bool) bool {
	return task.State == workflow.TaskBlocked && (asks || task.Mending() && !fault.Is("who waits for what mends a failure is taken for somebody who works"))
}

// asksForMore reports whether people are asked when the budget is used up.
func asksForMore(v *View) bool {
	return v.Profile.Budget.Exhausted == schemas.BudgetAsks && (v.Run.Account == nil || !v.Run.Account.Refused)
}

// exhausted acts on a task that will never fit the budget: it fails the task, asks people for more budget, or ends the run.
func exhausted(v *View, task *workflow.Task) events {
	if task.Optional() || hasDefault(task) {
		return fail(v, task, schemas.FailureBudget, exhaustedBudget(shortage(v, task)))
	}
	opened := raiseFor(v, task)
	switch {
	case opened != nil:
		return open(v, task, opened)
	case task.HeldForDay() && task.Day.Parked:
		return nil
	}
	return outOfBudget(v, task)
}

// hasDefault reports whether a question need not be answered: routers and the answer have a way without.
func hasDefault(task *workflow.Task) bool {
	switch task.Kind {
	case schemas.TaskKindAssess, schemas.TaskKindRoute, schemas.TaskKindExtract, schemas.TaskKindSummarize:
		return true
	case schemas.TaskKindPlan, schemas.TaskKindWork, schemas.TaskKindEvaluate, schemas.TaskKindCheck, schemas.TaskKindMerge, schemas.TaskKindNotify, schemas.TaskKindDeliver:
	}
	return false
}

// offer is what a shortage is made up for by; it is what people read.
func offer(v *View, short *schemas.Shortage) schemas.Usage {
	return budget.RoundUp(budget.Offer(v.Profile.Budget, v.Run, short))
}

// shortage is why a task does not fit, and what would be enough.
func shortage(v *View, task *workflow.Task) *schemas.Shortage {
	if task.HeldForDay() {
		return task.Day.Short
	}
	need := need(v, task)
	if need == nil {
		return nil
	}
	short := budget.Lacking(v.Profile.Budget, v.Run.Account, task.Agent, *need)
	if short != nil {
		short.Offer = offer(v, short)
	}
	return short
}

// raiseFor returns the human task by which people raise the budget for a task; nil when none of them is asked.
func raiseFor(v *View, task *workflow.Task) *schemas.InquiryOpened {
	if !asksForMore(v) {
		return nil
	}
	policy, short := v.Profile.Budget, shortage(v, task)
	opened := schemas.InquiryOpened{}
	byRequester := slices.Contains(policy.People, schemas.ApprovingRequester)
	if !byRequester {
		opened = reachedToApprove(v, policy.People)
	}
	if short == nil || len(v.Run.Inquiries) >= schemas.MaxInquiries || byRequester && !reachesRequester(v) || !byRequester && len(opened.To) == 0 {
		return nil
	}
	opened.Kind, opened.Remind, opened.Expire, opened.Shortage = schemas.HumanTaskBudget, policy.Remind, policy.Expire, short
	opened.Question = shortfall(v, task, short, opened.People)
	return &opened
}

// shortfall is what people are told who may raise a budget.
func shortfall(v *View, task *workflow.Task, short *schemas.Shortage, people []string) string {
	words := v.Profile.language(v.Run.Message.Language)
	work := task.ID
	if task.Plan != nil {
		work = workAskedFor(v, task, people)
	} else if len(people) > 0 {
		work = askedBy(v)
	}
	raise := ""
	if len(words.Raise) > 0 {
		raise = words.Raise[0]
	}
	_, reject := v.Profile.decidingWords(v.Run.Message.Language)
	parts, asks := short.Offer, words.Texts.Budget
	if short.Day != "" {
		asks = cmp.Or(words.Texts.DayBudget, asks)
	}
	return truncate(strings.NewReplacer(
		"{agent}", describedTo(v, people, task.Agent), "{work}", work, "{raise}", raise, "{reject}", reject,
		"{limit}", budget.Tell(short.Limit, parts, words), "{taken}", budget.Tell(short.Taken, parts, words),
		"{need}", budget.Tell(short.Need, parts, words), "{offer}", budget.Tell(short.Offer, parts, words),
	).Replace(asks), schemas.RecordInlineLimit)
}

// exhaustedBudget says which budget is used up.
func exhaustedBudget(short *schemas.Shortage) schemas.Reason {
	if short != nil && short.Day != "" {
		return schemas.Because(schemas.OutOfDayBudget)
	}
	return schemas.Because(schemas.OutOfBudget)
}

// outOfBudget ends a run of which nothing more fits. Results that a review has not passed are withheld.
func outOfBudget(v *View, task *workflow.Task) events {
	reasons := []schemas.Reason{schemas.Because(schemas.RunBeyondBudget, "task", task.ID, "agent", task.Agent)}
	short := shortage(v, task)
	if short != nil {
		reasons = append(reasons, budget.Reasons(short)...)
	}
	sentence := say.Reason(v.language(), exhaustedBudget(short))
	if v.Run.Message.Upstream != nil && recovery.LeavesBudget(&v.Profile.Profile) {
		return stop(v, schemas.RunBlocked, schemas.StopBudget, schemas.InquiryWithdrawn, runFailure(v, schemas.ErrorSystem, schemas.ActionEscalate, sentence, reasons...))
	}
	return unfinished(v, schemas.StopBudget, schemas.ActionEscalate, sentence, reasons...)
}
