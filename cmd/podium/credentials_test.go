package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/bus/embedded/serverprocess"
)

// TestCredentialsOfSomebodyElse: check and up say what is wrong with the credentials
// file and the addresses of a server, and no key is written beside that file.
func TestCredentialsOfSomebodyElse(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: []string{"chat", "echo"}})
	theirs := filepath.Dir(server.Keys().Core.SeedFile)
	missing := filepath.Join(theirs, "nothing.nk")
	broken := filepath.Join(t.TempDir(), "broken.nk")
	if err := os.WriteFile(broken, []byte("no seed"), 0o600); err != nil {
		t.Fatal(err)
	}
	const agents = "agents: {echo: {kind: echo}}\nprofiles: {desk: {agents: [echo], routers: [{kind: default, agent: echo}]}}\n"
	ledger := func(credentials string) string {
		return "ledger: {nats: {url: " + server.URL() + ", credentials: " + credentials + "}}"
	}
	for credentials, says := range map[string]string{
		missing: missing + ": no such file or directory; name the file", broken: "holds no nkey seed",
	} {
		i := install(t, agents, ledger(credentials))
		if o := i.podium("check", "-c", i.config); o.code != exitUsage || !strings.Contains(o.stderr, says) {
			t.Errorf("check with %s: exit code %d, %s", credentials, o.code, o.stderr)
		}
		if o := i.podium("up", "-c", i.config); o.code == exitOK || !strings.Contains(o.stderr, says) {
			t.Errorf("up with %s: exit code %d, %s", credentials, o.code, o.stderr)
		}
	}
	before := names(t, theirs)
	i := install(t, strings.Replace(agents, "echo: {kind: echo}", "echo: {kind: echo}, other: {kind: external}", 1), ledger(server.Keys().Core.SeedFile))
	i.podium("check", "-c", i.config).succeeds(t)
	i.up()
	if after := names(t, theirs); !slices.Equal(before, after) {
		t.Errorf("in somebody else's directory are %q, there were %q", after, before)
	}
	if ours := names(t, filepath.Join(i.data, "credentials")); !slices.Contains(ours, "agent-other.nk") || slices.Contains(ours, "agent-echo.nk") || slices.Contains(ours, "core.nk") {
		t.Errorf("in the data directory are %q", ours)
	}
	i.stop()
	if o := i.podium("up", "-c", i.config, "--nats", strings.Replace(server.URL(), "nats://", "nats://user:secret@", 1)); o.code != exitUsage ||
		!strings.Contains(o.stderr, "holds no user, password or token") || strings.Contains(o.stderr, "secret@") {
		t.Errorf("up --nats with a password: exit code %d, %s", o.code, o.stderr)
	}
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
