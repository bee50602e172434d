package plan

import (
	"strconv"
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
)

// A rule says what comes next in a run. It sees a View, and returns events. No events: the rule does not apply.
type rule struct {
	name  string
	story string // of package session, which fails without the rule
	when  func(*View) events
	each  *taskRule // in the place of when
}

// A taskRule is tried for each of its tasks before the first rule is tried again: so the cost grows with the number of tasks, and not with
// its square. The tasks are listed before the first of them gets events. So when checks anew what the events of one task change for the next.
type taskRule struct {
	tasks  func(*View) []*workflow.Task
	when   func(*View, *workflow.Task) events
	pauses func(*View, *workflow.Task) bool // reports whether earlier rules are tried before the next task, after a task was tried; nil means never
}

// phases are phases of a run.
type phases uint8

// The phases in which groups of rules apply.
const (
	decomposing phases = 1 << iota
	routing
	executing
	reviewing
	settled // the outcome is fixed, and the answer is not delivered yet

	atWork    = routing | executing // tasks may be under way: the plan is carried out, or a changed one is routed
	unsettled = decomposing | routing | executing | reviewing
)

// phaseOf returns the phase of a run; 0 for one that has ended.
func phaseOf(run *workflow.Run) phases {
	switch run.Phase {
	case workflow.PhaseDecomposing:
		return decomposing
	case workflow.PhaseRouting:
		return routing
	case workflow.PhaseExecuting:
		return executing
	case workflow.PhaseReviewing:
		return reviewing
	case workflow.PhaseAssembling:
		return settled
	case workflow.PhaseComplete:
	}
	return 0
}

// A ruleGroup is a number of rules that apply in some phases of a run, under one condition. Two groups that have no phase in common may
// change places.
type ruleGroup struct {
	phases     phases           // 0 means each
	phaseStory string           // of package session, which fails if the rules apply in each phase; empty if they find nothing to do in others anyway
	applies    func(*View) bool // nil means always
	story      string           // which fails without the condition
	rules      []rule
}

// A failureRule says what is done about a task that has failed: an attempt of it, or the task before it had one, for want of an agent, of
// arguments or of budget. It returns the failure and what follows. No events: the rule does not
// apply. The failure is the caller's own copy: a rule that does not apply may still say more exactly what has failed.
type failureRule struct {
	name  string
	story string
	when  func(*View, *workflow.Task, *schemas.TaskFailed) events
}

// failureRules are tried in this order when an attempt has failed: the first one that applies decides.
var failureRules = [...]failureRule{ //nolint:gochecknoglobals // a table that nothing changes
	{"propose", "proposal", propose},                           // an operation that waits for approval is no failure, and says more than what is lacking
	{"ask_for_input", "asked", askForInput},                    // what the requester can say is no failure: the attempt is not counted
	{"retry", "attempts_used_up", retry},                       // the same agent, later, costs least. How often: policy (retry.attempts). When: wait. How long an attempt may take: Profile.workDeadline (retry.timeout_growth)
	{"use_fallback", "fallback", useFallback},                  // another agent costs less than repairs or people
	{"repair", "recovery_request_fix", repair},                 // agents repair a result that is wrong before people are asked; nothing repairs a timeout
	{"ask_about_failure", "escalation_retry", askAboutFailure}, // people, the requester or the caller upstream decide before the task is given up
	{"skip_failed", "recovery_skip", skipFailed},               // the profile may have the run go on without the task
	{"end_failed", "no_route", endFailed},                      // always applies
}

