package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/serverprocess"
	"podium/bus/jetstream"
)

func open(ctx context.Context, config jetstream.Config) error {
	config.Logger = zerolog.Nop()
	c, err := jetstream.Connect(ctx, config)
	if err == nil {
		c.Close()
	}
	return err
}

// TestWhatAnOperatorHasToMendIsSaidAtOnce: no try can help, and the sentence says
// what does.
func TestWhatAnOperatorHasToMendIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	keys, err := embedded.Credentials(filepath.Join(t.TempDir(), "credentials"), []string{"alpha"})
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := embedded.Credentials(filepath.Join(t.TempDir(), "credentials"), nil)
	if err != nil {
		t.Fatal(err)
	}
	usual := serverprocess.Start(t, serverprocess.Config{Keys: &keys})
	users := fmt.Sprintf("users: [{nkey: %q}]", keys.Core.Public)
	bare := serverprocess.Start(t, serverprocess.Config{Text: func(listen, _ string) string {
		return fmt.Sprintf("listen: %q\nauthorization {%s}\n", listen, users)
	}})
	without := serverprocess.Start(t, serverprocess.Config{Text: func(listen, store string) string {
		return fmt.Sprintf("listen: %q\njetstream {store_dir: %q}\naccounts {CORE {%s}, OTHER {jetstream: enabled}}\n", listen, store, users)
	}})
	for name, test := range map[string]struct {
		url, key string
		says     []string
		denied   bool
	}{
		"a key that the server does not know": {usual.URL(), stranger.Core.SeedFile, []string{"does not know the key in " + stranger.Core.SeedFile, "podium nats accounts"}, true},
		"the key of an agent":                 {usual.URL(), keys.Agents["alpha"].SeedFile, []string{keys.Agents["alpha"].SeedFile, "core account", "podium nats accounts"}, true},
		"a server without JetStream":          {bare.URL(), keys.Core.SeedFile, []string{"without JetStream", "podium nats accounts"}, false},
		"an account without JetStream":        {without.URL(), keys.Core.SeedFile, []string{"`jetstream: enabled`", "podium nats accounts"}, false},
		"an address that is none":             {"nats://[::", keys.Core.SeedFile, []string{"correct its URL"}, false},
		"a key file that is not there":        {usual.URL(), keys.Core.SeedFile + ".none", []string{"read the credentials"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := open(t.Context(), jetstream.Config{URL: test.url, SeedFile: test.key})
			if err == nil || bus.Temporary(err) || errors.Is(err, bus.ErrDenied) != test.denied {
				t.Fatalf("it gave %v, temporary %t", err, bus.Temporary(err))
			}
			for _, words := range test.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%q does not say %q", err, words)
				}
			}
		})
	}
}

// TestWhoIsAwayMayComeBack: no server, no leader of the cluster, and no server with
// the stream are all told apart from what an operator has to mend, and pass.
func TestWhoIsAwayMayComeBack(t *testing.T) {
	t.Parallel()
	nodes := serverprocess.StartCluster(t, 3, serverprocess.Config{})
	config := jetstream.Config{URL: serverprocess.URLs(nodes), SeedFile: nodes[0].Keys().Core.SeedFile, Shards: 1}
	mustBeAway := func(what string) {
		t.Helper()
		err := open(t.Context(), config)
		if err == nil || !bus.Temporary(err) {
			t.Errorf("%s: %v, temporary %t", what, err, bus.Temporary(err))
		}
	}
	mustCome := func(what string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			err := open(t.Context(), config)
			if err == nil {
				return
			}
			if !bus.Temporary(err) || time.Now().After(deadline) {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	mustCome("a cluster that elects its first leader")
	nodes[0].Kill()
	nodes[1].Kill()
	mustBeAway("a cluster without a leader")
	nodes[2].Kill()
	mustBeAway("nobody listens")
	for _, node := range nodes {
		node.Restart()
	}
	mustCome("the cluster is back")
	nodes[holderOf(t, nodes, bus.ShardStream(0))].Kill()
	mustBeAway("a leader, and no server that has the stream")
}

// holderOf returns which server of a cluster leads a stream.
func holderOf(t *testing.T, nodes []*serverprocess.Process, stream string) int {
	t.Helper()
	key, err := nats.NkeyOptionFromSeed(nodes[0].Keys().Core.SeedFile)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := nats.Connect(serverprocess.URLs(nodes), key)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	js, err := natsjetstream.New(connection)
	if err != nil {
		t.Fatal(err)
	}
	found, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	var node int
	if _, err := fmt.Sscanf(found.CachedInfo().Cluster.Leader, "node-%d", &node); err != nil {
		t.Fatal(err)
	}
	return node
}

// TestStopWhileAServerSaysNothing: a server that takes the connection and is silent
// keeps nobody who is told to stop.
func TestStopWhileAServerSaysNothing(t *testing.T) {
	t.Parallel()
	keys, err := embedded.Credentials(filepath.Join(t.TempDir(), "credentials"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var config net.ListenConfig
	silent, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		if taken, err := silent.Accept(); err == nil {
			defer func() { _ = taken.Close() }()
			stop()
			<-t.Context().Done()
		}
	}()
	err = open(ctx, jetstream.Config{URL: "nats://" + silent.Addr().String(), SeedFile: keys.Core.SeedFile})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("told to stop: %v", err)
	}
}

// TestExistingMakesNothing: whoever only reads leaves a server as it is.
func TestExistingMakesNothing(t *testing.T) {
	t.Parallel()
	process := serverprocess.Start(t, serverprocess.Config{})
	config := jetstream.Config{URL: process.URL(), SeedFile: process.Keys().Core.SeedFile, Existing: true}
	for range 2 { // the first has made nothing either
		if err := open(t.Context(), config); !errors.Is(err, bus.ErrNotFound) || bus.Temporary(err) {
			t.Errorf("a server without a ledger: %v, want ErrNotFound", err)
		}
	}
	processCore(t, process)
	if err := open(t.Context(), config); err != nil {
		t.Errorf("a ledger that is there: %v", err)
	}
}
