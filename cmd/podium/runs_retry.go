package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"podium/bus/intake"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/recovery"
)

type runsResendCommand struct {
	speakerFlags

	ID             string `arg:"" name:"run" help:"The run's id, or its beginning."`
	AllowDuplicate bool   `help:"Send it also when nobody knows whether it was sent already; whoever asked may get it twice."`
	Reason         string `help:"Why; it stays on the ledger." placeholder:"WORDS"`
}

func (runsResendCommand) Help() string {
	return `Has an answer delivered that the mail server or the chat has refused, that was tried as often as the
profile says, or that was withheld. It is the same answer under the same Message-ID, by as many attempts as the profile allows;
what the run has worked out is not worked out again. Asked for on the ledger: it begins as soon as no other
run of the session is under way, and at work on a ledger at rest when the service starts. An answer
that was delivered is not sent again, with exit code 1.

  podium runs --status answer-failed      # those there are
  podium runs show 5f0c                   # why, in the server's words
  podium runs resend 5f0c --reason "the mailbox exists now"
  podium runs resend 5f0c --allow-duplicate -o json`
}

func (c *runsResendCommand) Run(env *environment) error {
	return env.changeLedger(func(ledger *installation.Ledger) error {
		run, err := env.runLog(ledger.Core).Run(env.ctx, c.ID)
		if err != nil {
			return err
		}
		if err = notResent(run, c.AllowDuplicate); err != nil {
			return err
		}
		control := schemas.Control{
			Action: schemas.ControlResend, Run: run.ID, Reason: c.Reason, AllowDuplicate: c.AllowDuplicate,
		}
		c.signs(&control)
		if err = env.control(ledger.Core, schemas.ShardOf(run.Session, ledger.Core.Shards()), control); err != nil {
			return err
		}
		return env.answer(map[string]string{"run": run.ID, "asked": string(control.Action)},
			"asked to send the answer of run %s again; `podium runs show %s` says what came of it\n", run.ID, run.ID)
	})
}

// notCancelled says why a run would not be cancelled, and what to do instead; nil when it would.
func notCancelled(run *workflow.RunHistory) error {
	switch {
	case run.Phase == workflow.PhaseComplete:
		return fmt.Errorf("run %s has ended already (%s); there is nothing to stop", run.ID, run.Status)
	case !run.Run.Settled() || run.AnswerWaits() || run.Delivery == nil:
		return nil
	case run.Delivery.Failure().Cause == "":
		return fmt.Errorf("the work of run %s is done (%s) and its answer is being delivered, so that there is nothing to stop; "+
			"`podium runs give-up %s` gives up the answer", run.ID, run.Status, run.ID)
	}
	return fmt.Errorf("the work of run %s is done (%s), and its answer cannot be delivered: %s; there is nothing to stop; "+
		"`podium runs give-up %s` gives up the answer", run.ID, run.Status, view.Failure(run.Delivery), run.ID)
}

type runsGiveUpCommand struct {
	speakerFlags

	ID     string `arg:"" name:"run" help:"The run's id, or its beginning."`
	Reason string `help:"Why; it stays on the ledger, and podium runs show tells it." placeholder:"WORDS"`
}

func (runsGiveUpCommand) Help() string {
	return `Ends a run whose work is done without sending its answer: one that cannot be delivered and would be tried again, or
that waits for its budget. Asked for on the ledger, with who has done it. An attempt that is under way is stopped unless it
has its permit to send: then the command fails with exit code 1, and works once that attempt has failed. The answer stays in the run, and
podium runs resend sends it after all. A run that works is cancelled by podium runs cancel.

  podium runs show 5f0c                   # why it is not delivered, in the server's words
  podium runs give-up 5f0c --reason "the address is wrong"
  podium runs give-up 5f0c --as anna -o json`
}

func (c *runsGiveUpCommand) Run(env *environment) error {
	return env.changeLedger(func(ledger *installation.Ledger) error {
		run, err := env.runLog(ledger.Core).Run(env.ctx, c.ID)
		if err != nil {
			return err
		}
		if err = notGivenUp(run); err != nil {
			return err
		}
		control := schemas.Control{Action: schemas.ControlGiveUp, Run: run.ID, Reason: c.Reason}
		c.signs(&control)
		if err = env.control(ledger.Core, schemas.ShardOf(run.Session, ledger.Core.Shards()), control); err != nil {
			return err
		}
		return env.answer(map[string]string{"run": run.ID, "asked": string(control.Action)},
			"asked to give up the answer of run %s; `podium runs show %s` says what came of it\n", run.ID, run.ID)
	})
}

