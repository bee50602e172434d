package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"podium/bus"
	"podium/bus/embedded/secrets"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/lease"
	"podium/cmd/podium/runlog"
)

// ledgerCommand is about the files of a ledger that no instance runs on.
type ledgerCommand struct {
	Check  ledgerCheckCommand  `cmd:"" help:"Say what the ledger has lost; changes nothing."`
	Repair ledgerRepairCommand `cmd:"" help:"Restore what can be restored, and go on without the rest."`
	Renew  ledgerRenewCommand  `cmd:"" help:"Give up a key that is lost; the next start makes another."`
}

func (ledgerCommand) Help() string {
	return `For the ledger in --data, while no instance runs on it. A disk that forgets, or a file that was cut or
removed, is noticed: every message has a checksum, and how far each stream went stands apart from the streams.

  podium ledger check
  podium ledger repair
  podium ledger renew reply.key`
}

type ledgerCheckCommand struct{}

func (ledgerCheckCommand) Help() string {
	return `Reads every message of the ledger and compares checksums, sequences and how far each stream went. Nothing
is changed, and nothing more is lost by looking.

  podium ledger check
  podium ledger check -o json     # one loss a line

Exit codes:
  0  nothing is lost, or nothing but what was accepted by a repair or left to a loss of power; that is said
  3  there is no ledger
  4  something is lost; each is said with where and since when`
}

func (c *ledgerCheckCommand) Run(env *environment) error {
	lost, err := installation.CheckLedger(env.ctx, env.data, env.log)
	if err != nil {
		return err
	}
	if err = env.tellLosses(lost); err != nil {
		return err
	}
	if len(lost.Accepted) > 0 {
		return env.tell("nothing else is lost: every other message of the ledger in %s is as it was written\n", env.data)
	}
	return env.tell("nothing is lost: every message of the ledger in %s is as it was written\n", env.data)
}

type ledgerRepairCommand struct{}

func (ledgerRepairCommand) Help() string {
	return `First try to restore the directory from a backup: what is lost is lost for good after this. Where one bit of a
message has flipped, it is flipped back. Other messages that cannot be read are left out, those before and behind
are kept, and what is changed is kept as it was in the folder "aside" of --data. Afterwards the service starts
again, and one that stands by goes on: podium replay --verify says which sessions have a hole, podium mail
audit which mails are missing.

  podium ledger check            # what would it be?
  podium ledger repair
  podium ledger repair -o json   # one loss a line`
}

func (c *ledgerRepairCommand) Run(env *environment) error {
	lost, err := installation.RepairLedger(env.ctx, env.data, env.log)
	if err != nil {
		return err
	}
	if len(lost) == 0 {
		return env.tell("nothing is lost, and nothing was changed\n")
	}
	for i := range lost {
		if err = env.answer(&lost[i], "%s\n", &lost[i]); err != nil {
			return err
		}
	}
	return env.tell("the ledger in %s can be used again\n", env.data)
}

type ledgerRenewCommand struct {
	Name string `arg:"" help:"Its file in the credentials of --data, as core.nk, agent-NAME.nk, capability.key, reply.key or canary.key."`
}

func (ledgerRenewCommand) Help() string {
	return `A key that was made and is not there any more, or is damaged, keeps the service from starting, because
another one would void all that it was given out for: an agent elsewhere cannot connect, a chat is not
answered, a URL opens nothing. First try to restore the file from a backup. After this the next start makes
another, or takes the file that stands in its place if that is sound. A damaged file is kept in the folder
"aside" of --data.

  podium ledger renew agent-clerk.nk

Exit codes:
  0  the next start makes another
  1  it is there and is the one that was made
  3  there was no such key`
}

func (c *ledgerRenewCommand) Run(env *environment) error {
	kept, err := installation.RenewSecret(env.data, c.Name)
	if errors.Is(err, secrets.ErrNone) {
		return notFound("%w in %s", err, env.data)
	}
	if err != nil {
		return err
	}
	if kept != "" {
		return env.tell("%s is given up, and the next start makes another; the damaged file is kept as %s\n", c.Name, kept)
	}
	return env.tell("%s is given up: the next start makes another, or takes the file that stands in its place by then\n", c.Name)
}

// tellLosses says what is lost. It is an exitError when nobody has decided on something.
func (e *environment) tellLosses(lost installation.Losses) error {
	for _, loss := range slices.Concat(lost.Accepted, lost.Open) {
		if err := e.answer(&loss, "%s\n", &loss); err != nil {
			return err
		}
	}
	if len(lost.Open) == 0 {
		return nil
	}
	return &exitError{code: exitDiffers, err: fmt.Errorf("the ledger has lost something in %d places; restore it from a backup, or go on without: podium ledger repair --data %s", len(lost.Open), e.data)}
}

