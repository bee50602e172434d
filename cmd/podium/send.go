package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/intake"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/planfile"
	"podium/cmd/podium/runlog"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// sendCommand puts a chat message onto the bus.
type sendCommand struct {
	Text    []string      `arg:"" optional:"" help:"The words; from standard input when there are none."`
	Profile string        `help:"The profile that handles it; not needed when there is only one that is no agent of another." placeholder:"NAME"`
	Thread  string        `help:"The conversation it belongs to; a new one by default." placeholder:"ID"`
	Plan    string        `help:"A plan in JSON instead of words: an execution_request, or its tasks alone; - is standard input." placeholder:"FILE"`
	Wait    bool          `help:"Show the progress, then the answer."`
	Timeout time.Duration `help:"How long --wait waits; the run goes on after it." default:"2m"`
}

func (sendCommand) Help() string {
	return `Publishes the words as a chat message on the running instance's bus, or a plan as an execution_request
to a profile, which is checked first as "podium check --plan" does. With --wait, exit code 1 means that the run did not complete, or not within --timeout, and 6
that it waits for a person's answer.

With --wait -o json there is one object, whose event says how the wait has ended: outcome, with the answer; or inquiry as soon as the run asks
whoever wrote, with its id, the question, the needs, until when it waits, and the commands that answer it and that follow the run then. Without
-o json the question is shown with the command that answers it, and the wait goes on: somebody may answer meanwhile.

Without --wait, -o json prints the session, the sequence and the id of the run. The id is absent when the instance has not read the
message within 10 s.

  podium send "What is 6 * 7?" --wait
  podium send --thread budget "What is 42 / 5?" --wait --timeout 30s -o json
  podium send --plan deploy/examples/graph/plan.json --profile graph --wait
  podium send < question.txt
  podium send "What is 6 * 7?" -o json | jq -r .run
  podium send "An appointment, please." --wait -o json | jq -r 'select(.event == "inquiry") | .answer'`
}

func (c *sendCommand) Run(env *environment) error {
	text, err := c.words(env)
	if err != nil {
		return err
	}
	instance, running, err := installation.FindInstance(env.data)
	if err != nil {
		return err
	}
	if !running {
		return notFound("no podium runs on %s, so nobody would answer; start one with `podium up`", env.data)
	}
	profile, err := onlyProfile(instance.Profiles, cmp.Or(c.Profile, instance.Entry))
	if err != nil {
		return err
	}
	adapter, event := "cli", schemas.Event{}
	if c.Plan == "" {
		event, err = c.chatEvent(profile, text)
	} else {
		adapter = "agent"
		event, err = planEvent(env.stdin, c.Plan, profile)
	}
	if err != nil {
		return err
	}
	return env.changeLedger(func(ledger *installation.Ledger) error {
		if err := c.sameAsBefore(env, ledger.Core, &event); err != nil {
			return err
		}
		return c.send(env, ledger.Core, adapter, event)
	})
}

