// Package secrets makes the keys of an installation and keeps them as files. Each
// is made once, in a file of its own; a list beside them says which were made. One that was made and cannot be read
// any more is an error, because another one in its place would silently void all that the
// first was given out for.
//
// The list is not needed to use the secrets, and holds nothing of them but digests. A file
// that is sound and not on it is taken into it: its process may have ended before it was
// listed, or somebody has removed the list.
package secrets

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"podium/bus/embedded/recovery"
	"podium/bus/embedded/wholefile"
)

// KeySize is how many bytes a secret has that is no seed.
const KeySize = 32

const (
	listFile   = "secrets.json" // in the data directory
	listFormat = 1
)

// A List knows the secrets in the folder of the credentials of one installation. It is for
// one goroutine. Of two processes that write it at once, what one has made may be missing
// until it is kept again.
type List struct {
	folder  string
	data    string // directory that holds the folder and the list
	found   bool
	changed bool
	made    map[string]string // digests by the names of files
}

type list struct {
	Format int               `json:"format"`
	Made   map[string]string `json:"made"`
}

// A LostError refuses to make a secret that was there before.
type LostError struct {
	File   string
	What   string // is wrong with it: missing, damaged, or another one
	Loss   string // what making another one means
	Advice string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s is %s, and no other is made in its place: %s. %s", e.File, e.What, e.Loss, e.Advice)
}

// ErrSound reports that there is nothing to give up.
var ErrSound = errors.New("the key is there and is the one that was made")

// ErrNone reports a name that no secret has.
var ErrNone = errors.New("there was no such key")

// Open reads the list that stands beside a folder of credentials, if there is one.
func Open(folder string) (*List, error) {
	l := &List{folder: folder, data: filepath.Dir(folder), made: map[string]string{}}
	content, err := os.ReadFile(l.file())
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	var held list
	if err == nil {
		l.found = true
		if err = json.Unmarshal(content, &held); err == nil && held.Format != listFormat {
			err = fmt.Errorf("format %d is unknown to this version", held.Format)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the list of secrets in %s cannot be read: restore it from a backup, or remove it; then what is still there is listed anew: %w", l.file(), err)
	}
	maps.Copy(l.made, held.Made)
	return l, nil
}

func (l *List) file() string { return filepath.Join(l.data, listFile) }

// Keep returns the content of the secret of that name, and makes it the first time: a seed
// of a user when the name ends in .nk, else KeySize random bytes. Loss says in a clause
// what making it anew would mean. It is a *LostError when it was made before and is not
// there as it was made.
func (l *List) Keep(name, loss string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(l.folder, name))
	switch {
	case err == nil:
		return content, l.accept(name, content, loss)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case l.was(name):
		return nil, l.lost(name, "missing", loss)
	}
	if content, err = made(name); err == nil {
		err = os.MkdirAll(l.folder, 0o700)
	}
	if err == nil {
		err = wholefile.Create(filepath.Join(l.folder, name), content)
	}
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return l.Keep(name, loss)
	}
	if err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	return content, l.accept(name, content, loss)
}

// accept lists what stands in a file, unless it is not what was made.
func (l *List) accept(name string, content []byte, loss string) error {
	if err := check(name, content); err != nil {
		return l.lost(name, fmt.Sprintf("damaged (%s)", err), loss)
	}
	now := digest(content)
	if before := l.made[name]; before != "" && before != now {
		return l.lost(name, "another one than was made", loss)
	}
	l.changed = l.changed || l.made[name] == ""
	l.made[name] = now
	return nil
}

// was reports whether a secret that is missing was there before. Without a list that is so
// of each beside a ledger, which is made after its list.
func (l *List) was(name string) bool {
	if l.found {
		return l.made[name] != ""
	}
	if recovery.Marked(l.data) {
		return true
	}
	_, err := os.Stat(filepath.Join(l.data, "ledger", "jetstream"))
	return err == nil
}

func (l *List) lost(name, what, loss string) error {
	return &LostError{
		File: filepath.Join(l.folder, name), What: what, Loss: loss,
		Advice: fmt.Sprintf("Restore the file from a backup; or give it up, and the next start makes another: podium ledger renew %s --data %s", name, l.data),
	}
}

