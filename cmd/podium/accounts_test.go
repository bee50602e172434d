package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/bus/embedded/serverprocess"
)

// asTold does what the comment of nats accounts tells a person to do: the settings
// that it names, with a directory of the server's own, and the whole output below.
func asTold(t *testing.T, printed, store string) string {
	t.Helper()
	var settings []string
	for line := range strings.Lines(printed) {
		if line, found := strings.CutPrefix(strings.TrimRight(line, "\n"), "#   "); found && !strings.Contains(line, "ledger:") {
			settings = append(settings, line)
		}
	}
	text := strings.Join(settings, "\n")
	if !strings.Contains(text, `"/var/lib/nats"`) || !strings.Contains(text, "sync_interval") || !strings.Contains(text, "batch") {
		t.Fatalf("the comment does not say what the server needs:\n%s", printed)
	}
	return strings.Replace(text, "/var/lib/nats", store, 1) + "\n" + printed
}

// TestPrintedAccountsAreEnough: a separate server that is started with what nats
// accounts prints, and with nothing else but an address, serves podium up, its agents,
// and agents that come from elsewhere.
func TestPrintedAccountsAreEnough(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(ownServerConfig, webSecret))
	printed := i.podium("nats", "accounts", "-c", i.config).succeeds(t).stdout
	if again := i.podium("nats", "accounts", "-c", i.config).succeeds(t).stdout; again != printed {
		t.Errorf("a second time it prints\n%s\nand not\n%s", again, printed)
	}
	server := serverprocess.Start(t, serverprocess.Config{Text: func(listen, store string) string {
		return fmt.Sprintf("listen: %q\n", listen) + asTold(t, printed, store)
	}})
	monitored := writeFile(t, fmt.Sprintf("ledger: {nats: {url: %q, monitoring: %q}}\nhttp: {listen: %q}\n", server.URL(), server.Monitoring(), i.listen)+
		fmt.Sprintf(ownServerConfig, webSecret))
	i.config = monitored
	i.up()
	i.process.says(t, "what was acknowledged survives power loss")
	i.asks("6 * 7", "42")
	agent := connectPlain(t, i, "alpha")
	sending := spawn(t, "--data", i.data, "send", "What says alpha?", "--wait")
	request := agent.pull()
	agent.publish(request.replyTo, request.response("alpha", "completed", "alpha says so"))
	agent.acknowledge(request)
	sending.ends(t, exitOK)
	if !strings.Contains(sending.stdout.String(), "alpha says so") {
		t.Errorf("the answer is %s", sending.stdout)
	}
	i.stop()
	if _, err := os.Stat(filepath.Join(i.data, "ledger")); !os.IsNotExist(err) {
		t.Errorf("an embedded ledger was made: %v", err)
	}
}

// TestAccountsUseTheKeysThereAre: the named key of the core, those that lie beside it,
// and for the rest keys of the installation's own. Nothing is written beside.
func TestAccountsUseTheKeysThereAre(t *testing.T) {
	t.Parallel()
	theirs := install(t, fmt.Sprintf(ownServerConfig, webSecret))
	var given natsAccounts
	if err := json.Unmarshal([]byte(theirs.podium("nats", "accounts", "-c", theirs.config, "-o", "json").succeeds(t).stdout), &given); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(given.Core.Seed)
	if err := os.Remove(given.Agents["calculator"].Seed); err != nil {
		t.Fatal(err)
	}
	before := entries(t, folder)

	ours := install(t, fmt.Sprintf(ownServerConfig, webSecret), fmt.Sprintf(`ledger: {nats: {url: "nats://localhost:4222", credentials: %q}}`, given.Core.Seed))
	var printed natsAccounts
	if err := json.Unmarshal([]byte(ours.podium("nats", "accounts", "-c", ours.config, "-o", "json").succeeds(t).stdout), &printed); err != nil {
		t.Fatal(err)
	}
	if printed.Core != given.Core || printed.Agents["alpha"] != given.Agents["alpha"] {
		t.Errorf("printed are %+v, given were %+v", printed, given)
	}
	if made := printed.Agents["calculator"]; made.Public == given.Agents["calculator"].Public || filepath.Dir(made.Seed) != filepath.Join(ours.data, "credentials") {
		t.Errorf("the key that was missing is %+v", made)
	}
	if !strings.Contains(printed.Accounts, printed.Agents["calculator"].Public) || !strings.Contains(printed.Needs, "sync_interval") {
		t.Errorf("printed is %+v", printed)
	}
	if after := entries(t, folder); after != before {
		t.Errorf("beside the credentials file there were %s, and now %s", before, after)
	}
	if made := entries(t, filepath.Join(ours.data, "credentials")); strings.Contains(made, "core.nk") || strings.Contains(made, "agent-alpha") {
		t.Errorf("keys were made that nobody needs: %s", made)
	}
	missing := install(t, fmt.Sprintf(ownServerConfig, webSecret), `ledger: {nats: {url: "nats://localhost:4222", credentials: /nowhere/core.nk}}`)
	if o := missing.podium("nats", "accounts", "-c", missing.config); o.code != exitNotFound || !strings.Contains(o.stderr, "/nowhere/core.nk") {
		t.Errorf("a key that is not there: exit code %d, %s", o.code, o.stderr)
	}
}

func entries(t *testing.T, folder string) string {
	t.Helper()
	found, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(found))
	for i, entry := range found {
		names[i] = entry.Name()
	}
	return strings.Join(names, " ")
}
