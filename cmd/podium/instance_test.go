package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"podium/bus/bustest/loopback"
	"podium/cmd/podium/installation"
)

// A deployment is one data directory with its configuration, and the
// process that runs on it, if one does.
type deployment struct {
	t      *testing.T
	folder string
	data   string
	config string
	listen string // where the chat adapter is, over all restarts

	process *background
}

// install writes a configuration. Ledger and HTTP listener stand before it;
// the listener's address stays the same.
func install(t *testing.T, config string, more ...string) *deployment {
	t.Helper()
	folder := t.TempDir()
	i := &deployment{
		t: t, folder: folder, data: filepath.Join(folder, "data"),
		config: filepath.Join(folder, "podium.yaml"), listen: loopback.Reserve(t),
	}
	ledger := "ledger: {shards: 2}\n"
	if len(more) > 0 {
		ledger = strings.Join(more, "\n") + "\n"
	}
	text := ledger + "http: {listen: " + i.listen + "}\n" + config
	if err := os.WriteFile(i.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return i
}

// start starts the service without waiting for it.
func (i *deployment) start(arguments ...string) {
	i.t.Helper()
	i.process = spawn(i.t, append([]string{"up", "-c", i.config, "--data", i.data}, arguments...)...)
}

// up starts the service and waits until it takes messages.
func (i *deployment) up(arguments ...string) {
	i.t.Helper()
	i.start(arguments...)
	i.process.says(i.t, "podium is up")
}

// kill ends the service as a power cut would, but for the disk (SIGKILL).
func (i *deployment) kill() { i.process.kill() }

// stop ends the service in order and expects it to say so.
func (i *deployment) stop() {
	i.t.Helper()
	i.process.stop(i.t)
	if _, err := os.Stat(filepath.Join(i.data, "instance.json")); !os.IsNotExist(err) {
		i.t.Errorf("the stopped instance left its file: %v", err)
	}
}

// podium runs a verb on this deployment.
func (i *deployment) podium(arguments ...string) outcome {
	i.t.Helper()
	return podium(i.t, append([]string{"--data", i.data}, arguments...)...)
}

// instance returns what the running service says of itself.
func (i *deployment) instance() installation.Instance {
	i.t.Helper()
	found, running, err := installation.FindInstance(i.data)
	if err != nil || !running {
		i.t.Fatalf("the instance file: %v, running %t", err, running)
	}
	return found
}

// verify decides the whole ledger again.
func (i *deployment) verify() {
	i.t.Helper()
	if o := i.podium("replay", "--verify"); o.code != exitOK {
		i.t.Errorf("replay --verify: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// A background is a process that goes on while the test does.
type background struct {
	command        *exec.Cmd
	stdout, stderr *transcript
	exited         chan struct{}
}

// spawn starts the program; it is killed when the test ends.
func spawn(t *testing.T, arguments ...string) *background {
	t.Helper()
	return launch(t, exec.CommandContext(context.WithoutCancel(t.Context()), binary(t), arguments...))
}

// launch starts a command; it is killed when the test ends.
func launch(t *testing.T, command *exec.Cmd) *background {
	t.Helper()
	b := &background{command: command, stdout: &transcript{}, stderr: &transcript{}, exited: make(chan struct{})}
	b.command.Stdout, b.command.Stderr = b.stdout, b.stderr
	if err := b.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(b.exited)
		_ = b.command.Wait() // its state says how it ended
	}()
	t.Cleanup(func() {
		b.kill()
		if t.Failed() {
			t.Logf("%s:\n%s\n%s", strings.Join(command.Args, " "), tail(b.stdout.String()), tail(b.stderr.String()))
		}
	})
	return b
}

func tail(text string) string {
	const most = 6000
	if len(text) > most {
		return "…" + text[len(text)-most:]
	}
	return text
}

func (b *background) says(t *testing.T, words string) {
	t.Helper()
	eventually(t, "it says "+strconv.Quote(words), func() bool {
		if !b.running() && !strings.Contains(b.stdout.String(), words) {
			t.Fatalf("it has ended:\n%s\n%s", b.stdout.String(), b.stderr.String())
		}
		return strings.Contains(b.stdout.String(), words)
	})
}

func (b *background) running() bool {
	select {
	case <-b.exited:
		return false
	default:
		return true
	}
}

func (b *background) kill() {
	_ = b.command.Process.Kill() // it may have ended by itself
	<-b.exited
}

// stop asks the process to end and expects exit code 0.
func (b *background) stop(t *testing.T) {
	t.Helper()
	if err := b.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	b.ends(t, exitOK)
}

// ends waits for the process's end and checks its exit code.
func (b *background) ends(t *testing.T, code int) {
	t.Helper()
	eventually(t, "it ends", func() bool { return !b.running() })
	if got := b.command.ProcessState.ExitCode(); got != code {
		t.Fatalf("exit code %d, want %d\n%s\n%s", got, code, b.stdout.String(), b.stderr.String())
	}
}