// runRules are tried in this order after each input. When a rule has returned events, the first one is tried again. A rule that has to
// wait returns no events, and the rules below it are still tried: so each rule, or the condition of its group, checks for itself that
// nothing it depends on is outstanding. The comment of a rule says why it stands before the next ones.
//
// Before the rules are tried the input is handled: a message or a control by package session (a cancel, by control.go there), a reply by
// human_*.go, a response by response.go, a deadline by Decision.Expire, a grant by Decision.Grant, a permit request by permit.go. What fails
// there goes through failureRules at once. A retry whose wait is over is started by Expire, and by no rule.
var runRules = [...]ruleGroup{ //nolint:gochecknoglobals // a table that nothing changes
	{rules: []rule{
		{name: "close_undeliverable", when: closeUndeliverable, story: "asked_unreachable"}, // no reply can come to a human task whose notification has failed
		{name: "start_due", when: startDue, story: "approve_at_the_command_line"},           // a task that a reply has released, or that use_fallback has given to another agent, starts before others: its arguments, approvals and budget are checked again
	}},
	{phases: decomposing, phaseStory: "condition_ends", rules: []rule{
		{name: "handle_missing_plan", when: handleMissingPlan, story: "planner_silent"},
	}},
	{phases: routing, rules: []rule{
		{name: "route", each: &taskRule{tasks: unrouted, when: routeTask}, story: "single_run"},
	}},
	{phases: executing, phaseStory: "refused_chain_in_trouble", rules: []rule{
		{name: "refuse_chain", when: refuseChain, story: "refused_chain_in_trouble"},    // no task of a refused chain may start; one single task takes its place
		{name: "skip_repairs", when: skipRepairs, story: "step_limit_leaves_no_repair"}, // skipped repairs count as ended, so that end_repair_wait decides
		{name: "end_repair_wait", when: endRepairWait, story: "recovery_request_fix"},   // an evaluator is told what has come of repairs
	}},
	{phases: executing, phaseStory: "step_limit", applies: mayEvaluate, story: "condition_waits_for_the_evaluator", rules: []rule{
		{name: "stop_by_condition", when: stopByCondition, story: "condition_ends"}, // a condition that ends the run overrides the evaluator
		{name: "ask_evaluator", when: askEvaluator, story: "replan_on_failure"},     // the evaluator may replace what has failed. When it stays silent its task is retried, and then the plan goes on as it is
	}},
	{phases: atWork, phaseStory: "aborts", rules: []rule{
		{name: "abort", when: abortOnFailure, story: "aborts"}, // no pending task starts in a run that ends
	}},
	{phases: executing, phaseStory: "review_fix", applies: mayProceed, story: "abort_waits_for_the_evaluator", rules: []rule{
		{name: "skip", when: skipTasks, story: "blocked"},                                                                 // start does not check whether a dependency has failed
		{name: "start", each: &taskRule{tasks: startable, when: startPending, pauses: pausesStarts}, story: "single_run"}, // a task that fails at its start may be the last one
		{name: "finish", when: finishDone, story: "single_run"},                                                           // stop_out_of_steps takes it that tasks are left
		{name: "stop_out_of_steps", when: stopOutOfSteps, story: "review_forced"},                                         // last: whatever may still start has started
	}},
	{phases: reviewing, phaseStory: "single_run", applies: canContinueReview, story: "budget_raised_while_reviewed", rules: []rule{
		{name: "merge_versions", when: mergeVersions, story: "merged"},      // checks look at the merged files
		{name: "ask_checks", when: askChecks, story: "review_fix"},          // the round ends with their findings
		{name: "end_review", when: endReview, story: "missing_deliverable"}, // no merge and no check is left to ask or to wait for
	}},
	{phases: reviewing, phaseStory: "single_run", applies: reviewAwaitsDecision, story: "skipped_and_summarized", rules: []rule{
		{name: "conclude_review", when: concludeReview, story: "review_fix"}, // a round that has passed, or that people have skipped, needs no rework
	}},
	{phases: reviewing, phaseStory: "single_run", applies: mayRework, story: "missing_deliverable", rules: []rule{
		{name: "adopt_plan_of_check", when: adoptPlanOfCheck, story: "review_critic"},      // a check says itself what is to be done
		{name: "fix_issues", when: fixIssues, story: "review_fix"},                         // an evaluator is asked about what nobody can fix
		{name: "ask_about_issues", when: askAboutIssues, story: "recovery_merge_conflict"}, // people are asked about what no agent decides
	}},
	{phases: reviewing, phaseStory: "single_run", applies: reviewAwaitsDecision, story: "budget_raised_while_reviewed", rules: []rule{
		{name: "ask_people_about_review", when: askPeopleAboutReview, story: "review_asks"}, // people may still have the run go on
		{name: "fail_review", when: failReview, story: "review_rounds"},                     // no further round and nobody to ask is left
	}},
	{phases: unsettled, rules: []rule{
		{name: "restart_held", when: restartHeld, story: "budget_held"},                         // what fits the budget starts before anybody is asked for more
		{name: "handle_shortage", when: handleShortage, story: "budget_ends"},                   // only when nothing fits, and nothing under way can release some of the budget: optional tasks fail, people are asked, the next day is waited for, or the run ends
		{name: "withdraw_budget_task", when: withdrawBudgetTask, story: "budget_question_gone"}, // last: the rules above may have handled what people are asked for; nothing is held back any more, or an evaluator decides first
	}},
	answerRules,
	deliveryRules,
	{rules: []rule{
		{name: "notify_next", when: notifyNext, story: "asked_one_at_a_time"}, // the requester is asked one thing at a time: when one human task ends, the next is sent
	}},
}

