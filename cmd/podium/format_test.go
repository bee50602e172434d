package main

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
)

// TestVerbsRefuseOtherFormats: on a ledger that another version has made no verb does
// anything but say so, whether an instance runs on it or none does.
func TestVerbsRefuseOtherFormats(t *testing.T) {
	t.Parallel()
	i := install(t, damageConfig)
	i.up()
	conn := connectCore(t, i)
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	names := js.StreamNames(t.Context())
	for name := range names.Name() {
		stream, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		config := stream.CachedInfo().Config
		if config.Metadata[bus.FormatKey] == "" {
			continue // a bucket
		}
		config.Metadata[bus.FormatKey] = strconv.Itoa(bus.Format + 1)
		if _, err = js.UpdateStream(context.WithoutCancel(t.Context()), config); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(verbs ...string) {
		for _, verb := range verbs {
			if o := i.podium(strings.Fields(verb)...); o.code != exitFailed || !strings.Contains(o.stderr, "begin a new ledger") {
				t.Errorf("podium %s: exit code %d, %s", verb, o.code, o.stderr)
			}
		}
	}
	refused("runs", "replay --verify", "quarantine")
	i.stop()
	before := sums(t, i.data)
	refused("runs", "replay", "replay --verify", "agents", "quarantine", "ledger check", "ledger repair", "up -c "+i.config)
	for file, sum := range sums(t, i.data) {
		if before[file] != sum && !strings.HasSuffix(file, "lock") {
			t.Errorf("%s has changed", file)
		}
	}
}
