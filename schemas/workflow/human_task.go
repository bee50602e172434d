package workflow

import (
	"fmt"
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
)

// A humanTaskRule says what human tasks of one kind do to the task that they are about.
type humanTaskRule interface {
	// check returns why a human task may not be opened.
	check(run *Run, task *Task, opened *schemas.InquiryOpened) error
	// suspend changes the task when a human task about it opens.
	suspend(task *Task, opened *schemas.InquiryOpened)
	// resume changes the run when the human task has ended.
	resume(run *Run, ended *Inquiry)
}

func ruleOf(kind schemas.HumanTaskKind) humanTaskRule {
	switch kind {
	case schemas.HumanTaskInput:
		return inputRule{}
	case schemas.HumanTaskWork:
		return workRule{}
	case schemas.HumanTaskApproval:
		return approvalRule{}
	case schemas.HumanTaskAnswerApproval:
		return answerApprovalRule{}
	case schemas.HumanTaskFailure:
		return failureRule{}
	case schemas.HumanTaskBudget:
		return budgetRule{}
	case schemas.HumanTaskReview:
		return reviewRule{}
	}
	return unknownRule{kind: kind}
}

// An inputRule has the task wait for input, and continue with the reply.
type inputRule struct{}

func (inputRule) check(run *Run, task *Task, opened *schemas.InquiryOpened) error {
	if err := checkPlanned(run, task, opened); err != nil {
		return err
	}
	if opened.After > 0 {
		return checkAskedAgain(run, task, opened)
	}
	return checkWaits(run, task, opened)
}

func (inputRule) suspend(task *Task, opened *schemas.InquiryOpened) {
	task.suspend(TaskWaitingInput, opened)
}

func (inputRule) resume(run *Run, ended *Inquiry) {
	if ended.Answered != nil {
		resumeTask(run, ended.Task)
	}
}

// A workRule has the task wait for its result.
type workRule struct{}

func (workRule) check(run *Run, task *Task, opened *schemas.InquiryOpened) error {
	if err := checkPlanned(run, task, opened); err != nil {
		return err
	}
	if opened.After > 0 && !saysWrongly(run, opened) {
		return fmt.Errorf("inquiry %d does not follow the answer to inquiry %d", opened.Inquiry, opened.After)
	}
	return checkWaits(run, task, opened)
}

func (workRule) suspend(task *Task, opened *schemas.InquiryOpened) {
	task.suspend(TaskWaitingInput, opened)
}

func (workRule) resume(*Run, *Inquiry) {} // the reply is the result of the task

// An approvalRule has the task wait until enough people approve it.
type approvalRule struct{}

func (approvalRule) check(run *Run, task *Task, opened *schemas.InquiryOpened) error {
	if err := checkPlanned(run, task, opened); err != nil {
		return err
	}
	switch {
	case opened.After > 0:
		return checkAskedAgain(run, task, opened)
	case opened.Attempt == 0 && task.State == TaskWaiting:
		return nil // its next attempt needs an approval of its own
	case opened.Attempt == 0 && task.State == TaskWaitingApproval && asksBeside(run, opened):
		return nil
	}
	return checkWaits(run, task, opened)
}

func (approvalRule) suspend(task *Task, opened *schemas.InquiryOpened) {
	task.suspend(TaskWaitingApproval, opened)
}

func (approvalRule) resume(run *Run, ended *Inquiry) {
	if ended.Approved() {
		resumeTask(run, ended.Task)
	}
}

// An answerApprovalRule has the delivery wait until enough people approve the answer.
type answerApprovalRule struct{ approvalRule }

func (answerApprovalRule) check(run *Run, _ *Task, opened *schemas.InquiryOpened) error {
	return checkHeld(run, opened)
}

// A failureRule leaves the task blocked, and has it tried once more if people say so.
type failureRule struct{}

func (failureRule) check(run *Run, task *Task, opened *schemas.InquiryOpened) error {
	if err := checkPlanned(run, task, opened); err != nil {
		return err
	}
	return checkEscalation(run, task, opened)
}

func (failureRule) suspend(*Task, *schemas.InquiryOpened) {} // it is blocked, and its attempt has failed

// resume makes the task due if people have decided to retry it. Where the effect of the failed attempt is unknown, it may have a permit once more.
func (failureRule) resume(run *Run, ended *Inquiry) {
	task := changeTask(run, ended.Task)
	if ended.Answered == nil || ended.Answered.Choice != schemas.ChoiceRetry || task == nil || task.State != TaskBlocked {
		return
	}
	task.State, task.Released = TaskDue, true
	if task.Failure().Cause == schemas.FailureUnknownEffect && !fault.Is("a retry of what nobody knows keeps the permit") {
		task.Permit, task.Retried = "", int32(ended.Inquiry) //nolint:gosec // at most schemas.MaxInquiries
	}
}

// A budgetRule changes no task: the tasks wait for the budget.
type budgetRule struct{}

func (budgetRule) check(run *Run, task *Task, opened *schemas.InquiryOpened) error {
	return checkShortage(run, task, opened)
}

func (budgetRule) suspend(*Task, *schemas.InquiryOpened) {}

func (budgetRule) resume(*Run, *Inquiry) {}

// A reviewRule is about no task.
type reviewRule struct{}

func (reviewRule) check(run *Run, _ *Task, opened *schemas.InquiryOpened) error {
	return checkOfReview(run, opened)
}

func (reviewRule) suspend(*Task, *schemas.InquiryOpened) {}

func (reviewRule) resume(*Run, *Inquiry) {}

// An unknownRule is that of a kind which no record has.
type unknownRule struct{ kind schemas.HumanTaskKind }

func (u unknownRule) check(*Run, *Task, *schemas.InquiryOpened) error {
	return fmt.Errorf("no human task is of kind %q", u.kind)
}

func (unknownRule) suspend(*Task, *schemas.InquiryOpened) {}

func (unknownRule) resume(*Run, *Inquiry) {}

// checkPlanned returns an error unless a human task is about a task of the plan, in a run without a result.
func checkPlanned(r *Run, task *Task, opened *schemas.InquiryOpened) error {
	switch {
	case task == nil || task.Plan == nil:
		return notPlanned(opened.Task)
	case r.Settled():
		return errSettled
	}
	return nil
}

// checkWaits returns an error unless a task that was not begun, or its attempt under way, may wait for people.
func checkWaits(r *Run, task *Task, opened *schemas.InquiryOpened) error {
	open := func(other *Inquiry) bool { return other.Open() && other.Task == opened.Task }
	switch {
	case opened.Attempt > 0:
		return task.current(opened.Attempt)
	case task.State.WaitsForPerson() && !slices.ContainsFunc(r.Inquiries, open):
		return nil // it is asked anew
	case task.State != TaskPending && task.State != TaskReady && task.State != TaskDue:
		return fmt.Errorf("task %q is %s", opened.Task, task.State)
	}
	return nil
}

// suspend has a task wait for people. An attempt that has led to it is over, and its permit was not used.
func (t *Task) suspend(state TaskState, opened *schemas.InquiryOpened) {
	t.State, t.Unserved, t.Due, t.Tokens, t.Held = state, nil, time.Time{}, t.Tokens+opened.Tokens, false
	t.letGo(time.Time{})
	if opened.Attempt > 0 && opened.After == 0 {
		t.Permit, t.Inquired = "", t.Inquired+1
	}
}

// resumeTask makes a task due that waits for people.
func resumeTask(r *Run, id string) {
	if task := changeTask(r, id); task != nil && task.State.WaitsForPerson() {
		task.State, task.Released = TaskDue, true
	}
}
