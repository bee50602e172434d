package main

import (
	"cmp"
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
	"podium/supervisor/plan"
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
	Why     bool   `help:"With --run: the rule that has led to each fact, found by deciding the records again."`
	Verify  bool   `help:"Decide every transition again and compare, fact by fact; with -c also by the profiles of that configuration."`
	All     bool   `help:"With --verify and -c: every transition that would be decided otherwise, and not only the first of each run."`
}

func (replayCommand) Help() string {
	return `Prints what stands on the ledger, each shard in its order, merged by time. Nothing is sent to anybody.
With --verify, the whole ledger is decided again; exit code 4 means that it says something else, or that
something of it is lost. Nothing of it is changed: podium ledger repair goes on without what is lost. Exit code 5
means that nothing differs but decisions that another build of Podium has made, and that this one would make
otherwise: whether the ledger is right, the build that has written it says.

With --verify -c FILE every transition is also decided by the profiles of FILE, each in the place of that of its
name, on the state that is on record: what would they have changed? Each run that would be decided otherwise is
named with the first fact that differs, and exit code 4 says that there is one, or that some could not be decided.
Nobody is asked anything, and what would have followed from another decision is not known. The ledger is that of FILE, unless --data or --nats names it.

  podium replay --data ./podium-data
  podium replay --run 5f0c…-1 -o json          # one CloudEvent a line
  podium replay --run 5f0c…-1 --why            # with the rule behind each fact
  podium replay --subject 'podium.in.>' --since 1h
  podium replay --verify
  podium replay --verify --nats nats://nats.example.org:4222 --credentials core.nk
  podium replay --verify --config other.yaml   # before it is put into force
  podium replay --verify --config other.yaml --all -o json`
}

// BeforeApply is called by the parser before it sets any flag.
func (c *replayCommand) BeforeApply() error { //nolint:unparam // the parser wants it so
	c.compares = true
	return nil
}

func (c *replayCommand) Run(env *environment) error {
	if err := c.check(); err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if c.Verify {
		others, err := c.others(env)
		if err != nil {
			return err
		}
		return env.withLedger(func(ledger *installation.Ledger) error { return c.verify(env, ledger, others) })
	}
	return env.withLedger(func(ledger *installation.Ledger) error { return c.print(env, ledger.Core) })
}

func (c *replayCommand) check() error {
	if c.Verify && (c.ID != "" || c.Since != "" || c.Subject != "" || c.Work) {
		return errors.New("--verify takes the whole ledger; leave --run, --since, --subject and --work out")
	}
	if c.Why && c.ID == "" {
		return errors.New("--why goes with --run RUN: it decides the records of the session of that run again")
	}
	if c.All && (!c.Verify || c.Config == "") {
		return errors.New("--all goes with --verify and -c FILE: it is about what the profiles of that would decide otherwise")
	}
	if !c.Verify && c.Config != "" && c.NATS != "" {
		return errTwoLedgers
	}
	tokens := strings.Split(c.Subject, ".")
	for i, token := range tokens {
		if c.Subject != "" && (token == "" || strings.ContainsAny(token, " \t") || token == ">" && i < len(tokens)-1) {
			return fmt.Errorf("--subject %s is not a subject; try 'podium.in.>' or 'podium.*.echo.response.*'", c.Subject)
		}
	}
	return nil
}

// others are the profiles to decide by as well; nil without a configuration. Its ledger is the one to verify, unless flags name another.
func (c *replayCommand) others(env *environment) (*verify.Others, error) {
	if c.Config == "" {
		return nil, nil //nolint:nilnil // nobody asks what they would decide
	}
	settings, err := loadConfig(c.Config)
	if err != nil {
		return nil, err
	}
	others := &verify.Others{Profiles: map[string]schemas.Profile{}, All: c.All}
	for name := range settings.Profiles {
		others.Profiles[name] = settings.Profile(name)
		if _, err = plan.Compile(others.Profiles[name]); err != nil {
			return nil, usage(err)
		}
	}
	if c.NATS != "" || env.given {
		env.named.Config = ""
	}
	return others, nil
}

