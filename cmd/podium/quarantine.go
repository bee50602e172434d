package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/view"
	"podium/schemas"
)

// quarantineCommand deals with messages that could not be used.
type quarantineCommand struct {
	ledgerFlags

	List    quarantineListCommand    `cmd:"" default:"withargs" help:"List the messages that could not be used."`
	Show    quarantineShowCommand    `cmd:"" help:"Show one with its reason, its headers and its bytes."`
	Retry   quarantineRetryCommand   `cmd:"" help:"Put one onto the bus again, as it was."`
	Discard quarantineDiscardCommand `cmd:"" help:"Mark one as dealt with. It stays on the ledger."`
}

func (quarantineCommand) Help() string {
	return `Nothing that reaches the bus is dropped: what cannot be understood is kept here, with the reason.

  podium quarantine
  podium quarantine show PODIUM_0:17
  podium quarantine retry PODIUM_0:17`
}

// quarantined is one message in quarantine.
type quarantined struct {
	ID string `json:"id"`
	// State is open, or what a person has said about it: retried or discarded.
	State string `json:"state"`
	schemas.Quarantined
	shard int
}

// readQuarantine lists what is in quarantine, each message once, the oldest first.
func readQuarantine(ctx context.Context, core bus.Core) ([]*quarantined, error) {
	var all []*quarantined
	known := map[string]*quarantined{}
	for shard := range core.Shards() {
		subjects := []string{fmt.Sprintf("podium.dead.*.%d", shard), bus.ControlSubject(shard)}
		for message, err := range core.Scan(ctx, bus.ShardStream(shard), 1, subjects...) {
			if err != nil {
				return nil, err
			}
			event, err := artifact.DecodeWhole(ctx, core.Artifacts(), message)
			if err != nil {
				continue // a control message that is itself in quarantine
			}
			switch event.Type {
			case schemas.TypeQuarantined:
				found := &quarantined{ID: event.ID, State: "open", shard: shard}
				if err = schemas.Unmarshal(event.Data, &found.Quarantined); err != nil {
					return nil, err
				}
				if known[found.ID] == nil {
					known[found.ID] = found
					all = append(all, found)
				}
			case schemas.TypeControl:
				settleQuarantined(known, event.Data)
			}
		}
	}
	return all, nil
}

func settleQuarantined(known map[string]*quarantined, body []byte) {
	var control schemas.Control
	if err := schemas.Unmarshal(body, &control); err != nil || known[control.Target] == nil {
		return
	}
	switch control.Action {
	case schemas.ControlQuarantineRetry:
		known[control.Target].State = "retried"
	case schemas.ControlQuarantineDiscard:
		known[control.Target].State = "discarded"
	case schemas.ControlCancel, schemas.ControlResend, schemas.ControlAnswer, schemas.ControlApprove, schemas.ControlReject, schemas.ControlRaise, schemas.ControlReplan, schemas.ControlRetry,
		schemas.ControlGiveUp, schemas.ControlResetBreaker:
	}
}

func findQuarantined(ctx context.Context, core bus.Core, id string) (*quarantined, error) {
	all, err := readQuarantine(ctx, core)
	if err != nil {
		return nil, err
	}
	var beginning []*quarantined
	for _, found := range all {
		if found.ID == id {
			return found, nil
		}
		if id != "" && strings.HasPrefix(found.ID, id) {
			beginning = append(beginning, found)
		}
	}
	switch len(beginning) {
	case 0:
		return nil, notFound("there is no message %q in quarantine; `podium quarantine --all` lists them", id)
	case 1:
		return beginning[0], nil
	}
	return nil, usage(fmt.Errorf("%d messages in quarantine begin with %s; name one in full", len(beginning), id))
}

type quarantineListCommand struct {
	All bool `help:"Also those that were retried or discarded."`
}

func (quarantineListCommand) Help() string {
	return `Those that a person has dealt with are left out, unless --all is given.

  podium quarantine
  podium quarantine --all -o json      # one message a line`
}

