package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"podium/schemas/workflow"
)

// A row is a line of a picture: a task, or something that is said of one.
type row struct {
	text  string
	above int                // the row that it belongs to, which is shown whenever it is; -1 is none
	state workflow.TaskState // of a task; empty is no task
	ended time.Time          // the task
	of    workflow.TaskState // of what is no task: the state of its task
}

// run appends the tasks of a run, and what is below them.
func (d *drawing) run(b *branch, depth int) { d.tasks(b, -1, depth) }

func (d *drawing) tasks(b *branch, above, depth int) {
	tasks := make([]*workflow.Task, 0, len(b.run.Tasks)+1)
	tasks = append(tasks, b.run.Tasks...)
	if b.run.Delivery != nil {
		tasks = append(tasks, b.run.Delivery)
	}
	ids, agents := widthOf(tasks)
	indent := strings.Repeat(" ", 2+4*depth)
	for _, task := range tasks {
		at := len(d.rows)
		mark, color := look(task.State)
		text := fmt.Sprintf("%s%s %s %s %s %8s  %s", indent, d.in(color, mark),
			pad(cut(Line(task.ID, shortLength), ids), ids), pad(cut(Line(task.Agent, shortLength), agents), agents),
			d.in(color, pad(stateName(task.State), stateWidth)), d.took(task), Line(task.Description(), 2*shortLength))
		d.rows = append(d.rows, row{text: strings.TrimRight(text, " "), above: above, state: task.State, ended: task.Ended})
		for _, note := range d.notes(task) {
			d.rows = append(d.rows, row{text: indent + "    " + note, above: at, of: task.State})
		}
		for _, nested := range b.below {
			if nested.place.Task == task.ID {
				d.nested(nested, at, depth)
			}
		}
	}
}

// nested appends a run that a supervisor has begun for a task.
func (d *drawing) nested(b *branch, task, depth int) {
	indent, at := strings.Repeat(" ", 4+4*depth), len(d.rows)
	d.rows = append(d.rows, row{
		text:  fmt.Sprintf("%s↳ %s %d %%  %s, run %s", indent, Line(b.run.Profile, 0), b.run.Percentage, d.in(runColor(b.run.Status), outcome(&b.run)), Line(b.run.ID, 0)),
		above: task, of: d.rows[task].state,
	})
	for _, line := range d.whyOf(&b.run, mostFaults) {
		d.rows = append(d.rows, row{text: indent + line, above: at, of: workflow.TaskFailed})
	}
	d.tasks(b, at, depth+1)
}

// notes are what there is to say of a task beside its state.
func (d *drawing) notes(task *workflow.Task) (notes []string) {
	switch {
	case task.State == workflow.TaskSkipped && cmp.Or(said(task.LastFailure), task.Message) != "":
		notes = append(notes, Line(cmp.Or(said(task.LastFailure), task.Message), detailLength))
	case task.Failure().Cause != "" && task.State != workflow.TaskCompleted:
		notes = append(notes, d.in(Red, Failure(task)))
	}
	if task.RetryAt().After(d.now) && !d.now.IsZero() {
		notes = append(notes, fmt.Sprintf("again in %s", task.RetryAt().Sub(d.now).Round(time.Second)))
	}
	if task.Unserved != nil {
		notes = append(notes, d.in(Yellow, "waits")+": "+unserved(Line(task.Agent, 0), task.Unserved.Since))
	}
	if task.WaitingUntil() != nil {
		notes = append(notes, elsewhere(task))
	}
	if task.State.Ended() {
		return notes
	}
	if task.Delayed {
		notes = append(notes, "it takes more than twice its estimate")
	}
	if message := Line(task.Message, detailLength); message != "" {
		notes = append(notes, fmt.Sprintf("%d %%: %s", task.Percentage, message))
	}
	return notes
}

func (d *drawing) took(task *workflow.Task) string {
	switch {
	case task.Dispatched.IsZero():
	case !task.Ended.IsZero():
		return task.Ended.Sub(task.Dispatched).Round(time.Millisecond).String()
	case d.now.After(task.Dispatched):
		return d.now.Sub(task.Dispatched).Round(100 * time.Millisecond).String()
	}
	return ""
}

// The widths of what stands in columns, in columns of a terminal.
const (
	stateWidth              = len(workflow.TaskDispatched)
	leastWidth, mostIDWidth = 4, 20
	mostAgentWidth          = 14
)

// widthOf is how wide the ids and the agents of tasks are, within bounds.
func widthOf(tasks []*workflow.Task) (ids, agents int) {
	ids, agents = leastWidth, leastWidth
	for _, task := range tasks {
		ids = max(ids, ansi.StringWidthWc(Line(task.ID, shortLength)))
		agents = max(agents, ansi.StringWidthWc(Line(task.Agent, shortLength)))
	}
	return min(ids, mostIDWidth), min(agents, mostAgentWidth)
}

// stateName is the name of a state, within stateWidth.
func stateName(state workflow.TaskState) string {
	if state.WaitsForPerson() {
		return "asks"
	}
	return string(state)
}

// pad fills a text up to so many columns.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-ansi.StringWidthWc(text), 0))
}

// cut shortens a text to so many columns, colors aside. A character that takes two of
// them is there as a whole or not at all.
func cut(text string, columns int) string {
	return ansi.TruncateWc(text, max(columns, 1), "…")
}
