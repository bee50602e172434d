package keyring_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"podium/bus/keyring"
	"podium/bus/memory"
)

// TestPseudonymIsAKeyedHash_G37: the same value has the same pseudonym in every process of a ledger and another one in
// every other ledger; what an older key has made is still found.
func TestPseudonymIsAKeyedHash_G37(t *testing.T) {
	t.Parallel()
	ledger, now := memory.New(1), time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	if _, err := keyring.Existing(t.Context(), ledger); !errors.Is(err, keyring.ErrNoKeys) {
		t.Errorf("before there is a key: %v", err)
	}
	first, err := keyring.Open(t.Context(), ledger, now)
	if err != nil {
		t.Fatal(err)
	}
	again, err := keyring.Existing(t.Context(), ledger)
	if err != nil {
		t.Fatal(err)
	}
	other, err := keyring.Open(t.Context(), memory.New(1), now)
	if err != nil {
		t.Fatal(err)
	}
	old := first.Pseudonym("ada@example.org")
	switch {
	case old != again.Pseudonym(" Ada@Example.org\n"):
		t.Error("another process, or another spelling, has another pseudonym")
	case old == other.Pseudonym("ada@example.org"):
		t.Error("two ledgers have the same pseudonym")
	case old == first.Pseudonym("bea@example.org"):
		t.Error("two people have the same pseudonym")
	case !strings.HasPrefix(old, keyring.PseudonymPrefix) || len(old) != len(keyring.PseudonymPrefix)+16 || strings.Contains(old, "ada"):
		t.Errorf("it is %q", old)
	}
	later, err := keyring.Open(t.Context(), ledger, now.Add(91*24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if renewed := later.Pseudonym("ada@example.org"); renewed == old || !slices.Equal(later.Pseudonyms("ada@example.org"), []string{renewed, old}) {
		t.Errorf("under a new key %q and before %q, but all are %q", renewed, old, later.Pseudonyms("ada@example.org"))
	}
}
