package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/bus/intake"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/runlog"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// inboxCommand lists what people are asked.
type inboxCommand struct {
	ledgerFlags
}

func (inboxCommand) Help() string {
	return `Lists what runs wait for a person to say, the oldest first. ID is what podium answer takes. KIND is input, where
whoever wrote has left out what a task needs, work, where the task is a person's (podium reject declines it), approval, where
somebody has to agree before a task begins (podium approve, podium reject), budget, where the run has used up what it may
(podium raise, podium reject), or escalation, where a task has failed and somebody says what is done about that (podium answer ID
retry, skip, "answer: …", "replan: …" or end); -o json has its hash, by which it is one thing. FROM is who has begun the run, and whether
a mail server confirms them (confirmed, unconfirmed); -o json has that as requester, and what they have written as words. ASKED
is who was written to, by mail or in the chat, one question after the other where one person has several; whoever may read the ledger can answer in their place, here. Behind
UNTIL nobody waits any more; without one nobody was written to yet. "not delivered" says that no letter has gone out so far,
and "perhaps not delivered" that the mail server did not confirm one: podium runs show RUN has the reason, as undelivered in
-o json.

  podium inbox
  podium inbox -o json          # one question a line, whole
  podium answer 5f0c.1 "Rue de la Paix 3"`
}

func (inboxCommand) Run(env *environment) error {
	return env.withLedger(func(ledger *installation.Ledger) error {
		runs, err := env.runLog(ledger.Core).Runs(env.ctx)
		if err != nil {
			return err
		}
		open := openInquiries(runs)
		if env.json {
			for i := range open {
				if err = env.printLine(&open[i]); err != nil {
					return err
				}
			}
			return nil
		}
		return env.printInbox(open)
	})
}

func (e *environment) printInbox(open []openInquiry) error {
	if len(open) == 0 {
		return e.print("nobody is asked anything\n")
	}
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tSINCE\tUNTIL\tPROFILE\tKIND\tFROM\tASKED\tQUESTION")
	for i := range open {
		asked, until := &open[i], ""
		if !asked.Until.IsZero() {
			until = asked.Until.Local().Format(time.DateTime)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", asked.ID, asked.Since.Local().Format(time.DateTime), until,
			asked.Profile, asked.Kind, asked.Requester.Line(), asked.people(), view.Line(asked.Question, 0))
	}
	return table.Flush()
}

// An openInquiry is a question that waits, for programs.
type openInquiry struct {
	ID      string                `json:"id"`
	Run     string                `json:"run"`
	Task    string                `json:"task"`
	Kind    schemas.HumanTaskKind `json:"kind"`
	Profile string                `json:"profile"`
	Channel string                `json:"channel"`
	// Requester is who has begun the run, and Words is what they have written, without what turns the direction of
	// writing.
	Requester view.Requester `json:"requester"`
	Words     string         `json:"words,omitzero"`
	Asked     string         `json:"asked"` // who
	// After is the question that whoever has begun the run is asked before this one, of which they know nothing yet.
	After    string         `json:"after,omitzero"`
	Question string         `json:"question"`
	Needs    []schemas.Need `json:"needs,omitzero"`
	Since    time.Time      `json:"since"`
	Until    time.Time      `json:"until,omitzero"`
	Reminded bool           `json:"reminded,omitzero"`
	// Letter is how far the letters are that tell of it; empty when those of an earlier run have. Undelivered is why none has gone out.
	Letter      view.Letter `json:"letter,omitzero"`
	Undelivered string      `json:"undelivered,omitzero"`
	// Hash, of an approval, is what it is of; see approve --hash. Operation is what was proposed.
	Hash      string             `json:"hash,omitzero"`
	Operation *schemas.Operation `json:"operation,omitzero"`
	// Choices are what may be said to an escalation.
	Choices []schemas.InquiryChoice `json:"choices,omitzero"`
	// Need is how many persons have to agree, where that is more than one, and Agreed who has.
	Need   int             `json:"need,omitzero"`
	Agreed []schemas.Actor `json:"agreed,omitzero"`
	// Shortage, of a budget, is what there is and what is needed.
	Shortage *schemas.Shortage `json:"shortage,omitzero"`
}