// tell says something to people, and nothing to programs.
func (e *environment) tell(format string, values ...any) error {
	if e.json {
		return nil
	}
	return e.print(format, values...)
}

// ledgerFlags name a ledger other than that of --data. They belong to the verbs that
// work on a ledger at rest.
type ledgerFlags struct {
	Config      string `help:"The configuration whose ledger it is; with ledger.nats no instance has to run." short:"c" placeholder:"FILE"`
	NATS        string `help:"The NATS server or cluster that holds the ledger; no instance has to run." name:"nats" placeholder:"URL"`
	Credentials string `help:"With --nats: the file of the key. Default: the one that --data has." placeholder:"FILE"`

	compares bool // the configuration is for more than its ledger, and --nats may name another
}

// errTwoLedgers reports flags that name two ledgers.
var errTwoLedgers = errors.New("-c and --nats both name a ledger; leave one of them out")

// AfterApply is called by the parser once the flags are read.
func (f *ledgerFlags) AfterApply(env *environment) error {
	switch {
	case f.Config != "" && f.NATS != "" && !f.compares:
		return errTwoLedgers
	case f.Credentials != "" && f.NATS == "":
		return errNoCredentials
	}
	env.named = *f
	return nil
}

// chooseLedger settles which ledger a verb works on, when flags name one.
func (e *environment) chooseLedger() error {
	switch named := e.named; {
	case named.NATS != "":
		e.nats = &config.NATS{URL: named.NATS, Credentials: named.Credentials}
	case named.Config != "":
		settings, err := loadConfig(named.Config)
		if err != nil {
			return err
		}
		e.use(settings)
	}
	return nil
}

// usualConfig is the configuration when nobody says otherwise.
const usualConfig = "podium.yaml"

// configInForce loads the configuration that is named, else the usual one, else that
// of the instance that runs on the data directory.
func (e *environment) configInForce(named string) (*config.Config, error) {
	if named != "" {
		return loadConfig(named)
	}
	if _, err := os.Stat(usualConfig); !errors.Is(err, fs.ErrNotExist) {
		return loadConfig(usualConfig)
	}
	instance, running, err := installation.FindInstance(e.data)
	switch {
	case err != nil:
		return nil, err
	case running && instance.Config != "":
		return loadConfig(instance.Config)
	}
	return nil, notFound("%s does not exist, and no instance with a configuration runs on %s; name the configuration with -c FILE, or the directory of its ledger with --data DIR", usualConfig, e.data)
}

// use takes the ledger of a configuration, unless the command line names another
// directory.
func (e *environment) use(settings *config.Config) {
	if !e.given {
		e.data = settings.Ledger.Data
	}
	e.nats = settings.Ledger.NATS
}

// ledgerSettings is the ledger on a server of its own that a verb works on.
func (e *environment) ledgerSettings() config.Ledger {
	return config.Ledger{Data: e.data, NATS: e.nats}
}

// served reports whether a podium works on the ledger, as far as can be seen: on the
// data directory, or on a ledger that is on a server of its own, wherever it runs.
func (e *environment) served(ledger *installation.Ledger) (bool, error) {
	if _, running, err := installation.FindInstance(e.data); err != nil || running {
		return running, err
	}
	if e.nats == nil {
		return false, nil
	}
	_, lives, err := lease.Find(e.ctx, ledger.Core.KeyValue(bus.LeaseBucket))
	return lives, err
}

// ledger connects to the ledger that flags name, else to the running instance of the
// data directory, or opens the ledger at rest as it is told. Close it.
func (e *environment) ledger(atRest installation.Opening) (*installation.Ledger, error) {
	if err := e.chooseLedger(); err != nil {
		return nil, err
	}
	if e.nats != nil {
		return installation.Join(e.ctx, e.ledgerSettings(), e.log)
	}
	return installation.Attach(e.ctx, e.data, atRest, e.log)
}

// withLedger reads something of the ledger and closes it. It changes no byte of one at rest.
func (e *environment) withLedger(do func(*installation.Ledger) error) error {
	return e.onLedger(installation.LookAtRest, do)
}

// changeLedger adds something to the ledger and closes it.
func (e *environment) changeLedger(do func(*installation.Ledger) error) error {
	return e.onLedger(installation.OpenAtRest, do)
}

func (e *environment) onLedger(atRest installation.Opening, do func(*installation.Ledger) error) error {
	ledger, err := e.ledger(atRest)
	if err != nil {
		return err
	}
	if lost := len(ledger.Losses.Open); lost > 0 {
		_, _ = fmt.Fprintf(e.stderr, "podium: the ledger has lost something in %d places, and what follows is what is left: podium ledger check --data %s\n", lost, e.data)
	}
	return errors.Join(do(ledger), ledger.Close())
}

// runLog reads what has become of messages.
func (e *environment) runLog(core bus.Core) runlog.Reader {
	return runlog.Reader{Core: core, Warnings: e.stderr}
}
