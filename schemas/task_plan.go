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

// A TaskStep is one line of a task plan.
type TaskStep struct {
	StepNumber  int        `json:"step_number"` // 1 is first
	Agent       string     `json:"agent"`
	Description string     `json:"description"`
	Status      StepStatus `json:"status"`
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
// carries its status in parentheses. Words from outside cannot begin a heading,
// a fence or another step.
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
		if step.Status != StepPending {
			b.WriteString(" (" + string(step.Status) + ")")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

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
