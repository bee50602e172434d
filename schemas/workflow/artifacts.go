package workflow

import (
	"slices"

	"podium/schemas"
)

// Granted are the artifacts that the request for a task grants to its agent: those
// of the results that it builds on, those that came with the run's own request, and
// those of the plan. A judge builds on all results.
func (r *Run) Granted(task *Task) []string {
	granted := slices.Clone(r.ArgumentArtifacts())
	if task.Kind.AsksEvaluator() {
		for _, done := range r.Tasks {
			granted = append(granted, done.Proven...)
		}
	}
	for _, id := range task.Dependencies() {
		if dependency := r.Standing(id); dependency != nil {
			granted = append(granted, dependency.Proven...)
		}
	}
	return granted
}

// ArgumentArtifacts are those that the arguments of the run's tasks may name: those
// that came with its request, and those that its planner may pass on.
func (r *Run) ArgumentArtifacts() []string {
	brought := r.Message.Proven
	for i := range r.DecisionTasks {
		if kind := r.DecisionTasks[i].Kind; kind == schemas.TaskKindPlan || kind.AsksEvaluator() {
			brought = append(slices.Clip(brought), r.DecisionTasks[i].Proven...)
		}
	}
	return brought
}
