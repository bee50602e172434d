package main

import (
	"errors"
	"io/fs"
	"os"

	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
)

// mailCommand is about mail.
type mailCommand struct {
	Audit mailAuditCommand `cmd:"" help:"Prove that every message of the mailboxes is accounted for."`
	Try   mailTryCommand   `cmd:"" help:"Show what the newest messages of a real mailbox would become; changes nothing."`
	Parse mailParseCommand `cmd:"" help:"Show the events that messages in files would become."`
}

func (mailCommand) Help() string {
	return `Nothing here changes a mailbox or the ledger.

  podium mail audit                           # is anything missing?
  podium mail try --account support --last 10 # what would become of real mail?
  podium mail parse mail.eml -o json`
}

// usualConfig is the configuration when nobody says otherwise.
const usualConfig = "podium.yaml"

// mailConfig loads the configuration that is named, else the usual one, else that
// of the instance that runs on the data directory.
func (e *environment) mailConfig(named string) (*config.Config, error) {
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