// answerRules say what becomes of the answer of a run that is settled.
var answerRules = ruleGroup{ //nolint:gochecknoglobals // a table that nothing changes
	phases: settled, phaseStory: "goes_on_without", applies: answerIsUndecided, story: "delivery_held", rules: []rule{
		{name: "end_unanswered", when: endUnanswered, story: "goes_on_without"},  // nobody waits for a reply, so that there is nothing to approve or to send
		{name: "withhold_answer", when: withholdAnswer, story: "unvouched"},      // nobody approves what is not sent
		{name: "ask_about_answer", when: askAboutAnswer, story: "delivery_held"}, // nothing is sent that people may still reject
	},
}

// deliveryRules send an answer that nothing is left to decide about. A cancel before its first attempt discards the answer (outcome.go); later
// ones are refused.
var deliveryRules = ruleGroup{ //nolint:gochecknoglobals // a table that nothing changes
	phases: settled, phaseStory: "single_run", applies: answerIsDue, story: "single_run", rules: []rule{
		{name: "deliver", when: deliverOrDelay, story: "single_run"},
	},
}

// RuleStories returns what may be left out of the rules, as package fault names it, with the story that fails then: each rule, and each condition and phase of a group.
func RuleStories() map[string]string {
	stories := map[string]string{}
	for i := range runRules {
		group := &runRules[i]
		if group.applies != nil {
			stories["condition "+strconv.Itoa(i)] = group.story
		}
		if group.phaseStory != "" {
			stories["phase "+strconv.Itoa(i)] = group.phaseStory
		}
		for j := range group.rules {
			stories["rule "+group.rules[j].name] = group.rules[j].story
		}
	}
	for i := range failureRules {
		stories["rule "+failureRules[i].name] = failureRules[i].story
	}
	return stories
}

// Resume applies the rules until none of them has anything to do. It is the last part of each decision about a run.
func (d *Decision) Resume() {
	if d.Run != nil {
		applyRules(d, runRules[:])
	}
}

// applyRules tries the rules from the first one on until none of them returns events. A run in which the rules come to no end is ended.
func applyRules(d *Decision, groups []ruleGroup) {
	groups = fault.Ordered(groups, haveCommonPhase)
	most := mostRules(d)
	var last [8]string
	for n := 0; ; n++ {
		if n == most {
			d.rule = ""
			d.apply(endForFault(&d.View, schemas.Because(schemas.RunRuleLimit, "rules", strings.Join(last[:], ", "))))
			applyFirst(d, []ruleGroup{answerRules, deliveryRules})
			break
		}
		d.emitted = 0
		applyFirst(d, groups)
		if d.emitted == 0 || fault.Is("one rule is applied for each input") {
			break
		}
		last[n%len(last)] = d.rule
	}
	d.rule = ""
}

