// Package serverprocess runs a real nats-server in a process of its own, for
// tests: built from the module's pinned version, configured by the same text as
// the embedded one, and killed whenever a test wants.
package serverprocess

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/bus/bustest/loopback"
	"podium/bus/embedded"
)

const (
	module    = "github.com/nats-io/nats-server/v2"
	readyWait = 30 * time.Second
	poll      = 10 * time.Millisecond
)

// Config says how to run a server.
type Config struct {
	Dir        string              // empty is a temporary one
	Durability embedded.Durability // empty is embedded.Fsync
	Agents     []string
	External   []string // agents that publish by way of the gate
	MaxBytes   int64    // of the whole store; 0 is embedded.DefaultMaxBytes
	// Keys are those of who may connect; by default they are made for Agents and External.
	Keys *embedded.Keys
	// Text returns the configuration of a server that listens to an address and
	// stores in a directory; by default it is that of embedded.Settings.
	Text func(listen, store string) string
}

// A Process is a nats-server. Its address stays the same over restarts.
type Process struct {
	tb      testing.TB
	binary  string
	config  string // file
	address string
	monitor string // address of the monitoring endpoint
	keys    embedded.Keys
	given   Config

	command *exec.Cmd
	exited  chan struct{}
	output  lockedBuffer
}

// Start builds a server, runs it until the test ends, and waits until it is ready.
func Start(tb testing.TB, config Config) *Process {
	tb.Helper()
	if config.Dir == "" {
		config.Dir = tb.TempDir()
	}
	if config.Keys == nil {
		made, err := embedded.Credentials(filepath.Join(config.Dir, "credentials"), slices.Concat(config.Agents, config.External))
		if err != nil {
			tb.Fatal(err)
		}
		config.Keys = &made
	}
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	p := &Process{
		tb: tb, binary: build(tb), config: filepath.Join(config.Dir, "nats-server.conf"),
		address: loopback.Reserve(tb), monitor: loopback.Reserve(tb), keys: *config.Keys, given: config,
	}
	text, err := config.text(p.address, filepath.Join(config.Dir, "ledger"))
	if err != nil {
		tb.Fatal(err)
	}
	p.Configure(text)
	tb.Cleanup(p.Kill)
	p.Restart()
	return p
}

// Know has the server let in those of its agents alone, from its next Restart on.
func (p *Process) Know(agents ...string) {
	p.tb.Helper()
	known := p.given
	known.Keys = &embedded.Keys{Core: p.keys.Core, Agents: maps.Clone(p.keys.Agents)}
	maps.DeleteFunc(known.Keys.Agents, func(name string, _ embedded.Key) bool { return !slices.Contains(agents, name) })
	text, err := known.text(p.address, filepath.Join(p.given.Dir, "ledger"))
	if err != nil {
		p.tb.Fatal(err)
	}
	p.Configure(text)
}

// Configure replaces the server's configuration, but for its monitoring endpoint. It
// counts from the next Restart on.
func (p *Process) Configure(text string) {
	p.tb.Helper()
	text += fmt.Sprintf("\nhttp: %q\n", p.monitor)
	if err := os.WriteFile(p.config, []byte(text), 0o600); err != nil {
		p.tb.Fatal(err)
	}
}

func (c *Config) text(listen, store string) (string, error) {
	if c.Text != nil {
		return c.Text(listen, store), nil
	}
	return embedded.Settings{
		Listen: listen, StoreDir: store, Durability: cmp.Or(c.Durability, embedded.Fsync), MaxBytes: c.MaxBytes, Accounts: c.Keys.Accounts(c.External...),
	}.Config()
}

// URL is where to connect.
func (p *Process) URL() string { return "nats://" + p.address }

// Monitoring is the URL of the monitoring endpoint.
func (p *Process) Monitoring() string { return "http://" + p.monitor }

// Keys returns the keys of everybody who may connect.
func (p *Process) Keys() embedded.Keys { return p.keys }

// Store is the directory in which the server keeps its streams.
func (p *Process) Store() string { return filepath.Join(p.given.Dir, "ledger") }

// Reload has the server read its configuration again, as a person does, and returns once it says that it has.
func (p *Process) Reload() {
	p.tb.Helper()
	const done = "Reloaded server configuration"
	before := strings.Count(p.output.text(), done)
	signal := exec.CommandContext(p.tb.Context(), p.binary, "--signal", fmt.Sprintf("reload=%d", p.command.Process.Pid)) //nolint:gosec // a binary of this package
	if output, err := signal.CombinedOutput(); err != nil {
		p.tb.Fatalf("reload: %v\n%s", err, output)
	}
	for deadline := time.Now().Add(readyWait); strings.Count(p.output.text(), done) == before; time.Sleep(poll) {
		if time.Now().After(deadline) {
			p.tb.Fatalf("nats-server has not reloaded:\n%s", p.output.text())
		}
	}
}

// Kill ends the server as a crash would (SIGKILL), and waits for its end.
func (p *Process) Kill() {
	if p.command == nil {
		return
	}
	_ = p.command.Process.Kill()
	<-p.exited
	p.command = nil
}

// Restart runs the server again, after Kill.
func (p *Process) Restart() {
	p.tb.Helper()
	ctx := context.WithoutCancel(p.tb.Context()) // Kill ends it, so that a test's clean-up still has a server
	command := exec.CommandContext(ctx, p.binary, "--config", p.config)
	command.Stdout, command.Stderr = &p.output, &p.output
	if err := command.Start(); err != nil {
		p.tb.Fatalf("start nats-server: %v", err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = command.Wait()
	}()
	p.command, p.exited = command, exited
	p.awaitReady()
}

// awaitReady waits until the server greets a client: it opens its port a moment
// before, and cuts who comes then.
func (p *Process) awaitReady() {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(p.tb.Context(), readyWait)
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	var dialer net.Dialer
	for {
		connection, err := dialer.DialContext(ctx, "tcp", p.address)
		if err == nil {
			_ = connection.SetReadDeadline(time.Now().Add(time.Second))
			_, err = connection.Read(make([]byte, 1))
			_ = connection.Close()
		}
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-p.exited:
			p.tb.Fatalf("nats-server has ended:\n%s", p.output.text())
		case <-ctx.Done():
			p.tb.Fatalf("nats-server is not ready after %s:\n%s", readyWait, p.output.text())
		}
	}
}

// build returns the server's binary. It is kept in the user's cache, under the
// versions it is made of, so that it is built once per machine.
func build(tb testing.TB) string {
	tb.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	version := strings.TrimSpace(goCommand(tb, "list", "-m", "-f", "{{.Version}}", module))
	dir := filepath.Join(cache, "podium-test")
	binary := filepath.Join(dir, "nats-server-"+version+"-"+runtime.Version()+"-"+runtime.GOARCH)
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if _, err := os.Stat(binary); err == nil {
		return binary
	} else if !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	// The compiler writes it, because a program that this process has just written cannot be
	// started while another goroutine starts one.
	draft := binary + "." + rand.Text()
	goCommand(tb, "build", "-o", draft, module)
	if err := os.Rename(draft, binary); err != nil {
		tb.Fatal(err)
	}
	return binary
}

func goCommand(tb testing.TB, args ...string) string {
	tb.Helper()
	command := exec.CommandContext(tb.Context(), "go", args...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		tb.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(output)
}

// A lockedBuffer takes a process's output from several goroutines.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