// people are who is asked, and that they were not told if that has failed, or is not due yet.
func (o *openInquiry) people() string {
	if o.After != "" {
		return o.Asked + " (later)"
	}
	if told := o.Letter.Trouble(); told != "" {
		return o.Asked + " (" + told + ")"
	}
	return o.Asked
}

// openInquiries are those of runs that are given with the newest first, the oldest run's first.
func openInquiries(runs []*workflow.RunHistory) []openInquiry {
	var open []openInquiry
	for _, run := range slices.Backward(runs) {
		for _, inquiry := range run.Inquiries {
			if !inquiry.Open() {
				continue
			}
			letter, why := view.LetterOf(run, inquiry)
			after := ""
			if first := run.OpenInquiry(); inquiry.OfRequester() && inquiry != first {
				after = schemas.InquiryID(run.ID, first.Inquiry)
			}
			var agreed []schemas.Actor
			for _, word := range inquiry.Agreed {
				agreed = append(agreed, word.Actor)
			}
			open = append(open, openInquiry{
				After: after,
				ID:    schemas.InquiryID(run.ID, inquiry.Inquiry), Run: run.ID, Task: inquiry.Task, Kind: inquiry.Kind, Profile: run.Profile,
				Channel: run.Message.Channel, Requester: view.RequesterOf(&run.Message),
				Words: schemas.RemoveControls(run.Message.Text.Text),
				Asked: view.Person(run, inquiry), Question: inquiry.Question, Needs: inquiry.Needs,
				Since: inquiry.Opened, Until: inquiry.Expires(), Reminded: inquiry.Notices > 1,
				Letter: letter, Undelivered: why, Hash: inquiry.Hash, Operation: inquiry.Operation, Choices: inquiry.Choices, Need: inquiry.Need, Agreed: agreed, Shortage: inquiry.Shortage,
			})
		}
	}
	return open
}

// answerCommand answers what a run asks.
type answerCommand struct {
	ledgerFlags
	speakerFlags

	ID     string   `arg:"" name:"run" help:"The id of the question as podium inbox names it, or the run's; the beginning of the run's is enough."`
	Text   []string `arg:"" optional:"" help:"The words; from standard input when there are none."`
	NoWait bool     `help:"Do not wait until the supervisor has taken the answer."`
}

