package score

import (
	"slices"
	"strings"

	"podium/schemas"
	"podium/schemas/workflow"
)

// A Row is one run as a line of a table (C-14).
type Row struct {
	Run       *workflow.RunHistory
	Attempts  int    // how often the run was planned: 1, and one more with each change of its plan (C-12)
	Completed bool   // all was done that was asked for
	Errors    string // what went wrong on the way, at most ErrorLimit characters
}

// ErrorLimit bounds Row.Errors, in characters.
const ErrorLimit = 500

// Rows are the runs of the sessions whose outcome is fixed, the oldest first. With an agent, the errors are those of what it has done
// alone.
func Rows(sessions []*Session, agent string) []Row {
	var rows []Row
	for _, session := range sessions {
		for i := range session.history.Runs {
			run := &session.history.Runs[i]
			if run.Run.Settled() {
				rows = append(rows, Row{
					Run: run, Attempts: run.Run.Attempts(), Completed: run.Status == schemas.RunCompleted, Errors: session.runs[i].errorsOf(agent),
				})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return a.Run.Started.Compare(b.Run.Started) })
	return rows
}

func (c *course) errorsOf(agent string) string {
	var said []string
	for _, failed := range c.errors {
		if words := strings.TrimSpace(failed.said); words != "" && (agent == "" || failed.agent == agent) {
			said = append(said, words)
		}
	}
	all := []rune(strings.Join(said, "; "))
	return strings.TrimSpace(string(all[:min(len(all), ErrorLimit)]))
}
