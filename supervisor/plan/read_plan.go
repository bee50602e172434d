package plan

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/reference"
)

// ErrNoPlan reports an answer that holds no plan.
var ErrNoPlan = errors.New("the answer holds no plan")

// ReadPlan takes a plan out of a planner's answer: from its data, else from the
// JSON in its text, which may stand in a fence or between sentences (O-34). A
// plan is {"tasks": […]} in the words of an execution_request, {"steps": […]}
// with one sentence each (C-03), or that list alone; steps follow each other.
// The error is ErrNoPlan, and says what is wrong with what comes closest.
func ReadPlan(result schemas.Result) ([]schemas.PlannedTask, error) {
	candidates := jsonIn(result.Text)
	if len(result.Data) > 0 {
		candidates = append([][]byte{result.Data}, candidates...)
	}
	closest := ErrNoPlan
	for i, candidate := range candidates {
		tasks, err := readPlan(candidate)
		if err == nil {
			return tasks, nil
		}
		if i == 0 {
			closest = err
		}
	}
	return nil, closest
}

func readPlan(body []byte) ([]schemas.PlannedTask, error) {
	body, _ = reference.TakeGrants(body) // a plan stands in records
	if jsontext.Value(body).Kind() == '[' {
		var steps []string
		if err := schemas.Unmarshal(body, &steps); err != nil {
			return nil, fmt.Errorf("%w: %s", ErrNoPlan, recordable(err))
		}
		if len(steps) > 0 {
			return sequence(steps), nil
		}
		return nil, fmt.Errorf("%w: neither tasks nor steps", ErrNoPlan)
	}
	var plan struct {
		Steps []string       `json:"steps"`
		Tasks []schemas.Task `json:"tasks"`
	}
	if err := schemas.Unmarshal(body, &plan); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrNoPlan, recordable(err))
	}
	switch {
	case len(plan.Tasks) > 0:
		return planned(plan.Tasks), nil
	case len(plan.Steps) > 0:
		return sequence(plan.Steps), nil
	}
	return nil, fmt.Errorf("%w: neither tasks nor steps", ErrNoPlan)
}

// recordable returns the words of an error of the JSON library as a record may keep them: the library
// chooses one of two verbs anew in each process, and a record is verified in another.
func recordable(err error) string {
	return strings.ReplaceAll(err.Error(), "unable to", "cannot")
}

// What is read of a text, so that no answer makes reading it long.
const (
	textLimit = 256 << 10 // bytes, from the end
	textTries = 256       // values that may begin
)

// jsonIn returns the JSON values of a text that begin with a brace or a bracket,
// the longest first.
func jsonIn(text string) [][]byte {
	var found [][]byte
	rest := []byte(text[max(len(text)-textLimit, 0):])
	for range textTries {
		at := bytes.IndexAny(rest, "{[")
		if at < 0 {
			break
		}
		rest = rest[at:]
		value, err := jsontext.NewDecoder(bytes.NewReader(rest)).ReadValue()
		if err != nil {
			rest = rest[1:]
			continue
		}
		found = append(found, value.Clone())
		rest = rest[len(value):]
	}
	slices.SortStableFunc(found, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	return found
}

func sequence(steps []string) []schemas.PlannedTask {
	tasks := make([]schemas.PlannedTask, len(steps))
	for i, step := range steps {
		tasks[i] = schemas.PlannedTask{Task: "t" + strconv.Itoa(i+1), Description: inlineBody(step)}
		if i > 0 {
			tasks[i].Dependencies = []string{tasks[i-1].Task}
		}
	}
	return tasks
}

func inlineBody(words string) schemas.Content {
	return schemas.Content{Result: schemas.Result{Text: words}}
}

// planned reads the tasks of an execution_request as a plan.
func planned(tasks []schemas.Task) []schemas.PlannedTask {
	plan := make([]schemas.PlannedTask, len(tasks))
	for i := range tasks {
		task := &tasks[i]
		plan[i] = schemas.PlannedTask{
			Task: task.TaskID, Description: inlineBody(task.Description), Dependencies: nilIfEmpty(task.Dependencies),
			Agent: task.AssignedTo, Priority: task.Priority, Optional: task.Optional, HasInputs: len(task.Context.Inputs) > 0,
			Seconds: task.EstimatedTimeSeconds, Tokens: task.EstimatedTokens,
			TaskOptions: nilIfNoOptions(schemas.TaskOptions{
				Resources: nilIfEmpty(task.Resources), Arguments: task.Context.Arguments, Constraints: task.Context.Constraints,
				Deliverables: nilIfEmpty(task.Deliverables), ValidationCriteria: nilIfEmpty(task.ValidationCriteria),
				FilesToModify: nilIfEmpty(task.Context.FilesToModify), References: nilIfEmpty(task.Context.References),
			}),
		}
	}
	return plan
}

// nilIfNoOptions are options, or nil when there are none.
func nilIfNoOptions(p schemas.TaskOptions) *schemas.TaskOptions {
	if p.Resources == nil && p.Arguments == nil && p.Constraints == nil && p.Deliverables == nil &&
		p.ValidationCriteria == nil && p.FilesToModify == nil && p.References == nil {
		return nil
	}
	return &p
}

// nilIfEmpty is a list, or nil for an empty one, which takes no room in a record.
func nilIfEmpty(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}
