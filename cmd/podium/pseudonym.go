package main

import (
	"bufio"
	"errors"
	"strings"

	"podium/bus/keyring"
	"podium/cmd/podium/installation"
)

// pseudonymCommand says what stands in the log for a value.
type pseudonymCommand struct {
	ledgerFlags

	Values []string `arg:"" optional:"" help:"Addresses, ids of people, runs or conversations; one a line on standard input when there are none." placeholder:"VALUE"`
}

func (pseudonymCommand) Help() string {
	return `The log of podium up names nobody: in the place of a sender, a conversation or a run stands a keyed hash, such as
h-3f9c0a1b2c3d4e5f, the same in every line that one key has made. This verb says which it is, under every key that the ledger has: it gets
another one after 90 days, and keeps the older ones for two years. Nobody can make them without the keys of the ledger; whoever has
them finds in the log whether somebody has written. Case makes no difference. Of a line, the hash of a run or of a conversation leads to
the run; that of a sender leads to nothing but the lines that have it.

  podium pseudonym ada@example.org
  grep -F "$(podium pseudonym ada@example.org)" podium.log    # all that the log has of her
  podium runs show h-8d21c6700f5ae394                         # the other way: what a line has as its run or session
  podium runs -o json | jq -r .id | podium pseudonym -o json`
}

func (c *pseudonymCommand) Run(env *environment) error {
	if len(c.Values) == 0 {
		lines := bufio.NewScanner(env.stdin)
		for lines.Scan() {
			if value := strings.TrimSpace(lines.Text()); value != "" {
				c.Values = append(c.Values, value)
			}
		}
		if err := lines.Err(); err != nil {
			return err
		}
	}
	return env.withLedger(func(ledger *installation.Ledger) error {
		keys, err := keyring.Existing(env.ctx, ledger.Core)
		if errors.Is(err, keyring.ErrNoKeys) {
			return notFound("the ledger has no keys yet, and no log has anything made under one; podium up makes the first")
		}
		if err != nil {
			return err
		}
		for _, value := range c.Values {
			all := keys.Pseudonyms(value)
			if env.json {
				err = env.printLine(map[string]any{"value": value, "pseudonyms": all})
			} else {
				err = env.print("%s\n", strings.Join(all, "\n"))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
