package runfiles

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"podium/bus"
	"podium/schemas"
)

// An Entry is one file of an archive.
type Entry struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"` // bytes
	About  string `json:"about,omitzero"`
}

// A Missing is an artifact that the ledger names and does not have, or not as it was.
type Missing struct {
	SHA256 string `json:"sha256"`
	About  string `json:"about,omitzero"`
	Reason string `json:"reason"`
}

// A Manifest lists what is in an archive, as its last entry: ManifestName.
type Manifest struct {
	Run     string    `json:"run"`
	Podium  string    `json:"podium"` // the version that has written it
	Entries []Entry   `json:"files"`
	Missing []Missing `json:"missing,omitzero"`
}

// ManifestName is the path of the manifest in an archive.
const ManifestName = "manifest.json"

// An Archive is a ZIP file that is being written. It holds the list of its entries in memory, and none of their content.
type Archive struct {
	Manifest

	zip   *zip.Writer
	at    time.Time
	paths map[string]bool // of the entries, in lower case
	has   map[string]bool // hashes of artifacts that are in it or missing
}

// NewArchive returns an archive whose entries have a time; the same entries make the same bytes.
func NewArchive(to io.Writer, at time.Time) *Archive {
	return &Archive{zip: zip.NewWriter(to), at: at.UTC(), paths: map[string]bool{strings.ToLower(ManifestName): true}, has: map[string]bool{}}
}

// Add adds an entry with what write yields. A path that another entry has gets a number.
func (a *Archive) Add(name, about string, write func(io.Writer) error) error {
	name = a.free(name)
	entry, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: a.at})
	if err != nil {
		return err
	}
	counted := &counter{to: entry, hash: sha256.New()}
	if err = write(counted); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	a.Entries = append(a.Entries, Entry{Path: name, SHA256: hex.EncodeToString(counted.hash.Sum(nil)), Size: counted.size, About: about})
	return nil
}

// AddArtifact adds an artifact under a path, once. One that is lost or damaged is listed as missing, and is not there in part: it is read to its
// end before it is added.
func (a *Archive) AddArtifact(ctx context.Context, store bus.Artifacts, sum, name, about string) error {
	if a.has[sum] || !schemas.ValidHash(sum) {
		return nil
	}
	a.has[sum] = true
	if err := CopyArtifact(ctx, store, sum, io.Discard); err != nil {
		if !bus.IsAny(err, bus.ErrNotFound, bus.ErrCorrupt) {
			return err
		}
		a.Missing = append(a.Missing, Missing{SHA256: sum, About: about, Reason: err.Error()})
		return nil
	}
	return a.Add(name, about, func(to io.Writer) error { return CopyArtifact(ctx, store, sum, to) })
}

// Close writes the manifest and ends the archive.
func (a *Archive) Close() error {
	entry, err := a.zip.CreateHeader(&zip.FileHeader{Name: ManifestName, Method: zip.Deflate, Modified: a.at})
	if err != nil {
		return err
	}
	body, err := schemas.Marshal(a.Manifest)
	if err != nil {
		return err
	}
	if _, err = entry.Write(append(body, '\n')); err != nil {
		return err
	}
	return a.zip.Close()
}

// free is a path that no entry has, also where names differ by case alone.
func (a *Archive) free(name string) string {
	ending := path.Ext(name)
	free := name
	for n := 2; a.paths[strings.ToLower(free)]; n++ {
		free = strings.TrimSuffix(name, ending) + "-" + strconv.Itoa(n) + ending
	}
	a.paths[strings.ToLower(free)] = true
	return free
}

// maxEntryName bounds the name of a file in an archive, in bytes.
const maxEntryName = 100

// EntryName is the name that somebody has given a file, as an archive may hold it: no folder, nothing that controls a terminal or turns the
// direction of writing, and nothing that a file system refuses.
func EntryName(number int, given string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(given, "_"))
	if len(name) > maxEntryName {
		ending := path.Ext(name)
		ending = ending[:min(len(ending), maxEntryName/2)]
		name = name[:maxEntryName-len(ending)] + ending
	}
	name = strings.TrimRight(strings.ToValidUTF8(name, ""), ". ")
	if name == "" {
		name = "unnamed"
	}
	return fmt.Sprintf("%02d-%s", number, name)
}

// CopyArtifact writes the bytes of a hash, and fails with bus.ErrCorrupt at their end when they are others.
func CopyArtifact(ctx context.Context, store bus.Artifacts, sum string, to io.Writer) error {
	content, err := store.Get(ctx, schemas.Artifact{SHA256: sum})
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	_, err = io.Copy(to, content)
	return err
}

// A counter counts and hashes what goes through it.
type counter struct {
	to   io.Writer
	size int64
	hash hash.Hash
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	_, _ = c.hash.Write(p[:n])
	c.size += int64(n)
	return n, err
}
