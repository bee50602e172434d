package runfiles_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/memory"
	"podium/cmd/podium/runfiles"
	"podium/schemas"
)

// damaged is a store that has other bytes under one hash.
type damaged struct {
	bus.ArtifactStore
	hash string
}

func (d damaged) Get(ctx context.Context, wanted schemas.Artifact) (io.ReadCloser, error) {
	if wanted.SHA256 == d.hash {
		return artifact.Verify(strings.NewReader("others"), wanted.SHA256), nil
	}
	return d.ArtifactStore.Get(ctx, wanted)
}

// TestArchive: what is lost or damaged is listed, and not in the archive in part. The same bytes are there once, no path is there twice, and no
// name leads out of a folder.
func TestArchive(t *testing.T) {
	t.Parallel()
	store := memory.New(1).Artifacts()
	put := func(content string) string {
		kept, err := store.Put(t.Context(), strings.NewReader(content), "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		return kept.SHA256
	}
	one, two, broken, lost := put("one"), put("two"), put("broken"), strings.Repeat("0", 64)
	var made bytes.Buffer
	archive := runfiles.NewArchive(&made, time.Unix(1_800_000_000, 0))
	for _, add := range []struct{ hash, path string }{
		{one, "files/a.txt"}, {two, "files/A.txt"}, {one, "artifacts/one"}, {broken, "files/broken"}, {lost, "files/lost"}, {lost, "artifacts/lost"}, {"../etc", "files/none"},
	} {
		if err := archive.AddArtifact(t.Context(), damaged{store, broken}, add.hash, add.path, "a file"); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Add(runfiles.ManifestName, "another", func(to io.Writer) error { _, err := io.WriteString(to, "x"); return err }); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no room")
	if err := archive.Add("torn", "", func(io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("what fails is %v", err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := zip.NewReader(bytes.NewReader(made.Bytes()), int64(made.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, entry := range archive.Entries {
		paths = append(paths, entry.Path)
	}
	if got := strings.Join(paths, " "); got != "files/a.txt files/A-2.txt manifest-2.json" || len(read.File) != 5 {
		t.Errorf("there are %s, and %d in all", got, len(read.File))
	}
	if missing := archive.Missing; len(missing) != 2 || missing[0].SHA256 != broken || missing[1].SHA256 != lost || missing[0].Reason == missing[1].Reason {
		t.Errorf("missing are %+v", missing)
	}
	for given, want := range map[string]string{
		"a.txt": "07-a.txt", "../../etc/passwd": "07-.._.._etc_passwd", `C:\x`: "07-C__x", "a\x1b\u202e\n.txt": "07-a___.txt", "": "07-unnamed", "...": "07-unnamed", "\xff": "07-_",
		strings.Repeat("ä", 200) + ".pdf": "07-" + strings.Repeat("ä", 48) + ".pdf",
	} {
		if got := runfiles.EntryName(7, given); got != want {
			t.Errorf("%q is %q, want %q", given, got, want)
		}
	}
}
