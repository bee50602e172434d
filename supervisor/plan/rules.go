package plan

import (
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
)

// A rule says what comes next in a run. Each call emits the events that follow, or none.
type rule struct {
	name  string
	apply func(*Decision)
	story string // of package session, which fails without the rule
}

// A ruleGroup is a number of rules that apply under one condition.
type ruleGroup struct {
	applies func(*Decision) bool
	rules   []rule
}

// runRules are tried in this order after each input. When a rule has emitted events, the first one is tried again. A rule that waits for an answer emits
// nothing, and the rules below it are tried: each rule checks what it waits for. The comment of a rule says why it stands before the next ones. The input
// itself is handled before: a reply by human_*.go, a response by response.go, and what is done about a failure by failure.go.
var runRules = [...]ruleGroup{ //nolint:gochecknoglobals // a table that nothing changes
	{isNotComplete, []rule{
		{"close_undeliverable", closeUndeliverable, "asked_unreachable"}, // no reply can come to a human task whose notification has failed
		{"start_due", startDue, "approve_at_the_command_line"},           // a task that an input has released starts before others
	}},
	{isDecomposing, []rule{
		{"handle_missing_plan", handleMissingPlan, "planner_silent"},
	}},
	{isRouting, []rule{
		{"route", routeTasks, "single_run"},
	}},
	{isExecuting, []rule{
		{"refuse_chain", refuseChain, "refused_chain_in_trouble"},    // no task of a refused chain may start; one single task takes its place
		{"skip_repairs", skipRepairs, "step_limit_leaves_no_repair"}, // skipped repairs count as ended, so that end_repair_wait decides
		{"end_repair_wait", endRepairWait, "recovery_request_fix"},   // an evaluator is told what has come of repairs
	}},
	{mayEvaluate, []rule{
		{"stop_by_condition", stopByCondition, "condition_ends"}, // a condition that ends the run overrides the evaluator
		{"ask_evaluator", askEvaluator, "replan_on_failure"},     // the evaluator may replace what has failed
	}},
	{isAtWork, []rule{
		{"abort", abortOnFailure, "aborts"}, // no pending task starts in a run that ends
	}},
	{mayProceed, []rule{
		{"skip", skipTasks, "blocked"},                         // start does not check whether a dependency has failed
		{"start", startTasks, "single_run"},                    // a task that fails at its start may be the last one
		{"finish", finishDone, "single_run"},                   // all tasks have ended
		{"stop_out_of_steps", stopOutOfSteps, "review_forced"}, // tasks are left, and none of them may start
	}},
	{canContinueReview, []rule{
		{"merge_versions", mergeVersions, "merged"},      // checks look at the merged files
		{"ask_checks", askChecks, "review_fix"},          // the round ends with their findings
		{"end_review", endReview, "missing_deliverable"}, // no merge and no check is left to ask or to wait for
	}},
	{reviewAwaitsDecision, []rule{
		{"conclude_review", concludeReview, "review_fix"}, // a round that has passed, or that people have skipped, needs no rework
	}},
	{mayRework, []rule{
		{"adopt_plan_of_check", adoptPlanOfCheck, "review_critic"},      // a check says itself what is to be done
		{"fix_issues", fixIssues, "review_fix"},                         // an evaluator is asked about what nobody can fix
		{"ask_about_issues", askAboutIssues, "recovery_merge_conflict"}, // people are asked about what no agent decides
	}},
	{reviewAwaitsDecision, []rule{
		{"ask_people_about_review", askPeopleAboutReview, "review_asks"}, // people may still have the run go on
		{"fail_review", failReview, "review_rounds"},                     // no further round and nobody to ask is left
	}},
	{hasBudget, []rule{
		{"restart_held", restartHeld, "budget_held"},                         // what fits the budget starts before anybody is asked for more
		{"handle_shortage", handleShortage, "budget_ends"},                   // no work under way can release some of the budget
		{"withdraw_budget_task", withdrawBudgetTask, "budget_question_gone"}, // nothing is held back any more
	}},
	{isNotComplete, []rule{
		{"notify_next", notifyNext, "asked_one_at_a_time"}, // the requester is asked one thing at a time: when one human task ends, the next is sent
	}},
}

// RuleStories returns the name of each rule, and of the story that fails without it.
func RuleStories() map[string]string {
	stories := map[string]string{}
	for _, group := range runRules {
		for _, each := range group.rules {
			stories[each.name] = each.story
		}
	}
	return stories
}

// Resume applies the rules until none of them emits an event. It is the last part of each decision about a run.
func (d *Decision) Resume() {
	if d.Run != nil {
		applyRules(d, runRules[:])
	}
}

// applyRules tries the rules until none of them emits an event. A run in which they come to no end is ended.
func applyRules(d *Decision, groups []ruleGroup) {
	most := mostRules(d)
	var last [8]string
	for n := 0; ; n++ {
		if n == most {
			endForFault(d, "these rules come to no end: "+strings.Join(last[:], ", "))
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

// applyFirst tries the rules in their order until one emits an event.
func applyFirst(d *Decision, groups []ruleGroup) {
	for i := range groups {
		if !groups[i].applies(d) {
			continue
		}
		for _, next := range groups[i].rules {
			if fault.IsRule(next.name) {
				continue
			}
			d.rule = next.name
			if next.apply(d); d.emitted > 0 {
				return
			}
		}
	}
}

// endForFault ends a run because of a fault of the rules.
func endForFault(d *Decision, details string) {
	if d.Run.Settled() {
		cancelTasks(d, schemas.InquiryWithdrawn)
		end(d, schemas.StopInternalFault, "")
		return
	}
	incomplete(d, schemas.StopInternalFault, details)
}

func isNotComplete(d *Decision) bool { return d.Run.Phase != workflow.PhaseComplete }

func isDecomposing(d *Decision) bool { return d.Run.Phase == workflow.PhaseDecomposing }

func isRouting(d *Decision) bool { return d.Run.Phase == workflow.PhaseRouting }

func isExecuting(d *Decision) bool { return d.Run.Phase == workflow.PhaseExecuting }

// isAtWork reports whether tasks may be under way: the plan is carried out, or a changed one is routed.
func isAtWork(d *Decision) bool { return isExecuting(d) || isRouting(d) }

func mayEvaluate(d *Decision) bool { return isExecuting(d) && d.Run.Judge() == nil }

// mayProceed reports whether the plan goes on: no evaluator is asked, or has to be.
func mayProceed(d *Decision) bool { return isExecuting(d) && !awaitsEvaluator(d) }

// canContinueReview reports whether a round of review goes on without waiting for anybody.
func canContinueReview(d *Decision) bool {
	return d.Run.Phase == workflow.PhaseReviewing && d.Run.Review.Outcome == "" && !awaitsReviewReply(d)
}

// reviewAwaitsDecision reports whether a round of review has ended, and nobody is asked what becomes of it.
func reviewAwaitsDecision(d *Decision) bool {
	return d.Run.Phase == workflow.PhaseReviewing && d.Run.Review.Outcome != "" && !awaitsReviewReply(d)
}

func hasBudget(d *Decision) bool { return d.Profile.Budget != nil && !d.Run.Settled() }

// abortOnFailure ends the run because a task has failed.
func abortOnFailure(d *Decision) {
	if d.Profile.Execution.OnFailure != schemas.FailureAborts || d.Profile.Replan != nil && (isRouting(d) || awaitsEvaluator(d)) {
		return
	}
	if hasFatalFailure(d) {
		abort(d)
	}
}

// finishDone goes on when all tasks have ended.
func finishDone(d *Decision) {
	if isDone(d) {
		finish(d)
	}
}
