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
)

// need is what a request for a task reserves; nil is nothing: the profile has no budget, or the task tells people something.
func need(d *Decision, task *workflow.Task) *schemas.Usage {
	policy := d.Profile.Budget
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
func exceedsBudget(d *Decision, task *workflow.Task) bool {
	need := need(d, task)
	return need != nil && budget.Lacking(d.Profile.Budget, d.Run.Account, task.Agent, *need) != nil
}

// hold has a task wait until what is under way has left enough of the budget.
func hold(d *Decision, task *workflow.Task) {
	known := d.Run.Task(task.ID)
	if known != nil && known.State == workflow.TaskReady && known.Held && !known.HeldForDay() && known.Agent == task.Agent {
		return
	}
	held := taskReady(d, task)
	held.Held = true
	if wait := waitFor(d, task); wait > 0 && task.Kind != schemas.TaskKindPlan {
		if held.Until = d.Now.Add(wait); known != nil && known.State == workflow.TaskReady && !known.Due.IsZero() {
			held.Until = known.Due // it was ready before
		}
	}
	d.emit(held)
}

// dayClaim is what a request for a task needs of the budget of a day; nil is nothing.
func dayClaim(d *Decision, task *workflow.Task) *schemas.DayClaim {
	need, agent := need(d, task), task.Agent
	if need == nil || !budget.LimitsDay(d.Profile.Budget, agent, *need) {
		return nil
	}
	day := schemas.Day(d.Now)
	return &schemas.DayClaim{
		Need: *need, Run: d.Profile.Budget.Day, Agent: d.Profile.Budget.DayAgents[agent],
		Raised: d.Run.Account.RaisedOn(day, ""), AgentRaised: d.Run.Account.RaisedOn(day, agent), Day: day,
	}
}

// admit asks whether a request may go to an agent now. What needs some of the budget of a day waits for a grant, which brings that.
func admit(d *Decision, task *workflow.Task) AdmissionResult {
	if dayClaim(d, task) != nil {
		return Full
	}
	return d.Admission.Admit(task.Agent)
}

// dayShortage is what the budget of the day lacks for the task that is granted; nil is nothing.
func dayShortage(d *Decision, task *workflow.Task) *schemas.Shortage {
	if dayClaim(d, task) == nil || fault.Is("a grant skips the budget of the day") {
		return nil
	}
	return d.Admission.LacksDay(task.Agent)
}

// holdForDay has the task that is granted wait for the budget of the day: its owner sees when there is some left.
func holdForDay(d *Decision, task *workflow.Task, lacking *schemas.Shortage) {
	claim, short := dayClaim(d, task), *lacking
	short.Offer = offer(d, &short)
	claim.Short, claim.Alone = &short, !hasWorkBeside(d, task)
	claim.Parked = claim.Alone && d.Profile.Budget.Exhausted == schemas.BudgetWaits && budget.FitsAnotherDay(&short)
	held := taskReady(d, task)
	if held.Held, held.Day = true, claim; task.Kind != schemas.TaskKindPlan {
		held.Until = task.Due
	}
	d.emit(held)
}

// askForDay has the budget of the day looked at anew for a task that waits for it.
func askForDay(d *Decision, task *workflow.Task) {
	ready := taskReady(d, task)
	ready.Until, ready.Day = task.Due, dayClaim(d, task)
	if wait := d.Profile.questionTimeout(task.Kind, task.Agent); wait > 0 && task.Due.IsZero() {
		ready.Until = d.Now.Add(wait)
	}
	d.emit(ready)
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
func restartHeld(d *Decision) {
	for _, id := range heldTasks(d) {
		if task := d.Run.Task(id); !task.HeldForDay() && !d.Run.HoldsBack(task) {
			if restart(d, task); d.Run.Task(id).State != workflow.TaskReady || !d.Run.Task(id).Held {
				return
			}
		}
	}
}

// handleShortage acts when no task is under way and none fits the budget: it asks people for more budget for the first held task, or ends the run.
func handleShortage(d *Decision) {
	held := firstHeld(d)
	switch {
	case held == nil || d.Run.AsksForBudget() != nil || hasWorkUnderWay(d):
	case held.HeldForDay() && !held.Day.Alone:
		askForDay(d, held) // what was under way then may have left some
	default:
		exhausted(d, held)
	}
}

// withdrawBudgetTask withdraws what people are asked about the budget when nothing is held back any more.
func withdrawBudgetTask(d *Decision) {
	if asked := d.Run.AsksForBudget(); asked != nil && firstHeld(d) == nil {
		closeInquiry(d, asked, schemas.InquiryWithdrawn)
	}
}

// heldTasks are the tasks that wait for the budget, in the order in which they may begin: who asks decides first.
func heldTasks(d *Decision) []string {
	var ranks [6][]string
	for i := range d.Run.TaskCount() {
		task := d.Run.TaskAt(i)
		if task.State == workflow.TaskReady && task.Held {
			rank := task.Priority() + 1
			ranks[rank] = append(ranks[rank], task.ID)
		}
	}
	return slices.Concat(ranks[:]...)
}

// firstHeld is the first task that waits for the budget alone, or nil.
func firstHeld(d *Decision) *workflow.Task {
	for _, id := range heldTasks(d) {
		if task := d.Run.Task(id); !d.Run.HoldsBack(task) {
			return task
		}
	}
	return nil
}

// restart begins a task that was held, if it fits now.
func restart(d *Decision, task *workflow.Task) {
	if task.Plan != nil {
		start(d, task)
		return
	}
	pose(d, task)
}

// hasWorkUnderWay reports whether anything of the run goes on without more of the budget. Where people are asked for more, whom else the run waits for does
// not keep them from being asked.
func hasWorkUnderWay(d *Decision) bool { return hasWorkBeside(d, nil) }

// hasWorkBeside is hasWorkUnderWay, without one of the tasks.
func hasWorkBeside(d *Decision, but *workflow.Task) bool {
	asks := asksForMore(d)
	for i := range d.Run.TaskCount() {
		task := d.Run.TaskAt(i)
		switch {
		case task == but || task.NotifiesPeople() || task.State.Ended() || task.State == workflow.TaskPending:
		case task.State == workflow.TaskReady && task.Held && !d.Run.HoldsBack(task):
		case waitsForEvaluator(d, task), waitsForOthers(task, asks):
		case asks && task.State.WaitsForPerson():
		default:
			return true
		}
	}
	return false
}

// waitsForEvaluator reports whether a task goes on once a judge has answered, for whom the budget may have no room.
func waitsForEvaluator(d *Decision, task *workflow.Task) bool {
	waits := task.State == workflow.TaskReady || task.State == workflow.TaskWaiting
	return waits && !fault.Is("what waits for a judge keeps it waiting") && d.Run.HoldsBack(task)
}

// waitsForOthers reports whether a task that has failed goes on once others have mended what it has found, for whom the budget may have no room, or once
// somebody has said what is done about it, who keeps nobody from being asked for more.
func waitsForOthers(task *workflow.Task, asks bool) bool {
	return task.State == workflow.TaskBlocked && (asks || task.Mending() && !fault.Is("who waits for what mends a failure is taken for somebody who works"))
}

// asksForMore reports whether people are asked when the budget is used up.
func asksForMore(d *Decision) bool {
	return d.Profile.Budget.Exhausted == schemas.BudgetAsks && (d.Run.Account == nil || !d.Run.Account.Refused)
}

// exhausted acts on a task that will never fit the budget: it fails the task, asks people for more budget, or ends the run.
func exhausted(d *Decision, task *workflow.Task) {
	if task.Optional() || hasDefault(task) {
		fail(d, task, schemas.FailureBudget, d.texts().OutOfBudget)
		return
	}
	opened := raiseFor(d, task)
	switch {
	case opened != nil:
		open(d, task, opened)
	case !task.HeldForDay() || !task.Day.Parked:
		outOfBudget(d, task)
	}
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
func offer(d *Decision, short *schemas.Shortage) schemas.Usage {
	return budget.RoundUp(budget.Offer(d.Profile.Budget, d.Run, short))
}

// shortage is why a task does not fit, and what would be enough.
func shortage(d *Decision, task *workflow.Task) *schemas.Shortage {
	if task.HeldForDay() {
		return task.Day.Short
	}
	need := need(d, task)
	if need == nil {
		return nil
	}
	short := budget.Lacking(d.Profile.Budget, d.Run.Account, task.Agent, *need)
	if short != nil {
		short.Offer = offer(d, short)
	}
	return short
}

// raiseFor returns the human task by which people raise the budget for a task; nil when none of them is asked.
func raiseFor(d *Decision, task *workflow.Task) *schemas.InquiryOpened {
	if !asksForMore(d) {
		return nil
	}
	policy, short := d.Profile.Budget, shortage(d, task)
	opened := schemas.InquiryOpened{}
	byRequester := slices.Contains(policy.People, schemas.ApprovingRequester)
	if !byRequester {
		opened = reachedToApprove(d, policy.People)
	}
	if short == nil || len(d.Run.Inquiries) >= schemas.MaxInquiries || byRequester && !reachesRequester(d) || !byRequester && len(opened.To) == 0 {
		return nil
	}
	opened.Kind, opened.Remind, opened.Expire, opened.Shortage = schemas.HumanTaskBudget, policy.Remind, policy.Expire, short
	opened.Question = shortfall(d, task, short, opened.People)
	return &opened
}

// shortfall is what people are told who may raise a budget.
func shortfall(d *Decision, task *workflow.Task, short *schemas.Shortage, people []string) string {
	words := d.Profile.language(d.Run.Message.Language)
	work := task.ID
	if task.Plan != nil {
		work = workAskedFor(d, task, people)
	} else if len(people) > 0 {
		work = askedBy(d)
	}
	raise := ""
	if len(words.Raise) > 0 {
		raise = words.Raise[0]
	}
	_, reject := d.Profile.decidingWords(d.Run.Message.Language)
	parts, asks := short.Offer, words.Texts.Budget
	if short.Day != "" {
		asks = cmp.Or(words.Texts.DayBudget, asks)
	}
	return truncate(strings.NewReplacer(
		"{agent}", describedTo(d, people, task.Agent), "{work}", work, "{raise}", raise, "{reject}", reject,
		"{limit}", budget.Tell(short.Limit, parts, words), "{taken}", budget.Tell(short.Taken, parts, words),
		"{need}", budget.Tell(short.Need, parts, words), "{offer}", budget.Tell(short.Offer, parts, words),
	).Replace(asks), schemas.RecordInlineLimit)
}

// outOfBudget ends a run of which nothing more fits. Results that a review has not passed are withheld.
func outOfBudget(d *Decision, task *workflow.Task) {
	details, sentence := "task "+task.ID+" of agent "+task.Agent+" does not fit the budget", d.texts().OutOfBudget
	if short := shortage(d, task); short != nil {
		whose := "the run"
		if short.Agent != "" {
			whose = "agent " + short.Agent
		}
		if short.Day != "" {
			whose = strings.Replace(whose, "the run", "all runs", 1) + " on " + short.Day
			sentence = cmp.Or(d.texts().OutOfDayBudget, sentence)
		}
		english := schemas.Language{Texts: schemas.Texts{Tokens: "{amount} tokens", Cost: "a cost of {amount}"}}
		tell := func(amount schemas.Usage) string { return budget.Tell(amount, short.Offer, &english) }
		details += ": it needs " + tell(short.Need) + ", and of " + tell(short.Limit) + " for " + whose + " " + tell(short.Taken) + " are used or reserved"
	}
	if sentence == "" {
		sentence = without(d.texts().TaskFailed)
	}
	if d.Run.Message.Upstream != nil && recovery.LeavesBudget(&d.Profile.Profile) {
		stop(d, schemas.RunBlocked, schemas.StopBudget, schemas.InquiryWithdrawn, runFailure(d, schemas.ErrorSystem, schemas.ActionEscalate, details, sentence))
		return
	}
	unfinished(d, schemas.StopBudget, schemas.ActionEscalate, details, sentence)
}