// notGivenUp says why the answer of a run would not be given up, and what to do instead; nil when it would.
func notGivenUp(run *workflow.RunHistory) error {
	switch run.GiveUpObjection() {
	case schemas.GiveUpNotSettled:
		return fmt.Errorf("run %s works (%s) and has no answer yet; `podium runs cancel %s` stops it", run.ID, run.Phase, run.ID)
	case schemas.GiveUpEnded:
		return fmt.Errorf("run %s has ended (%s), and its answer is not tried any more; `podium runs show %s` says what became of it", run.ID, run.Status, run.ID)
	case schemas.GiveUpPermitted:
		return fmt.Errorf("the answer of run %s is being sent by attempt %d; give it up when that has failed", run.ID, run.Delivery.Attempt)
	}
	return nil
}

// notResent says why the answer of a run would not be sent again, and what to do instead.
func notResent(run *workflow.RunHistory, allowDuplicate bool) error {
	switch run.Resendable(allowDuplicate) {
	case schemas.ResendNotEnded:
		return fmt.Errorf("run %s has not ended (%s), so that its answer is still on its way; `podium runs watch %s` follows it, "+
			"and `podium runs give-up %s` gives up an answer that cannot be delivered", run.ID, run.Phase, run.ID, run.ID)
	case schemas.ResendWaits:
		return fmt.Errorf("somebody has asked for it already: the answer of run %s goes out when the run of its session that is under way has ended", run.ID)
	case schemas.ResendAnswered:
		return fmt.Errorf("the answer of run %s was delivered, as %s; there is nothing to send again", run.ID, cmp.Or(run.Replied, "its receipt says"))
	case schemas.ResendReturned:
		return fmt.Errorf("the answer of run %s was delivered and came back (`podium runs show %s`); the same letter would be taken for the one that was sent, so write a new one", run.ID, run.ID)
	case schemas.ResendNoAnswer:
		return fmt.Errorf("nobody waits for an answer of run %s (%s); there is nothing to send", run.ID, unasked(run))
	case schemas.ResendUnagreed:
		return fmt.Errorf("people have to agree to the answer of run %s before it is sent, and have not (`podium runs show %s` tells who was asked); it is never sent", run.ID, run.ID)
	case schemas.ResendUncertain:
		return fmt.Errorf("nobody knows whether the answer of run %s was sent (%s); look whether it has arrived, and if not, --allow-duplicate sends it", run.ID, run.Delivery.Failure().Cause)
	}
	return nil
}

// unasked is why a run that has ended has no answer to deliver.
func unasked(run *workflow.RunHistory) string {
	switch {
	case run.Message.Upstream != nil:
		return "it has answered " + run.Message.Upstream.From
	case run.Reason == schemas.StopSuperseded:
		return "a newer message took its place"
	}
	return "its message asked for none"
}

type runsRetryCommand struct {
	speakerFlags

	ID             string `arg:"" name:"run" help:"The run's id, or its beginning."`
	From           string `help:"Do this task again, and all that builds on it, though it is completed." placeholder:"TASK"`
	AllowDuplicate bool   `help:"Do again what may have been done outside already; it may happen twice."`
	Reason         string `help:"Why; it stays on the ledger." placeholder:"WORDS"`
}

func (runsRetryCommand) Help() string {
	return `Begins another run for the same message, by the profile as it is now. What the run before has completed is brought from the
ledger and not done again; what has failed, was skipped or never begun is done, and with --from that task and all that builds on it.
What a review had mended is brought in the place of what that mends, and to name what mends a task is to name that task. When no round of a
review has passed it, all that is brought is looked at again from round 1 on, also where nothing else is left to do.
Requests and effects have ids of their own, so that what a task did outside before would be done once more: a run with such a task
is not retried unless --allow-duplicate says so, with exit code 1, and tells which they are. Whoever has written is answered once
more. Leave that people have given is asked for anew. It waits for no other run: while the conversation is at work it is refused.

  podium runs --status failed
  podium runs retry 5f0c                    # what has not been completed, or the review that has failed
  podium runs retry 5f0c --from summary     # that task, and what builds on it
  podium runs retry 5f0c --from order --allow-duplicate -o json`
}

