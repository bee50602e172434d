package session

import (
	"cmp"
	"slices"

	"podium/schemas"
	"podium/schemas/workflow"
)

// handOn adds what the agents of a run have said beside their results to the response for whoever
// asked: nothing of it is lost on the way through a tier.
func handOn(payload *schemas.ResponsePayload, run *workflow.Run) {
	if run.Edition < schemas.Edition1 {
		return
	}
	for _, task := range run.Tasks {
		said := task.Said()
		for _, issue := range said.Issues {
			issue.TaskID, issue.Agent = cmp.Or(issue.TaskID, task.ID), cmp.Or(issue.Agent, task.Agent)
			if task.State == workflow.TaskCompleted && issue.Resolution == schemas.ResolutionEscalated {
				issue.Resolution = schemas.ResolutionDeferred // the task is done all the same
			}
			told := slices.ContainsFunc(payload.IssuesEncountered, func(other schemas.Issue) bool {
				return other.TaskID == issue.TaskID && other.Description == issue.Description
			})
			if !told {
				payload.IssuesEncountered = append(payload.IssuesEncountered, issue)
			}
		}
		payload.ValidationResults = append(payload.ValidationResults, said.ValidationResults...)
		for _, advice := range said.Recommendations {
			if !slices.Contains(payload.Recommendations, advice) {
				payload.Recommendations = append(payload.Recommendations, advice)
			}
		}
		if failure := task.Failure(); task.State == workflow.TaskFailed && failure.Cause == schemas.FailureBlocked {
			payload.Needs = append(payload.Needs, failure.Needs...)
			if payload.Operation == nil {
				payload.Operation = failure.Operation
			}
		}
	}
	payload.Needs = payload.Needs[:min(len(payload.Needs), schemas.MaxNeeds)]
}
