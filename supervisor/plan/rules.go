package plan

import (
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
)

// A rule says what comes next in a run. It emits all events about one thing, or none.
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

// runRules are the policy of a run. After each event the first rule comes first again, so that a rule which has to wait for something says so itself.
var runRules = [...]ruleGroup{ //nolint:gochecknoglobals // a table that nothing changes
	{isOpen, []rule{
		{"end_unreachable", endUnreachable, "asked_unreachable"}, // a reply that nobody can give keeps nothing waiting
		{"start_due", startDue, "approve_at_the_command_line"},   // a reply, an approval, a retry or another agent continues a task before new ones start
	}},
	{isDecomposing, []rule{
		{"plan_without_planner", planWithoutPlanner, "planner_silent"}, // there is nothing to route before there is a plan
	}},
	{isRouting, []rule{
		{"route", routeTasks, "single_run"}, // no task starts before all of them have an agent
	}},
	{isExecuting, []rule{
		{"refuse_chain", refuseChain, "refused_chain_in_trouble"},    // before the first task of a chain starts that the profile does not allow
		{"skip_repairs", skipRepairs, "step_limit_leaves_no_repair"}, // before what is repaired goes on, since no step is left for these repairs
		{"resume_repaired", resumeRepaired, "recovery_request_fix"},  // before an evaluator is asked, who is told what has come of repairs
	}},
	{mayEvaluate, []rule{
		{"stop_by_condition", stopByCondition, "condition_ends"}, // before an evaluator is asked, who could decide nothing else
		{"ask_evaluator", askEvaluator, "replan_on_failure"},     // before the run is aborted, since the evaluator may replace what has failed
	}},
	{isExecuting, []rule{
		{"abort", abortOnFailure, "aborts"}, // before anything else starts in a run that ends
	}},
	{mayProceed, []rule{
		{"skip", skipTasks, "blocked"},                         // before others start, so that what waits for the skipped tasks is skipped too
		{"start", startTasks, "single_run"},                    // before the run is finished
		{"finish", finishDone, "single_run"},                   // when nothing could start
		{"stop_out_of_steps", stopOutOfSteps, "review_forced"}, // when there is more to do, and it could not start
	}},
	{isUnderReview, []rule{
		{"merge_versions", mergeVersions, "merged"},      // before the checks, which look at the merged files
		{"ask_checks", askChecks, "review_fix"},          // before the round ends
		{"end_review", endReview, "missing_deliverable"}, // when all checks have answered
	}},
	{isReviewed, []rule{
		{"after_review", finishReviewed, "review_fix"}, // what has passed needs nothing of the rules below
	}},
	{mayReturn, []rule{
		{"adopt_plan_of_check", adoptPlanOfCheck, "review_critic"},      // before repairs, since a check says itself what is to be done
		{"fix_issues", fixIssues, "review_fix"},                         // before an evaluator is asked about what nobody can fix
		{"ask_about_issues", askAboutIssues, "recovery_merge_conflict"}, // before people are asked about what no agent decides
	}},
	{isReviewed, []rule{
		{"ask_people_about_review", askPeopleAboutReview, "review_asks"}, // before the review fails for good
		{"fail_review", failReview, "review_rounds"},                     // when nobody is left who could be asked
	}},
	{hasBudget, []rule{
		{"restart_held", restartHeld, "budget_held"},                    // what fits the budget now starts before anybody is asked for more
		{"budget_exhausted", handleExhausted, "budget_ends"},            // when nothing works that could leave some of the budget
		{"withdraw_shortage", withdrawShortage, "budget_question_gone"}, // when nothing is held back any more
	}},
	{isOpen, []rule{
		{"notify", notifyPeople, "asked_one_at_a_time"}, // people are told of what is asked after all of it is known
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

// applyRules applies the first rule that emits an event, again and again. A run in which they come to no end is ended.
func applyRules(d *Decision, groups []ruleGroup) {
	var last [8]string
	for n := 0; ; n++ {
		if n == mostRules(d) {
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

// mostRules bounds how many rules are applied in one decision: each of them moves something forward that there is a bounded number of.
func mostRules(d *Decision) int { return 64 + 16*(d.Run.TaskCount()+len(d.Run.Inquiries)) }

// applyFirst applies the first rule that emits an event.
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

func isOpen(d *Decision) bool { return d.Run.Phase != workflow.PhaseComplete }

func isDecomposing(d *Decision) bool { return d.Run.Phase == workflow.PhaseDecomposing }

func isRouting(d *Decision) bool { return d.Run.Phase == workflow.PhaseRouting }

func isExecuting(d *Decision) bool { return d.Run.Phase == workflow.PhaseExecuting }

func mayEvaluate(d *Decision) bool { return isExecuting(d) && d.Run.Judge() == nil }

// mayProceed reports whether the plan goes on: no evaluator is asked, or has to be.
func mayProceed(d *Decision) bool { return isExecuting(d) && !awaitsEvaluator(d) }

// isUnderReview reports whether a round of review goes on without waiting for anybody.
func isUnderReview(d *Decision) bool {
	return d.Run.Phase == workflow.PhaseReviewing && d.Run.Review.Outcome == "" && !awaitsReviewer(d)
}

// isReviewed reports whether a round of review has ended, and nobody is asked what becomes of it.
func isReviewed(d *Decision) bool {
	return d.Run.Phase == workflow.PhaseReviewing && d.Run.Review.Outcome != "" && !awaitsReviewer(d)
}

func hasBudget(d *Decision) bool { return d.Profile.Budget != nil && !d.Run.Settled() }

// abortOnFailure ends the run because a task has failed.
func abortOnFailure(d *Decision) {
	if d.Profile.Execution.OnFailure == schemas.FailureAborts && (d.Profile.Replan == nil || !awaitsEvaluator(d)) && hasFailed(d) {
		abort(d)
	}
}

// finishDone goes on when all tasks have ended.
func finishDone(d *Decision) {
	if isDone(d) {
		finish(d)
	}
}
