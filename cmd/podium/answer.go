package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/history"
	"podium/bus/intake"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/runlog"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// answerCommand answers what a run asks.
type answerCommand struct {
	ledgerFlags

	ID     string   `arg:"" name:"run" help:"The id of the question as podium inbox names it, or the run's; the beginning of the run's is enough."`
	Text   []string `arg:"" optional:"" help:"The words; from standard input when there are none."`
	NoWait bool     `help:"Do not wait until the supervisor has taken the answer."`
}

func (answerCommand) Help() string {
	return `Answers a question that a run waits with; without a number behind the run's id, the one that is open. What was
said first counts, whether by mail, in a chat or here; what comes later is refused, with exit code 1. The
words go onto the ledger; at work on a ledger at rest they take effect when the service starts.

  podium inbox                              # what is asked
  podium answer 5f0c "Rue de la Paix 3"
  podium answer 5f0c.2 < answer.txt         # the second question of the run
  podium answer 5f0c.2 --no-wait -o json 2030-12-03`
}

func (c *answerCommand) Run(env *environment) error {
	text := strings.Join(c.Text, " ")
	if text == "" {
		body, err := io.ReadAll(io.LimitReader(env.stdin, mostWords+1))
		if err != nil {
			return err
		}
		text = string(body)
	}
	if text = strings.TrimSpace(text); text == "" {
		return usage(errors.New(`there are no words to answer with; try podium answer 5f0c "Rue de la Paix 3"`))
	}
	if len(text) > mostWords {
		return usage(fmt.Errorf("the answer has more than %d bytes; name a place where it can be read instead", mostWords))
	}
	return env.say(c.ID, schemas.Control{Action: schemas.ControlAnswer, Text: text}, c.NoWait)
}

// mostWords bounds an answer, in bytes.
const mostWords = 1 << 20

// rejectCommand declines work that a person is asked for.
type rejectCommand struct {
	ledgerFlags

	ID     string `arg:"" name:"run" help:"The id of the question as podium inbox names it, or the run's; the beginning of the run's is enough."`
	Reason string `help:"Why; it stays on the ledger." placeholder:"WORDS"`
	NoWait bool   `help:"Do not wait until the supervisor has taken it."`
}

func (rejectCommand) Help() string {
	return `Declines work that a person was asked for (kind work): the run goes on without it. A question for what is missing
(kind input) cannot be declined: answer it, or stop the run.

  podium inbox
  podium reject 5f0c.1 --reason "nobody has the time"
  podium runs cancel 5f0c       # for a question that nobody can answer`
}

func (c *rejectCommand) Run(env *environment) error {
	return env.say(c.ID, schemas.Control{Action: schemas.ControlReject, Reason: c.Reason, Text: c.Reason}, c.NoWait)
}

// A namedInquiry is an inquiry of a run that a person has named.
type namedInquiry struct {
	run    *workflow.RunHistory
	number int
}

func (a namedInquiry) id() string { return schemas.InquiryID(a.run.ID, a.number) }

// findInquiry reads what a person names: an inquiry, or a run that asks something.
func findInquiry(ctx context.Context, reader runlog.Reader, name string) (namedInquiry, error) {
	of, number, err := splitInquiry(name)
	if err != nil {
		return namedInquiry{}, err
	}
	run, err := reader.Run(ctx, of)
	if err != nil {
		return namedInquiry{}, err
	}
	found := namedInquiry{run, number}
	var open []string
	for _, inquiry := range run.Inquiries {
		if inquiry.Open() {
			open, found.number = append(open, schemas.InquiryID(run.ID, inquiry.Inquiry)), cmp.Or(number, inquiry.Inquiry)
		}
	}
	switch {
	case number > 0 && run.Inquiry(number) == nil:
		return found, notFound("run %s has asked %d questions, and none is %s; `podium runs show %s` lists them", run.ID, len(run.Inquiries), found.id(), run.ID)
	case number > 0 || len(open) == 1:
	case len(open) > 1:
		return found, usage(fmt.Errorf("run %s asks more than one question; name one: %s", run.ID, strings.Join(open, ", ")))
	case len(run.Inquiries) > 0:
		found.number = len(run.Inquiries) // it says why there is nothing left to be said
	default:
		return found, fmt.Errorf("run %s has asked nobody anything; `podium inbox` lists the questions that are open", run.ID)
	}
	return found, nil
}

// splitInquiry takes <run>.<k> apart, of which the run may be no more than the beginning of its id.
func splitInquiry(name string) (run string, number int, err error) {
	run, digits, numbered := strings.Cut(name, ".")
	if !numbered {
		return run, 0, nil
	}
	if number, err = strconv.Atoi(digits); err != nil || number < 1 {
		return "", 0, usage(fmt.Errorf("%q is not the number of a question; `podium inbox` lists the ids, such as 5f0c….1", digits))
	}
	return run, number, nil
}

