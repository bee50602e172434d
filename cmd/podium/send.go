package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/cloudevents"
	"podium/bus/history"
	"podium/bus/intake"
	"podium/cmd/podium/service"
	"podium/cmd/podium/view"
	"podium/schemas"
)

// sendCommand puts a chat message onto the bus.
type sendCommand struct {
	Text    []string      `arg:"" optional:"" help:"The words; from standard input when there are none."`
	Profile string        `help:"The profile that handles it; not needed when there is only one." placeholder:"NAME"`
	Thread  string        `help:"The conversation it belongs to; a new one by default." placeholder:"ID"`
	Plan    string        `help:"A plan in JSON instead of words: an execution_request, or its tasks alone; - is standard input." placeholder:"FILE"`
	Wait    bool          `help:"Show the progress, then the answer."`
	Timeout time.Duration `help:"How long --wait waits; the run goes on after it." default:"2m"`
}

// Help is shown by --help.
func (sendCommand) Help() string {
	return `Publishes the words as a chat message on the running instance's bus, or a plan as an execution_request
to a profile, which is checked first as "podium check --plan" does. With --wait, exit code 1 means that the run did not complete, or not within --timeout.

  podium send "What is 6 * 7?" --wait
  podium send --thread budget "What is 42 / 5?" --wait --timeout 30s -o json
  podium send --plan deploy/examples/graph/plan.json --profile graph --wait
  podium send < question.txt`
}

// Run implements the verb.
func (c *sendCommand) Run(env *environment) error {
	text, err := c.words(env)
	if err != nil {
		return err
	}
	instance, running, err := service.FindInstance(env.data)
	if err != nil {
		return err
	}
	if !running {
		return notFound("no podium runs on %s, so nobody would answer; start one with `podium up`", env.data)
	}
	profile, err := c.profile(&instance)
	if err != nil {
		return err
	}
	door, event := "cli", schemas.Event{}
	if c.Plan == "" {
		event, err = c.chatEvent(profile, text)
	} else {
		door = "agent"
		event, err = planEvent(env.stdin, c.Plan, profile)
	}
	if err != nil {
		return err
	}
	return env.changeLedger(func(ledger *service.Ledger) error { return c.send(env, ledger.Core, door, event) })
}

// words are what is to be sent; a plan speaks for itself.
func (c *sendCommand) words(env *environment) (string, error) {
	text := strings.Join(c.Text, " ")
	switch {
	case c.Plan != "" && (text != "" || c.Thread != ""):
		return "", &exitError{code: exitUsage, err: errors.New("--plan is sent without words and without --thread")}
	case c.Plan != "":
		return "", nil
	case text == "":
		body, err := io.ReadAll(env.stdin)
		if err != nil {
			return "", err
		}
		text = string(body)
	}
	if strings.TrimSpace(text) == "" {
		return "", &exitError{code: exitUsage, err: errors.New(`there are no words to send; try podium send "What is 6 * 7?"`)}
	}
	return text, nil
}

func (c *sendCommand) profile(instance *service.Instance) (string, error) {
	switch {
	case c.Profile == "" && len(instance.Profiles) == 1:
		return instance.Profiles[0], nil
	case c.Profile == "":
		return "", &exitError{code: exitUsage, err: fmt.Errorf("name a profile: --profile %s", strings.Join(instance.Profiles, ", or --profile "))}
	}
	for _, name := range instance.Profiles {
		if name == c.Profile {
			return name, nil
		}
	}
	return "", notFound("there is no profile %q; there are: %s", c.Profile, strings.Join(instance.Profiles, ", "))
}

// maxThread bounds a conversation's name, in bytes.
const maxThread = 256

func (c *sendCommand) chatEvent(profile, text string) (schemas.Event, error) {
	id := uuid.NewString()
	if len(c.Thread) > maxThread {
		return schemas.Event{}, usage(fmt.Errorf("--thread has %d bytes; at most %d are allowed", len(c.Thread), maxThread))
	}
	thread := c.Thread
	if thread == "" {
		thread = id
	}
	body, err := schemas.Marshal(schemas.ChatReceived{Provider: "cli", Channel: "cli", Thread: thread, MessageID: id, Text: text})
	return schemas.Event{
		ID: "chat:cli:" + id, Source: cloudevents.SourceOf(commandLine), Type: schemas.TypeChatReceived, Time: time.Now(),
		DataContentType: schemas.MediaTypeJSON, Profile: profile, PartitionKey: "cli/" + thread, Data: body,
	}, err
}

func (c *sendCommand) send(env *environment, core bus.Core, door string, event schemas.Event) error {
	receipt, err := intake.NewIntake(core).Submit(env.ctx, door, event)
	if err != nil {
		return err
	}
	if !c.Wait {
		return c.receipt(env, receipt)
	}
	bounded, stop := context.WithTimeout(env.ctx, c.Timeout)
	defer stop()
	env.ctx = bounded
	return env.follow(core, &schemas.Excerpt{Session: receipt.Session, Input: event.ID}, sent{receipt.Sequence, c.Plan != ""})
}

