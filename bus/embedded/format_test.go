package embedded_test

import (
	"errors"
	"strconv"
	"testing"

	natsjetstream "github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/serverprocess"
	"podium/bus/jetstream"
)

// setFormat has every stream of a ledger say that it has another format; empty is none.
func setFormat(t *testing.T, js natsjetstream.JetStream, format string) {
	t.Helper()
	for _, name := range []string{bus.ShardStream(0), bus.ShardStream(1), bus.WorkStream} {
		stream, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		config := stream.CachedInfo().Config
		config.Metadata[bus.FormatKey] = format
		if format == "" {
			delete(config.Metadata, bus.FormatKey)
		}
		if _, err = js.UpdateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
}

// otherFormats are what a ledger may say that this version does not read.
func otherFormats() map[string]string {
	return map[string]string{"none": "", "an older one": strconv.Itoa(bus.Format - 1), "a newer one": strconv.Itoa(bus.Format + 1)}
}

// TestOtherFormatsAreRefused: neither a service nor a verb opens a ledger of another format,
// nor looks for what it has lost, nor mends it, and nothing of it is changed.
func TestOtherFormatsAreRefused(t *testing.T) {
	t.Parallel()
	for name, format := range otherFormats() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			server := start(t, embedded.Config{Dir: dir})
			core(t, server).Close()
			setFormat(t, administrator(t, server), format)
			if _, err := server.Core(t.Context()); !errors.Is(err, bus.ErrFormat) || bus.Temporary(err) {
				t.Errorf("on a server that runs: %v, want ErrFormat", err)
			}
			if err := server.Close(); err != nil {
				t.Fatal(err)
			}
			config := embedded.Config{Dir: dir, Logger: zerolog.Nop()}
			for way, open := range map[string]func() error{
				"start":  func() error { _, err := embedded.Start(t.Context(), config); return err },
				"look":   func() error { _, _, err := embedded.Look(t.Context(), config); return err },
				"check":  func() error { _, _, err := embedded.Check(t.Context(), config); return err },
				"repair": func() error { _, err := embedded.Repair(t.Context(), config); return err },
			} {
				if err := open(); !errors.Is(err, bus.ErrFormat) {
					t.Errorf("%s: %v, want ErrFormat", way, err)
				}
			}
		})
	}
}

// TestOtherFormatsAreRefusedElsewhere: the same goes for a ledger on a server of its own,
// whoever opens it.
func TestOtherFormatsAreRefusedElsewhere(t *testing.T) {
	t.Parallel()
	process := serverprocess.Start(t, serverprocess.Config{})
	processCore(t, process).Close()
	config := jetstream.Config{URL: process.URL(), SeedFile: process.Keys().Core.SeedFile}
	js := administratorOf(t, process.URL(), process.Keys())
	for name, format := range otherFormats() {
		setFormat(t, js, format)
		verb, service := config, config
		verb.Existing, service.AmendLater = true, true
		for way, config := range map[string]jetstream.Config{"a service": service, "a verb": verb, "at once": config} {
			if err := open(t.Context(), config); !errors.Is(err, bus.ErrFormat) || bus.Temporary(err) {
				t.Errorf("%s, %s: %v, want ErrFormat", name, way, err)
			}
		}
	}
	setFormat(t, js, strconv.Itoa(bus.Format))
	if err := open(t.Context(), config); err != nil {
		t.Errorf("with the format of before: %v", err)
	}
}
