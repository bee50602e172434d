package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/bus/embedded/serverprocess"
)

// TestVerbsOnALedgerAtRest: the ledger is on a server of its own, no instance runs,
// and every verb that reads it finds it by the configuration, or by the server's name
// and a key.
func TestVerbsOnALedgerAtRest(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
	i := installOn(t, []*serverprocess.Process{server}, "")
	i.up()
	i.asks("6 * 7", "42")
	alpha := connectBy(t, server.URL(), server.Keys().Agents["alpha"].SeedFile, "alpha")
	alpha.publish("podium.agent.alpha.response.0", "garbage")
	eventually(t, "the garbage is in quarantine", func() bool { return i.podium("quarantine", "-o", "json").succeeds(t).stdout != "" })
	id := i.runs()[0].ID
	i.stop()

	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	key := server.Keys().Core.SeedFile
	for name, flags := range map[string][]string{
		"by the configuration": {"-c", i.config},
		"by name and key":      {"--nats", server.URL(), "--credentials", key, "--data", elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for verb, says := range map[string]string{
				"runs":                          id,
				"runs list --status completed":  id,
				"runs show " + id[:8]:           "42",
				"runs watch " + id:              "42",
				"replay --run " + id:            "podium.chat.received.v1",
				"replay --work -o json":         "podium.agent.calculator.request",
				"replay --verify":               "0 differ",
				"quarantine":                    "malformed",
				"quarantine list --all -o json": "malformed",
				"agents":                        "calculator",
			} {
				o := podium(t, append(strings.Fields(verb), flags...)...)
				if o.code != exitOK || !strings.Contains(o.stdout, says) {
					t.Errorf("podium %s: exit code %d, and it does not say %q:\n%s%s", verb, o.code, says, o.stdout, o.stderr)
				}
			}
		})
	}
	if _, err := os.Stat(elsewhere); !os.IsNotExist(err) {
		t.Errorf("a verb that reads has made a directory: %v", err)
	}
}

// TestVerbsSayWhatIsMissing, and make nothing of it.
func TestVerbsSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
	gone := serverprocess.Start(t, serverprocess.Config{})
	gone.Kill()
	i := installOn(t, []*serverprocess.Process{server}, "")
	key := server.Keys().Core.SeedFile
	for name, test := range map[string]struct {
		arguments string
		code      int
		says      string
	}{
		"a server without a ledger":        {"runs -c " + i.config, exitNotFound, "there is no ledger on " + server.URL()},
		"the same, by its name":            {"agents --nats " + server.URL() + " --credentials " + key, exitNotFound, "`podium up` makes one"},
		"no server":                        {"replay --nats " + gone.URL() + " --credentials " + key, exitFailed, "does the server run"},
		"no key":                           {"quarantine --nats " + server.URL() + " --data " + filepath.Join(i.folder, "none"), exitNotFound, "podium nats accounts"},
		"a key that is not known":          {"runs --nats " + server.URL() + " --credentials " + gone.Keys().Core.SeedFile, exitFailed, "podium nats accounts"},
		"no configuration":                 {"runs -c none.yaml", exitNotFound, "none.yaml"},
		"two ledgers":                      {"runs -c " + i.config + " --nats " + server.URL(), exitUsage, "leave one of them out"},
		"credentials of nothing":           {"replay --verify --credentials " + key, exitUsage, "--nats"},
		"neither ledger nor server named":  {"runs --data " + filepath.Join(i.folder, "none"), exitNotFound, "--nats URL"},
		"an agent without a key":           {"agent exec --name beta --nats " + server.URL() + " --data " + i.data + " -- cat", exitNotFound, "--credentials"},
		"an agent of no configuration":     {"agent exec --name beta -c " + i.config + " -- cat", exitNotFound, "podium.yaml"},
		"credentials of nothing, to start": {"up -c " + i.config + " --credentials " + key, exitUsage, "--nats"},
	} {
		o := podium(t, strings.Fields(test.arguments)...)
		if o.code != test.code || !strings.Contains(o.stderr, test.says) {
			t.Errorf("%s: podium %s: exit code %d, want %d; it says %q, want %q", name, test.arguments, o.code, test.code, o.stderr, test.says)
		}
	}
	if found := podium(t, "runs", "-c", i.config); found.code != exitNotFound {
		t.Errorf("a verb has made a ledger: exit code %d, %s", found.code, found.stdout)
	}
}

// TestAgentExecElsewhere: on another machine, the server's name and the agent's key are
// all that an agent needs.
func TestAgentExecElsewhere(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
	i := installOn(t, []*serverprocess.Process{server}, "")
	i.up()
	for _, flags := range [][]string{
		{"--nats", server.URL(), "--credentials", server.Keys().Agents["alpha"].SeedFile, "--data", t.TempDir()},
		{"-c", i.config},
	} {
		worker := spawn(t, append(append([]string{"agent", "exec", "--name", "alpha"}, flags...), "--", "sh", "-c", "read -r request; echo alpha says so")...)
		worker.says(t, "agent alpha takes requests")
		i.asks("What says alpha?", "alpha says so")
		worker.stop(t)
	}
	i.stop()
}
