package schemas

// HumanTaskKind says what a human task asks people for.
type HumanTaskKind string

// The kinds of human task.
const (
	// HumanTaskInput asks the requester for input that a task lacks. The next attempt of the task receives the reply.
	HumanTaskInput HumanTaskKind = "input"
	// HumanTaskWork asks people to do a task. The reply is the result of the task.
	HumanTaskWork HumanTaskKind = "work"
	// HumanTaskApproval asks people to approve a task, or the operation that its agent has proposed.
	HumanTaskApproval HumanTaskKind = "approval"
	// HumanTaskAnswerApproval asks people to approve the answer of a run before it is delivered.
	HumanTaskAnswerApproval HumanTaskKind = "answer_approval"
	// HumanTaskFailure asks people how a run goes on after a task has failed. The task is blocked until they reply.
	HumanTaskFailure HumanTaskKind = "failure"
	// HumanTaskBudget asks people to raise a budget. It names the first task that waits for the budget.
	HumanTaskBudget HumanTaskKind = "budget"
	// HumanTaskReview asks people how a run goes on after its review has failed. It is about no task: Task is ReviewInput of the round.
	HumanTaskReview HumanTaskKind = "review"
)

// A humanTaskTraits holds what all human tasks of one kind have in common.
type humanTaskTraits struct {
	// restricted kinds take replies only from a person who is asked and proves who they are: knowing the email that asks is not enough.
	restricted bool
	// separate kinds take no reply from the requester of the run who is asked by name.
	separate bool
	approval bool // of a task or of the answer
	failure  bool // of a task or of the review
}

func (k HumanTaskKind) traits() humanTaskTraits {
	switch k {
	case HumanTaskApproval, HumanTaskAnswerApproval:
		return humanTaskTraits{restricted: true, separate: true, approval: true}
	case HumanTaskFailure, HumanTaskReview:
		return humanTaskTraits{restricted: true, failure: true}
	case HumanTaskBudget:
		return humanTaskTraits{restricted: true, separate: true}
	case HumanTaskInput, HumanTaskWork:
	}
	return humanTaskTraits{}
}

// Choices returns the choices that a reply to a human task of the kind may make.
func (k HumanTaskKind) Choices() []InquiryChoice {
	switch k {
	case HumanTaskWork:
		return []InquiryChoice{ChoiceAnswer, ChoiceReject}
	case HumanTaskApproval, HumanTaskAnswerApproval:
		return []InquiryChoice{ChoiceApprove, ChoiceReject}
	case HumanTaskFailure, HumanTaskReview:
		return []InquiryChoice{ChoiceRetry, ChoiceSkip, ChoiceAnswer, ChoiceReplan, ChoiceEnd}
	case HumanTaskBudget:
		return []InquiryChoice{ChoiceRaise, ChoiceReject}
	case HumanTaskInput:
	}
	return []InquiryChoice{ChoiceAnswer}
}

// IsRestricted reports whether a reply has to come from a person who is asked and proves who they are, or from the operator: knowing the email that
// asks is not enough.
func (k HumanTaskKind) IsRestricted() bool { return k.traits().restricted }

// ExcludesRequester reports whether the requester of a run may not reply to a human task that asks them by name.
func (k HumanTaskKind) ExcludesRequester() bool { return k.traits().separate }

// IsApproval reports whether people are asked to approve a task or the answer.
func (k HumanTaskKind) IsApproval() bool { return k.traits().approval }

// IsAboutFailure reports whether people are asked how a run goes on after a failure of a task or of the review.
func (k HumanTaskKind) IsAboutFailure() bool { return k.traits().failure }

// IsInput reports whether the reply is input for the task.
func (k HumanTaskKind) IsInput() bool { return k == HumanTaskInput }

// IsWork reports whether the reply is the result of the task.
func (k HumanTaskKind) IsWork() bool { return k == HumanTaskWork }

// IsBudget reports whether people are asked to raise a budget.
func (k HumanTaskKind) IsBudget() bool { return k == HumanTaskBudget }

// IsTaskFailure reports whether people are asked how a run goes on after the failure of a task.
func (k HumanTaskKind) IsTaskFailure() bool { return k == HumanTaskFailure }

// IsReview reports whether people are asked how a run goes on after its review has failed.
func (k HumanTaskKind) IsReview() bool { return k == HumanTaskReview }

// A Rejection is why a reply to a human task changes nothing; empty is that it is accepted.
type Rejection string
