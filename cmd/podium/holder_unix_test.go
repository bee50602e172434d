//go:build unix

package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded/serverprocess"
	"podium/bus/jetstream"
	"podium/cmd/podium/lease"
)

// TestSecondProcessIsRefused: on one ledger there is one process. Another one, with a
// directory of its own, says who holds the ledger and ends, and the first goes on.
func TestSecondProcessIsRefused(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
	servers := []*serverprocess.Process{server}
	first, second := installOn(t, servers, ""), installOn(t, servers, "")
	first.up()
	first.asks("6 * 7", "42")
	refused := second.podium("up", "-c", second.config, "--nats", server.URL(), "--credentials", server.Keys().Core.SeedFile)
	for _, words := range []string{
		"the ledger is held by process ", pidOf(first), first.data, time.Now().Format("2006-01-02"), "stop that one first",
	} {
		if refused.code != exitFailed || !strings.Contains(refused.stderr, words) {
			t.Errorf("exit code %d, and it does not say %q:\n%s%s", refused.code, words, refused.stdout, refused.stderr)
		}
	}
	limited := installOn(t, servers, "")
	limited.replace("ledger: {", "ledger: {max_bytes: 64MiB, ")
	if o := limited.podium("up", "-c", limited.config); o.code != exitFailed || !strings.Contains(o.stderr, "the ledger is held by process") {
		t.Errorf("exit code %d, %s%s", o.code, o.stdout, o.stderr)
	}
	if bound := shardBound(t, server); bound > 0 {
		t.Errorf("a process that was refused has bounded the shard to %d bytes", bound)
	}
	// The same directory is refused before any ledger is asked.
	if o := first.podium("up", "-c", first.config); o.code != exitFailed || !strings.Contains(o.stderr, "already runs on "+first.data) {
		t.Errorf("a second process on the same directory: exit code %d, %s%s", o.code, o.stdout, o.stderr)
	}
	first.asks("7 * 7", "49")
	first.stop()

	second.up() // nobody is waited for after a stop in order
	if said := second.process.stdout.String(); strings.Contains(said, "podium waits") {
		t.Errorf("after a stop in order: %s", said)
	}
	second.asks("8 * 8", "64")
	second.verify()
	second.stop()
}

// replace changes the configuration.
func (i *deployment) replace(old, by string) {
	i.t.Helper()
	text, err := os.ReadFile(i.config)
	if err == nil {
		err = os.WriteFile(i.config, []byte(strings.Replace(string(text), old, by, 1)), 0o600)
	}
	if err != nil {
		i.t.Fatal(err)
	}
}

// shardBound is how many bytes the first shard may hold; -1 is as many as there is room for.
func shardBound(t *testing.T, server *serverprocess.Process) int64 {
	t.Helper()
	core, err := jetstream.Connect(t.Context(), jetstream.Config{
		URL: server.URL(), SeedFile: server.Keys().Core.SeedFile, Existing: true, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	state, err := core.State(t.Context(), bus.ShardStream(0))
	if err != nil {
		t.Fatal(err)
	}
	return state.MaxBytes
}

func pidOf(i *deployment) string { return strconv.Itoa(i.process.command.Process.Pid) }

// TestKilledHolderComesBack: after kill -9 the same directory is at work again at
// once, time after time; another one waits until the lease has lapsed, and says so.
func TestKilledHolderComesBack(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
	servers := []*serverprocess.Process{server}
	first, second := installOn(t, servers, ""), installOn(t, servers, "")
	first.up()
	for range 3 {
		first.asks("6 * 7", "42")
		first.kill()
		first.up()
		if said := first.process.stdout.String(); strings.Contains(said, "podium waits") {
			t.Errorf("on the same directory: %s", said)
		}
	}
	first.kill()
	began := time.Now()
	second.start()
	second.process.says(t, "podium waits: the ledger is held by process "+pidOf(first))
	second.process.says(t, "podium is up")
	if said := second.process.stdout.String(); strings.Contains(said, "not there yet") || strings.Count(said, "is held by") < 3 {
		t.Errorf("while it waited it said\n%s", said)
	}
	if took := time.Since(began); took < lease.Time {
		t.Errorf("another directory has taken the ledger after %s", took)
	}
	second.asks("7 * 7", "49")
	second.verify()
	second.stop()
}

// TestFrozenHolderGivesWay: a process that gives no sign of life is taken over from,
// and ends when it thaws. What it had accepted is answered, and nothing twice.
func TestFrozenHolderGivesWay(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: agentsOfOwnServer(), External: []string{"alpha"}})
	servers := []*serverprocess.Process{server}
	first, second := installOn(t, servers, ""), installOn(t, servers, "")
	first.up()
	first.asks("6 * 7", "42")
	sending := spawn(t, "--data", first.data, "send", "What says alpha?", "--wait", "--timeout", "5m")
	sending.says(t, "request to alpha, attempt 1")
	if err := first.process.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	second.up()
	second.asks("7 * 7", "49")
	if err := first.process.command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	first.process.ends(t, exitFailed)
	for _, words := range []string{"was taken over by process " + pidOf(second), second.data} {
		if said := first.process.stderr.String(); !strings.Contains(said, words) {
			t.Errorf("the thawed one does not say %q:\n%s", words, said)
		}
	}
	alpha := connectBy(t, server.URL(), server.Keys().Agents["alpha"].SeedFile, "alpha")
	request := alpha.pull()
	alpha.publish(request.replyTo, request.response("alpha", "completed", "alpha says so"))
	alpha.acknowledge(request)
	sending.ends(t, exitOK)
	second.asks("8 * 8", "64")
	if runs := second.runs(); len(runs) != 4 {
		t.Errorf("%d runs", len(runs))
	}
	second.verify()
	second.stop()
}
