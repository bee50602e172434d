package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/jetstream"
)

func TestOneServerPerDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, embedded.Config{Dir: dir})
	_, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()})
	var inUse *embedded.InUseError
	if !errors.As(err, &inUse) || inUse.Process != os.Getpid() || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Fatalf("a second server gave %v, want an InUseError that names this process", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, embedded.Config{Dir: dir})
}

func TestRestartKeepsAddressKeysAndMessages(t *testing.T) {
	t.Parallel()
	config := embedded.Config{Dir: t.TempDir(), Agents: []string{"alpha"}, Shards: 3}
	first := start(t, config)
	c := core(t, first)
	ack, err := bus.Append(t.Context(), c, bus.Message{Subject: bus.ControlSubject(2), Body: []byte("kept")}, bus.Expect{})
	if err != nil {
		t.Fatal(err)
	}
	url, keys := first.URL(), first.Keys()
	c.Close()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	second := start(t, embedded.Config{Dir: config.Dir, Agents: []string{"alpha", "new"}, Shards: 3})
	if second.URL() != url {
		t.Errorf("the address went from %s to %s", url, second.URL())
	}
	if got := second.Keys(); got.Core != keys.Core || got.Agents["alpha"] != keys.Agents["alpha"] || got.Agents["new"].Public == "" {
		t.Errorf("the keys went from %v to %v", keys, got)
	}
	got, err := core(t, second).Get(t.Context(), ack.Stream, ack.Sequence)
	if err != nil || string(got.Body) != "kept" {
		t.Errorf("the message is %q, %v", got.Body, err)
	}
	connectWorker(t, second, "new")
	if _, err := second.Worker(t.Context(), "stranger"); err == nil {
		t.Error("an agent without a key was connected")
	}
}

