package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/cmd/podium/build"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/runlog"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/supervisor/restore"
	"podium/supervisor/verify"
)

// replayCommand reads the ledger again.
type replayCommand struct {
	ledgerFlags

	ID      string `help:"Only this run, by its id or the beginning of it, and what concerns its whole session." name:"run" placeholder:"RUN"`
	Since   string `help:"Only what was stored since then: RFC 3339, or how long ago, such as 1h." placeholder:"TIME"`
	Subject string `help:"Only subjects that match, with the wildcards of NATS." placeholder:"SUBJECT"`
	Work    bool   `help:"Also the requests to agents."`
	Verify  bool   `help:"Decide every transition again and compare, fact by fact."`
}

func (replayCommand) Help() string {
	return `Prints what stands on the ledger, each shard in its order, merged by time. Nothing is sent to anybody.
With --verify, the whole ledger is decided again; exit code 4 means that it says something else, or that
something of it is lost. Nothing of it is changed: podium ledger repair goes on without what is lost. Exit code 5
means that nothing differs but decisions that another build of Podium has made, and that this one would make
otherwise: whether the ledger is right, the build that has written it says.

  podium replay --data ./podium-data
  podium replay --run 5f0c…-1 -o json          # one CloudEvent a line
  podium replay --subject 'podium.in.>' --since 1h
  podium replay --verify
  podium replay --verify --nats nats://nats.example.org:4222 --credentials core.nk`
}

func (c *replayCommand) Run(env *environment) error {
	if err := c.check(); err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	return env.withLedger(func(ledger *installation.Ledger) error {
		if c.Verify {
			return c.verify(env, ledger)
		}
		return c.print(env, ledger.Core)
	})
}

func (c *replayCommand) check() error {
	if c.Verify && (c.ID != "" || c.Since != "" || c.Subject != "" || c.Work) {
		return errors.New("--verify takes the whole ledger; leave --run, --since, --subject and --work out")
	}
	tokens := strings.Split(c.Subject, ".")
	for i, token := range tokens {
		if c.Subject != "" && (token == "" || strings.ContainsAny(token, " \t") || token == ">" && i < len(tokens)-1) {
			return fmt.Errorf("--subject %s is not a subject; try 'podium.in.>' or 'podium.*.echo.response.*'", c.Subject)
		}
	}
	return nil
}

func (c *replayCommand) verify(env *environment, ledger *installation.Ledger) error {
	profiles, err := restore.NewProfiles(env.ctx, ledger.Core.Artifacts(), nil)
	if err != nil {
		return err
	}
	faults, others := 0, 0
	for shard := range ledger.Core.Shards() {
		verification, err := verify.Shard(env.ctx, ledger.Core, profiles, shard, build.This())
		if err != nil {
			return err
		}
		faults, others = faults+len(verification.Faults), others+len(verification.Different)
		if err = env.printVerification(&verification); err != nil {
			return err
		}
	}
	if lost := env.tellLosses(ledger.Losses); lost != nil {
		return lost
	}
	return outcomeOf(faults, others, len(ledger.Losses.Accepted) > 0)
}

// outcomeOf is what a verification ends with, of a ledger of which something may be lost and
// accepted.
func outcomeOf(faults, others int, accepted bool) error {
	switch {
	case faults > 0 && accepted:
		return &exitError{code: exitDiffers, err: fmt.Errorf("%d places differ; messages that were lost and accepted, as said above, leave such places", faults)}
	case faults > 0:
		return &exitError{code: exitDiffers, err: fmt.Errorf("%d places differ", faults)}
	case others > 0:
		return &exitError{code: exitOther, err: fmt.Errorf("%d decisions of other builds differ from what this one would decide; verify them with the build that is named", others)}
	default:
		return nil
	}
}

func (e *environment) printVerification(v *verify.Result) error {
	if e.json {
		return json.NewEncoder(e.stdout).Encode(v)
	}
	err := e.print("shard %d: %d inputs, %d sessions, %d records with %d facts decided again, %d differ\n",
		v.Shard, v.Inputs, v.Sessions, v.Records, v.Facts, len(v.Faults)+len(v.Different))
	for _, fault := range slices.Concat(v.Faults, v.Different) {
		err = errors.Join(err, e.print("  session %s, record %d, sequence %d: %s\n", view.Line(fault.Session, 0), fault.Record, fault.Sequence, view.Line(fault.What, 0)))
	}
	return err
}

func (c *replayCommand) print(env *environment, core bus.Core) error {
	since, err := c.since(time.Now())
	if err != nil {
		return err
	}
	session, err := c.session(env, core)
	if err != nil {
		return err
	}
	for message, err := range env.runLog(core).Messages(env.ctx, c.Subject, c.Work) {
		if err != nil {
			return err
		}
		if message.Recorded.Before(since) {
			continue
		}
		event, malformed := binding.Decode(message)
		if session != "" && !runlog.Concerns(&event, &message, session, c.ID) {
			continue
		}
		if err = env.printMessage(&message, &event, malformed); err != nil {
			return err
		}
	}
	return nil
}

func (c *replayCommand) since(now time.Time) (time.Time, error) {
	if c.Since == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(c.Since); err == nil {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, c.Since)
	if err != nil {
		return at, &exitError{code: exitUsage, err: fmt.Errorf("--since %s is neither a time such as 2026-11-21T09:00:00Z nor a duration such as 1h", c.Since)}
	}
	return at, nil
}

// session resolves --run, which may be the beginning of an id.
func (c *replayCommand) session(env *environment, core bus.Core) (string, error) {
	if c.ID == "" {
		return "", nil
	}
	run, err := env.runLog(core).Run(env.ctx, c.ID)
	if err != nil {
		return "", err
	}
	c.ID = run.ID
	return run.Session, nil
}

// replayed is one line of -o json.
type replayed struct {
	Stream   string          `json:"stream"`
	Sequence uint64          `json:"sequence"`
	Recorded time.Time       `json:"recorded"`
	Subject  string          `json:"subject"`
	Event    json.RawMessage `json:"event,omitempty"` // a CloudEvent in structured mode
	Error    string          `json:"error,omitempty"` // why it is not one
	Body     []byte          `json:"body,omitempty"`  // then
}

func (e *environment) printMessage(message *bus.Message, event *schemas.Event, malformed error) error {
	if !e.json {
		return e.printPlain(message, event, malformed)
	}
	line := replayed{Stream: message.Stream, Sequence: message.Sequence, Recorded: message.Recorded, Subject: message.Subject}
	if malformed == nil {
		line.Event, malformed = binding.MarshalStructured(event)
	}
	if malformed != nil {
		line.Error, line.Body = malformed.Error(), message.Body
	}
	return json.NewEncoder(e.stdout).Encode(line)
}

func (e *environment) printPlain(message *bus.Message, event *schemas.Event, malformed error) error {
	what := event.Type
	if malformed != nil {
		what = "not readable: " + malformed.Error()
	}
	err := e.print("%s  %s/%d  %s  %s\n", message.Recorded.Local().Format("2006-01-02 15:04:05.000"),
		message.Stream, message.Sequence, view.Line(message.Subject, 0), view.Line(what, 0))
	if event.Type != schemas.TypeRecord || malformed != nil {
		return err
	}
	var record schemas.Record
	if schemas.Unmarshal(event.Data, &record) == nil {
		for _, line := range view.Lines(&record) {
			err = errors.Join(err, e.print("    %s\n", line))
		}
	}
	return err
}
