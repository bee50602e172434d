package session_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"podium/schemas"
	"podium/schemas/workflow"
)

// drawing is what docs/state-machine.md draws: each move as "task ready ─► running".
var drawing = sync.OnceValue(func() []string {
	document, err := os.ReadFile("../../docs/state-machine.md")
	if err != nil {
		panic(err)
	}
	var moves []string
	of := ""
	for line := range strings.Lines(string(document)) {
		if heading, is := strings.CutPrefix(line, "## The states of a "); is {
			of = strings.TrimSpace(heading)
		}
		if drawn := regexp.MustCompile(`^(\w+) +─► (.+)\n$`).FindStringSubmatch(line); drawn != nil {
			for to := range strings.SplitSeq(drawn[2], ", ") {
				moves = append(moves, of+" "+drawn[1]+" ─► "+to)
			}
		}
	}
	return moves
})

// moved holds what a record says of runs to the drawing, fact by fact.
func (s *stage) moved(tb judge, record *schemas.Record) {
	tb.Helper()
	runs := map[int]*workflow.Run{}
	for fact := range record.AllFacts() {
		if run := s.conversation.Run(schemas.RunOf(fact)); run != nil && runs[run.Number] == nil {
			runs[run.Number] = run.Clone()
		}
	}
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		for _, fact := range transition.Facts {
			number := schemas.RunOf(fact)
			before := statesOf(runs[number])
			if started, is := fact.(*schemas.RunStarted); is {
				runs[number] = workflow.Begin(started)
			} else if runs[number] != nil {
				runs[number].Apply(fact, transition.Cause.Time)
			}
			for name, state := range statesOf(runs[number]) {
				from, known := before[name]
				if !known {
					from = "new"
				}
				of, _, _ := strings.Cut(name, " ")
				if move := of + " " + from + " ─► " + state; from != state {
					s.moves[move] = true
					if !slices.Contains(drawing(), move) {
						tb.Fatalf("%s makes of %s in run %d: %s, which docs/state-machine.md does not draw", fact.Name(), name, number, move)
					}
				}
			}
		}
	}
}

// statesOf names the phase of a run and the state of each of its tasks.
func statesOf(run *workflow.Run) map[string]string {
	if run == nil {
		return nil
	}
	states := map[string]string{"run": string(run.Phase)}
	for task := range run.All {
		states["task "+task.ID] = string(task.State)
	}
	return states
}
