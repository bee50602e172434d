package workflow

import "podium/schemas"

// NewDelivery returns the task that delivers an answer by an agent, before it is known to a run.
func NewDelivery(agent string) *Task {
	return &Task{ID: schemas.DeliveryTask, Kind: schemas.TaskKindDeliver, Agent: agent}
}

// NewPlanner returns the question to an agent for a plan, before it is known to a run.
func NewPlanner(agent string) *Task {
	return &Task{ID: schemas.PlanTask, Kind: schemas.TaskKindPlan, Agent: agent}
}

// NewAssessment returns the question to an agent how well it could do a task of the plan.
func NewAssessment(task, agent string) *Task {
	return &Task{ID: schemas.AssessTask(task, agent), Kind: schemas.TaskKindAssess, Agent: agent, About: &schemas.TaskAbout{Task: task}}
}

// NewRouting returns the question to an agent who is to do a task of the plan.
func NewRouting(task, agent string) *Task {
	return &Task{ID: schemas.RouteTask(task, agent), Kind: schemas.TaskKindRoute, Agent: agent, About: &schemas.TaskAbout{Task: task}}
}

// NewExtraction returns the question to an agent for the arguments of a task of the plan.
func NewExtraction(task, agent string) *Task {
	return &Task{ID: schemas.ExtractTask(task, agent), Kind: schemas.TaskKindExtract, Agent: agent, About: &schemas.TaskAbout{Task: task}}
}

// NewEvaluation returns the run's next question to an evaluator after a step or a failure.
func (r *Run) NewEvaluation(trigger schemas.EvaluationTrigger, agent string) *Task {
	id := schemas.EvaluateTask(trigger, r.Judges(schemas.Occasion(trigger))+1)
	return &Task{ID: id, Kind: schemas.TaskKindEvaluate, Agent: agent, About: &schemas.TaskAbout{Trigger: trigger}}
}

// NewMerge returns the run's next question to an agent to merge versions of files.
func (r *Run) NewMerge(agent string) *Task {
	return &Task{ID: schemas.MergeTask(r.Judges(schemas.OccasionMerge) + 1), Kind: schemas.TaskKindMerge, Agent: agent}
}

// NewCheck returns the question to a check in a round of review.
func NewCheck(agent string, round int) *Task {
	return &Task{ID: schemas.CheckTask(agent, round), Kind: schemas.TaskKindCheck, Agent: agent}
}

// NewSummary returns the question to an agent for one text about all results.
func NewSummary(agent string) *Task {
	return &Task{ID: schemas.SummarizeTask, Kind: schemas.TaskKindSummarize, Agent: agent}
}

// NewNotification returns the task that tells people of an inquiry: the question, or the reminder.
func NewNotification(inquiry int, kind schemas.NotificationKind) *Task {
	n := 1
	if kind == schemas.NotificationReminder {
		n = 2
	}
	return &Task{ID: schemas.NoticeTask(inquiry, n), Kind: schemas.TaskKindNotify, About: &schemas.TaskAbout{HumanTask: inquiry, Notification: kind}}
}

// NewExplanation returns the task that tells people for the n-th time how an inquiry is decided.
func NewExplanation(inquiry, n int) *Task {
	about := schemas.TaskAbout{HumanTask: inquiry, Notification: schemas.NotificationExplanation}
	return &Task{ID: schemas.ExplanationTask(inquiry, n), Kind: schemas.TaskKindNotify, About: &about}
}
