package plan

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/reference"
)

// ReadPlan takes a plan out of a planner's answer: from its data, else from the
// JSON in its text, which may stand in a fence or between sentences (O-34). A
// plan is {"tasks": […]} in the words of an execution_request, {"steps": […]}
// with one sentence each (C-03), or that list alone; steps follow each other.
// The error is an AnswerError: what is wrong with what comes closest.
func ReadPlan(result schemas.Result) ([]schemas.PlannedTask, error) {
	closest := newAnswerError(schemas.PlanNotFound)
	for i, candidate := range valuesIn(result) {
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
			return nil, newFormError(err)
		}
		if len(steps) > 0 {
			return sequence(steps), nil
		}
		return nil, newAnswerError(schemas.PlanWithoutTasks)
	}
	var plan struct {
		Steps []string       `json:"steps"`
		Tasks []schemas.Task `json:"tasks"`
	}
	if err := schemas.Unmarshal(body, &plan); err != nil {
		return nil, newFormError(err)
	}
	switch {
	case len(plan.Tasks) > 0:
		return planned(plan.Tasks), nil
	case len(plan.Steps) > 0:
		return sequence(plan.Steps), nil
	}
	return nil, newAnswerError(schemas.PlanWithoutTasks)
}

// valuesIn are the data of a result, then the JSON values in its text.
func valuesIn(result schemas.Result) [][]byte {
	candidates := jsonIn(result.Text)
	if len(result.Data) > 0 {
		candidates = append([][]byte{result.Data}, candidates...)
	}
	return candidates
}

// What is read of a text, so that no answer makes reading it long.
const (
	textLimit = 256 << 10 // bytes, from the end
	textTries = 256       // values that may begin
	readLimit = 2 * textLimit
)

// jsonIn returns the JSON values of a text that begin with a brace or a bracket,
// the longest first. It gives up once it has read readLimit bytes in vain: in a value without an end there are others, each of
// which would be read to the end as well.
func jsonIn(text string) [][]byte {
	var found [][]byte
	rest, inVain := []byte(text[max(len(text)-textLimit, 0):]), 0
	for tries := 0; tries < textTries && inVain < readLimit; tries++ {
		at := bytes.IndexAny(rest, "{[")
		if at < 0 {
			break
		}
		rest = rest[at:]
		value, err := jsontext.NewDecoder(bytes.NewReader(rest)).ReadValue()
		if err != nil {
			inVain += len(rest)
			if wrong, is := errors.AsType[*jsontext.SyntacticError](err); is && !errors.Is(err, io.ErrUnexpectedEOF) {
				inVain += int(wrong.ByteOffset) - len(rest)
			}
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

// saysNothing reports whether an answer has neither a response nor a plan: a judge may say by checks what it has found.
func saysNothing(err error) bool {
	return err != nil && reasonOf(err).Code == schemas.AnswerWithoutVerdict
}

// maxResponse bounds the words that a judge may have said to whoever has asked, in bytes. They stand in a record.
const maxResponse = 64 << 10

// A Verdict is what a judge says: words that end the run, or what is still to be done.
type Verdict struct {
	Response string
	NoAnswer bool // the response says why there is no answer
	Tasks    []schemas.PlannedTask
	Steps    bool // Tasks are steps, which have no ids of their own
}

// ReadVerdict takes out of a judge's answer exactly one of {"response": …}, with "answered": false where it is no answer, {"steps": […]} and {"tasks": […]}, from where ReadPlan takes a
// plan (C-07). The error is an AnswerError: what is wrong with what comes closest.
func ReadVerdict(result schemas.Result) (Verdict, error) {
	closest := newAnswerError(schemas.AnswerWithoutVerdict)
	for i, candidate := range valuesIn(result) {
		verdict, err := readVerdict(candidate)
		if err == nil {
			return verdict, nil
		}
		if i == 0 {
			closest = err
		}
	}
	return Verdict{}, closest
}

func readVerdict(body []byte) (Verdict, error) {
	var said struct {
		Response string         `json:"response"`
		Answered *bool          `json:"answered"`
		Steps    jsontext.Value `json:"steps"`
		Tasks    jsontext.Value `json:"tasks"`
	}
	if jsontext.Value(body).Kind() == '[' {
		said.Steps = body
	} else if err := schemas.Unmarshal(body, &said); err != nil {
		return Verdict{}, newFormError(err)
	}
	response := strings.TrimSpace(said.Response)
	given := 0
	for _, there := range [...]bool{response != "", holds(said.Steps), holds(said.Tasks)} {
		if there {
			given++
		}
	}
	switch {
	case given > 1:
		return Verdict{}, newAnswerError(schemas.AnswerTwoVerdicts)
	case given == 0:
		return Verdict{}, newAnswerError(schemas.AnswerWithoutVerdict)
	case len(response) > maxResponse:
		return Verdict{}, newAnswerError(schemas.AnswerTooLong, "limit", strconv.Itoa(maxResponse))
	case response != "":
		return Verdict{Response: response, NoAnswer: said.Answered != nil && !*said.Answered}, nil
	}
	tasks, err := readPlan(body)
	if err != nil {
		return Verdict{}, err
	}
	return Verdict{Tasks: tasks, Steps: holds(said.Steps)}, nil
}

// holds reports whether a list is there that is not empty. An empty one beside another answer says nothing.
func holds(list jsontext.Value) bool {
	if list.Kind() != '[' {
		return len(list) > 0 && list.Kind() != 'n'
	}
	return strings.TrimSpace(string(list[1:len(list)-1])) != ""
}
