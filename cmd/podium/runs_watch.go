package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/history"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/runlog"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

type runsWatchCommand struct {
	ID string `arg:"" name:"run" help:"The run's id, or its beginning."`
}

func (runsWatchCommand) Help() string {
	return `Shows a bar and the tasks in a terminal, with the runs that supervisors among the agents begin for them;
plain lines elsewhere, a line for each change; and the answer at the end. What does not fit in the window
is counted: what is at work and what has failed comes first; Space and b (or PageDown, PageUp) turn pages
through all of it, Esc goes back. Colors are left out where NO_COLOR is set.
Exit code 1 means that the run did not complete, 3 that it has not ended and nobody is there to go on
with it. Ctrl-C ends the watching, not the run.

With -o json, a line is an object. Its event is change: run, phase, status, percentage, why, what is said
of it in words, the inquiry that waits for a person, and the tasks that have changed, as runs show has them; parent and parent_task where it
is about a run that was begun for a task. The last one's is outcome, with the answer.

  podium runs watch 5f0c
  podium runs watch 5f0c -o json | jq -r 'select(.event == "change") | .tasks[]? | [.task, .state] | @tsv'`
}

func (c *runsWatchCommand) Run(env *environment) error {
	return env.withLedger(func(ledger *installation.Ledger) error {
		run, err := env.runLog(ledger.Core).Run(env.ctx, c.ID)
		if err != nil {
			return err
		}
		if running, err := env.served(ledger); err != nil {
			return err
		} else if !running && run.Phase != workflow.PhaseComplete {
			return notFound("run %s has not ended, and no podium runs on %s to go on with it; start one with `podium up`", run.ID, env.data)
		}
		return env.follow(ledger.Core, &workflow.Excerpt{Session: run.Session, Number: run.Number}, runlog.Sent{}, view.Changes)
	})
}

// follow shows a run until it has ended, then its answer. Message is about the one
// that the excerpt is about. Programs are shown so much of what comes before the answer.
func (e *environment) follow(core bus.Core, excerpt *workflow.Excerpt, message runlog.Sent, programs view.Detail) error {
	detail := view.Live
	if e.json {
		detail = programs
	}
	watched := view.Watch(e.stdout, detail)
	nested := runlog.NewNestedRuns(core, func(parent, task string, record *schemas.Record, run *workflow.RunHistory) {
		watched.Show(view.Place{Run: parent, Task: task}, record, run)
	})
	var enough func(*workflow.RunHistory) bool
	if detail == view.Nothing { // who sees nothing but the end has to be told of a question
		enough = func(run *workflow.RunHistory) bool {
			asked := run.OpenInquiry()
			return asked != nil && !asked.Asked.IsZero()
		}
	}
	run, err := e.runLog(core).AwaitEnd(e.ctx, excerpt, message, func(record *schemas.Record, run *workflow.RunHistory) {
		watched.Show(view.Place{}, record, run)
		if run != nil && detail != view.Nothing {
			nested.Look(e.ctx, run)
		}
	}, enough)
	unknown := nested.Close()
	err = errors.Join(err, watched.Close())
	if unknown != nil {
		e.log.Error().Err(unknown).Msg("runs that were begun for this one are not shown whole")
	}
	switch {
	case err == nil && run.Phase == workflow.PhaseComplete:
		return e.ended(core, run)
	case err == nil:
		return e.asks(run, detail)
	}
	if e.ctx.Err() == nil {
		return err
	}
	name := excerpt.Session
	if excerpt.Number > 0 {
		name = schemas.RunID(excerpt.Session, excerpt.Number)
	}
	switch asked := excerpt.Run(); {
	case asked != nil && asked.WaitsForPeople():
		return e.asks(asked, detail)
	case asked == nil && excerpt.Number > 0:
		return e.waitsBehind(core, name)
	}
	return goesOn(name)
}

func goesOn(run string) error {
	return fmt.Errorf("the wait is over, but the run goes on; `podium runs watch %s` follows it", run)
}

// waitsBehind tells that the wait is over for a run that has not begun, and what comes before it.
func (e *environment) waitsBehind(core bus.Core, run string) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(e.ctx), lookAgain)
	defer stop()
	_, err := e.runLog(core).Run(ctx, run)
	queued, is := errors.AsType[*runlog.QueuedError](err)
	switch {
	case !is:
		return goesOn(run)
	case queued.Before.WaitsForPeople():
		return &exitError{code: exitAsks, err: fmt.Errorf("the wait is over; %w: %s", queued, strings.Join(view.Asks(queued.Before), "; "))}
	}
	return fmt.Errorf("the wait is over; %w", queued)
}

// lookAgain bounds looking what a wait was for, once it is over.
const lookAgain = 5 * time.Second

// A waitingInquiry is what a wait ends with when a run waits for a person, for programs.
type waitingInquiry struct {
	Event string `json:"event"` // inquiry
	openInquiry

	Answer string   `json:"answer"`          // the command that answers it; the words go behind it
	Follow string   `json:"follow"`          // the command that shows what comes of the run then
	Others []string `json:"others,omitzero"` // ids of further questions that are open
}

// asks tells that the wait is over because a run waits for a person.
func (e *environment) asks(run *workflow.RunHistory, detail view.Detail) error {
	if open := openInquiries([]*workflow.RunHistory{run}); detail == view.Nothing {
		at := 0
		if first := run.OpenInquiry(); first != nil {
			at = slices.IndexFunc(open, func(asked openInquiry) bool { return asked.ID == schemas.InquiryID(run.ID, first.Inquiry) })
		}
		told := waitingInquiry{Event: "inquiry", openInquiry: open[at], Answer: view.HowToAnswer(open[at].Kind, open[at].Choices, open[at].ID), Follow: "podium runs watch " + run.ID}
		for i := range open {
			if i != at {
				told.Others = append(told.Others, open[i].ID)
			}
		}
		if err := e.printLine(told); err != nil {
			return err
		}
	}
	return &exitError{code: exitAsks, err: fmt.Errorf("the wait is over, and the run waits for a person: %s", strings.Join(view.Asks(run), "; "))}
}

// ended prints the answer; a run that did not complete is a failure of the verb.
func (e *environment) ended(core bus.Core, run *workflow.RunHistory) error {
	answer, err := history.AnswerText(e.ctx, core, *run)
	if err != nil {
		return err
	}
	err = e.answer(map[string]any{
		"event": "outcome", "run": run.ID, "status": run.Status, "reason": run.Reason, "answer": answer, "replied": run.Replied,
		"why": view.Why(run), // null when all is well
	}, "%s\n", view.Plain(answer))
	if err == nil && run.Status != schemas.RunCompleted {
		err = fmt.Errorf("run %s ended %s (%s)", run.ID, run.Status, run.Reason)
		if why := view.Why(run); len(why) > 0 {
			err = fmt.Errorf("%w: %s", err, strings.Join(why, "; "))
		}
	}
	return err
}