func (c *runsRetryCommand) Run(env *environment) error {
	return env.changeLedger(func(ledger *installation.Ledger) error {
		run, err := env.runLog(ledger.Core).Run(env.ctx, c.ID)
		if err != nil {
			return err
		}
		made, there := recovery.RetryOf(&run.Run, c.From)
		reason := schemas.RetryUnknownTask
		if there {
			reason = made.Fault(c.AllowDuplicate)
		}
		switch {
		case run.Phase != workflow.PhaseComplete:
			reason = schemas.ResendNotEnded
		case run.Message.Upstream != nil:
			reason = schemas.RetryUpstream
		}
		if reason != "" {
			return notRetried(run, &made, c.From, reason)
		}
		served, err := env.served(ledger)
		if err != nil {
			return err
		}
		control := schemas.Control{Action: schemas.ControlRetry, Run: run.ID, Reason: c.Reason, From: c.From, AllowDuplicate: c.AllowDuplicate}
		c.signs(&control)
		receipt, err := intake.NewIntake(ledger.Core).SubmitControl(env.ctx, controlSource, schemas.ShardOf(run.Session, ledger.Core.Shards()), &control)
		if err != nil {
			return err
		}
		told := retried{Run: run.ID, Brought: made.Brought, Again: made.Again, Effects: made.Effects, Reviews: made.Reviews, Answered: run.Replied != ""}
		if !served {
			return env.answer(told, "asked to retry run %s; nobody is at work on this ledger, and it begins when the service starts\n", run.ID)
		}
		ctx, stop := context.WithTimeout(env.ctx, decidedWithin)
		defer stop()
		received, err := env.runLog(ledger.Core).Disposition(ctx, run.Session, receipt.Sequence+1, receipt.ID, "")
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("that run %s is to be retried is on the ledger, and nobody has looked at it within %s; do not say it again: `podium runs` tells what comes of it", run.ID, decidedWithin)
		}
		if err != nil {
			return err
		}
		if received.Disposition == schemas.DispositionRefused {
			return notRetried(run, &made, c.From, received.Reason)
		}
		told.Retry, told.Asks = schemas.RunID(run.Session, received.Run), nextOf(run.Session, &received)
		return env.answer(told, "%s", told.lines())
	})
}

// retried is what has come of a retry, for programs.
type retried struct {
	Run      string     `json:"run"`
	Retry    string     `json:"retry,omitempty"`   // id of the run that has begun
	Brought  []string   `json:"brought,omitempty"` // tasks whose results it has
	Again    []string   `json:"again,omitempty"`   // tasks that are done again, or for the first time
	Effects  []string   `json:"effects,omitempty"` // those of them that may have been done outside already
	Reviews  bool       `json:"reviews,omitempty"` // no round of a review has passed it, and it is looked at again
	Asks     *askedNext `json:"asks,omitempty"`    // what it asks people at once
	Answered bool       `json:"answered"`          // whoever has written has had an answer
}

func (r *retried) lines() string {
	told := []string{fmt.Sprintf("run %s takes the place of %s; `podium runs watch %s` follows it\n", r.Retry, r.Run, r.Retry)}
	for _, part := range [...]struct {
		title string
		tasks []string
	}{{"brought", r.Brought}, {"to do", r.Again}, {"may happen twice", r.Effects}} {
		if len(part.tasks) > 0 {
			told = append(told, fmt.Sprintf("%s: %s\n", part.title, strings.Join(part.tasks, ", ")))
		}
	}
	if r.Reviews {
		told = append(told, "the review has not passed it: all of it is looked at again, from round 1 on, if the profile still has it reviewed\n")
	}
	if r.Answered {
		told = append(told, "whoever has written was answered, and is once more\n")
	}
	return strings.Join(told, "") + r.Asks.line()
}

// notRetried says why a run is not retried, and what to do instead.
func notRetried(run *workflow.RunHistory, made *recovery.Retry, from, reason string) error {
	switch reason {
	case schemas.ResendNotEnded:
		return fmt.Errorf("run %s has not ended (%s); `podium runs watch %s` follows it, and `podium runs cancel %s` ends it", run.ID, run.Phase, run.ID, run.ID)
	case schemas.RetryBusy:
		return fmt.Errorf("another run of the conversation of run %s is at work; say it again when that has ended: `podium runs --status open` lists it", run.ID)
	case schemas.RetryUpstream:
		return fmt.Errorf("run %s was asked for by %s, which has its answer: ask there once more; a plan that was sent by `podium send --plan` is sent again under another message_id, or without one", run.ID, run.Message.Upstream.From)
	case schemas.RetryUnknownTask:
		if asked := run.Task(from); asked != nil && asked.Plan == nil {
			return fmt.Errorf("%s of run %s is a question, and no task of its plan: a retry puts its questions anew; without --from it does what has not been completed, and has what no review has passed looked at again", from, run.ID)
		}
		return fmt.Errorf("run %s has no task %q to do again; `podium runs show %s` lists them", run.ID, from, run.ID)
	case schemas.RetryEffects:
		return fmt.Errorf("what these tasks did outside may have happened already, and would happen twice: %s; look at that, and if it is meant, say --allow-duplicate", strings.Join(made.Effects, ", "))
	case string(schemas.WordNotAllowed):
		return fmt.Errorf("profile %s of run %s is in force no more, so that nobody may have it done", run.Profile, run.ID)
	}
	return fmt.Errorf("all tasks of run %s are completed; --from TASK does one again, and `podium runs resend %s` sends its answer", run.ID, run.ID)
}
