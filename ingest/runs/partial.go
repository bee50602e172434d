package runs

import (
	"strings"

	"podium/schemas/workflow"
)

// partialEvent is the text of an answer that an agent still works on. It has no id: nobody comes back to it.
const partialEvent = "partial"

// A Partial is the data of such an event. It is no answer: that may say something else.
type Partial struct {
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
	// Offset is 0 when the text begins anew, and else how many bytes came before, at which it goes on.
	Offset int    `json:"offset"`
	Text   string `json:"text"`
}

// Partial returns what the agent that is asked now has said so far of the answer; nothing when the answer is not
// shown while it comes, or somebody has to be asked first.
func (w *Watch) Partial() string {
	said, _, _ := w.partial()
	return said
}

// partial also returns the task, and what is closed when more is said.
func (w *Watch) partial() (said string, task *workflow.Task, changed <-chan struct{}) {
	run := w.excerpt.Run()
	if w.api.config.Said == nil || run == nil || run.Status != "" || w.undecided() {
		return "", nil, nil
	}
	for _, task := range run.Tasks {
		if !task.State.UnderWay() {
			continue
		}
		if said, changed = w.api.config.Said(task.Request); changed != nil {
			return said, task, changed
		}
	}
	return "", nil, nil
}

// A shownPartial is what a reader has seen of the text of one attempt.
type shownPartial struct {
	task    string
	attempt int
	text    string
}

// next returns what is to be sent so that the reader has seen all that was said; nil when it has.
func (s *shownPartial) next(said string, task *workflow.Task) *Partial {
	if task == nil {
		return nil
	}
	if s.task != task.ID || s.attempt != task.Attempt {
		*s = shownPartial{task: task.ID, attempt: task.Attempt}
	}
	if said == s.text {
		return nil
	}
	told := &Partial{Task: task.ID, Attempt: task.Attempt, Text: said}
	if rest, goesOn := strings.CutPrefix(said, s.text); goesOn {
		told.Offset, told.Text = len(s.text), rest
	}
	s.text = said
	return told
}
