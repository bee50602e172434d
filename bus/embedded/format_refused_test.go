package embedded_test

import (
	"errors"
	"strconv"
	"testing"

	"podium/bus"
	"podium/bus/embedded/serverprocess"
	"podium/bus/jetstream"
)

// TestFormatStaysWhenTheLedgerIsRefused: a ledger that this version does not open, for a setting that somebody has changed, or because one of
// its streams is newer, stays one that the version before opens.
func TestFormatStaysWhenTheLedgerIsRefused(t *testing.T) {
	t.Parallel()
	process := serverprocess.Start(t, serverprocess.Config{})
	processCore(t, process).Close()
	config := jetstream.Config{URL: process.URL(), SeedFile: process.Keys().Core.SeedFile}
	js := administratorOf(t, process.URL(), process.Keys())
	setFormat(t, js, strconv.Itoa(bus.OldestFormat))
	stream, err := js.Stream(t.Context(), bus.WorkStream)
	if err != nil {
		t.Fatal(err)
	}
	changed := stream.CachedInfo().Config
	changed.MaxAge /= 2
	if _, err = js.UpdateStream(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	err = open(t.Context(), config)
	if _, drifted := errors.AsType[*jetstream.DriftError](err); !drifted {
		t.Fatalf("it was opened: %v", err)
	}
	stream, err = js.Stream(t.Context(), bus.ShardStream(0))
	if err != nil {
		t.Fatal(err)
	}
	if format := stream.CachedInfo().Config.Metadata[bus.FormatKey]; format != strconv.Itoa(bus.OldestFormat) {
		t.Errorf("nothing was opened, and the first shard has format %s", format)
	}
}
