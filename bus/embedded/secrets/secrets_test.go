package secrets_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/bus/embedded/recovery"
	"podium/bus/embedded/secrets"
)

// all are the secrets of an installation.
func all() []string { return []string{"core.nk", "agent-clerk.nk", "capability.key", "reply.key"} }

// keep opens the list of a data directory and keeps these secrets.
func keep(data string, names ...string) (held map[string][]byte, err error) {
	list, err := secrets.Open(filepath.Join(data, "credentials"))
	if err != nil {
		return nil, err
	}
	held = map[string][]byte{}
	for _, name := range names {
		if held[name], err = list.Keep(name, "who has "+name+" is lost"); err != nil {
			return held, err
		}
	}
	return held, list.Save()
}

func mustKeep(t *testing.T, data string, names ...string) map[string][]byte {
	t.Helper()
	held, err := keep(data, names...)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// marked makes the marks of a ledger.
func marked(t *testing.T, data string) {
	t.Helper()
	r, err := recovery.Begin(t.Context(), recovery.Config{Data: data, Store: filepath.Join(data, "ledger")})
	if err != nil {
		t.Fatal(err)
	}
	if err = r.Stopped(nil); err != nil {
		t.Fatal(err)
	}
}

// TestLostSecretIsNotMadeAnew: whatever a cut has left of a secret that was made, it is an
// error that names the file, what is lost, and what to do; the file stays as it is, and the
// others are kept. A new one of the same kind is made.
func TestLostSecretIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(file string) error{
		"missing": os.Remove,
		"empty":   func(file string) error { return os.Truncate(file, 0) },
		"short":   func(file string) error { return os.Truncate(file, 7) },
		"zeros":   func(file string) error { return os.WriteFile(file, make([]byte, secrets.KeySize), 0o600) },
		"another": func(file string) error {
			other := filepath.Join(filepath.Dir(filepath.Dir(file)), "other")
			held, err := keep(other, filepath.Base(file))
			return errors.Join(err, os.WriteFile(file, held[filepath.Base(file)], 0o600))
		},
	} {
		for _, secret := range all() {
			t.Run(name+" "+secret, func(t *testing.T) {
				t.Parallel()
				data := t.TempDir()
				before := mustKeep(t, data, all()...)
				file := filepath.Join(data, "credentials", secret)
				if err := harm(file); err != nil {
					t.Fatal(err)
				}
				left, _ := os.ReadFile(file)
				_, err := keep(data, secret)
				lost, ok := errors.AsType[*secrets.LostError](err)
				if !ok || lost.File != file {
					t.Fatalf("it gave %v", err)
				}
				for _, part := range []string{file, "who has " + secret, "backup", "podium ledger renew " + secret + " --data " + data} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q does not say %q", err, part)
					}
				}
				if now, _ := os.ReadFile(file); !bytes.Equal(now, left) {
					t.Error("the file has changed")
				}
				renewed(t, data, secret, before, left)
			})
		}
	}
}

// renewed gives a secret up and expects that another one is kept from then on.
func renewed(t *testing.T, data, secret string, before map[string][]byte, left []byte) {
	t.Helper()
	list, err := secrets.Open(filepath.Join(data, "credentials"))
	if err != nil {
		t.Fatal(err)
	}
	aside, err := list.GiveUp(secret)
	if err != nil {
		t.Fatal(err)
	}
	if kept, _ := os.ReadFile(aside); aside != "" && !bytes.Equal(kept, left) {
		t.Errorf("kept is %q", kept)
	}
	after := mustKeep(t, data, append(all(), "agent-new.nk", "new.key")...)
	again := mustKeep(t, data, append(all(), "agent-new.nk", "new.key")...)
	for name, content := range after {
		if same := bytes.Equal(content, before[name]); same == (name == secret || before[name] == nil) || len(content) == 0 || !bytes.Equal(content, again[name]) {
			t.Errorf("%s: as before %t", name, same)
		}
	}
}

// TestSecretsWithoutAList: those that are there are taken into a new list, also those that
// nobody has asked for yet; beside a ledger, or its marks, none is made anew.
func TestSecretsWithoutAList(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		marked bool
		lost   string
	}{
		"the core's key": {false, "core.nk"}, "an agent's": {false, "agent-clerk.nk"}, "with marks": {true, "agent-clerk.nk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			before := mustKeep(t, data, all()...)
			if err := errors.Join(os.Remove(filepath.Join(data, "secrets.json")), os.MkdirAll(filepath.Join(data, "ledger", "jetstream"), 0o700)); err != nil {
				t.Fatal(err)
			}
			if test.marked {
				marked(t, data)
			}
			held, err := os.ReadFile(filepath.Join(data, "credentials", test.lost))
			if err = errors.Join(err, os.Remove(filepath.Join(data, "credentials", test.lost))); err != nil {
				t.Fatal(err)
			}
			if _, err := keep(data, test.lost); errors.As(err, new(*secrets.LostError)) == false {
				t.Fatalf("without it: %v", err)
			}
			if err := os.WriteFile(filepath.Join(data, "credentials", test.lost), held, 0o600); err != nil {
				t.Fatal(err)
			}
			if after := mustKeep(t, data, "core.nk"); !bytes.Equal(after["core.nk"], before["core.nk"]) {
				t.Error("it was made anew")
			}
			if err := os.Remove(filepath.Join(data, "credentials", "reply.key")); err != nil {
				t.Fatal(err)
			}
			if _, err := keep(data, "reply.key"); errors.As(err, new(*secrets.LostError)) == false {
				t.Errorf("without a key that nobody had asked for: %v", err)
			}
		})
	}
}

// TestUnlistedSecretIsTakenIn: a process may end after it made a secret and before that was
// listed.
func TestUnlistedSecretIsTakenIn(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	mustKeep(t, data, "core.nk")
	list, err := os.ReadFile(filepath.Join(data, "secrets.json"))
	if err != nil {
		t.Fatal(err)
	}
	before := mustKeep(t, data, "reply.key")
	if err := os.WriteFile(filepath.Join(data, "secrets.json"), list, 0o600); err != nil {
		t.Fatal(err)
	}
	if after := mustKeep(t, data, "reply.key"); !bytes.Equal(after["reply.key"], before["reply.key"]) {
		t.Error("it was made anew")
	}
}

// TestNothingToGiveUp: a sound secret is not given up, nor one that never was, and no file
// outside of the folder.
func TestNothingToGiveUp(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	mustKeep(t, data, all()...)
	list, err := secrets.Open(filepath.Join(data, "credentials"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"core.nk": secrets.ErrSound, "agent-other.nk": secrets.ErrNone, "../secrets.json": secrets.ErrNone} {
		if _, err := list.GiveUp(name); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(data, "secrets.json"), []byte(`{"format":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keep(data, "core.nk"); err == nil || !strings.Contains(err.Error(), "secrets.json") {
		t.Errorf("a torn list gave %v", err)
	}
}
