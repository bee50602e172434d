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
func (d *Decision) need(task *workflow.Task) *schemas.Usage {
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

// affords reports whether a request for a task fits the budget. Else the task is held: it waits until what is under way has left enough, which Resume
// finds, or says that it never will.
func (d *Decision) affords(task *workflow.Task) bool {
	need := d.need(task)
	if need == nil || budget.Lacking(d.Profile.Budget, d.Run.Account, task.Agent, *need) == nil {
		return true
	}
	known := d.Run.Task(task.ID)
	if known != nil && known.State == workflow.TaskReady && known.Held && !known.HeldForDay() && known.Agent == task.Agent {
		return false
	}
	held := d.taskReady(task)
	held.Held = true
	if wait := d.waitFor(task); wait > 0 && task.Kind != schemas.TaskKindPlan {
		if held.Until = d.Now.Add(wait); known != nil && known.State == workflow.TaskReady && !known.Due.IsZero() {
			held.Until = known.Due // it was ready before
		}
	}
	d.Emit(held)
	return false
}

// dayClaim is what a request for a task needs of the budget of a day; nil is nothing.
func (d *Decision) dayClaim(task *workflow.Task) *schemas.DayClaim {
	need, agent := d.need(task), task.Agent
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
func (d *Decision) admit(task *workflow.Task) AdmissionResult {
	if d.dayClaim(task) != nil {
		return Full
	}
	return d.Admission.Admit(task.Agent)
}

// affordsDay reports whether the task that is granted fits the budget of the day. Else it is held: its owner sees when there is some left.
func (d *Decision) affordsDay(task *workflow.Task) bool {
	claim := d.dayClaim(task)
	if claim == nil {
		return true
	}
	if task.Day == nil {
		d.ready(task) // the grant was for nothing of the day's
		return false
	}
	lacking := d.Admission.LacksDay(task.Agent)
	if lacking == nil || fault.Is("a grant skips the budget of the day") {
		return true
	}
	short := *lacking
	short.Offer = d.offer(&short)
	claim.Short, claim.Alone = &short, !d.worksBeside(task)
	claim.Parked = claim.Alone && d.Profile.Budget.Exhausted == schemas.BudgetWaits && budget.FitsAnotherDay(&short)
	held := d.taskReady(task)
	if held.Held, held.Day = true, claim; task.Kind != schemas.TaskKindPlan {
		held.Until = task.Due
	}
	d.Emit(held)
	return false
}

// askForDay has the budget of the day looked at anew for a task that waits for it.
func (d *Decision) askForDay(task *workflow.Task) {
	ready := d.taskReady(task)
	ready.Until, ready.Day = task.Due, d.dayClaim(task)
	if wait := d.Profile.questionTimeout(task.Kind, task.Agent); wait > 0 && task.Due.IsZero() {
		ready.Until = d.Now.Add(wait)
	}
	d.Emit(ready)
}

// spend notes what the attempt of a task that is answered now has used.
func (d *Decision) spend(task *workflow.Task, answer *Response) {
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
func (d *Decision) takeSpent(task *workflow.Task) *schemas.Spent {
	spent := d.spent
	if spent == nil || d.spentBy != task.ID {
		return nil
	}
	d.spent = nil
	return spent
}

// Resume is the last of each decision. It goes on with what the budget has held back, and it asks whoever has written the next thing,
// whatever has ended the question before.
func (d *Decision) Resume() {
	if d.Run == nil {
		return
	}
	if d.Profile.Budget != nil {
		d.resumeHeld()
	}
	d.notifyNext()
}

// resumeHeld goes on with what the budget has held back: what fits now begins. When nothing works and nothing fits, people are asked for more or
// the run ends.
func (d *Decision) resumeHeld() {
	// Each turn but the last ends a task. Those that are made meanwhile count, too.
	most := len(d.Run.Tasks) + len(d.Run.DecisionTasks) + 1
	for turn := 0; turn < most && !d.Run.Settled() && d.resumeOnce(); turn++ {
		if !fault.Is("what is asked meanwhile has no turn") {
			most = len(d.Run.Tasks) + len(d.Run.DecisionTasks) + 1
		}
	}
	if asked := d.Run.AsksForBudget(); asked != nil && !d.Run.Settled() && d.firstHeld() == nil {
		d.closeInquiry(asked, schemas.InquiryWithdrawn)
	}
}

// resumeOnce begins what fits, or does something about what never will. It reports whether there may be more to do.
func (d *Decision) resumeOnce() bool {
	for _, id := range d.heldBack() {
		if task := d.Run.Task(id); !d.Run.Settled() && task.State == workflow.TaskReady && task.Held && !task.HeldForDay() && !d.Run.HoldsBack(task) {
			d.restart(task)
		}
	}
	if d.Run.Settled() {
		return false
	}
	held := d.firstHeld()
	switch {
	case held == nil || d.Run.AsksForBudget() != nil || d.works():
		return false
	case held.HeldForDay() && !held.Day.Alone:
		d.askForDay(held) // what was under way then may have left some
		return false
	}
	return d.exhausted(held)
}

// heldBack are the tasks that wait for the budget, in the order in which they may begin: who asks decides first.
func (d *Decision) heldBack() []string {
	var ranks [6][]string
	for task := range d.Run.All {
		if task.State == workflow.TaskReady && task.Held {
			rank := task.Priority() + 1
			ranks[rank] = append(ranks[rank], task.ID)
		}
	}
	return slices.Concat(ranks[:]...)
}

// firstHeld is the first task that waits for the budget alone, or nil.
func (d *Decision) firstHeld() *workflow.Task {
	for _, id := range d.heldBack() {
		if task := d.Run.Task(id); !d.Run.HoldsBack(task) {
			return task
		}
	}
	return nil
}

// restart begins a task that was held, if it fits now.
func (d *Decision) restart(task *workflow.Task) {
	if task.Plan != nil {
		d.start(task)
		return
	}
	d.pose(task)
}

// works reports whether anything of the run goes on without more of the budget. Where people are asked for more, whom else the run waits for does
// not keep them from being asked.
func (d *Decision) works() bool { return d.worksBeside(nil) }

// worksBeside is works, without one of the tasks.
func (d *Decision) worksBeside(but *workflow.Task) bool {
	asks := d.asksForMore()
	for task := range d.Run.All {
		switch {
		case task == but || task.NotifiesPeople() || task.State.Ended() || task.State == workflow.TaskPending:
		case task.State == workflow.TaskReady && task.Held && !d.Run.HoldsBack(task):
		case d.waitsForJudge(task), d.waitsForOthers(task, asks):
		case asks && task.State.WaitsForPerson():
		default:
			return true
		}
	}
	return false
}

// waitsForJudge reports whether a task goes on once a judge has answered, for whom the budget may have no room.
func (d *Decision) waitsForJudge(task *workflow.Task) bool {
	waits := task.State == workflow.TaskReady || task.State == workflow.TaskWaiting
	return waits && !fault.Is("what waits for a judge keeps it waiting") && d.Run.HoldsBack(task)
}

// waitsForOthers reports whether a task that has failed goes on once others have mended what it has found, for whom the budget may have no room, or once
// somebody has said what is done about it, who keeps nobody from being asked for more.
func (d *Decision) waitsForOthers(task *workflow.Task, asks bool) bool {
	return task.State == workflow.TaskBlocked && (asks || task.Mending() && !fault.Is("who waits for what mends a failure is taken for somebody who works"))
}

// asksForMore reports whether people are asked when the budget is used up.
func (d *Decision) asksForMore() bool {
	return d.Profile.Budget.Exhausted == schemas.BudgetAsks && (d.Run.Account == nil || !d.Run.Account.Refused)
}

// exhausted does something about a task that will not fit: the run does without it, people are asked, or the run ends. It reports whether the run
// may have gone on.
func (d *Decision) exhausted(task *workflow.Task) bool {
	if task.Optional() || d.hasDefault(task) {
		d.fail(task, schemas.FailureBudget, d.texts().OutOfBudget)
		return true
	}
	if d.asksForMore() && d.askForMore(task) || task.HeldForDay() && task.Day.Parked {
		return false
	}
	d.outOfBudget(task)
	return false
}

// hasDefault reports whether a question need not be answered: routers and the answer have a way without.
func (d *Decision) hasDefault(task *workflow.Task) bool {
	switch task.Kind {
	case schemas.TaskKindAssess, schemas.TaskKindRoute, schemas.TaskKindExtract, schemas.TaskKindSummarize:
		return true
	case schemas.TaskKindPlan, schemas.TaskKindWork, schemas.TaskKindEvaluate, schemas.TaskKindCheck, schemas.TaskKindMerge, schemas.TaskKindNotify, schemas.TaskKindDeliver:
	}
	return false
}

// offer is what a shortage is made up for by; it is what people read.
func (d *Decision) offer(short *schemas.Shortage) schemas.Usage {
	return budget.RoundUp(budget.Offer(d.Profile.Budget, d.Run, short))
}

// shortage is why a task does not fit, and what would be enough.
func (d *Decision) shortage(task *workflow.Task) *schemas.Shortage {
	if task.HeldForDay() {
		return task.Day.Short
	}
	need := d.need(task)
	if need == nil {
		return nil
	}
	short := budget.Lacking(d.Profile.Budget, d.Run.Account, task.Agent, *need)
	if short != nil {
		short.Offer = d.offer(short)
	}
	return short
}

// askForMore asks people for more than the run may use, and reports whether any of them can be asked.
func (d *Decision) askForMore(task *workflow.Task) bool {
	policy, short := d.Profile.Budget, d.shortage(task)
	opened := schemas.InquiryOpened{}
	byRequester := slices.Contains(policy.People, schemas.ApprovingRequester)
	if !byRequester {
		opened = d.reachedToApprove(policy.People)
	}
	if short == nil || len(d.Run.Inquiries) >= schemas.MaxInquiries || byRequester && !d.reachesRequester() || !byRequester && len(opened.To) == 0 {
		return false
	}
	opened.Kind, opened.Remind, opened.Expire, opened.Shortage = schemas.HumanTaskBudget, policy.Remind, policy.Expire, short
	opened.Question = d.shortfall(task, short, opened.People)
	d.open(task, &opened)
	return true
}

// shortfall is what people are told who may raise a budget.
func (d *Decision) shortfall(task *workflow.Task, short *schemas.Shortage, people []string) string {
	words := d.Profile.language(d.Run.Message.Language)
	work := task.ID
	if task.Plan != nil {
		work = d.workAskedFor(task, people)
	} else if len(people) > 0 {
		work = d.askedBy()
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
		"{agent}", d.describedTo(people, task.Agent), "{work}", work, "{raise}", raise, "{reject}", reject,
		"{limit}", budget.Tell(short.Limit, parts, words), "{taken}", budget.Tell(short.Taken, parts, words),
		"{need}", budget.Tell(short.Need, parts, words), "{offer}", budget.Tell(short.Offer, parts, words),
	).Replace(asks), schemas.RecordInlineLimit)
}

// outOfBudget ends a run of which nothing more fits, with the results that it has.
func (d *Decision) outOfBudget(task *workflow.Task) {
	details, sentence := "task "+task.ID+" of agent "+task.Agent+" does not fit the budget", d.texts().OutOfBudget
	if short := d.shortage(task); short != nil {
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
		d.stop(schemas.RunBlocked, schemas.StopBudget, schemas.InquiryWithdrawn, d.runFailure(schemas.ErrorSystem, schemas.ActionEscalate, details, sentence))
		return
	}
	d.unfinished(schemas.StopBudget, schemas.ActionEscalate, details, sentence)
}
