package schemas

import (
	"maps"
	"slices"
)

// A Reason is a code, and the values that its sentence names. Package say has the sentence of each code, so that a
// better sentence changes no event.
type Reason struct {
	Code   ReasonCode        `json:"code"`
	Values map[string]string `json:"values,omitzero"`
}

// Because returns a reason with values, each after its name.
func Because(code ReasonCode, values ...string) Reason {
	reason := Reason{Code: code}
	if len(values) > 0 {
		reason.Values = make(map[string]string, len(values)/2)
	}
	for i := 0; i+1 < len(values); i += 2 {
		reason.Values[values[i]] = values[i+1]
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

// Same reports whether two reasons are equal.
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
	PlanHasFaults           ReasonCode = "plan_has_faults" // the reasons after it say which
	PlanMissing             ReasonCode = "plan_missing"
	PlanNotFound            ReasonCode = "plan_not_found" // in the answer of a planner
	PlanWithoutTasks        ReasonCode = "plan_without_tasks"
	PlanEmpty               ReasonCode = "plan_empty"
	PlanTooLarge            ReasonCode = "plan_too_large"
	PlanHasCycle            ReasonCode = "plan_has_cycle"
	PlanNeedsTokens         ReasonCode = "plan_needs_tokens"
	PlanTakesTime           ReasonCode = "plan_takes_time"
	PlanChain               ReasonCode = "plan_chain"
	PlanAlreadyDone         ReasonCode = "plan_already_done"
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
	TaskTooManyResources    ReasonCode = "task_too_many_resources"
	TaskResourceName        ReasonCode = "task_resource_name"
	TaskArgumentsNoObject   ReasonCode = "task_arguments_no_object"
	TaskConstraintsNoObject ReasonCode = "task_constraints_no_object"
	TaskValuesTooDeep       ReasonCode = "task_values_too_deep"
)

// What is wrong with an answer.
const (
	AnswerNotJSON        ReasonCode = "answer_not_json"
	AnswerWrongType      ReasonCode = "answer_wrong_type"
	AnswerDuplicateName  ReasonCode = "answer_duplicate_name"
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
	ArgumentInvalid         ReasonCode = "argument_invalid"
	InputMissing            ReasonCode = "input_missing"
	Unanswered              ReasonCode = "unanswered"
	WorkDeclined            ReasonCode = "work_declined"     // by the person who was to do it
	ApprovalRejected        ReasonCode = "approval_rejected" // by a person who was asked to approve it
	EffectUnapproved        ReasonCode = "effect_unapproved" // it acts outside because of what comes from outside
	ApprovalRejectedBecause ReasonCode = "approval_rejected_because"
	OutOfBudget             ReasonCode = "out_of_budget"
	OutOfDayBudget          ReasonCode = "out_of_day_budget"
	ApproversUnreachable    ReasonCode = "approvers_unreachable"
	CircuitOpen             ReasonCode = "circuit_open"
	FailureCause            ReasonCode = "failure_cause"
	VersionsDiffer          ReasonCode = "versions_differ"
)

// What a review has found by rule.
const (
	DeliverableMissing  ReasonCode = "deliverable_missing"
	TooManyDeliverables ReasonCode = "too_many_deliverables"
	ValuesDiffer        ReasonCode = "values_differ"
	CheckFailed         ReasonCode = "check_failed"
	CheckNotMade        ReasonCode = "check_not_made"
)

// Why a run has ended without its work done.
const (
	RunTaskFailed      ReasonCode = "run_task_failed"
	RunTaskUnrouted    ReasonCode = "run_task_unrouted"
	RunRouterFailed    ReasonCode = "run_router_failed"
	RunInputMissing    ReasonCode = "run_input_missing"
	RunAuthorUnknown   ReasonCode = "run_author_unknown"
	RunEffectTainted   ReasonCode = "run_effect_tainted"
	RunOtherLanguage   ReasonCode = "run_other_language"
	RunResultPartial   ReasonCode = "run_result_partial"
	RunOutOfSteps      ReasonCode = "run_out_of_steps"
	RunCondition       ReasonCode = "run_condition"
	RunWithoutAnswer   ReasonCode = "run_without_answer"
	RunResultWrong     ReasonCode = "run_result_wrong"
	RunReviewFailed    ReasonCode = "run_review_failed"
	RunCancelledByHand ReasonCode = "run_cancelled"
	RunDeadline        ReasonCode = "run_deadline"
	RunRuleLimit       ReasonCode = "run_rule_limit"
	RunBeyondBudget    ReasonCode = "run_beyond_budget"
	BudgetOfRun        ReasonCode = "budget_of_run"
	BudgetOfAgent      ReasonCode = "budget_of_agent"
	BudgetOfDay        ReasonCode = "budget_of_day"
	BudgetOfAgentDay   ReasonCode = "budget_of_agent_day"
	BudgetTokens       ReasonCode = "budget_tokens"
	BudgetSeconds      ReasonCode = "budget_seconds"
	BudgetCost         ReasonCode = "budget_cost"
)