// sameAsBefore refuses a plan whose message_id is that of another plan: who sends that is answered with what came of the first.
func (c *sendCommand) sameAsBefore(env *environment, core bus.Core, event *schemas.Event) error {
	if c.Plan == "" {
		return nil
	}
	session := schemas.SessionID(event.Profile, event.PartitionKey)
	run, err := env.runLog(core).Run(env.ctx, schemas.RunID(session, 1))
	if errors.Is(err, runlog.ErrNoRun) || err == nil && run.Message.Sequence == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	message, err := core.Get(env.ctx, bus.ShardStream(schemas.ShardOf(session, core.Shards())), run.Message.Sequence)
	if err != nil {
		return err
	}
	first, err := artifact.DecodeWhole(env.ctx, core.Artifacts(), message)
	if err != nil {
		return err
	}
	var old, now schemas.ExecutionRequest
	if err = errors.Join(schemas.Unmarshal(first.Data, &old), schemas.Unmarshal(event.Data, &now)); err != nil {
		return err
	}
	if old.AsksTheSame(&now) {
		return nil
	}
	return fmt.Errorf("the message_id %s is that of another plan, which was sent before: change it, or leave it out, and this one is carried out; `podium runs show %s` shows the other", event.ID, run.ID)
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

// maxThread bounds a conversation's name, in bytes.
const maxThread = 256

func (c *sendCommand) chatEvent(profile, text string) (schemas.Event, error) {
	id := uuid.NewString()
	if len(c.Thread) > maxThread {
		return schemas.Event{}, usage(fmt.Errorf("--thread has %d bytes; at most %d are allowed", len(c.Thread), maxThread))
	}
	thread := cmp.Or(c.Thread, id)
	body, err := schemas.Marshal(schemas.ChatReceived{Provider: "cli", Channel: "cli", Thread: thread, MessageID: id, Text: text})
	return schemas.Event{
		ID: "chat:cli:" + id, Source: binding.SourceOf(commandLine), Type: schemas.TypeChatReceived, Time: time.Now(),
		DataContentType: schemas.MediaTypeJSON, Profile: profile, PartitionKey: "cli/" + thread, Data: body,
	}, err
}

func (c *sendCommand) send(env *environment, core bus.Core, adapter string, event schemas.Event) error {
	receipt, err := intake.NewIntake(core).Submit(env.ctx, adapter, event)
	if err != nil {
		return err
	}
	message := runlog.Sent{Sequence: receipt.Sequence, Again: c.Plan != ""}
	if !c.Wait {
		accepted := map[string]any{"session": receipt.Session, "sequence": receipt.Sequence}
		if env.json {
			excerpt := workflow.Excerpt{Session: receipt.Session, Input: event.ID}
			run, err := env.runOf(core, &excerpt, message)
			if err != nil {
				return err
			}
			if run != "" {
				accepted["run"] = run
			}
		}
		if adapter != "cli" {
			return env.answer(accepted,
				"accepted as sequence %d of session %s; `podium runs` shows what comes of it\n", receipt.Sequence, receipt.Session)
		}
		thread := strings.TrimPrefix(event.PartitionKey, "cli/")
		accepted["thread"] = thread
		return env.answer(accepted,
			"accepted as sequence %d of session %s; `podium runs` shows what comes of it, and --thread %s goes on with it\n", receipt.Sequence, receipt.Session, thread)
	}
	bounded, stop := context.WithTimeout(env.ctx, c.Timeout)
	defer stop()
	env.ctx = bounded
	return env.follow(core, &workflow.Excerpt{Session: receipt.Session, Input: event.ID}, message, view.Nothing)
}

// runKnownWithin bounds how long send waits for the supervisor to say which run a message belongs to.
const runKnownWithin = 10 * time.Second

// runOf returns the id of the run that a message belongs to; empty when the supervisor has not said it within runKnownWithin.
func (e *environment) runOf(core bus.Core, excerpt *workflow.Excerpt, message runlog.Sent) (string, error) {
	bounded, stop := context.WithTimeout(e.ctx, runKnownWithin)
	defer stop()
	err := e.runLog(core).AwaitNumber(bounded, excerpt, message)
	switch {
	case excerpt.Number > 0:
		return schemas.RunID(excerpt.Session, excerpt.Number), nil
	case errors.Is(err, context.DeadlineExceeded) && e.ctx.Err() == nil:
		return "", nil
	}
	return "", err
}

// commandLine is who asks when a file does not say it.
const commandLine = "command-line"

// readPlan reads the plan in a file; - is standard input.
func readPlan(stdin io.Reader, path string) (*planfile.Plan, error) {
	var body []byte
	var err error
	if path == "-" {
		body, err = io.ReadAll(stdin)
	} else {
		body, err = os.ReadFile(path)
	}
	if os.IsNotExist(err) {
		return nil, notFound("%s does not exist; name the file of the plan", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	return planfile.Read(body, path)
}

// planEvent is an execution_request to a profile, made of a plan in a file: the
// documented message, or {"tasks": […]} alone.
func planEvent(stdin io.Reader, path, profile string) (schemas.Event, error) {
	read, err := readPlan(stdin, path)
	if err != nil {
		return schemas.Event{}, err
	}
	request := read.Request(commandLine, time.Now().UTC(), uuid.NewString)
	body, err := schemas.Marshal(request)
	return schemas.Event{
		ID: request.MessageID, Source: binding.SourceOf(request.From), Type: schemas.TypeExecutionRequest, Time: request.Timestamp,
		DataContentType: schemas.MediaTypeJSON, Profile: profile, PartitionKey: request.MessageID, Data: body,
	}, err
}