func (c *replayCommand) verify(env *environment, ledger *installation.Ledger, others *verify.Others) error {
	profiles, err := restore.NewProfiles(env.ctx, ledger.Core.Artifacts(), nil)
	if err != nil {
		return err
	}
	var all []verify.Result
	for shard := range ledger.Core.Shards() {
		verification, err := verify.Instead(env.ctx, ledger.Core, profiles, shard, build.This(), others)
		if err != nil {
			return err
		}
		all = append(all, verification)
		if err = env.printVerification(&verification); err != nil {
			return err
		}
	}
	would := verify.Together(all)
	if would != nil {
		if err = env.printInstead(c.Config, would); err != nil {
			return err
		}
	}
	if lost := env.tellLosses(ledger.Losses); lost != nil {
		return lost
	}
	faults, different := 0, 0
	for i := range all {
		faults, different = faults+len(all[i].Faults), different+len(all[i].Different)
	}
	if err = outcomeOf(faults, 0, len(ledger.Losses.Accepted) > 0); err == nil {
		err = outcomeOfOthers(c.Config, would)
	}
	if err == nil {
		err = outcomeOf(0, different, false)
	}
	return err
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
		return e.printLine(v)
	}
	err := e.print("shard %d: %d inputs, %d sessions, %d records with %d facts decided again, %d differ\n",
		v.Shard, v.Inputs, v.Sessions, v.Records, v.Facts, len(v.Faults)+len(v.Different))
	if v.Reworded > 0 {
		err = errors.Join(err, e.print("  %d decisions of another build have sentences that this one words otherwise; nothing else differs in them\n", v.Reworded))
	}
	for _, fault := range slices.Concat(v.Faults, v.Different) {
		err = errors.Join(err, e.print("  session %s, record %d, sequence %d: %s\n", view.Line(fault.Session, 0), fault.Record, fault.Sequence, view.Line(fault.What, 0)))
	}
	return err
}

// printInstead tells a person what other profiles would decide; programs have it in each shard's object.
func (e *environment) printInstead(file string, would *verify.WhatIf) error {
	if e.json {
		return nil
	}
	err := e.print("by the profiles of %s, runs %d: %d decided otherwise, %d not decided\n", file, would.Runs, would.Differ, len(would.Undecided))
	for _, kind := range verify.Kinds(would.Differences) {
		err = errors.Join(err, e.print("  %-20s %d\n", kind.Kind, kind.Count))
	}
	for _, open := range undecided(would) {
		err = errors.Join(err, e.print("  %s\n", view.Line(open, 0)))
	}
	for i := range would.Differences {
		found := &would.Differences[i]
		was, otherwise := view.Difference(found.Session, found.Was, found.Would, found.Time)
		err = errors.Join(err, e.print("%s, profile %s, record %d, sequence %d: %s\n  is:       %s\n  would be: %s\n",
			view.Line(cmp.Or(found.Run, "session "+found.Session), 0), view.Line(found.Profile, 0), found.Record, found.Sequence, found.Kind, was, otherwise))
	}
	return err
}

// undecided tells what was not decided, in one line for each reason.
func undecided(would *verify.WhatIf) []string {
	var lines []string
	for at := range would.Undecided {
		first := &would.Undecided[at]
		same := func(other verify.Undecided) bool { return other.Kind == first.Kind && other.Why == first.Why }
		if slices.IndexFunc(would.Undecided, same) < at {
			continue // told with the first of them
		}
		line := fmt.Sprintf("not decided (%s): %s, sequence %d: %s", first.Kind, cmp.Or(first.Run, "session "+first.Session), first.Sequence, first.Why)
		others := -1
		for i := range would.Undecided {
			if same(would.Undecided[i]) {
				others++
			}
		}
		if others > 0 {
			line += fmt.Sprintf("; so %d more", others)
		}
		lines = append(lines, line)
	}
	return lines
}