// mostRules is how many rules one decision may apply. The tasks of a changed plan, of which there are at most Profile.MaxTasks, may come while they are applied.
func mostRules(d *Decision) int {
	return 64 + 16*(d.Run.TaskCount()+len(d.Run.Inquiries)+d.Profile.MaxTasks())
}

// applyFirst tries the rules once in their order, and stops after the first one that returns events.
func applyFirst(d *Decision, groups []ruleGroup) {
	for i := range groups {
		if !groups[i].may(&d.View, i) {
			continue
		}
		for j := range groups[i].rules {
			next := &groups[i].rules[j]
			if fault.IsRule(next.name) {
				continue
			}
			d.rule = next.name
			if next.each != nil {
				applyEach(d, next.each)
			} else {
				d.apply(next.when(&d.View))
			}
			if d.emitted > 0 {
				return
			}
		}
	}
}

// may reports whether the rules of a group, which is the nth, may apply.
func (g *ruleGroup) may(v *View, n int) bool {
	if g.phases != 0 && g.phases&phaseOf(v.Run) == 0 && !fault.IsNumbered("phase", n) {
		return false
	}
	return g.applies == nil || fault.IsNumbered("condition", n) || g.applies(v)
}

// haveCommonPhase reports whether two groups have to stand in their order, since both may apply in one phase.
func haveCommonPhase(one, other *ruleGroup) bool {
	return one.phases == 0 || other.phases == 0 || one.phases&other.phases != 0
}

// applyEach applies a rule to each of its tasks in turn.
func applyEach(d *Decision, each *taskRule) {
	for _, task := range each.tasks(&d.View) {
		d.apply(each.when(&d.View, d.Run.Task(task.ID)))
		if each.pauses != nil && each.pauses(&d.View, d.Run.Task(task.ID)) {
			return
		}
	}
}

// endForFault ends a run because of a fault of the rules.
func endForFault(v *View, why schemas.Reason) events {
	if v.Run.Settled() {
		return append(cancelTasks(v, schemas.InquiryWithdrawn), end(v, schemas.StopInternalFault, ""))
	}
	return incomplete(v, schemas.StopInternalFault, why)
}

func mayEvaluate(v *View) bool { return v.Run.Judge() == nil }

// mayProceed reports whether the plan goes on: no evaluation is under way or due.
func mayProceed(v *View) bool { return !awaitsEvaluator(v) }

// canContinueReview reports whether a round of review may go on: no check, merge or decision of people is outstanding. A check that the budget
// holds back is outstanding.
func canContinueReview(v *View) bool { return v.Run.Review.Outcome == "" && !awaitsReviewReply(v) }

// reviewAwaitsDecision reports whether a round of review has ended, and nobody is asked what becomes of it.
func reviewAwaitsDecision(v *View) bool { return v.Run.Review.Outcome != "" && !awaitsReviewReply(v) }

// answerIsUndecided reports whether nothing has been decided yet about the answer of a settled run: there is no delivery, not even one that waits.
func answerIsUndecided(v *View) bool { return v.Run.Delivery == nil }

// answerIsDue reports whether an answer may be sent at once: nothing has been decided about it otherwise, or people have approved it.
func answerIsDue(v *View) bool {
	return v.Run.Delivery == nil || v.Run.Delivery.State == workflow.TaskDue && !fault.Is("what is due is not started")
}

// abortOnFailure ends the run because a task has failed, if the profile has it so and no evaluator decides about the failure.
func abortOnFailure(v *View) events {
	if v.Profile.Execution.OnFailure != schemas.FailureAborts || v.Profile.Replan != nil && (v.Run.Phase == workflow.PhaseRouting || awaitsEvaluator(v)) || !hasFatalFailure(v) {
		return nil
	}
	return abort(v)
}

// finishDone has the results reviewed or told when all tasks have ended.
func finishDone(v *View) events {
	if !allEnded(v) {
		return nil
	}
	return finish(v)
}
