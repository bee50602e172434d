package keyring_test

import (
	"errors"
	"testing"

	"podium/bus"
	"podium/bus/keyring"
	"podium/bus/memory"
)

// A shelf is a copy in memory.
type shelf struct {
	content []byte
	made    bool
}

func (s *shelf) Read() (content []byte, made bool, err error) { return s.content, s.made, nil }

func (s *shelf) Write(content []byte) error {
	s.content, s.made = content, true
	return nil
}

// TestKeysAreRestoredFromTheirCopy: the ledger has lost its keys. They come back from the copy; when
// that is gone as well, none are made in their place.
func TestKeysAreRestoredFromTheirCopy(t *testing.T) {
	t.Parallel()
	core, copied := memory.New(1), &shelf{}
	ring, err := keyring.OpenCopied(t.Context(), core, copied, ledgerTime())
	if err != nil {
		t.Fatal(err)
	}
	before := ring.Pseudonym("ada@example.org")
	emptied := memory.New(1)
	if ring, err = keyring.OpenCopied(t.Context(), emptied, copied, ledgerTime()); err != nil {
		t.Fatal(err)
	}
	if after := ring.Pseudonym("ada@example.org"); after != before {
		t.Errorf("the pseudonym is %s, and was %s", after, before)
	}
	if _, _, err = emptied.KeyValue(bus.AgentBucket).Get(t.Context(), "key.grants"); err != nil {
		t.Errorf("the ledger has its keys again: %v", err)
	}
	copied.content = nil
	gone := memory.New(1)
	if _, err = keyring.OpenCopied(t.Context(), gone, copied, ledgerTime()); !errors.Is(err, keyring.ErrKeysLost) {
		t.Errorf("with both gone: %v", err)
	}
	if _, _, err = gone.KeyValue(bus.AgentBucket).Get(t.Context(), "key.grants"); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("keys were made: %v", err)
	}
}
