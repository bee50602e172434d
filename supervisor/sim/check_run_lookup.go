package sim

import (
	"context"
	"errors"
	"reflect"

	"podium/bus/history"
	"podium/schemas/workflow"
)

// RunsAreFound is about who shows a run and does not read the others.
const RunsAreFound = "each run and message is found among the others, and is what all records together say"

// alwaysFound is how many records that speak of runs which are not under way are read
// to show a run.
const alwaysFound = 16

// runsAreFound opens a session as it stands at the end.
func (o *oracle) runsAreFound(session *sessionHistory) {
	opened, err := history.OpenSession(context.Background(), o.world.ledger, session.id)
	if err != nil {
		o.world.violate(RunsAreFound, "session %s: %v", session.id, err)
		return
	}
	for i := range session.grammar.Runs {
		want := &session.grammar.Runs[i]
		excerpt := workflow.Excerpt{Session: session.id, Number: want.Number}
		for record, err := range opened.Run(context.Background(), want.Number) {
			if err = errors.Join(err, excerpt.Apply(&record.Record)); err != nil {
				o.world.violate(RunsAreFound, "run %d of session %s: %v", want.Number, session.id, err)
				break
			}
		}
		have := excerpt.Run()
		if have != nil && session.asides > alwaysFound {
			have, want = withoutAsides(have), withoutAsides(want)
		}
		if !reflect.DeepEqual(have, want) {
			o.world.violate(RunsAreFound, "run %d of session %s is shown as %+v, and is %+v", want.Number, session.id, have, want)
		}
	}
	for _, want := range session.grammar.Messages {
		have, err := opened.Received(context.Background(), want.Sequence, want.ID)
		again, errAgain := opened.ReceivedBefore(context.Background(), want.ID)
		if err != nil || errAgain != nil || have.Run != want.Run || have.Disposition != want.Disposition || !reflect.DeepEqual(have, again) {
			o.world.violate(RunsAreFound, "message %s of session %s is %+v (%v), by its id %+v (%v), want %+v", want.ID, session.id, have, err, again, errAgain, want)
		}
	}
}

// withoutAsides returns a run without what may be said once the next one has begun.
func withoutAsides(run *workflow.RunHistory) *workflow.RunHistory {
	known := *run
	known.Late, known.PermitsRefused, known.Bounces, known.Delivery = 0, nil, nil, nil
	return &known
}