// outcomeOfOthers is what a verification by other profiles ends with.
func outcomeOfOthers(file string, would *verify.WhatIf) error {
	switch {
	case would == nil:
		return nil
	case would.Differ > 0 || len(would.Differences) > 0:
		return &exitError{code: exitDiffers, err: fmt.Errorf("%d of %d runs would be decided otherwise by the profiles of %s", would.Differ, would.Runs, file)}
	case len(would.Undecided) > 0:
		return &exitError{code: exitDiffers, err: fmt.Errorf("what the profiles of %s would decide is not known of %d runs or sessions, as said above", file, len(would.Undecided))}
	}
	return nil
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
	var rules map[uint64][][]string
	if c.Why {
		if rules, err = env.rulesOf(core, session); err != nil {
			return err
		}
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
		if err = env.printMessageWhy(&message, &event, malformed, rules); err != nil {
			return err
		}
	}
	return nil
}

// rulesOf returns by record of a session which rule of its run has led to each fact, as verify.RulesOf does.
func (e *environment) rulesOf(core bus.Core, session string) (map[uint64][][]string, error) {
	profiles, err := restore.NewProfiles(e.ctx, core.Artifacts(), nil)
	if err != nil {
		return nil, err
	}
	return verify.RulesOf(e.ctx, core, profiles, schemas.ShardOf(session, core.Shards()), session)
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
	Rules    [][]string      `json:"rules,omitempty"` // of a record, by transition and fact; an empty one is that the input has led to the fact
}

func (e *environment) printMessage(message *bus.Message, event *schemas.Event, malformed error) error {
	return e.printMessageWhy(message, event, malformed, nil)
}

// printMessageWhy prints a message. Of a record of the session that rules are of, it prints the rule that has led to each fact; nil is none.
func (e *environment) printMessageWhy(message *bus.Message, event *schemas.Event, malformed error, rules map[uint64][][]string) error {
	var record schemas.Record
	shown := !e.json || rules != nil // else the record itself is printed as it is stored
	isRecord := shown && event.Type == schemas.TypeRecord && malformed == nil && schemas.Unmarshal(event.Data, &record) == nil
	if !e.json {
		var lines []string
		switch {
		case isRecord && rules != nil:
			lines = view.LinesWhy(&record, 0, rules[record.Number])
		case isRecord:
			lines = view.Lines(&record)
		}
		return e.printPlain(message, event, malformed, lines)
	}
	line := replayed{Stream: message.Stream, Sequence: message.Sequence, Recorded: message.Recorded, Subject: message.Subject}
	if malformed == nil {
		line.Event, malformed = binding.MarshalStructured(event)
	}
	if malformed != nil {
		line.Error, line.Body = malformed.Error(), message.Body
	}
	if isRecord {
		line.Rules = rules[record.Number]
	}
	return json.NewEncoder(e.stdout).Encode(line)
}

// printPlain prints a message for people, with lines of what a record says.
func (e *environment) printPlain(message *bus.Message, event *schemas.Event, malformed error, lines []string) error {
	what := event.Type
	if malformed != nil {
		what = "not readable: " + malformed.Error()
	}
	err := e.print("%s  %s/%d  %s  %s\n", message.Recorded.Local().Format("2006-01-02 15:04:05.000"),
		message.Stream, message.Sequence, view.Line(message.Subject, 0), view.Line(what, 0))
	var control schemas.Control
	if event.Type == schemas.TypeControl && malformed == nil && schemas.Unmarshal(event.Data, &control) == nil {
		return errors.Join(err, e.print("    %s\n", view.Control(&control)))
	}
	for _, line := range lines {
		err = errors.Join(err, e.print("    %s\n", line))
	}
	return err
}
