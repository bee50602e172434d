package service

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
	"podium/bus/embedded/serverprocess"
	"podium/bus/jetstream"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
)

// TestPromiseOfEachSetting says what is true of it, and no more.
func TestPromiseOfEachSetting(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		seen jetstream.Syncing
		want config.Durability
		says string
	}{
		"always":               {jetstream.Syncing{Servers: 1, Seen: 1}, config.DurabilityFsync, "survives power loss"},
		"all of a cluster":     {jetstream.Syncing{Servers: 3, Seen: 3}, config.DurabilityFsync, "survives power loss"},
		"an interval":          {jetstream.Syncing{Servers: 1, Seen: 1, Interval: 10 * time.Second}, config.DurabilityInterval, "of the last 10s it may be lost"},
		"one of three is late": {jetstream.Syncing{Servers: 3, Seen: 2, Interval: time.Minute}, config.DurabilityInterval, "of the last 1m0s it may be lost"},
		"two of three":         {jetstream.Syncing{Servers: 3, Seen: 2}, durabilityUnknown, "2 of 3 servers sync before they acknowledge"},
		"nothing":              {jetstream.Syncing{}, durabilityUnknown, "cannot be seen from the core account"},
		"an old server":        {jetstream.Syncing{Servers: 1}, durabilityUnknown, "every 2m0s only"},
	} {
		got := durabilityOf(test.seen)
		if got.Durability != test.want || !strings.Contains(got.Promise, test.says) {
			t.Errorf("%s: %+v, want %s that says %q", name, got, test.want, test.says)
		}
		if got.Durability != config.DurabilityFsync && !strings.Contains(got.Promise, alwaysSync) {
			t.Errorf("%s: it does not say what to do: %s", name, got.Promise)
		}
	}
}

// TestPromiseFollowsTheServer: an operator who takes the advice sees that it has helped.
func TestPromiseFollowsTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := serverprocess.Start(t, serverprocess.Config{Dir: dir, Durability: embedded.Interval})
	core, err := jetstream.Connect(t.Context(), jetstream.Config{URL: server.URL(), SeedFile: server.Keys().Core.SeedFile, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	var log bytes.Buffer
	s := &Service{
		Ledger: &installation.Ledger{Core: core}, log: zerolog.New(&log),
		settings: &config.Config{Ledger: config.Ledger{NATS: &config.NATS{URL: server.URL(), Monitoring: server.Monitoring()}}},
	}
	if err := s.settleDurability(t.Context()); err != nil || s.Durability().Durability != config.DurabilityInterval {
		t.Fatalf("at first: %+v, %v", s.Durability(), err)
	}
	text, err := embedded.Settings{
		Listen: strings.TrimPrefix(server.URL(), "nats://"), StoreDir: filepath.Join(dir, "ledger"), Durability: embedded.Fsync, Accounts: server.Keys().Accounts(),
	}.Config()
	if err != nil {
		t.Fatal(err)
	}
	server.Kill()
	server.Configure(text)
	server.Restart()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	watched := make(chan error, 1)
	go func() { watched <- s.watchDurability(ctx, 20*time.Millisecond) }()
	for s.Durability().Durability != config.DurabilityFsync && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	if ctx.Err() != nil {
		t.Errorf("it still promises %+v", s.Durability())
	}
	stop()
	if err := <-watched; err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "survives power loss") {
		t.Errorf("the log does not say it:\n%s", log.String())
	}
}
