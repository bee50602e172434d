package main

import (
	"cmp"
	"fmt"

	"podium/cmd/podium/installation"
	"podium/schemas"
	"podium/schemas/workflow"
)

type runsResendCommand struct {
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
			Action: schemas.ControlResend, Run: run.ID, By: "command line", Reason: c.Reason, AllowDuplicate: c.AllowDuplicate,
		}
		if err = env.control(ledger.Core, schemas.ShardOf(run.Session, ledger.Core.Shards()), control); err != nil {
			return err
		}
		return env.answer(map[string]string{"run": run.ID, "asked": string(control.Action)},
			"asked to send the answer of run %s again; `podium runs show %s` says what came of it\n", run.ID, run.ID)
	})
}

// notResent says why the answer of a run would not be sent again, and what to do instead.
func notResent(run *workflow.RunHistory, allowDuplicate bool) error {
	switch run.Resendable(allowDuplicate) {
	case schemas.ResendNotEnded:
		return fmt.Errorf("run %s has not ended (%s), so that its answer is still on its way; `podium runs watch %s` follows it", run.ID, run.Phase, run.ID)
	case schemas.ResendWaits:
		return fmt.Errorf("somebody has asked for it already: the answer of run %s goes out when the run of its session that is under way has ended", run.ID)
	case schemas.ResendAnswered:
		return fmt.Errorf("the answer of run %s was delivered, as %s; there is nothing to send again", run.ID, cmp.Or(run.Replied, "its receipt says"))
	case schemas.ResendReturned:
		return fmt.Errorf("the answer of run %s was delivered and came back (`podium runs show %s`); the same letter would be taken for the one that was sent, so write a new one", run.ID, run.ID)
	case schemas.ResendNoAnswer:
		return fmt.Errorf("nobody waits for an answer of run %s (%s); there is nothing to send", run.ID, unasked(run))
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
