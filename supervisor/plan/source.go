package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// ErrNoPlan reports an answer that holds no plan.
var ErrNoPlan = errors.New("the answer holds no plan")

// ReadPlan takes a plan out of a planner's answer: from its data, else from the
// JSON in its text, which may stand in a fence or between sentences (O-34). A
// plan is {"tasks": […]} in the words of an execution_request, {"steps": […]}
// with one sentence each (C-03), or that list alone; steps follow each other.
func ReadPlan(result schemas.Result) ([]schemas.PlannedTask, error) {
	candidates := [][]byte{result.Data}
	if len(result.Data) == 0 {
		candidates = jsonIn(result.Text)
	}
	err := ErrNoPlan
	for _, candidate := range candidates {
		var tasks []schemas.PlannedTask
		if tasks, err = readPlan(candidate); err == nil {
			return tasks, nil
		}
	}
	return nil, err
}

func readPlan(body []byte) ([]schemas.PlannedTask, error) {
	var steps []string
	if schemas.Unmarshal(body, &steps) == nil && len(steps) > 0 {
		return sequence(steps), nil
	}
	var plan struct {
		Steps []string       `json:"steps"`
		Tasks []schemas.Task `json:"tasks"`
	}
	if err := schemas.Unmarshal(body, &plan); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPlan, err)
	}
	switch {
	case len(plan.Tasks) > 0:
		return planned(plan.Tasks), nil
	case len(plan.Steps) > 0:
		return sequence(plan.Steps), nil
	}
	return nil, fmt.Errorf("%w: neither tasks nor steps", ErrNoPlan)
}

// jsonIn returns the JSON values of a text that begin with a brace or a bracket,
// the longest first.
func jsonIn(text string) [][]byte {
	const tries = 16
	var found [][]byte
	rest := []byte(text)
	for range tries {
		at := strings.IndexAny(string(rest), "{[")
		if at < 0 {
			break
		}
		rest = rest[at:]
		value, err := jsontext.NewDecoder(strings.NewReader(string(rest))).ReadValue()
		if err != nil {
			rest = rest[1:]
			continue
		}
		found = append(found, value.Clone())
		rest = rest[len(value):]
	}
	for i := 1; i < len(found); i++ {
		for j := i; j > 0 && len(found[j]) > len(found[j-1]); j-- {
			found[j], found[j-1] = found[j-1], found[j]
		}
	}
	return found
}

func sequence(steps []string) []schemas.PlannedTask {
	tasks := make([]schemas.PlannedTask, len(steps))
	for i, step := range steps {
		tasks[i] = schemas.PlannedTask{Task: "t" + strconv.Itoa(i+1), Description: text(step)}
		if i > 0 {
			tasks[i].Dependencies = []string{tasks[i-1].Task}
		}
	}
	return tasks
}

func text(words string) schemas.Body { return schemas.Body{Result: schemas.Result{Text: words}} }

// planned reads the tasks of an execution_request as a plan.
func planned(tasks []schemas.Task) []schemas.PlannedTask {
	plan := make([]schemas.PlannedTask, len(tasks))
	for i := range tasks {
		task := &tasks[i]
		plan[i] = schemas.PlannedTask{
			Task: task.TaskID, Description: text(task.Description), Dependencies: task.Dependencies,
			Agent: task.AssignedTo, Priority: task.Priority, Optional: task.Optional,
			Seconds: task.EstimatedTimeSeconds, Tokens: task.EstimatedTokens, Resources: task.Resources,
			Arguments: task.Context.Arguments, Constraints: task.Context.Constraints,
			Deliverables: task.Deliverables, ValidationCriteria: task.ValidationCriteria,
			FilesToModify: task.Context.FilesToModify, References: task.Context.References,
		}
	}
	return plan
}
