package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"podium/bus/embedded"
	"podium/bus/embedded/serverprocess"
)

const ownServerConfig = `
chat: {channels: {web: {profile: desk, secret: %q}}}
agents:
  calculator: {kind: calculator}
  alpha: {kind: external}
profiles:
  desk:
    agents: [calculator, alpha]
    routers:
      - {kind: keywords, groups: [{agent: alpha, keywords: [alpha]}]}
      - {kind: default, agent: calculator}
`

// installOn is a deployment whose ledger is on servers of its own, by the core's
// key of the first of them. More is added to the section ledger.nats.
func installOn(t *testing.T, servers []*serverprocess.Process, more string) *deployment {
	t.Helper()
	section := fmt.Sprintf("ledger: {nats: {url: %q, credentials: %q%s}}", serverprocess.URLs(servers), servers[0].Keys().Core.SeedFile, more)
	return install(t, fmt.Sprintf(ownServerConfig, webSecret), section)
}

func agentsOfOwnServer() []string { return []string{"calculator", "chat"} }

// TestStartWaitsForTheServer: a server that is not there is waited for, and the start
// says so; when it comes, podium is up.
func TestStartWaitsForTheServer(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
	i := installOn(t, []*serverprocess.Process{server}, "")
	server.Kill()
	i.start()
	i.process.says(t, "podium waits: the ledger on "+server.URL()+" is not there yet")
	eventually(t, "it says so again", func() bool { return strings.Count(i.process.stdout.String(), "podium waits:") > 2 })
	if log := i.process.stderr.String(); !strings.Contains(log, "the start waits for the ledger") {
		t.Errorf("the log does not say it:\n%s", log)
	}
	server.Restart()
	i.process.says(t, "podium is up")
	i.asks("6 * 7", "42")
	i.stop()
}

// TestStartWaitsForALeader: so it does for a cluster of which too few servers run, and
// it ends when it is told to stop meanwhile.
func TestStartWaitsForALeader(t *testing.T) {
	t.Parallel()
	nodes := serverprocess.StartCluster(t, 3, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
	i := installOn(t, nodes, "")
	i.up() // which has waited for the first leader already
	i.asks("6 * 7", "42")
	i.stop()
	nodes[0].Kill()
	nodes[1].Kill()
	i.start()
	i.process.says(t, "podium waits: the ledger on ")
	if err := i.process.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	i.process.ends(t, exitOK)
	i.start()
	i.process.says(t, "podium waits: the ledger on ")
	nodes[0].Restart()
	nodes[1].Restart()
	i.process.says(t, "podium is up")
	i.asks("7 * 7", "49")
	i.stop()
}

// TestStartSaysWhatToMend: what no waiting helps against ends the start at once.
func TestStartSaysWhatToMend(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
	another := serverprocess.Start(t, serverprocess.Config{})
	binary(t) // the time to build it does not count
	for name, test := range map[string]struct {
		key  string
		says string
	}{
		"a key that the server does not know": {another.Keys().Core.SeedFile, "podium nats accounts"},
		"the key of an agent":                 {server.Keys().Agents["alpha"].SeedFile, "core account"},
		"no key":                              {filepath.Join(t.TempDir(), "none.nk"), "none.nk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := install(t, fmt.Sprintf(ownServerConfig, webSecret), fmt.Sprintf("ledger: {nats: {url: %q, credentials: %q}}", server.URL(), test.key))
			o := i.podium("up", "-c", i.config)
			if o.code != exitFailed && o.code != exitNotFound || !strings.Contains(o.stderr, test.says) || strings.Contains(o.stdout, "podium waits") {
				t.Errorf("exit code %d, %s%s", o.code, o.stdout, o.stderr)
			}
		})
	}
}

// TestPromiseIsSaid at start, in the log and on the health page, as far as it is known.
func TestPromiseIsSaid(t *testing.T) {
	t.Parallel()
	always := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
	interval := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}, Durability: embedded.Interval})
	own := func(t *testing.T, server *serverprocess.Process, more string) *deployment {
		t.Helper()
		return installOn(t, []*serverprocess.Process{server}, more)
	}
	monitored := func(server *serverprocess.Process) string {
		return fmt.Sprintf(", monitoring: %q", server.Monitoring())
	}
	for name, test := range map[string]struct {
		installation *deployment
		durability   string
		says         []string
	}{
		"always":   {own(t, always, monitored(always)), "fsync", []string{"survives power loss"}},
		"interval": {own(t, interval, monitored(interval)), "interval", []string{"of the last 2m0s it may be lost", "jetstream { sync_interval: always }"}},
		"embedded": {install(t, fmt.Sprintf(ownServerConfig, webSecret)), "fsync", []string{"survives power loss"}},
		"embedded, interval": {
			install(t, fmt.Sprintf(ownServerConfig, webSecret), "ledger: {durability: interval}"), "interval",
			[]string{"of the last 2m0s it may be lost"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.installation.promises(t, test.durability, test.says)
		})
	}
	// One ledger has one holder: the same servers, looked at in another way.
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		server := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
		own(t, server, "").promises(t, "unknown", []string{"cannot be seen", "every 2m0s", "jetstream { sync_interval: always }", "ledger.nats.monitoring"})
	})
}

func (i *deployment) promises(t *testing.T, durability string, says []string) {
	t.Helper()
	i.up()
	i.process.says(t, "podium promises: ")
	status, body := i.fetch("/healthz")
	var health struct{ Durability, Promise string }
	if err := json.Unmarshal([]byte(body), &health); err != nil || status != http.StatusOK || health.Durability != durability {
		t.Errorf("status %d, %s (%v); want durability %s", status, body, err, durability)
	}
	for _, words := range says {
		for where, text := range map[string]string{"up": i.process.stdout.String(), "the log": i.process.stderr.String(), "the health page": health.Promise} {
			if !strings.Contains(text, words) {
				t.Errorf("%s does not say %q: %s", where, words, text)
			}
		}
	}
	i.stop()
}

// TestAskedForMoreThanTheServerDoes: a configuration that asks for fsync is not served
// by less.
func TestAskedForMoreThanTheServerDoes(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}, Durability: embedded.Interval})
	i := install(t, fmt.Sprintf(ownServerConfig, webSecret), fmt.Sprintf("ledger: {durability: fsync, nats: {url: %q, credentials: %q, monitoring: %q}}",
		server.URL(), server.Keys().Core.SeedFile, server.Monitoring()))
	if o := i.podium("up", "-c", i.config); o.code != exitFailed || !strings.Contains(o.stderr, "jetstream { sync_interval: always }") {
		t.Errorf("exit code %d, %s%s", o.code, o.stdout, o.stderr)
	}
}
