package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"podium/bus/embedded/serverprocess"
)

// TestLostDiskIsSaid: a server of its own that comes back without its streams is said to
// have lost them, and nothing is put on what it has instead. With its disk back podium
// goes on by itself.
func TestLostDiskIsSaid(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
	i := installOn(t, []*serverprocess.Process{server}, "")
	i.up()
	webhook{id: "before", text: "What is 6 * 7?"}.send(t, i.listen)
	i.saysOfLedger(http.StatusOK, "ok")
	aside := server.Store() + "-aside"
	server.Kill()
	if err := os.Rename(server.Store(), aside); err != nil {
		t.Fatal(err)
	}
	server.Restart()
	i.saysOfLedger(http.StatusServiceUnavailable, "lost: ", "is gone", "was seen", "restore a backup")
	i.says("messages are lost", "its stream PODIUM_")
	ctx := t.Context()
	if status, body, err := (webhook{id: "lost", text: "What is 6 * 7?"}).post(ctx, i.listen); err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("a message to a lost ledger is answered %d: %s, %v", status, body, err)
	}
	server.Kill()
	if err := os.RemoveAll(server.Store()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(aside, server.Store()); err != nil {
		t.Fatal(err)
	}
	server.Restart()
	i.saysOfLedger(http.StatusOK, "ok")
	webhook{id: "after", text: "What is 6 * 7?"}.send(t, i.listen)
	i.wipe(server)
	i.stopsLost()
}

// says waits until the log of the service has words in one line.
func (i *deployment) says(words ...string) {
	i.t.Helper()
	eventually(i.t, fmt.Sprintf("the log says %q", words), func() bool {
		for line := range strings.Lines(i.process.stderr.String()) {
			all := true
			for _, word := range words {
				all = all && strings.Contains(line, word)
			}
			if all {
				return true
			}
		}
		return false
	})
}

// wipe takes a server's disk away.
func (i *deployment) wipe(server *serverprocess.Process) {
	i.t.Helper()
	server.Kill()
	if err := os.RemoveAll(server.Store()); err != nil {
		i.t.Fatal(err)
	}
	server.Restart()
	i.saysOfLedger(http.StatusServiceUnavailable, "lost: ")
}

// stopsLost stops the service in order while its ledger is lost.
func (i *deployment) stopsLost() {
	i.t.Helper()
	if !i.process.running() {
		i.t.Error("the service has ended")
	}
	if err := i.process.command.Process.Signal(syscall.SIGTERM); err != nil {
		i.t.Fatal(err)
	}
	eventually(i.t, "it ends", func() bool { return !i.process.running() })
	for _, output := range []string{i.process.stdout.String(), i.process.stderr.String()} {
		if strings.Contains(output, "another process owns the shard") {
			i.t.Errorf("it blames another process:\n%s", output)
		}
	}
}

// TestRemovedStreamsAreSaid: the streams of the embedded server are removed under it.
func TestRemovedStreamsAreSaid(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(diskConfig, webSecret))
	i.up()
	webhook{id: "before", text: "What is 6 * 7?"}.send(t, i.listen)
	// At once: a directory in which the server still writes cannot be removed file by file.
	if err := os.Rename(filepath.Join(i.data, "ledger", "jetstream", "CORE", "streams"), filepath.Join(t.TempDir(), "streams")); err != nil {
		t.Fatal(err)
	}
	i.saysOfLedger(http.StatusServiceUnavailable, "lost: ", "is gone", "restore a backup")
	i.says("messages are lost", "its stream PODIUM_")
	i.stopsLost()
}
