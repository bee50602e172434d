package main

import (
	"bytes"
	"strings"
	"testing"

	"podium/schemas"
)

// TestRunsTellOfTheAnswer: a run whose work is done, and whose answer nobody has
// got, is not listed as one that has completed.
func TestRunsTellOfTheAnswer(t *testing.T) {
	t.Parallel()
	delivery := func(state schemas.RunTaskState) *schemas.RunTask { return &schemas.RunTask{State: state} }
	for want, run := range map[string]*schemas.Run{
		"  executing  ":                  {State: schemas.RunStateExecuting},
		"  replying  ":                   {State: schemas.RunStateReplying, Status: schemas.RunCompleted, Delivery: delivery(schemas.TaskStateReady)},
		"  completed  ":                  {State: schemas.RunStateEnded, Status: schemas.RunCompleted, Delivery: delivery(schemas.TaskStateCompleted)},
		"  completed, answer failed  ":   {State: schemas.RunStateEnded, Status: schemas.RunCompleted, Delivery: delivery(schemas.TaskStateFailed)},
		"  completed, answer withheld  ": {State: schemas.RunStateEnded, Status: schemas.RunCompleted, Withheld: &schemas.ReplyWithheld{}},
	} {
		var out bytes.Buffer
		if err := (&environment{stdout: &out}).printRuns([]*schemas.Run{run}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