// say publishes a person's word on an inquiry, and tells what has become of it.
func (e *environment) say(name string, control schemas.Control, noWait bool) error {
	return e.changeLedger(func(ledger *installation.Ledger) error {
		found, err := findInquiry(e.ctx, e.runLog(ledger.Core), name)
		if err != nil {
			return err
		}
		if err = unsayable(found, control.Action); err != nil {
			return err
		}
		served, err := e.served(ledger)
		if err != nil {
			return err
		}
		control.Run, control.Inquiry, control.By = found.run.ID, found.number, "command line"
		receipt, err := intake.NewIntake(ledger.Core).SubmitControl(e.ctx, controlSource, schemas.ShardOf(found.run.Session, ledger.Core.Shards()), &control)
		if err != nil {
			return err
		}
		told := map[string]any{"inquiry": found.id(), "run": found.run.ID, "action": control.Action, "id": receipt.ID}
		switch {
		case !served:
			return e.answer(told, "noted for %s; nobody is at work on this ledger, and it takes effect when the service starts\n", found.id())
		case noWait:
			return e.answer(told, "noted for %s; `podium runs show %s` says what came of it\n", found.id(), found.run.ID)
		}
		return e.decided(ledger.Core, found, receipt, told)
	})
}

// decidedWithin bounds the wait for the supervisor's word.
const decidedWithin = 10 * time.Second

// decided waits until the supervisor has taken or refused a word, and says which.
func (e *environment) decided(core bus.Core, found namedInquiry, receipt intake.ControlReceipt, told map[string]any) error {
	received, err := disposition(e.ctx, core, found.run.Session, receipt)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the word on %s is on the ledger, and nobody has looked at it within %s; do not say it again: `podium runs show %s` tells what comes of it",
			found.id(), decidedWithin, found.run.ID)
	}
	if err != nil {
		return err
	}
	told["disposition"] = received.Disposition
	if received.Disposition == schemas.DispositionAnswered {
		return e.answer(told, "%s is decided, and the run goes on; `podium runs watch %s` follows it\n", found.id(), found.run.ID)
	}
	if found.run, err = e.runLog(core).Run(e.ctx, found.run.ID); err != nil {
		return err
	}
	told["reason"] = received.Reason
	if e.json {
		if err = e.answer(told, ""); err != nil {
			return err
		}
	}
	return refusedWord(found, received.Reason)
}

// disposition follows a session until it says what became of a word.
func disposition(ctx context.Context, core bus.Core, session string, receipt intake.ControlReceipt) (*schemas.MessageReceived, error) {
	ctx, stop := context.WithTimeout(ctx, decidedWithin)
	defer stop()
	for record, err := range history.FollowSession(ctx, core, session, receipt.Sequence+1) {
		if err != nil {
			return nil, err
		}
		for fact := range record.AllFacts() {
			if received, is := fact.(*schemas.MessageReceived); is && received.ID == receipt.ID {
				return received, nil
			}
		}
	}
	return nil, context.Cause(ctx)
}

// unsayable says why a word would change nothing, as far as the ledger tells by now.
func unsayable(found namedInquiry, action schemas.ControlAction) error {
	inquiry := found.run.Inquiry(found.number)
	switch {
	case inquiry.Answered != nil:
		return refusedWord(found, "already_decided")
	case inquiry.Closed == schemas.InquiryExpired:
		return refusedWord(found, "expired")
	case inquiry.Closed != "":
		return refusedWord(found, "inquiry_closed")
	case action == schemas.ControlReject && inquiry.Kind != schemas.InquiryWork:
		return refusedWord(found, "unknown_choice")
	}
	return nil
}

// refusedWord puts the reason for which a word was refused into words. Reasons: those of
// message_received for words on inquiries.
func refusedWord(found namedInquiry, reason string) error {
	inquiry := found.run.Inquiry(found.number)
	switch {
	case reason == "already_decided" && inquiry.Answered != nil:
		return fmt.Errorf("%s is decided already: %s", found.id(), view.Word(inquiry))
	case reason == "expired":
		return fmt.Errorf("nobody waits for a word on %s any more: its time was over; `podium runs show %s` tells how the run has gone on", found.id(), found.run.ID)
	case reason == "inquiry_closed":
		return fmt.Errorf("nobody waits for a word on %s any more (%s); `podium runs show %s` tells how the run has gone on", found.id(), view.Spoken(inquiry.Closed), found.run.ID)
	case reason == "unknown_choice":
		return fmt.Errorf("%s asks for something that is missing, which cannot be rejected; say it with `podium answer %s …`, or stop the run with `podium runs cancel %s`",
			found.id(), found.id(), found.run.ID)
	case reason == "no_inquiry":
		return fmt.Errorf("nothing is asked as %s any more: run %s has ended; `podium runs show %s` tells how", found.id(), found.run.ID, found.run.ID)
	}
	return fmt.Errorf("the word on %s was refused (%s); `podium runs show %s` tells how the run goes on", found.id(), view.Spoken(reason), found.run.ID)
}
