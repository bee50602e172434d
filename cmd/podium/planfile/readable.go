package planfile

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

// readable reads the tasks of a plan as far as it can, whatever is wrong with it, and reports whether there is a list of them.
func (p *Plan) readable() bool {
	payload := p.root
	if p.whole {
		payload = p.root.member(payloadKey)
	}
	if payload == nil || payload.member(tasksKey) == nil || payload.member(tasksKey).kind != '[' {
		return false
	}
	p.tasks, p.unread, p.unsound = payload.member(tasksKey), map[int]bool{}, map[int]bool{}
	p.request.Payload.Tasks = make([]schemas.Task, len(p.tasks.elements))
	for i, element := range p.tasks.elements {
		var task schemas.Task
		value, err := jsontext.NewDecoder(bytes.NewReader(p.reader.body[element.at:]), jsontext.AllowDuplicateNames(true)).ReadValue()
		if err == nil {
			err = schemas.Unmarshal(value, &task)
		}
		if err != nil {
			p.unread[i] = true
			task = outline(element)
		}
		p.request.Payload.Tasks[i] = task
		p.unsound[i] = p.unread[i] || slices.ContainsFunc(p.reader.problems, func(found *diagnostic.Problem) bool {
			return strings.HasPrefix(found.Path+".", entry(p.path, i)+".")
		})
	}
	return true
}

// outline is what a task says of its place in the plan. A dependency that is no text is empty.
func outline(element *node) schemas.Task {
	task := schemas.Task{TaskID: element.textOf("task_id"), AssignedTo: element.textOf("assigned_to")}
	if list := element.member("dependencies"); list != nil {
		for _, id := range list.elements {
			task.Dependencies = append(task.Dependencies, id.text)
		}
	}
	return task
}

// textOf is the text of a member; empty when it is none.
func (n *node) textOf(name string) string {
	if value := n.member(name); value != nil {
		return value.text
	}
	return ""
}

// soundTasks are the tasks that a run is asked about: all of them, or of a faulty plan those in which nothing is wrong, each by itself.
func (p *Plan) soundTasks() []schemas.Task {
	if !p.faulty {
		return p.request.Payload.Tasks
	}
	var tasks []schemas.Task
	seen := map[string]bool{}
	for i := range p.request.Payload.Tasks {
		task := p.request.Payload.Tasks[i]
		if p.unsound[i] || task.TaskID == "" || task.AssignedTo == "" || seen[task.TaskID] {
			continue
		}
		seen[task.TaskID], task.Dependencies = true, nil
		tasks = append(tasks, task)
	}
	return tasks
}
