package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"podium/bus"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/lease"
	"podium/cmd/podium/runlog"
)

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
