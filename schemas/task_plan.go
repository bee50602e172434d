package schemas

import (
	"strconv"
	"strings"
	"time"
)

// A TaskPlan is the plan of a run as a person reads it (O-22…O-24).
type TaskPlan struct {
	Created  time.Time  `json:"created"`
	Question string     `json:"question"`
	Tasks    []TaskStep `json:"tasks"`
}

// A TaskStep is one step of a task plan.
type TaskStep struct {
	StepNumber  int        `json:"step_number"` // 1 is first
	Agent       string     `json:"agent"`
	Description string     `json:"description"`
	Status      StepStatus `json:"status"`
	// TaskID is what commands and records call it, and Dependencies are the ids of those that it builds on.
	TaskID       string   `json:"task_id,omitzero"`
	Dependencies []string `json:"dependencies,omitzero"`
	// State is how far it is, in the word that it has everywhere else; Status has four only.
	State string `json:"state,omitzero"`
	// Reason is why it was skipped, has failed, or is not right though it was done; of an agent it is tainted.
	Reason string `json:"reason,omitzero"`
}

// StepStatus is the state of a step, in the words of a task plan.
type StepStatus string

// The step statuses (O-22).
const (
	StepPending    StepStatus = "pending"
	StepInProgress StepStatus = "in_progress"
	StepCompleted  StepStatus = "completed"
	StepFailed     StepStatus = "failed"
)

// Markdown returns the plan as a document (O-24). A step that is not pending
// carries its state in parentheses, and below it its id, what it builds on, and
// why it has come to nothing. Words from outside cannot begin a heading, a fence
// or another step.
func (p TaskPlan) Markdown() string {
	var b strings.Builder
	b.WriteString("# Task Plan\n\n**Created:** ")
	b.WriteString(p.Created.UTC().Format(time.DateTime))
	b.WriteString("\n\n## Question\n")
	b.WriteString(plainParagraphs(p.Question))
	b.WriteString("\n\n## Tasks\n\n")
	for _, step := range p.Tasks {
		b.WriteString(strconv.Itoa(step.StepNumber) + ". **" + plainLine(step.Description) + "**")
		if step.Agent != "" {
			b.WriteString(" `" + step.Agent + "`")
		}
		if told := step.told(); told != "" {
			b.WriteString(" (" + told + ")")
		}
		b.WriteByte('\n')
		b.WriteString(step.details())
	}
	return b.String()
}

// told is how far a step is, in one word where it is no more than its status; empty while it waits for its turn.
func (s *TaskStep) told() string {
	switch {
	case s.State == string(StepCompleted) && s.Status == StepFailed:
		return "completed, and not right"
	case s.Status == StepInProgress, s.State == "":
		return strings.TrimPrefix(string(s.Status), string(StepPending))
	case s.State == "ready" || s.State == "waiting":
		return ""
	}
	return strings.TrimPrefix(s.State, string(StepPending))
}

// details are lines of their own below a step.
func (s *TaskStep) details() string {
	if s.TaskID == "" {
		return ""
	}
	indent := strings.Repeat(" ", len(strconv.Itoa(s.StepNumber))+2)
	after := make([]string, len(s.Dependencies))
	for i, id := range s.Dependencies {
		after[i] = code(id)
	}
	lines := indent + "- id: " + code(s.TaskID)
	if len(after) > 0 {
		lines += ", after " + strings.Join(after, ", ")
	}
	lines += "\n"
	if s.Reason != "" {
		lines += indent + "- why: " + plainLine(s.Reason) + "\n"
	}
	return lines
}

// code shows an id as it is typed.
func code(id string) string { return "`" + strings.ReplaceAll(plainLine(id), "`", "'") + "`" }

// plainParagraphs keeps lines and escapes what would make one a heading or a fence.
func plainParagraphs(text string) string {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n")
	for i, line := range lines {
		trimmed := strings.TrimLeft(line, " ")
		underline := len(trimmed) > 0 && strings.Trim(trimmed, "=- ") == ""
		if underline || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "`") || strings.HasPrefix(trimmed, "~") {
			lines[i] = `\` + trimmed
		}
	}
	return strings.Join(lines, "\n")
}

// plainLine puts text on one line and keeps it from ending its emphasis.
func plainLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "**", `\*\*`)
}
