package main

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"podium/bus/embedded"
	"podium/cmd/podium/installation"
)

// natsCommand is about servers of somebody's own.
type natsCommand struct {
	Accounts natsAccountsCommand `cmd:"" help:"Print the accounts that a NATS server needs for a configuration."`
}

func (natsCommand) Help() string {
	return `For a ledger that is on a NATS server or cluster instead of in the process.

  podium nats accounts -c podium.yaml > podium.conf`
}

type natsAccountsCommand struct {
	Config string `help:"The configuration; podium.yaml when none is named." short:"c" default:"podium.yaml" placeholder:"FILE"`
}

func (natsAccountsCommand) Help() string {
	return `Prints the block "accounts" of a nats-server's configuration: a core account that owns the ledger, and
one user for each agent of the configuration, who reaches nothing but its own requests. Comments say what else
the server has to be configured with. The keys are those of this installation; what is missing is made in the
directory of --data or ledger.data. Nothing is asked of any server.

  podium nats accounts -c podium.yaml > podium.conf     # then: include "podium.conf" in the server's configuration
  podium nats accounts -o json

Whenever agents have been added to the configuration, print it again and reload the server.`
}

// natsAccounts is what nats accounts prints with -o json.
type natsAccounts struct {
	Accounts string             `json:"accounts"` // block of a nats-server's configuration
	Needs    string             `json:"needs"`    // what else it has to say
	Core     natsKey            `json:"core"`
	Agents   map[string]natsKey `json:"agents"`
}

// natsKey is a user of the server.
type natsKey struct {
	Public string `json:"public"`
	Seed   string `json:"seed"` // the file that holds it
}

// storeHere stands for a directory that only the server's operator knows.
const storeHere = "/var/lib/nats"

func (c *natsAccountsCommand) Run(env *environment) error {
	settings, err := loadConfig(c.Config)
	if err != nil {
		return err
	}
	env.use(settings)
	keys, err := installation.Keys(env.ledgerSettings(), sortedKeys(settings.Agents))
	if err != nil {
		return err
	}
	accounts, err := keys.Accounts(settings.AgentNames(true)...).Config()
	if err != nil {
		return err
	}
	if !env.json {
		return env.print("%s%s", accountsComment(c.Config, keys.Core.SeedFile, settings.Ledger.NATS == nil), accounts)
	}
	printed := natsAccounts{
		Accounts: accounts, Needs: embedded.Needs(storeHere),
		Core: keyPrinted(keys.Core), Agents: make(map[string]natsKey, len(keys.Agents)),
	}
	for name, key := range keys.Agents {
		printed.Agents[name] = keyPrinted(key)
	}
	return json.NewEncoder(env.stdout).Encode(printed)
}

func keyPrinted(key embedded.Key) natsKey {
	return natsKey{Public: key.Public, Seed: installation.Absolute(key.SeedFile)}
}

// accountsComment says what stands around the accounts. A server that is started
// with nothing but its settings and the accounts below them is enough.
func accountsComment(file, core string, unsaid bool) string {
	var text strings.Builder
	say := func(lines string) {
		for line := range strings.Lines(lines) {
			text.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
		}
	}
	say("Accounts of a NATS server for " + file + ", printed by podium nats accounts. Put them into the server's\n" +
		"configuration, or include this file there. Print them again and reload the server when agents are added.\n\n" +
		"Besides them the configuration says the following. Without sync_interval: always, up to two minutes of what\n" +
		"was acknowledged may be lost with the power. Podium is made for nats-server " + embedded.ServerVersion + " or newer.\n\n")
	for line := range strings.Lines(embedded.Needs(storeHere)) {
		say("  " + line)
	}
	if unsaid {
		say("\nThen " + file + " says where the server is:\n\n  ledger: {nats: {url: \"nats://localhost:4222\"}}\n")
	}
	say("\nThe keys lie in " + filepath.Dir(installation.Absolute(core)) + ". Whoever has core.nk has the ledger. An agent on another\n" +
		"machine needs its own, agent-NAME.nk, and no other.\n")
	return text.String() + "\n"
}