func (answerCommand) Help() string {
	return `Answers what a run asks, or does the work that it asks a person for: the words are the result. Without a number behind
the run's id that is the question which is open. What was said first counts, whether by mail, in a chat or here; what comes later is
refused, with exit code 1. An answer that does not say what is needed (a word where a number is) ends with exit code 6, says what was wrong, and
is asked for again under another number, in -o json as asked_again; when nothing may be asked any more the run ends, with exit code 1.
On a ledger at rest the words take effect when the service starts. To take the request back: podium runs cancel.

  podium inbox                              # what is asked
  podium answer 5f0c "Rue de la Paix 3"
  podium answer 5f0c.2 < answer.txt         # the second question of the run
  podium answer 5f0c.3 retry                # what is done about a failure
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
	return env.say(c.ID, &c.speakerFlags, schemas.Control{Action: schemas.ControlAnswer, Text: text}, c.NoWait)
}

// mostWords bounds an answer, in bytes.
const mostWords = 1 << 20

// approveCommand agrees to what a run asks leave for.
type approveCommand struct {
	ledgerFlags
	speakerFlags

	ID        string `arg:"" name:"run" help:"The id of the question as podium inbox names it, or the run's; the beginning of the run's is enough."`
	Hash      string `help:"The hash that podium inbox -o json shows, or its beginning: if something else is asked by now, nothing is agreed to." placeholder:"HASH"`
	Arguments string `help:"What is changed of the arguments that are shown, as a JSON object: its members take the place of those of their name, null takes one away." placeholder:"JSON"`
	NoWait    bool   `help:"Do not wait until the supervisor has taken it."`
}

func (approveCommand) Help() string {
	return `Agrees to what a run asks leave for (kind approval): the task begins, as it was shown, and nothing else is done. It speaks for the operator
of the service, in the place of whoever was asked; your user of the operating system is on record, and with --as for whom you say it. The first word counts, by mail, in a chat or here; a later one is refused, with exit code 1
and with who has decided. Where several have to agree your user is one of them, however often you say so and for whom. Where the time is over nobody has agreed.

  podium inbox
  podium approve 5f0c.1
  podium approve 5f0c.1 --hash 9a1b2c3d     # only if that is still what is asked
  podium approve 5f0c.1 --as anna          # anna has told you so
  podium approve 5f0c.1 --arguments '{"amount": 10}'   # it is done with this amount
  podium reject 5f0c.1 --reason "too dear"`
}

func (c *approveCommand) Run(env *environment) error {
	var change jsontext.Value // absent when nothing is changed
	if c.Arguments != "" {
		change = jsontext.Value(c.Arguments)
	}
	if change != nil && (!change.IsValid() || change.Kind() != '{') {
		return &exitError{code: exitUsage, err: errors.New("--arguments is no JSON object; write what is changed, such as --arguments '{\"amount\": 10}'")}
	}
	return env.say(c.ID, &c.speakerFlags, schemas.Control{Action: schemas.ControlApprove, Hash: c.Hash, Arguments: change}, c.NoWait)
}

// raiseCommand raises the budget of a run.
type raiseCommand struct {
	ledgerFlags
	speakerFlags

	ID      string   `arg:"" name:"run" help:"The id of the question as podium inbox names it, or the run's; the beginning of the run's is enough."`
	Tokens  *int64   `help:"Tokens that the run may use beyond its budget." placeholder:"N"`
	Seconds *int64   `help:"Seconds of working time." placeholder:"N"`
	Money   *float64 `help:"Money, in the unit of the budget." placeholder:"AMOUNT"`
	NoWait  bool     `help:"Do not wait until the supervisor has taken it."`
}

func (raiseCommand) Help() string {
	return `Raises the budget of a run that has used it up and asks for more (kind budget): what was held back begins. Without an amount it is raised by
what was offered, which is enough for all that is still planned. Where the question is about one agent it is that agent's budget in this run. The
budget of the profile stays as it is. podium reject ends the run with the results that it has; so does silence.

  podium inbox
  podium raise 5f0c.1                       # by what was offered
  podium raise 5f0c.1 --tokens 20000
  podium raise 5f0c --seconds 600 --money 2.50
  podium reject 5f0c.1 --reason "enough"`
}

func (c *raiseCommand) Run(env *environment) error {
	amount, err := c.amount()
	if err != nil {
		return usage(err)
	}
	return env.say(c.ID, &c.speakerFlags, schemas.Control{Action: schemas.ControlRaise, Amount: amount}, c.NoWait)
}

// amount is by how much somebody raises a budget; nil is by what was offered. Nothing is no amount: it would grant what was offered.
func (c *raiseCommand) amount() (*schemas.Usage, error) {
	if c.Tokens == nil && c.Seconds == nil && c.Money == nil {
		return nil, nil //nolint:nilnil // no amount is said, and that is right
	}
	var amount schemas.Usage
	for _, part := range [...]struct {
		flag  string
		said  *int64
		most  int64
		units int64
		into  *int64
	}{
		{"--tokens", c.Tokens, schemas.MaxUsage, 1, &amount.Tokens},
		{"--seconds", c.Seconds, schemas.MaxUsage / 1000, 1000, &amount.Milliseconds},
	} {
		switch {
		case part.said == nil:
		case *part.said <= 0 || *part.said > part.most:
			return nil, raisedBy(part.flag, *part.said)
		default:
			*part.into = *part.said * part.units
		}
	}
	if c.Money != nil {
		if amount.CostMicros = int64(math.Round(*c.Money * 1e6)); !(*c.Money <= float64(schemas.MaxUsage/1_000_000)) || amount.CostMicros <= 0 {
			return nil, raisedBy("--money", *c.Money)
		}
	}
	return &amount, nil
}

// raisedBy says that a budget is not raised by what a flag says.
func raisedBy(flag string, said any) error {
	return fmt.Errorf("%s %v is no amount to raise a budget by: write one above 0, such as --tokens 20000; without an amount it is raised by what was offered, and podium reject raises nothing", flag, said)
}

// rejectCommand declines work that a person is asked for, or says no to what leave is asked for.
type rejectCommand struct {
	ledgerFlags
	speakerFlags

	ID     string `arg:"" name:"run" help:"The id of the question as podium inbox names it, or the run's; the beginning of the run's is enough."`
	Reason string `help:"Why; it stays on the ledger." placeholder:"WORDS"`
	Hash   string `help:"Of an approval, as for podium approve." placeholder:"HASH"`
	NoWait bool   `help:"Do not wait until the supervisor has taken it."`
}

func (rejectCommand) Help() string {
	return `Declines work that a person was asked for (kind work): the run goes on without it. Says no to what a run asks leave for (kind
approval): the task fails as rejected, and nobody does it instead. Gives a run no more of its budget (kind budget): it ends with what is
there. A question for what is missing
(kind input) cannot be declined: answer it, or stop the run.

  podium inbox
  podium reject 5f0c.1 --reason "nobody has the time"
  podium runs cancel 5f0c       # for a question that nobody can answer`
}

