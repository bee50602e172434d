package embedded_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/serverprocess"
	"podium/bus/jetstream"
)

// TestSyncingIsSeen wherever a server can be asked, and only of the servers that
// hold the ledger.
func TestSyncingIsSeen(t *testing.T) {
	t.Parallel()
	always := serverprocess.Start(t, serverprocess.Config{Durability: embedded.Fsync})
	interval := serverprocess.Start(t, serverprocess.Config{Durability: embedded.Interval})
	keys := interval.Keys()
	asked := serverprocess.Start(t, serverprocess.Config{Keys: &keys, Text: func(listen, store string) string {
		return fmt.Sprintf(`
listen: %q
jetstream {store_dir: %q, sync_interval: 7s}
system_account: SYSTEM
accounts {
  SYSTEM {exports: [{service: "$SYS.REQ.SERVER.PING.JSZ", response_type: stream, accounts: [CORE]}]}
  CORE {jetstream: enabled, users: [{nkey: %q}], imports: [{service: {account: SYSTEM, subject: "$SYS.REQ.SERVER.PING.JSZ"}}]}
}
`, listen, store, keys.Core.Public)
	}})
	nodes := serverprocess.StartCluster(t, 3, serverprocess.Config{Durability: embedded.Fsync})
	gone := serverprocess.Start(t, serverprocess.Config{})
	gone.Kill()
	const twoMinutes = jetstream.DefaultSyncInterval
	for name, test := range map[string]struct {
		server     *serverprocess.Process
		monitoring []string
		want       jetstream.Syncing
		always     bool
		fails      string
	}{
		"nobody can be asked":   {always, nil, jetstream.Syncing{}, false, ""},
		"monitored, always":     {always, []string{always.Monitoring()}, jetstream.Syncing{Servers: 1, Seen: 1}, true, ""},
		"monitored, 2m":         {interval, []string{interval.Monitoring() + "/"}, jetstream.Syncing{Servers: 1, Seen: 1, Interval: twoMinutes}, false, ""},
		"another server":        {always, []string{interval.Monitoring()}, jetstream.Syncing{}, false, "is not the server that holds the ledger"},
		"nobody is there":       {always, []string{gone.Monitoring()}, jetstream.Syncing{}, false, "connection refused"},
		"no nats-server":        {always, []string{always.Monitoring() + "/nowhere"}, jetstream.Syncing{}, false, "it answers 404"},
		"the system account":    {asked, nil, jetstream.Syncing{Servers: 1, Seen: 1, Interval: 7 * time.Second}, false, ""},
		"two of a cluster":      {nodes[0], []string{nodes[0].Monitoring(), nodes[2].Monitoring()}, jetstream.Syncing{Servers: 3, Seen: 2}, false, ""},
		"all of a cluster":      {nodes[0], []string{nodes[0].Monitoring(), nodes[1].Monitoring(), nodes[2].Monitoring()}, jetstream.Syncing{Servers: 3, Seen: 3}, true, ""},
		"one of a cluster, 3 x": {nodes[0], []string{nodes[1].Monitoring(), nodes[1].Monitoring(), nodes[1].Monitoring()}, jetstream.Syncing{Servers: 3, Seen: 1}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := awaitCore(t, test.server)
			got, err := c.Syncing(t.Context(), test.monitoring...)
			if got != test.want || got.Always() != test.always {
				t.Errorf("seen: %+v, always %t; want %+v, %t", got, got.Always(), test.want, test.always)
			}
			if (err != nil) != (test.fails != "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("of no use was: %v; want %q", err, test.fails)
			}
		})
	}
}

// awaitCore connects as soon as there is a leader to open the ledger.
func awaitCore(t *testing.T, process *serverprocess.Process) *jetstream.Core {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		c, err := jetstream.Connect(t.Context(), jetstream.Config{URL: process.URL(), SeedFile: process.Keys().Core.SeedFile, Logger: zerolog.Nop()})
		if err == nil {
			t.Cleanup(c.Close)
			return c
		}
		if !bus.Temporary(err) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
