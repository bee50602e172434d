package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"podium/bus"
	"podium/bus/embedded/serverprocess"
	"podium/schemas"
)

// TestAgentsComeAndGoOnAServerProcess: on a nats-server of its own the accounts are written for whoever runs that, and when they have done what is said, the
// agent works. Revoked, it gets no request although the server still knows its key, and does not connect once that was told; taken in again, it has another.
func TestAgentsComeAndGoOnAServerProcess(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(ownServerConfig, webSecret))
	accounts := filepath.Join(t.TempDir(), "podium.conf")
	printed := i.podium("nats", "accounts", "-c", i.config).succeeds(t).stdout
	if err := os.WriteFile(accounts, []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	beside, err := filepath.Rel(dir, accounts)
	if err != nil {
		t.Fatal(err)
	}
	server := serverprocess.Start(t, serverprocess.Config{Dir: dir, Text: func(listen, store string) string {
		settings := strings.TrimSuffix(asTold(t, printed, store), printed)
		return fmt.Sprintf("listen: %q\n%s\ninclude %q\n", listen, settings, beside)
	}})
	i.config = writeFile(t, fmt.Sprintf("ledger: {nats: {url: %q, monitoring: %q}}\nhttp: {listen: %q}\n", server.URL(), server.Monitoring(), i.listen)+fmt.Sprintf(ownServerConfig, webSecret))
	i.up()
	i.replace("  alpha: {kind: external}", "  alpha: {kind: external}\n  gamma: {kind: external}")
	i.replace("agents: [calculator, alpha]", "agents: [calculator, alpha, gamma]")
	i.replace("groups: [{agent: alpha, keywords: [alpha]}]", "groups: [{agent: alpha, keywords: [alpha]}, {agent: gamma, keywords: [gamma]}]")
	tells := func(verb string) {
		t.Helper()
		said := i.podium("agents", verb, "gamma").succeeds(t).stdout
		found := regexp.MustCompile(`are now those in (\S+): copy`).FindStringSubmatch(said)
		if found == nil {
			t.Fatalf("%s says %s", verb, said)
		}
		written, err := os.ReadFile(found[1])
		if err == nil {
			err = os.WriteFile(accounts, written, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	reload := func() {
		t.Helper()
		server.Reload()
		server.Reload()
	}
	seed := filepath.Join(i.data, "credentials", "agent-gamma.nk")
	works := func() *plainAgent {
		t.Helper()
		gamma := connectPlain(t, i, "gamma")
		sending := spawn(t, "--data", i.data, "send", "Please, gamma", "--wait")
		request := gamma.pull()
		gamma.publish(request.replyTo, request.response("gamma", "completed", "here I am"))
		gamma.acknowledge(request)
		sending.ends(t, exitOK)
		return gamma
	}
	connects := func() bool {
		login, err := nats.NkeyOptionFromSeed(seed)
		if err != nil {
			return false
		}
		conn, err := nats.Connect(server.URL(), login, nats.Timeout(patience))
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	alpha := connectPlain(t, i, "alpha")
	tells("add")
	if connects() {
		t.Error("it connects before the server was told")
	}
	reload()
	gamma := works()
	before, err := os.ReadFile(seed)
	if err != nil {
		t.Fatal(err)
	}

	tells("revoke")
	if run, _ := i.asksInVain("Please, gamma"); run.Reason != schemas.StopUnavailable {
		t.Errorf("revoked, and the server not told yet: the run ends by %s", run.Reason)
	}
	if answer, err := gamma.conn.Request(bus.ResponseSubject("gamma", 0), []byte("{}"), time.Second); err == nil && !strings.Contains(string(answer.Data), `"error"`) {
		t.Errorf("what it says is taken: %s", answer.Data)
	}
	reload()
	eventually(t, "its connection ends", func() bool { return !gamma.conn.IsConnected() })
	if err := os.WriteFile(seed, before, 0o600); err != nil { // whoever has a copy of its key
		t.Fatal(err)
	}
	if connects() {
		t.Error("revoked, and it connects")
	}
	if err := os.Remove(seed); err != nil {
		t.Fatal(err)
	}
	tells("add")
	reload()
	works()
	if after, err := os.ReadFile(seed); err != nil || string(after) == string(before) {
		t.Errorf("taken in again, it has the key that it had: %v", err)
	}
	if !alpha.conn.IsConnected() || alpha.conn.Stats().Reconnects > 0 {
		t.Error("another agent has noticed")
	}
	i.verify()
	i.stop()
}

// TestWhoFloodsIsRevoked: an agent that goes on for a minute with what nobody can read is cut off by the service itself, for good, while others work;
// one that is merely wrong is not.
func TestWhoFloodsIsRevoked(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	i.up()
	alpha, beta := connectPlain(t, i, "alpha"), connectPlain(t, i, "beta")
	began := time.Now()
	rounds := 0
	within(t, 2*time.Minute, "the flood is cut off", func() bool {
		for range 10 {
			_ = alpha.conn.Publish(bus.ProgressSubject("alpha", 0), []byte("{"))
		}
		if rounds++; rounds%100 == 1 { // now and then the other one says something wrong, and does its work
			_ = beta.conn.Publish(bus.ProgressSubject("beta", 0), []byte("{"))
			sending := spawn(t, "--data", i.data, "send", "Please, beta", "--wait")
			request := beta.pull()
			beta.publish(request.replyTo, request.response("beta", "completed", "as always"))
			beta.acknowledge(request)
			sending.ends(t, exitOK)
		}
		return !alpha.conn.IsConnected()
	})
	if lasted := time.Since(began); lasted < 30*time.Second {
		t.Errorf("it is cut off after %s", lasted)
	}
	revoked := func() {
		t.Helper()
		if run, _ := i.asksInVain("Please"); run.Reason != schemas.StopUnavailable {
			t.Errorf("asked in vain, it ends by %s", run.Reason)
		}
		listed := i.podium("agents").succeeds(t).stdout
		if !regexp.MustCompile(`(?m)^alpha +external +revoked `).MatchString(listed) || regexp.MustCompile(`(?m)^beta +external +revoked `).MatchString(listed) {
			t.Errorf("listed\n%s", listed)
		}
		if _, err := os.Stat(filepath.Join(i.data, "credentials", "agent-alpha.nk")); !os.IsNotExist(err) {
			t.Errorf("its key is still there: %v", err)
		}
	}
	revoked()
	if log := i.process.stderr.String(); !regexp.MustCompile(`"level":"error","agent":"alpha".*floods the ledger`).MatchString(log) || !strings.Contains(log, `"agent":"alpha","reason":"flood"`) || strings.Contains(log, `"agent":"beta","reason":"flood"`) {
		t.Errorf("the log says\n%s", log)
	}
	i.stop()
	i.up()
	revoked()
	i.podium("agents", "add", "alpha").succeeds(t)
	connectPlain(t, i, "alpha")
	i.stop()
	i.verify()
}
