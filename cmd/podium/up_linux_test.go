package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const echoDesk = `
agents: {echo: {kind: echo}, shout: {kind: external}}
profiles: {desk: {language: en, agents: [echo], routers: [{kind: default, agent: echo}]}}
`

// TestUpShowsWhatHappens: a line for each message, run and answer, and for an agent that
// nobody serves; none of that with -q, and with -v no notice of the server.
func TestUpShowsWhatHappens(t *testing.T) {
	t.Parallel()
	for name, quiet := range map[string]bool{"as it is": false, "quiet": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := install(t, echoDesk)
			if quiet {
				i.up("-q", "-v")
			} else {
				i.up("-v")
			}
			i.podium("send", "pumps on thursday", "--wait").succeeds(t)
			if !quiet {
				i.process.says(t, "nobody serves agent shout, and no sign of life of it is on record")
			}
			i.stop()
			told, logged := i.process.stdout.String(), i.process.stderr.String()
			for _, line := range []string{"chat message received: run ", " begins, by profile desk", ": answer sent by chat", " ended: completed"} {
				if strings.Contains(told, line) == quiet {
					t.Errorf("quiet: %v, %q is told: %v\n%s", quiet, line, !quiet, told)
				}
			}
			for _, line := range []string{"podium is up", "podium stops"} {
				if strings.Count(told, line) != 1 {
					t.Errorf("%q is not told once:\n%s", line, told)
				}
			}
			if strings.Contains(told, "pumps") || strings.Contains(logged, "nats-server") || !strings.Contains(logged, `"a request is done"`) {
				t.Errorf("it says\n%s\nand logs\n%s", told, logged)
			}
		})
	}
}

// outputOf starts the service with a pipe for its output, and returns the end to read.
func (i *deployment) outputOf(arguments ...string) *os.File {
	i.t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		i.t.Fatal(err)
	}
	b := &background{stdout: &transcript{}, stderr: &transcript{}, exited: make(chan struct{})}
	b.command = exec.CommandContext(context.WithoutCancel(i.t.Context()), binary(i.t), append([]string{"up", "-c", i.config, "--data", i.data}, arguments...)...)
	b.command.Stdout, b.command.Stderr = writer, b.stderr
	if err = b.command.Start(); err != nil {
		i.t.Fatal(err)
	}
	_ = writer.Close() // the process has its own
	go func() {
		defer close(b.exited)
		_ = b.command.Wait() // its state says how it ended
	}()
	i.t.Cleanup(b.kill)
	i.t.Cleanup(func() { _ = reader.Close() })
	i.process = b
	first := bufio.NewReader(reader)
	for line := ""; !strings.Contains(line, "podium promises"); {
		if line, err = first.ReadString('\n'); err != nil {
			i.t.Fatalf("it says nothing: %v\n%s", err, b.stderr.String())
		}
	}
	return reader
}

// TestOutputDoesNotHoldUpTheService: whoever has read the output and left ends nothing, and
// one that nobody reads keeps neither the work nor the stop waiting.
func TestOutputDoesNotHoldUpTheService(t *testing.T) {
	t.Parallel()
	t.Run("gone", func(t *testing.T) {
		t.Parallel()
		i := install(t, echoDesk)
		_ = i.outputOf().Close()
		for range 3 {
			i.podium("send", "hello", "--wait").succeeds(t)
		}
		i.stop()
	})
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		i := install(t, echoDesk)
		output := i.outputOf()
		// The smallest pipe there is: a page.
		if _, err := unix.FcntlInt(output.Fd(), unix.F_SETPIPE_SZ, os.Getpagesize()); err != nil {
			t.Fatal(err)
		}
		for range os.Getpagesize()/4/70 + 1 { // four lines each, of at least 70 bytes
			i.podium("send", "hello", "--wait").succeeds(t)
		}
		i.stop()
	})
}
