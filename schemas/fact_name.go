package schemas

// Name returns the fact's name on the ledger, or "" for a fact that this
// version does not know.
func (f *Fact) Name() string {
	name, _, _ := f.kind()
	return name
}

// Run returns the number of the run that the fact is about; 0 is none.
func (f *Fact) Run() int {
	_, run, _ := f.kind()
	return run
}

// Task returns the id of the task that the fact is about, or "".
func (f *Fact) Task() string {
	_, _, task := f.kind()
	return task
}

func (f *Fact) kind() (name string, run int, task string) {
	switch {
	case f.MessageReceived != nil:
		return "message_received", f.MessageReceived.Run, ""
	case f.RunStarted != nil:
		return "run_started", f.RunStarted.Run, ""
	case f.ComplexityAssessed != nil:
		return "complexity_assessed", f.ComplexityAssessed.Run, ""
	case f.PlanCreated != nil:
		return "plan_created", f.PlanCreated.Run, ""
	case f.PlanRefused != nil:
		return "plan_refused", f.PlanRefused.Run, ""
	case f.RunSettled != nil:
		return "run_settled", f.RunSettled.Run, ""
	case f.RunEnded != nil:
		return "run_ended", f.RunEnded.Run, ""
	default:
		return f.taskKind()
	}
}

func (f *Fact) taskKind() (name string, run int, task string) {
	switch {
	case f.TaskRouted != nil:
		return "task_routed", f.TaskRouted.Run, f.TaskRouted.Task
	case f.TaskReady != nil:
		return "task_ready", f.TaskReady.Run, f.TaskReady.Task
	case f.TaskDispatched != nil:
		return "task_dispatched", f.TaskDispatched.Run, f.TaskDispatched.Task
	case f.TaskUnserved != nil:
		return "task_unserved", f.TaskUnserved.Run, f.TaskUnserved.Task
	case f.TaskStarted != nil:
		return "task_started", f.TaskStarted.Run, f.TaskStarted.Task
	case f.TaskProgressed != nil:
		return "task_progressed", f.TaskProgressed.Run, f.TaskProgressed.Task
	case f.TaskHeard != nil:
		return "task_heard", f.TaskHeard.Run, f.TaskHeard.Task
	case f.TaskDelayed != nil:
		return "task_delayed", f.TaskDelayed.Run, f.TaskDelayed.Task
	case f.TaskCompleted != nil:
		return "task_completed", f.TaskCompleted.Run, f.TaskCompleted.Task
	case f.TaskFailed != nil:
		return "task_failed", f.TaskFailed.Run, f.TaskFailed.Task
	case f.TaskSkipped != nil:
		return "task_skipped", f.TaskSkipped.Run, f.TaskSkipped.Task
	case f.TaskCancelled != nil:
		return "task_cancelled", f.TaskCancelled.Run, f.TaskCancelled.Task
	default:
		return f.asideKind()
	}
}

func (f *Fact) asideKind() (name string, run int, task string) {
	switch {
	case f.ResponseLate != nil:
		return "response_late", f.ResponseLate.Run, f.ResponseLate.Task
	case f.EntityMismatched != nil:
		return "entity_mismatched", f.EntityMismatched.Run, f.EntityMismatched.Task
	case f.PermitGranted != nil:
		return "permit_granted", f.PermitGranted.Run, f.PermitGranted.Task
	case f.PermitRefused != nil:
		return "permit_refused", f.PermitRefused.Run, f.PermitRefused.Task
	case f.ReplyWithheld != nil:
		return "reply_withheld", f.ReplyWithheld.Run, ""
	case f.DeliveryBounced != nil:
		return "delivery_bounced", f.DeliveryBounced.Run, ""
	case f.ResendRequested != nil:
		return "resend_requested", f.ResendRequested.Run, ""
	case f.DeliveryReopened != nil:
		return "delivery_reopened", f.DeliveryReopened.Run, ""
	}
	return "", 0, ""
}

// variants counts what the fact says; a fact of this version says one thing.
func (f *Fact) variants() int {
	count := 0
	for _, set := range [...]bool{
		f.MessageReceived != nil, f.RunStarted != nil, f.ComplexityAssessed != nil, f.PlanCreated != nil,
		f.TaskRouted != nil, f.TaskDispatched != nil, f.TaskStarted != nil, f.TaskProgressed != nil,
		f.TaskCompleted != nil, f.TaskFailed != nil, f.TaskSkipped != nil, f.TaskCancelled != nil,
		f.TaskReady != nil, f.TaskUnserved != nil, f.PlanRefused != nil, f.TaskHeard != nil, f.TaskDelayed != nil, f.EntityMismatched != nil,
		f.PermitGranted != nil, f.PermitRefused != nil, f.ReplyWithheld != nil, f.DeliveryBounced != nil, f.ResendRequested != nil, f.DeliveryReopened != nil,
		f.ResponseLate != nil, f.RunSettled != nil, f.RunEnded != nil,
	} {
		if set {
			count++
		}
	}
	return count
}