// Save writes the list, which survives a loss of power then, if anything was added to it.
func (l *List) Save() error {
	if !l.changed {
		return nil
	}
	if !l.found {
		if err := l.adopt(); err != nil {
			return err
		}
	}
	content, err := json.MarshalIndent(list{Format: listFormat, Made: l.made}, "", "  ")
	if err == nil {
		err = wholefile.Replace(l.file(), append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the list of secrets: %w", err)
	}
	l.found, l.changed = true, false
	return nil
}

// GiveUp has the next Keep make a secret anew, or take the one that stands in its place if
// that is sound. A damaged file is kept in the folder "aside" of the data directory, where
// it returns. Errors: ErrNone, and ErrSound.
func (l *List) GiveUp(name string) (aside string, err error) {
	file := filepath.Join(l.folder, name)
	content, err := os.ReadFile(file)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return "", err
	case filepath.Base(name) != name, missing && !l.was(name):
		return "", fmt.Errorf("%w: %s; there are %s", ErrNone, name, strings.Join(slices.Sorted(maps.Keys(l.made)), ", "))
	case !missing && check(name, content) == nil && (l.made[name] == "" || l.made[name] == digest(content)):
		return "", fmt.Errorf("%s: %w", file, ErrSound)
	case !missing && check(name, content) != nil:
		aside = filepath.Join(l.data, "aside", time.Now().UTC().Format("20060102T150405.000Z"), name)
		if err = os.MkdirAll(filepath.Dir(aside), 0o700); err == nil {
			err = os.Rename(file, aside)
		}
		if err != nil {
			return "", err
		}
	}
	if !l.found {
		if err = l.adopt(); err != nil {
			return aside, err
		}
		l.found = true
	}
	delete(l.made, name)
	l.changed = true
	return aside, l.Save()
}

// Copied returns the content of a file that Copy has written, nil when it is gone. Made says that there
// was one.
func (l *List) Copied(name string) (content []byte, made bool, err error) {
	content, err = os.ReadFile(filepath.Join(l.folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return content, l.made[name] != "", err
}

// Copy writes a file of secrets that are kept elsewhere, too, in the place of what it held, and lists
// it.
func (l *List) Copy(name string, content []byte) error {
	file := filepath.Join(l.folder, name)
	held, err := os.ReadFile(file)
	if err == nil && bytes.Equal(held, content) && l.made[name] == digest(content) {
		return nil
	}
	if err = os.MkdirAll(l.folder, 0o700); err == nil {
		err = wholefile.Replace(file, content)
	}
	if err != nil {
		return fmt.Errorf("copy secrets: %w", err)
	}
	l.made[name], l.changed = digest(content), true
	return l.Save()
}

// Remove destroys a secret that nobody is to have any more, so that Keep makes another. One that is not there is no error.
func (l *List) Remove(name string) error {
	if err := os.Remove(filepath.Join(l.folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !l.found {
		if err := l.adopt(); err != nil {
			return err
		}
		l.found = true
	}
	delete(l.made, name)
	l.changed = true
	return l.Save()
}

// adopt lists what is there, when the first list is made.
func (l *List) adopt() error {
	entries, err := os.ReadDir(l.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(l.folder, entry.Name()))
		if suffix := filepath.Ext(entry.Name()); err == nil && (suffix == ".nk" || suffix == ".key") && check(entry.Name(), content) == nil {
			l.made[entry.Name()] = digest(content)
		}
	}
	return nil
}

func made(name string) ([]byte, error) {
	if !isSeed(name) {
		key := make([]byte, KeySize)
		_, err := rand.Read(key)
		return key, err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	defer pair.Wipe()
	seed, err := pair.Seed()
	return append(seed, '\n'), err
}

// check says what is wrong with the content of a secret.
func check(name string, content []byte) error {
	if isSeed(name) {
		pair, err := nkeys.ParseDecoratedNKey(content)
		if err != nil {
			return errors.New("it holds no nkey seed")
		}
		pair.Wipe()
		return nil
	}
	switch {
	case len(content) != KeySize:
		return fmt.Errorf("it has %d bytes, and had %d", len(content), KeySize)
	case bytes.Equal(content, make([]byte, KeySize)):
		return errors.New("it holds zeros only")
	}
	return nil
}

func isSeed(name string) bool { return strings.HasSuffix(name, ".nk") }

// digest tells secrets apart, and nothing about them: they are random.
func digest(content []byte) string {
	sum := sha256.Sum256(bytes.TrimSpace(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}