func (c *quarantineListCommand) Run(env *environment) error {
	return env.withLedger(func(ledger *installation.Ledger) error {
		all, err := readQuarantine(env.ctx, ledger.Core)
		if err != nil {
			return err
		}
		if !c.All {
			all = slices.DeleteFunc(all, func(found *quarantined) bool { return found.State != "open" })
		}
		if len(all) == 0 && !env.json {
			return env.tellNothing("nothing is in quarantine that nobody has dealt with; --all also lists what was retried or discarded")
		}
		table := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
		if !env.json {
			_, _ = fmt.Fprintln(table, "MESSAGE\tSTATE\tREASON\tRECEIVED\tSUBJECT\tDETAIL")
		}
		for _, found := range all {
			if env.json {
				if err = env.printLine(found); err != nil {
					return err
				}
				continue
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", view.Line(found.ID, 0), found.State, view.Line(string(found.Reason), 0),
				found.Received.Local().Format(time.DateTime), view.Line(found.Subject, 0), view.Line(found.Detail, 0))
		}
		return table.Flush()
	})
}

type quarantineShowCommand struct {
	ID string `arg:"" name:"message" help:"Its id as quarantine list names it, or the beginning of it."`
}

func (quarantineShowCommand) Help() string {
	return `The bytes are those that were received.

  podium quarantine show PODIUM_0:17`
}

func (c *quarantineShowCommand) Run(env *environment) error {
	return env.withLedger(func(ledger *installation.Ledger) error {
		found, err := findQuarantined(env.ctx, ledger.Core, c.ID)
		if err != nil {
			return err
		}
		if env.json {
			return env.printLine(found)
		}
		_, _ = fmt.Fprintf(env.stdout, "message   %s (%s)\nreason    %s\ndetail    %s\nsubject   %s\nreceived  %s\n\n", view.Line(found.ID, 0), found.State,
			view.Line(string(found.Reason), 0), view.Line(found.Detail, 0), view.Line(found.Subject, 0), found.Received.Local().Format(time.DateTime))
		for _, name := range sortedKeys(found.Headers) {
			_, _ = fmt.Fprintf(env.stdout, "%s: %s\n", view.Line(name, 0), view.Line(fmt.Sprint(found.Headers[name]), 0))
		}
		return env.print("\n%s\n", view.Plain(string(found.Body)))
	})
}

type quarantineRetryCommand struct {
	ID string `arg:"" name:"message" help:"Its id as quarantine list names it, or the beginning of it."`
}

func (quarantineRetryCommand) Help() string {
	return `Useful once its cause is gone, for example after a profile was added. If it still cannot be used it
comes back into quarantine under a new number.

  podium quarantine retry PODIUM_0:17`
}

func (c *quarantineRetryCommand) Run(env *environment) error {
	return env.changeLedger(func(ledger *installation.Ledger) error {
		found, err := findQuarantined(env.ctx, ledger.Core, c.ID)
		if err != nil {
			return err
		}
		again := bus.Message{Subject: found.Subject, Header: bus.Header(found.Headers), Body: found.Body}
		ack, err := bus.Append(env.ctx, ledger.Core, again, bus.Expect{})
		if err != nil {
			return err
		}
		control := schemas.Control{Action: schemas.ControlQuarantineRetry, Target: found.ID, By: systemUser(), Via: schemas.ViaCLI}
		if err = env.control(ledger.Core, found.shard, control); err != nil {
			return err
		}
		return env.print("%s is on the bus again as sequence %d; if it still cannot be used it will be back in quarantine under that number\n", found.ID, ack.Sequence)
	})
}

type quarantineDiscardCommand struct {
	ID     string `arg:"" name:"message" help:"Its id as quarantine list names it, or the beginning of it."`
	Reason string `help:"Why; it stays on the ledger." placeholder:"WORDS"`
}

func (quarantineDiscardCommand) Help() string {
	return `Nothing is removed: the message and your word about it stay on the ledger.

  podium quarantine discard PODIUM_0:17 --reason "a test"`
}

func (c *quarantineDiscardCommand) Run(env *environment) error {
	return env.changeLedger(func(ledger *installation.Ledger) error {
		found, err := findQuarantined(env.ctx, ledger.Core, c.ID)
		if err != nil {
			return err
		}
		control := schemas.Control{Action: schemas.ControlQuarantineDiscard, Target: found.ID, By: systemUser(), Via: schemas.ViaCLI, Reason: c.Reason}
		if err = env.control(ledger.Core, found.shard, control); err != nil {
			return err
		}
		return env.print("%s is marked as discarded\n", found.ID)
	})
}
