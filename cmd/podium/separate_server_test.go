package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/bus/embedded/serverprocess"
)

// TestUpOnAServerProcess: the same service on a NATS server of its own process,
// which crashes on the way.
func TestUpOnAServerProcess(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: []string{"calculator", "chat"}})
	var given answers
	nats := fmt.Sprintf("ledger: {nats: {url: %q, credentials: %q}}", server.URL(), server.Keys().Core.SeedFile)
	i := install(t, fmt.Sprintf(deskConfig, webSecret, callback(t, &given)), nats)
	i.up()
	i.asks("2 * 21", "42")
	webhook{id: "one", text: "3 * 3"}.send(t, i.listen)
	eventually(t, "the first is answered", func() bool { return len(given.to("one")) == 1 })
	server.Kill()
	server.Restart()
	webhook{id: "two", text: "4 * 4"}.send(t, i.listen)
	eventually(t, "the second is answered", func() bool { return len(given.to("two")) > 0 })
	i.verify()
	i.stop()

	i.up("--nats", server.URL())
	i.asks("5 * 5", "25")
	if runs := i.runs(); len(runs) != 4 {
		t.Errorf("%d runs", len(runs))
	}
	i.stop()
	if _, err := os.Stat(filepath.Join(i.data, "ledger")); !os.IsNotExist(err) {
		t.Errorf("an embedded ledger was made: %v", err)
	}
}

// asks sends words from the command line and expects the answer to hold others.
func (i *deployment) asks(words, answer string) {
	i.t.Helper()
	if got := i.podium("send", "--wait", words).succeeds(i.t).stdout; !strings.Contains(got, answer) {
		i.t.Errorf("%q is answered %s", words, got)
	}
}
