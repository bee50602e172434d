package schemas

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// DecodeExecutionRequest reads an execution_request with the verdict of its
// schema, and refuses assignments that disagree with the tasks (M-06). Errors
// are *InvalidMessageError.
func DecodeExecutionRequest(body []byte) (ExecutionRequest, error) {
	request, err := readMessage[ExecutionRequest](ExecutionRequestType, body)
	if err == nil {
		err = request.Payload.checkAssignments()
	}
	if err != nil {
		return ExecutionRequest{}, err
	}
	return request, nil
}

// DecodeExecutionResponse reads an execution_response with the verdict of its
// schema. Errors are *InvalidMessageError.
func DecodeExecutionResponse(body []byte) (ExecutionResponse, error) {
	return readMessage[ExecutionResponse](ExecutionResponseType, body)
}

// DecodeProgressUpdate reads a progress_update with the verdict of its schema,
// and refuses one that places a task twice (M-15). Errors are
// *InvalidMessageError.
func DecodeProgressUpdate(body []byte) (ProgressUpdate, error) {
	update, err := readMessage[ProgressUpdate](ProgressUpdateType, body)
	if err == nil {
		err = update.Payload.checkPlaces()
	}
	if err != nil {
		return ProgressUpdate{}, err
	}
	return update, nil
}

// checkAssignments refuses assignments that are given and differ from the
// tasks' own (M-06).
func (p *RequestPayload) checkAssignments() error {
	if len(p.AgentAssignments) == 0 {
		return nil
	}
	assigned := map[string]string{}
	for i := range p.Tasks {
		assigned[p.Tasks[i].TaskID] = p.Tasks[i].AssignedTo
	}
	for _, agent := range slices.Sorted(maps.Keys(p.AgentAssignments)) {
		for i, task := range p.AgentAssignments[agent] {
			if assigned[task] != agent {
				return &InvalidMessageError{
					Pointer: "/payload/agent_assignments" + string(jsontext.Pointer("").AppendToken(agent)) + "/" + strconv.Itoa(i),
					Reason:  "is not a task whose assigned_to is this agent",
				}
			}
		}
	}
	for i := range p.Tasks {
		if !slices.Contains(p.AgentAssignments[p.Tasks[i].AssignedTo], p.Tasks[i].TaskID) {
			return &InvalidMessageError{
				Pointer: "/payload/tasks/" + strconv.Itoa(i) + "/assigned_to",
				Reason:  "does not stand in agent_assignments",
			}
		}
	}
	return nil
}

// checkPlaces refuses a task that stands in two of the lists or twice in one (M-15).
func (p *ProgressPayload) checkPlaces() error {
	seen := map[string]bool{}
	var problem error
	place := func(list string, i int, task string) {
		if seen[task] && problem == nil {
			problem = &InvalidMessageError{
				Pointer: "/payload/" + list + "/" + strconv.Itoa(i),
				Reason:  "names a task that is placed already",
			}
		}
		seen[task] = true
	}
	for i, task := range p.TasksCompleted {
		place("tasks_completed", i, task)
	}
	for i := range p.TasksInProgress {
		place("tasks_in_progress", i, p.TasksInProgress[i].TaskID)
	}
	for i, task := range p.TasksPending {
		place("tasks_pending", i, task)
	}
	for i := range p.TasksBlocked {
		place("tasks_blocked", i, p.TasksBlocked[i].TaskID)
	}
	for i, task := range p.TasksFailed {
		place("tasks_failed", i, task)
	}
	for i, task := range p.TasksSkipped {
		place("tasks_skipped", i, task)
	}
	return problem
}
