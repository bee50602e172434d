package schemas

import (
	"fmt"
	"maps"
	"slices"
)

// A Reason says why something is so: a code, and the values that its sentence names. Package say has the sentence of each code, so that an event
// stays the same when the sentence becomes a better one.
type Reason struct {
	Code   ReasonCode        `json:"code"`
	Values map[string]string `json:"values,omitzero"`
}

// Because returns a reason with values, each behind its name. Numbers are written in decimal.
func Because(code ReasonCode, values ...any) Reason {
	reason := Reason{Code: code}
	for i := 0; i+1 < len(values); i += 2 {
		if reason.Values == nil {
			reason.Values = make(map[string]string, len(values)/2)
		}
		reason.Values[fmt.Sprint(values[i])] = fmt.Sprint(values[i+1])
	}
	return reason
}

// MapValues returns the reason with its values changed.
func (r Reason) MapValues(change func(name, value string) string) Reason {
	changed := Reason{Code: r.Code}
	for _, name := range slices.Sorted(maps.Keys(r.Values)) {
		if changed.Values == nil {
			changed.Values = make(map[string]string, len(r.Values))
		}
		changed.Values[name] = change(name, r.Values[name])
	}
	return changed
}

// Same reports whether two reasons are one.
func (r Reason) Same(other Reason) bool {
	return r.Code == other.Code && maps.Equal(r.Values, other.Values)
}

// Size returns how many bytes the code and the values have.
func (r Reason) Size() int {
	size := len(r.Code)
	for _, name := range slices.Sorted(maps.Keys(r.Values)) {
		size += len(name) + len(r.Values[name])
	}
	return size
}

// ReasonCode names a reason.
type ReasonCode string

// What is wrong with a plan.
const (
	PlanHasFaults           ReasonCode = "plan_has_faults" // the reasons behind it say which
	PlanMissing             ReasonCode = "plan_missing"
	PlanNotFound            ReasonCode = "plan_not_found" // in the answer of a planner
	PlanWithoutTasks        ReasonCode = "plan_without_tasks"
	PlanEmpty               ReasonCode = "plan_empty"
	PlanTooLarge            ReasonCode = "plan_too_large"
	PlanHasCycle            ReasonCode = "plan_has_cycle"
	PlanNeedsTokens         ReasonCode = "plan_needs_tokens"
	PlanTakesTime           ReasonCode = "plan_takes_time"
	PlanChain               ReasonCode = "plan_chain"
	PlanDone                ReasonCode = "plan_done"
	MoreReasons             ReasonCode = "more_reasons"
	TaskIDLength            ReasonCode = "task_id_length"
	TaskIDReserved          ReasonCode = "task_id_reserved"
	TaskIDTaken             ReasonCode = "task_id_taken"
	TaskIDOfAnother         ReasonCode = "task_id_of_another" // the run has a task of this id that says something else
	TaskHasEnded            ReasonCode = "task_has_ended"
	TaskDependencyUnknown   ReasonCode = "task_dependency_unknown"
	TaskDependencyRepeated  ReasonCode = "task_dependency_repeated"
	TaskDependencyFailed    ReasonCode = "task_dependency_failed"
	TaskAgentUnknown        ReasonCode = "task_agent_unknown"
	TaskAgentUnavailable    ReasonCode = "task_agent_unavailable"
	TaskPriorityUnknown     ReasonCode = "task_priority_unknown"
	TaskSecondsRange        ReasonCode = "task_seconds_range"
	TaskTokensRange         ReasonCode = "task_tokens_range"
	TaskResourcesMany       ReasonCode = "task_resources_many"
	TaskResourceName        ReasonCode = "task_resource_name"
	TaskArgumentsNoObject   ReasonCode = "task_arguments_no_object"
	TaskConstraintsNoObject ReasonCode = "task_constraints_no_object"
	TaskValuesDeep          ReasonCode = "task_values_deep"
)

// What is wrong with an answer.
const (
	AnswerNotJSON        ReasonCode = "answer_not_json"
	AnswerWrongType      ReasonCode = "answer_wrong_type"
	AnswerNameTwice      ReasonCode = "answer_name_twice"
	AnswerUnreadable     ReasonCode = "answer_unreadable"
	AnswerWithoutVerdict ReasonCode = "answer_without_verdict"
	AnswerTwoVerdicts    ReasonCode = "answer_two_verdicts"
	AnswerTooLong        ReasonCode = "answer_too_long"
	AnswerWithoutSummary ReasonCode = "answer_without_summary"
	AnswerWithoutResults ReasonCode = "answer_without_results" // of a check
	ResultInvalid        ReasonCode = "result_invalid"
	ResultLanguage       ReasonCode = "result_language"
	QuestionLanguage     ReasonCode = "question_language"
)

// Why a task was not done, where its agent does not say so.
const (
	ArgumentInvalid    ReasonCode = "argument_invalid"
	InputLacking       ReasonCode = "input_lacking"
	Unanswered         ReasonCode = "unanswered"
	Declined           ReasonCode = "declined"    // by somebody who was to do it
	Disapproved        ReasonCode = "disapproved" // by somebody who was asked to approve it
	Unapproved         ReasonCode = "unapproved"  // it acts outside because of what comes from outside
	DisapprovedBecause ReasonCode = "disapproved_because"
	OutOfBudget        ReasonCode = "out_of_budget"
	OutOfDayBudget     ReasonCode = "out_of_day_budget"
	NobodyAsked        ReasonCode = "nobody_asked"
	CircuitOpen        ReasonCode = "circuit_open"
	FailedBy           ReasonCode = "failed_by"
	VersionsDiffer     ReasonCode = "versions_differ"
)

// What a review has found by rule.
const (
	DeliverableMissing ReasonCode = "deliverable_missing"
	DeliverablesMany   ReasonCode = "deliverables_many"
	ValuesDiffer       ReasonCode = "values_differ"
	CheckFailed        ReasonCode = "check_failed"
	CheckNotMade       ReasonCode = "check_not_made"
)

// Why a run has ended without its work done.
const (
	RunTaskFailed      ReasonCode = "run_task_failed"
	RunTaskUnrouted    ReasonCode = "run_task_unrouted"
	RunRouterFailed    ReasonCode = "run_router_failed"
	RunLacks           ReasonCode = "run_lacks"
	RunAuthorUnknown   ReasonCode = "run_author_unknown"
	RunActsOnOutside   ReasonCode = "run_acts_on_outside"
	RunOtherLanguage   ReasonCode = "run_other_language"
	RunResultPartial   ReasonCode = "run_result_partial"
	RunOutOfSteps      ReasonCode = "run_out_of_steps"
	RunCondition       ReasonCode = "run_condition"
	RunWithoutAnswer   ReasonCode = "run_without_answer"
	RunResultWrong     ReasonCode = "run_result_wrong"
	RunReviewFailed    ReasonCode = "run_review_failed"
	RunCancelledByHand ReasonCode = "run_cancelled"
	RunDeadline        ReasonCode = "run_deadline"
	RunRulesEndless    ReasonCode = "run_rules_endless"
	RunBeyondBudget    ReasonCode = "run_beyond_budget"
	BudgetOfRun        ReasonCode = "budget_of_run"
	BudgetOfAgent      ReasonCode = "budget_of_agent"
	BudgetOfDay        ReasonCode = "budget_of_day"
	BudgetOfAgentDay   ReasonCode = "budget_of_agent_day"
	BudgetTokens       ReasonCode = "budget_tokens"
	BudgetSeconds      ReasonCode = "budget_seconds"
	BudgetCost         ReasonCode = "budget_cost"
)