func (c *rejectCommand) Run(env *environment) error {
	return env.say(c.ID, &c.speakerFlags, schemas.Control{Action: schemas.ControlReject, Reason: c.Reason, Text: c.Reason, Hash: c.Hash}, c.NoWait)
}

// say publishes a person's word on an inquiry, and tells what has become of it.
func (e *environment) say(name string, speaker *speakerFlags, control schemas.Control, noWait bool) error {
	return e.changeLedger(func(ledger *installation.Ledger) error {
		found, err := e.runLog(ledger.Core).Inquiry(e.ctx, name)
		if err != nil {
			return err
		}
		if err = unsayable(found, control.Action); err != nil {
			return err
		}
		control.Hash = wholeHash(control.Hash, found.Inquiry().Hash)
		served, err := e.served(ledger)
		if err != nil {
			return err
		}
		control.Run, control.Inquiry = found.Run.ID, found.Number
		speaker.signs(&control)
		receipt, err := intake.NewIntake(ledger.Core).SubmitControl(e.ctx, controlSource, schemas.ShardOf(found.Run.Session, ledger.Core.Shards()), &control)
		if err != nil {
			return err
		}
		told := map[string]any{"inquiry": found.ID(), "run": found.Run.ID, "action": control.Action, "id": receipt.ID}
		if speaker.As != "" {
			told["as"] = speaker.As
		}
		switch {
		case !served:
			return e.answer(told, "noted for %s; nobody is at work on this ledger, and it takes effect when the service starts\n", found.ID())
		case noWait:
			return e.answer(told, "noted for %s; `podium runs show %s` says what came of it\n", found.ID(), found.Run.ID)
		}
		return e.decided(ledger.Core, found, receipt, told)
	})
}

// wholeHash is the hash that a person names by its beginning, and that of what they are shown when they name none.
func wholeHash(named, shown string) string {
	const least = 8
	if named == "" || len(named) >= least && strings.HasPrefix(shown, named) {
		return shown
	}
	return named
}

// decidedWithin bounds the wait for the supervisor's word.
const decidedWithin = 10 * time.Second

// decided waits until the supervisor has taken or refused a word, and says which.
func (e *environment) decided(core bus.Core, found runlog.NamedInquiry, receipt intake.ControlReceipt, told map[string]any) error {
	ctx, stop := context.WithTimeout(e.ctx, decidedWithin)
	defer stop()
	task := ""
	if asked := found.Inquiry(); asked.Kind.IsInput() {
		task = asked.Task
	}
	received, err := e.runLog(core).Disposition(ctx, found.Run.Session, receipt.Sequence+1, receipt.ID, task)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the word on %s is on the ledger, and nobody has looked at it within %s; do not say it again: `podium runs show %s` tells what comes of it",
			found.ID(), decidedWithin, found.Run.ID)
	}
	if err != nil {
		return err
	}
	told["disposition"] = received.Disposition
	if received.Disposition == schemas.DispositionAnswered {
		return e.taken(found, &received, told)
	}
	if received.Disposition == schemas.DispositionHeld {
		return e.answer(told, "run %s has ended, and your word is kept: it counts once whoever asked for the run asks for the same again\n", found.Run.ID)
	}
	if found.Run, err = e.runLog(core).Run(e.ctx, found.Run.ID); err != nil {
		return err
	}
	told["reason"] = received.Reason
	if err = e.forPrograms(told); err != nil {
		return err
	}
	rejection := schemas.Rejection(received.Reason)
	if as, is := told["as"]; is && rejection == schemas.WordNotAllowed {
		return fmt.Errorf("%s does not decide %s: --as takes a person of the people section who is asked by it and has not begun the run themselves; without --as you speak as the operator",
			as, found.ID())
	}
	return refusedWord(found, rejection)
}

