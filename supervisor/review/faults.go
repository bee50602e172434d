package review

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/findings"
)

// Faults are what is wrong with the results by rule: what was promised and is not there (M-48), and names that have several values (M-39).
func Faults(run *workflow.Run, agree []string, data func(*workflow.Task) jsontext.Value) []schemas.ReviewIssue {
	return append(missing(run), disagreements(run, agree, data)...)
}

func missing(run *workflow.Run) []schemas.ReviewIssue {
	var found []schemas.ReviewIssue
	for _, task := range run.Tasks {
		if !Counts(task) || IsFix(task) || task.Partial {
			continue // what is partial says so itself
		}
		for _, promised := range task.Plan.Options().Deliverables {
			if !made(run, task.ID, promised) {
				found = append(found, schemas.ReviewIssue{
					Severity: schemas.ValidationError, Reasons: because(schemas.DeliverableMissing, "deliverable", truncate(promised)), Task: task.ID,
				})
			}
		}
	}
	return found
}

// made reports whether a task, or what mends it, has a deliverable of that id, path or file name.
func made(run *workflow.Run, root, promised string) bool {
	for _, task := range run.Tasks {
		if Root(task) != root || !Counts(task) {
			continue
		}
		for i := range task.Deliverables {
			there := &task.Deliverables[i]
			if there.DeliverableID == promised || there.Path == promised {
				return true
			}
			if name := Path(there); name != "" && (name == clean(promised) || path.Base(name) == promised) {
				return true
			}
		}
	}
	return false
}

// Cut names the tasks whose deliverables may not all be on record, since there is room for no more: nothing is merged in part.
func Cut(run *workflow.Run) []schemas.ReviewIssue {
	var found []schemas.ReviewIssue
	for _, task := range run.Tasks {
		if Counts(task) && len(task.Deliverables) >= findings.MaxDeliverables {
			found = append(found, schemas.ReviewIssue{
				Severity: schemas.ValidationError,
				Reasons:  because(schemas.TooManyDeliverables, "task", task.ID, "limit", strconv.Itoa(findings.MaxDeliverables)),
			})
		}
	}
	return found
}

func because(code schemas.ReasonCode, values ...string) []schemas.Reason {
	return []schemas.Reason{schemas.Because(code, values...)}
}

// truncate bounds what a message repeats, in bytes.
func truncate(text string) string {
	const most = 256
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// disagreements names the tasks whose results have other values than most.
func disagreements(run *workflow.Run, agree []string, data func(*workflow.Task) jsontext.Value) []schemas.ReviewIssue {
	var found []schemas.ReviewIssue
	for _, name := range agree {
		var said []saying
		for _, task := range run.Tasks {
			if !Counts(task) || !Stands(run, task) && !fault.Is("what was mended still counts") {
				continue
			}
			if value := member(data(task), name); len(value) > 0 {
				said = append(said, saying{task, value})
			}
		}
		most := mostSaid(said)
		for _, s := range said {
			if !bytes.Equal(s.value, most.value) {
				found = append(found, schemas.ReviewIssue{
					Severity: schemas.ValidationError, Task: Root(s.task),
					Reasons: because(schemas.ValuesDiffer, "name", truncate(name), "value", truncate(string(s.value)), "other", truncate(string(most.value)), "task", most.task.ID),
				})
			}
		}
	}
	return found
}

// A saying is the value that one result has for a name.
type saying struct {
	task  *workflow.Task
	value jsontext.Value
}

// mostSaid is what most say; of as many the first.
func mostSaid(said []saying) saying {
	var most saying
	times := 0
	for i := range said {
		same := 0
		for j := range said {
			if bytes.Equal(said[i].value, said[j].value) {
				same++
			}
		}
		if same > times {
			most, times = said[i], same
		}
	}
	return most
}

// member is the value that an object has for a name, in one way of writing.
func member(data jsontext.Value, name string) jsontext.Value {
	var members map[string]jsontext.Value
	if data.Kind() != '{' || schemas.Unmarshal(data, &members) != nil {
		return nil
	}
	value := members[name].Clone()
	if len(value) == 0 || value.Canonicalize() != nil {
		return nil
	}
	return value
}