func (c *sendCommand) receipt(env *environment, receipt intake.Receipt) error {
	if env.json {
		return json.NewEncoder(env.stdout).Encode(map[string]any{"session": receipt.Session, "sequence": receipt.Sequence})
	}
	_, err := fmt.Fprintf(env.stdout, "accepted as sequence %d of session %s; `podium runs` shows what comes of it\n", receipt.Sequence, receipt.Session)
	return err
}

// sent is where the message of an excerpt stands.
type sent struct {
	sequence uint64
	again    bool // it may be one that came before, under another sequence
}

// follow shows a run until it has ended, then its answer. Message is about the one
// that the excerpt is about.
func (e *environment) follow(core bus.Core, excerpt *schemas.Excerpt, message sent) error {
	if e.json {
		return e.watch(core, excerpt, message, view.Nothing)
	}
	return e.watch(core, excerpt, message, view.Live)
}

// watch is follow with so much detail.
func (e *environment) watch(core bus.Core, excerpt *schemas.Excerpt, message sent, detail view.Detail) error {
	watched := view.Watch(e.stdout, detail)
	nested := newFamily(core, watched.ShowNested)
	run, err := e.awaitEnd(core, excerpt, message, func(record *schemas.Record, run *schemas.Run) {
		watched.Show(record, run)
		if run != nil && detail != view.Nothing {
			nested.look(e.ctx, run)
		}
	})
	unknown := nested.close()
	err = errors.Join(err, watched.Close())
	if unknown != nil {
		e.log.Error().Err(unknown).Msg("runs that were begun for this one are not shown whole")
	}
	if err == nil {
		return e.ended(core, run)
	}
	if e.ctx.Err() == nil {
		return err
	}
	name := excerpt.Session
	if excerpt.Number > 0 {
		name = schemas.RunID(excerpt.Session, excerpt.Number)
	}
	return fmt.Errorf("the wait is over, but the run goes on; `podium runs watch %s` follows it", name)
}

// awaitEnd shows what is said of a run, from its beginning on, and returns it when it
// has ended.
func (e *environment) awaitEnd(core bus.Core, excerpt *schemas.Excerpt, message sent, show func(*schemas.Record, *schemas.Run)) (*schemas.Run, error) {
	ended := func() bool { return excerpt.Run() != nil && excerpt.Run().State == schemas.RunStateEnded }
	for record, err := range e.recordsOf(core, excerpt, message, ended) {
		known := excerpt.Number
		if err == nil {
			err = excerpt.Apply(&record.Record)
		}
		if err != nil {
			return nil, err
		}
		if known == 0 && excerpt.Number > 0 && !excerpt.Known() {
			break
		}
		show(&record.Record, excerpt.Run())
	}
	if ended() {
		return excerpt.Run(), nil
	}
	if e.ctx.Err() != nil {
		return nil, e.ctx.Err()
	}
	// The message is part of a run that another one has begun.
	*excerpt = schemas.Excerpt{Session: excerpt.Session, Number: excerpt.Number}
	return e.awaitEnd(core, excerpt, sent{}, show)
}

// recordsOf yields what is known of a run or a message, then the records that come until
// the run has ended. It may have ended before, and go on to deliver its answer after all.
func (e *environment) recordsOf(core bus.Core, excerpt *schemas.Excerpt, message sent, ended func() bool) iter.Seq2[history.StoredRecord, error] {
	return func(yield func(history.StoredRecord, error) bool) {
		opened, err := history.OpenSession(e.ctx, core, excerpt.Session)
		if err == nil && excerpt.Input != "" {
			var reception history.Reception
			if reception, err = opened.Received(e.ctx, message.sequence, excerpt.Input); message.again && errors.Is(err, bus.ErrNotFound) {
				reception, err = opened.ReceivedBefore(e.ctx, excerpt.Input)
			}
			excerpt.Number = reception.Run
			if errors.Is(err, bus.ErrNotFound) {
				err = nil
			}
		}
		if err != nil {
			yield(history.StoredRecord{}, err)
			return
		}
		for record, err := range opened.Run(e.ctx, excerpt.Number) {
			if !yield(record, err) || err != nil {
				return
			}
		}
		if ended() {
			return
		}
		for record, err := range history.FollowSession(e.ctx, core, excerpt.Session, opened.Newest()+1) {
			if !yield(record, err) || ended() {
				return
			}
		}
	}
}

// ended prints the answer; a run that did not complete is a failure of the verb.
func (e *environment) ended(core bus.Core, run *schemas.Run) error {
	answer, err := history.AnswerText(e.ctx, core, *run)
	if err != nil {
		return err
	}
	if e.json {
		err = json.NewEncoder(e.stdout).Encode(map[string]any{
			"event": "outcome", "run": run.ID, "status": run.Status, "reason": run.Reason, "answer": answer, "replied": run.Replied,
			"why": view.Why(run), // null when all is well
		})
	} else {
		_, err = fmt.Fprintf(e.stdout, "%s\n", view.Plain(answer))
	}
	if err == nil && run.Status != schemas.RunCompleted {
		err = fmt.Errorf("run %s ended %s (%s)", run.ID, run.Status, run.Reason)
		if why := view.Why(run); len(why) > 0 {
			err = fmt.Errorf("%w: %s", err, strings.Join(why, "; "))
		}
	}
	return err
}
