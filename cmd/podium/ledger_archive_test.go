package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"podium/bus"
)

var keepLedgers = flag.String("ledgers", "", "a folder into which tests pack the ledgers that they have verified, as those in testdata/ledgers")

// TestLedgersOfThisFormatVerify: what has been stored in a format that is frozen is decided as it was by every
// later version, fact by fact and snapshot by snapshot. No ledger in testdata is ever replaced: a
// change that one does not survive needs another format. New ones come from the tests after which they are named,
// by -ledgers.
func TestLedgersOfThisFormatVerify(t *testing.T) {
	t.Parallel()
	ledgers, err := filepath.Glob("testdata/ledgers/format" + strconv.Itoa(bus.Format) + "-*.tar.gz")
	if err != nil || len(ledgers) == 0 {
		t.Fatalf("there is no ledger of format %d (%v)", bus.Format, err)
	}
	for _, packed := range ledgers {
		t.Run(filepath.Base(packed), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			unpack(t, packed, folder)
			o := podium(t, "replay", "--verify", "--data", folder)
			if o.code != exitOK || !strings.Contains(o.stdout, "facts decided again, 0 differ") {
				t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
			}
		})
	}
}

// keep packs the ledger of a deployment at rest if that is wanted, without its keys: none is needed to verify it.
func (i *deployment) keep() {
	i.t.Helper()
	if *keepLedgers == "" {
		return
	}
	file, err := os.Create(filepath.Join(*keepLedgers, "format"+strconv.Itoa(bus.Format)+"-"+i.t.Name()+".tar.gz"))
	if err != nil {
		i.t.Fatal(err)
	}
	zipped := gzip.NewWriter(file)
	archive := tar.NewWriter(zipped)
	err = fs.WalkDir(os.DirFS(i.data), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == "credentials":
			return fs.SkipDir
		case entry.IsDir() || !strings.HasPrefix(name, "ledger/jetstream/") && name != "high-water.json":
			return nil
		}
		body, err := os.ReadFile(filepath.Join(i.data, name))
		if err == nil {
			err = archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(body))})
		}
		if err == nil {
			_, err = archive.Write(body)
		}
		return err
	})
	if err = errors.Join(err, archive.Close(), zipped.Close(), file.Close()); err != nil {
		i.t.Fatal(err)
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
		body, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, filepath.Clean("/"+header.Name))
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err = os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