// TestReaderOverEmbeddedRestart: a connection by the address outlives the server.
func TestReaderOverEmbeddedRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, embedded.Config{Dir: dir})
	c, err := jetstream.Connect(t.Context(), jetstream.Config{
		URL: first.URL(), SeedFile: first.Keys().Core.SeedFile, Shards: 2, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reader, err := c.Read(ctx, bus.ShardStream(0), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	for n := range 10 {
		if n == 5 {
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			start(t, embedded.Config{Dir: dir})
		}
		message := bus.Message{Subject: bus.ControlSubject(0), Body: []byte(strconv.Itoa(n))}
		_, err := bus.Append(ctx, c, message, bus.Expect{})
		for bus.Temporary(err) && ctx.Err() == nil { // not stored: nothing is buffered while away
			_, err = bus.Append(ctx, c, message, bus.Expect{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 10 {
		m, err := bus.Next(ctx, reader)
		if err != nil || string(m.Body) != strconv.Itoa(n) {
			t.Fatalf("message %d is %q, %v", n, m.Body, err)
		}
	}
}

func TestFixedAddressInUse(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	dir := t.TempDir()
	_, err = embedded.Start(t.Context(), embedded.Config{Dir: dir, Listen: listener.Addr().String(), Logger: zerolog.Nop()})
	if err == nil || !strings.Contains(err.Error(), listener.Addr().String()) {
		t.Fatalf("an address in use gave %v", err)
	}
	start(t, embedded.Config{Dir: dir}) // the failed start has freed the directory
}

// After a loss of power the file with the port of the last start may hold anything.
func TestTornPortFile(t *testing.T) {
	t.Parallel()
	for _, held := range []string{"", "\n", "0", "-1", "70000", "42a", "\x00\x00"} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "ledger"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "ledger", "port"), []byte(held), 0o600); err != nil {
			t.Fatal(err)
		}
		server, err := embedded.Start(t.Context(), embedded.Config{Dir: dir})
		if err != nil {
			t.Fatalf("%q: %v", held, err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]embedded.Config{
		"no directory":  {},
		"durability":    {Dir: t.TempDir(), Durability: "sometimes"},
		"agent's name":  {Dir: t.TempDir(), Agents: []string{"a.b"}},
		"empty address": {Dir: t.TempDir(), Listen: "nowhere"},
	} {
		config.Logger = zerolog.Nop()
		if _, err := embedded.Start(t.Context(), config); err == nil {
			t.Errorf("%s: started", name)
		}
	}
}

// TestShardsAreTheLedgers: the number is settled at creation.
func TestShardsAreTheLedgers(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{Shards: 3})
	if n := core(t, server).Shards(); n != 3 {
		t.Fatalf("created with %d shards, want 3", n)
	}
	for demanded, want := range map[int]bool{0: true, 3: true, 2: false, 4: false, -1: false, 70000: false} {
		c, err := jetstream.Connect(t.Context(), jetstream.Config{
			URL: server.URL(), SeedFile: server.Keys().Core.SeedFile, Shards: demanded, Logger: zerolog.Nop(),
		})
		if (err == nil) != want {
			t.Errorf("connect with %d shards gave %v", demanded, err)
		}
		if err == nil {
			if c.Shards() != 3 {
				t.Errorf("%d shards, want 3", c.Shards())
			}
			c.Close()
		}
	}
}

// administrator is a client of the core account that is not ours.
func administrator(t *testing.T, server *embedded.Server) natsjetstream.JetStream {
	t.Helper()
	return administratorOf(t, server.URL(), server.Keys())
}

func administratorOf(t *testing.T, url string, keys embedded.Keys) natsjetstream.JetStream {
	t.Helper()
	key, err := nats.NkeyOptionFromSeed(keys.Core.SeedFile)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := nats.Connect(url, key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Close)
	js, err := natsjetstream.New(connection)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// TestStreamSettings: the ledger cannot forget, and has no feature that lets one
// publisher touch another's message; a stream that somebody changed is refused.
func TestStreamSettings(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{})
	core(t, server).Close()
	js := administrator(t, server)
	for _, name := range []string{bus.ShardStream(0), bus.ShardStream(1), bus.WorkStream} {
		stream, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		have := stream.CachedInfo().Config
		if have.Storage != natsjetstream.FileStorage || have.Retention != natsjetstream.LimitsPolicy || !have.DenyDelete || !have.DenyPurge ||
			have.AllowRollup || have.AllowMsgTTL || have.AllowMsgSchedules || have.AllowMsgCounter || !have.AllowAtomicPublish ||
			have.AllowBatchPublish || have.Duplicates != 100*time.Millisecond {
			t.Errorf("%s: %+v", name, have)
		}
		if ledger := name != bus.WorkStream; ledger != (have.Discard == natsjetstream.DiscardNew) || ledger != (have.MaxAge == 0) {
			t.Errorf("%s: discard %v, age %v", name, have.Discard, have.MaxAge)
		}
	}
	stream, err := js.Stream(t.Context(), bus.ShardStream(1))
	if err != nil {
		t.Fatal(err)
	}
	changed := stream.CachedInfo().Config
	changed.MaxAge, changed.AllowMsgTTL = time.Hour, true
	if _, err := js.UpdateStream(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	_, err = server.Core(t.Context())
	var drift *jetstream.DriftError
	if !errors.As(err, &drift) || drift.Stream != bus.ShardStream(1) || len(drift.Differences) != 2 {
		t.Fatalf("a changed stream gave %v, want two differences", err)
	}
	for _, setting := range []string{"MaxAge", "AllowMsgTTL"} {
		if !strings.Contains(err.Error(), setting) {
			t.Errorf("%q does not name %s", err, setting)
		}
	}
}

// TestFull: a full shard refuses, forgets nothing, and takes more once it may grow.
func TestFull(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{Durability: embedded.Interval})
	connect := func(bytes int64) (*jetstream.Core, error) {
		return jetstream.Connect(t.Context(), jetstream.Config{
			URL: server.URL(), SeedFile: server.Keys().Core.SeedFile, Shards: 2, MaxBytes: bytes, Logger: zerolog.Nop(),
		})
	}
	c, err := connect(2 << 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	message := bus.Message{Subject: bus.ControlSubject(0), Body: make([]byte, 100<<10)}
	stored := uint64(0)
	for ; stored < 100; stored++ {
		if _, err = bus.Append(t.Context(), c, message, bus.Expect{}); err != nil {
			break
		}
	}
	if !errors.Is(err, bus.ErrFull) || bus.Temporary(err) {
		t.Fatalf("after %d messages: %v, want ErrFull", stored, err)
	}
	state, err := c.State(t.Context(), bus.ShardStream(0))
	if err != nil || state.First != 1 || state.Messages != stored || state.MaxBytes != 1<<20 {
		t.Errorf("state %+v, %v after %d messages", state, err, stored)
	}
	if _, err := connect(64 << 10); err == nil {
		t.Error("a limit below what is stored was taken")
	}
	larger, err := connect(8 << 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(larger.Close)
	if _, err := bus.Append(t.Context(), larger, message, bus.Expect{}); err != nil {
		t.Errorf("after more room: %v", err)
	}
}

// TestLargeMessage: the server takes 8 MiB, and every way to read gives it back.
func TestLargeMessage(t *testing.T) {
	t.Parallel()
	c := core(t, start(t, embedded.Config{Durability: embedded.Interval}))
	body := bytes.Repeat([]byte("0123456789abcdef"), (embedded.MaxPayload-1024)/16)
	subject := bus.SessionSubject(sessionOn(0), 2)
	var last bus.Ack
	for range 5 { // more than a reader asks for at once
		var err error
		if last, err = bus.Append(t.Context(), c, bus.Message{Subject: subject, Body: body}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	for m, err := range c.Scan(t.Context(), bus.ShardStream(0), 1) {
		if err != nil || !bytes.Equal(m.Body, body) {
			t.Fatalf("message %d: %d bytes, %v", m.Sequence, len(m.Body), err)
		}
		count++
	}
	got, err := c.Get(t.Context(), last.Stream, last.Sequence)
	newest, lastErr := c.Last(t.Context(), subject)
	all, allErr := c.LastOf(t.Context(), 0, []string{subject})
	if count != 5 || err != nil || lastErr != nil || allErr != nil || len(all) != 1 ||
		!bytes.Equal(got.Body, body) || !bytes.Equal(newest.Body, body) || !bytes.Equal(all[0].Body, body) {
		t.Errorf("scan %d; get %v; last %v; last of %d, %v", count, err, lastErr, len(all), allErr)
	}
	if _, err := bus.Append(t.Context(), c, bus.Message{Subject: subject, Body: make([]byte, embedded.MaxPayload+1)}, bus.Expect{}); !errors.Is(err, bus.ErrTooLarge) {
		t.Errorf("over the limit: %v, want ErrTooLarge", err)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "credentials")
	first, err := embedded.Credentials(dir, []string{"alpha"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := embedded.Credentials(dir, []string{"alpha"})
	if err != nil || second.Core != first.Core || second.Agents["alpha"] != first.Agents["alpha"] {
		t.Errorf("the keys went from %v to %v, %v", first, second, err)
	}
	if first.Core.Public == first.Agents["alpha"].Public {
		t.Error("two users share a key")
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]fs.FileMode{dir: 0o700, first.Core.SeedFile: 0o600, first.Agents["alpha"].SeedFile: 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
			}
		}
		if err := os.Chmod(first.Core.SeedFile, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := embedded.Credentials(dir, nil); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("a seed that others can read gave %v", err)
		}
	}
	broken := embedded.AgentSeedFile(dir, "broken")
	if err := os.WriteFile(broken, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(first.Core.SeedFile, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := embedded.Credentials(dir, []string{"broken"}); err == nil {
		t.Error("a broken seed was taken")
	}
}

// TestLogNamesNobody_G37: what a client chose, and where it is, stays out of the log.
func TestLogNamesNobody_G37(t *testing.T) {
	t.Parallel()
	var log lockedLog
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Agents: []string{"alpha"}, Logger: zerolog.New(&log)})
	if err != nil {
		t.Fatal(err)
	}
	alpha := intrude(t, server)
	if err := alpha.Publish("frieda.mustermann@example.org", nil); err != nil {
		t.Fatal(err)
	}
	alpha.mustBeRefused("publish")
	if _, err := alpha.SubscribeSync("podium.session.0.frieda-mustermann"); err != nil {
		t.Fatal(err)
	}
	alpha.mustBeRefused("subscription")
	alpha.Close()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	text := log.text()
	if !strings.Contains(text, "Violation") {
		t.Errorf("the violations are not in the log:\n%s", text)
	}
	for _, words := range []string{`"agent":"alpha","subject":"….….…"`, `"agent":"alpha","subject":"podium.session.0.…"`} {
		if !strings.Contains(text, words) {
			t.Errorf("the log does not say %s:\n%s", words, text)
		}
	}
	for _, name := range []string{"frieda", "mustermann", "example.org", "%q"} {
		if strings.Contains(text, name) {
			t.Errorf("the log names %q:\n%s", name, text)
		}
	}
}

// A lockedLog takes lines from several goroutines.
type lockedLog struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(p)
}

func (l *lockedLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}

// TestAsItIsChangesNoBound: who only reads a ledger leaves it the bounds that were
// configured.
func TestAsItIsChangesNoBound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, maxBytes := range []int64{200 << 20, embedded.AsItIs, embedded.AsItIs} {
		server, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Shards: 1, MaxBytes: maxBytes, Logger: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		c, err := server.Core(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		state, err := c.State(t.Context(), bus.ShardStream(0))
		if err != nil {
			t.Fatal(err)
		}
		if state.MaxBytes != 100<<20 {
			t.Errorf("opened with a bound of %d, the shard has %d bytes", maxBytes, state.MaxBytes)
		}
		c.Close()
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
