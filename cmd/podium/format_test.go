package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
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
			if o := i.podium(strings.Fields(verb)...); o.code != exitFailed || !strings.Contains(o.stderr, "a newer Podium has made it") {
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

// TestLedgersOfThisFormatVerify: what has been stored in a format that is frozen is decided as it was, by every
// later version. The ledgers in testdata are of services that were killed and started again; none is
// ever made anew: a change that they do not survive needs another format, or an edition of the profile.
func TestLedgersOfThisFormatVerify(t *testing.T) {
	t.Parallel()
	ledgers, err := filepath.Glob("testdata/ledgers/format" + strconv.Itoa(bus.Format) + "*.tar.gz")
	if err != nil || len(ledgers) == 0 {
		t.Fatalf("there is no ledger of format %d (%v)", bus.Format, err)
	}
	for _, packed := range ledgers {
		folder := t.TempDir()
		unpack(t, packed, folder)
		o := podium(t, "replay", "--verify", "--data", folder)
		if o.code != exitOK || strings.Count(o.stdout, "decided again, 0 differ") < 2 {
			t.Errorf("%s: exit code %d\n%s%s", packed, o.code, o.stdout, o.stderr)
		}
	}
}

func unpack(t *testing.T, packed, folder string) {
	t.Helper()
	file, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, filepath.Clean("/"+header.Name))
		if header.FileInfo().IsDir() {
			err = os.MkdirAll(path, 0o700)
		} else {
			var body []byte
			if body, err = io.ReadAll(archive); err == nil {
				err = os.WriteFile(path, body, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