// askedAgain is the question that takes the place of one whose answer did not fit, for programs.
type askedAgain struct {
	ID       string         `json:"id"`
	Question string         `json:"question"` // says what was wrong, where that is known
	Needs    []schemas.Need `json:"needs,omitzero"`
	Answer   string         `json:"answer"` // the command that answers it; the words go behind it
}

// askedNext is what a run asks people as soon as a word has counted.
type askedNext struct {
	ID       string                  `json:"id"`
	Kind     schemas.HumanTaskKind   `json:"kind"`
	Question string                  `json:"question"`
	Choices  []schemas.InquiryChoice `json:"choices,omitzero"`
	Answer   string                  `json:"answer"` // the command that answers it
}

// nextOf is what a run asks next by the decision that a word has led to; nil is nothing.
func nextOf(session string, received *runlog.Disposition) *askedNext {
	asked := received.Asks
	if asked == nil || received.Settled != nil {
		return nil
	}
	id := schemas.InquiryID(schemas.RunID(session, received.Run), asked.Inquiry)
	return &askedNext{ID: id, Kind: asked.Kind, Question: asked.Question, Choices: asked.Choices, Answer: view.HowToAnswer(asked.Kind, asked.Choices, id)}
}

// line tells it to people.
func (a *askedNext) line() string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf("it asks next, as %s: %s; answer it: %s\n", a.ID, view.Line(a.Question, 0), a.Answer)
}

// taken tells what has come of a word that counts: the run goes on, ends, or asks again since the word does not say what it needs.
func (e *environment) taken(found runlog.NamedInquiry, received *runlog.Disposition, told map[string]any) error {
	settled := received.Settled
	fails := settled != nil && found.Inquiry().Kind.IsInput() && settled.Status != schemas.RunCompleted && settled.Status != schemas.RunPartial
	switch {
	case received.Again != nil:
		again := schemas.InquiryID(schemas.RunID(found.Run.Session, received.Run), received.Again.Inquiry)
		asked := askedAgain{ID: again, Question: received.Again.Question, Needs: received.Again.Needs, Answer: "podium answer " + again}
		told["asked_again"] = &asked
		err := &exitError{code: exitAsks, err: fmt.Errorf("%s is answered, but the answer does not say what is needed, which is asked again as %s: %s; answer it: %s",
			found.ID(), again, view.Line(asked.Question, 0), asked.Answer)}
		return errors.Join(e.forPrograms(told), err)
	case fails:
		told["status"], told["reason"] = settled.Status, settled.Reason
		why := ""
		if settled.Error != nil {
			why = view.Line(settled.Error.Message[found.Run.Message.Language], 0)
		}
		return errors.Join(e.forPrograms(told), fmt.Errorf("%s is answered, but the run has ended %s all the same: %s", found.ID(), settled.Status, why))
	}
	if received.Lacking > 0 {
		told["lacking"] = received.Lacking
		return e.answer(told, "your word on %s counts; %d more have to agree: `podium runs show %s` tells who has\n", found.ID(), received.Lacking, found.Run.ID)
	}
	next := nextOf(found.Run.Session, received)
	if next != nil {
		told["asks"] = next
	}
	if told["action"] == schemas.ControlReject && settled != nil {
		return e.answer(told, "%s is rejected, and the run has ended %s; `podium runs show %s` has its answer\n", found.ID(), settled.Status, found.Run.ID)
	}
	if told["action"] == schemas.ControlReject {
		return e.answer(told, "%s is rejected, and the run goes on without it; `podium runs watch %s` follows it\n%s", found.ID(), found.Run.ID, next.line())
	}
	return e.answer(told, "%s is decided, and the run goes on; `podium runs watch %s` follows it\n%s", found.ID(), found.Run.ID, next.line())
}

// forPrograms prints a value for programs, and nothing for people, who are told by the error.
func (e *environment) forPrograms(value any) error {
	if !e.json {
		return nil
	}
	return e.answer(value, "")
}

