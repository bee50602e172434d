package view

import (
	"cmp"
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// A change is what a record says of a run, for programs.
type change struct {
	Event      string             `json:"event"` // "change"
	Time       time.Time          `json:"time"`
	Run        string             `json:"run"`
	Parent     string             `json:"parent,omitzero"`      // the run that it was begun for
	ParentTask string             `json:"parent_task,omitzero"` // the task of it
	Phase      workflow.Phase     `json:"phase"`
	Status     schemas.RunStatus  `json:"status,omitzero"`
	Reason     schemas.StopReason `json:"reason,omitzero"`
	Percentage int                `json:"percentage"`
	Why        []string           `json:"why,omitzero"`     // what was wrong with the plan, and what has failed
	Inquiry    *question          `json:"inquiry,omitzero"` // that waits for a person's word
	Said       []string           `json:"said"`             // as in the lines for people
	Tasks      []*workflow.Task   `json:"tasks,omitzero"`   // as they are now, those that have changed
}

// A question is an inquiry that is open, for programs.
type question struct {
	ID       string                `json:"id"`
	Kind     schemas.HumanTaskKind `json:"kind"`
	Question string                `json:"question"`
	Expires  time.Time             `json:"expires,omitzero"`
}

func questionOf(run *workflow.RunHistory) *question {
	asked, _ := open(run)
	if asked == nil {
		return nil
	}
	return &question{ID: schemas.InquiryID(run.ID, asked.Inquiry), Kind: asked.Kind, Question: asked.Question, Expires: asked.Expires()}
}

// tasksIn names the tasks of a run that a record says something about.
func tasksIn(record *schemas.Record, run int) (tasks []string) {
	for fact := range record.AllFacts() {
		if task := schemas.TaskOf(fact); task != "" && schemas.RunOf(fact) == run && !slices.Contains(tasks, task) {
			tasks = append(tasks, task)
		}
	}
	return tasks
}

func (w *Watcher) change(place Place, record *schemas.Record, run *workflow.RunHistory, tasks []*workflow.Task) {
	said := linesAbout(record, run.Number, nil)
	if len(said) == 0 && len(tasks) == 0 {
		return
	}
	body, err := schemas.Marshal(change{
		Event: "change", Time: record.First().Cause.Time.UTC(), Run: run.ID, Parent: place.Run, ParentTask: place.Task,
		Phase: run.Phase, Status: run.Status, Reason: run.Reason, Percentage: run.Percentage, Why: Why(run), Inquiry: questionOf(run), Said: said, Tasks: tasks,
	})
	if err == nil {
		_, err = w.out.Write(append(body, '\n'))
	}
	w.failed = cmp.Or(w.failed, err)
}