// unsayable says why a word would change nothing, as far as the ledger tells by now.
func unsayable(found runlog.NamedInquiry, action schemas.ControlAction) error {
	inquiry := found.Inquiry()
	switch {
	case inquiry.Answered != nil:
		return refusedWord(found, schemas.WordDecided)
	case inquiry.Closed == schemas.InquiryExpired:
		return refusedWord(found, schemas.WordExpired)
	case inquiry.Closed != "" && inquiry.Told == "": // else a further run may have adopted it
		return refusedWord(found, schemas.WordClosed)
	case !slices.Contains(inquiry.Kind.Choices(), schemas.InquiryChoice(action)):
		return refusedWord(found, schemas.WordChoice)
	}
	return nil
}

func spokenChoices(choices []schemas.InquiryChoice) string {
	words := make([]string, len(choices))
	for i, choice := range choices {
		words[i] = string(choice)
	}
	return strings.Join(words, ", ")
}

// refusedWord puts the reason for which a word was refused into words. Reasons: those of
// message_received for words on inquiries.
func refusedWord(found runlog.NamedInquiry, reason schemas.Rejection) error {
	inquiry := found.Inquiry()
	switch {
	case reason == schemas.WordDecided && inquiry.Answered != nil:
		return fmt.Errorf("%s is decided already: %s", found.ID(), view.Word(inquiry))
	case reason == schemas.WordDecided && inquiry.Open() && len(inquiry.Agreed) > 0:
		return fmt.Errorf("you have agreed to %s already, and count once: others have to agree too; `podium runs show %s` tells who has", found.ID(), found.Run.ID)
	case reason == schemas.WordExpired:
		return fmt.Errorf("nobody waits for a word on %s any more: its time was over; `podium runs show %s` tells how the run has gone on", found.ID(), found.Run.ID)
	case reason == schemas.WordClosed:
		return fmt.Errorf("nobody waits for a word on %s any more (%s); `podium runs show %s` tells how the run has gone on", found.ID(), view.Spoken(inquiry.Closed), found.Run.ID)
	case reason == schemas.WordChoice && inquiry.Kind.IsApproval():
		return fmt.Errorf("%s asks for leave: say `podium approve %s` or `podium reject %s`", found.ID(), found.ID(), found.ID())
	case reason == schemas.WordChoice && inquiry.Kind.IsWork():
		return fmt.Errorf("%s asks for work, which nobody can agree to: do it with `podium answer %s …`, or decline it with `podium reject %s`", found.ID(), found.ID(), found.ID())
	case reason == schemas.WordChoice && inquiry.Kind.IsBudget():
		return fmt.Errorf("%s asks for more of the budget: say `podium raise %s` or `podium reject %s`", found.ID(), found.ID(), found.ID())
	case reason == schemas.WordChoice && inquiry.Kind.IsAboutFailure():
		return fmt.Errorf("%s asks what is done about a failure: say `podium answer %s WORD`, where WORD is one of %s; what follows answer and replan stands behind a colon", found.ID(), found.ID(), spokenChoices(inquiry.Choices))
	case reason == schemas.WordPlan:
		return fmt.Errorf("what is to be done instead in %s cannot be: it is one step a line, or JSON with tasks for agents of the profile, while the run is at work; `podium runs show %s` has its tasks", found.ID(), found.Run.ID)
	case reason == schemas.WordHash:
		return fmt.Errorf("%s asks for something else than you have seen: look at it with `podium inbox -o json`, and decide once more", found.ID())
	case reason == schemas.WordEdit:
		return fmt.Errorf("nothing is agreed to on %s: its agent does not take the arguments as you have changed them, or somebody has said no to that before; `podium runs show %s` has those that are asked about",
			found.ID(), found.Run.ID)
	case reason == schemas.WordChoice:
		return fmt.Errorf("%s asks for something that is missing, which cannot be rejected; say it with `podium answer %s …`, or stop the run with `podium runs cancel %s`",
			found.ID(), found.ID(), found.Run.ID)
	case reason == schemas.WordNotAllowed:
		return fmt.Errorf("nobody may say a word on %s: the profile of run %s is not in the configuration of the service any more; put it back, or stop the run with `podium runs cancel %s`",
			found.ID(), found.Run.ID, found.Run.ID)
	case reason == schemas.WordNotAsked:
		return fmt.Errorf("nothing is asked as %s any more: run %s has ended; `podium runs show %s` tells how", found.ID(), found.Run.ID, found.Run.ID)
	}
	return fmt.Errorf("the word on %s was refused (%s); `podium runs show %s` tells how the run goes on", found.ID(), view.Spoken(reason), found.Run.ID)
}
