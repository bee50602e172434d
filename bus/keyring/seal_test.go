package keyring_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/keyring"
	"podium/bus/memory"
)

const use keyring.Use = "callback"

type told struct {
	Request string `json:"request"`
}

func ledgerTime() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func open(t *testing.T, core bus.Core, now time.Time) *keyring.Ring {
	t.Helper()
	ring, err := keyring.Open(t.Context(), core, now)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func seal(t *testing.T, ring *keyring.Ring) string {
	t.Helper()
	token, err := ring.Seal(use, "erp", told{"r1"})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// A token opens for its use and its holder alone, whole, under the keys of its ledger, also after they have changed.
func TestTokensAreSealed(t *testing.T) {
	t.Parallel()
	ledger, now := memory.New(1), ledgerTime()
	ring := open(t, ledger, now)
	token, again := seal(t, ring), seal(t, ring)
	_, written, _ := strings.Cut(token, ".")
	bytes, err := base64.RawURLEncoding.DecodeString(written)
	if again == token || err != nil || strings.Contains(string(bytes), "request") || strings.ContainsAny(token, "/+= ?#%") {
		t.Errorf("%s and %s: %v", token, again, err)
	}
	renewed := open(t, ledger, now.Add(91*24*time.Hour))
	other := open(t, memory.New(1), now)
	key, sealed, _ := strings.Cut(token, ".")
	for name, c := range map[string]struct {
		ring          *keyring.Ring
		use           keyring.Use
		holder, token string
		fails         bool
	}{
		"its own":             {ring: ring, use: use, holder: "erp", token: token},
		"after another key":   {ring: renewed, use: use, holder: "erp", token: token},
		"another holder":      {ring, use, "desk", token, true},
		"another use":         {ring, "put", "erp", token, true},
		"another ledger":      {other, use, "erp", token, true},
		"another key":         {ring, use, "erp", "00000000." + sealed, true},
		"altered":             {ring, use, "erp", key + "." + flipped(sealed), true},
		"cut":                 {ring, use, "erp", token[:len(token)-4], true},
		"no more than a key":  {ring, use, "erp", key + ".", true},
		"without a key":       {ring, use, "erp", sealed, true},
		"empty":               {ring, use, "erp", "", true},
		"other than base64":   {ring, use, "erp", key + ".ä", true},
		"with something else": {ring, use, "erp", token + "AAAA", true},
	} {
		var opened told
		err := c.ring.Unseal(t.Context(), c.use, c.holder, c.token, &opened)
		if c.fails != errors.Is(err, keyring.ErrNotSealed) || !c.fails && opened.Request != "r1" {
			t.Errorf("%s: %v, %+v", name, err, opened)
		}
	}
}

// What was sealed before keys had a room of their own opens as it did: it may be in an address that somebody keeps for years.
func TestTokensOfBeforeOpen(t *testing.T) {
	t.Parallel()
	ring, err := keyring.New([]byte("a secret of tests"))
	if err != nil {
		t.Fatal(err)
	}
	var opened told
	const token = "fixed.KWYL6XAJaDsZDoo0WHcBMxYUrfeGYD2alHr5JAuKFYJCOOFLK5EwcYTMmW4"
	if err := ring.Unseal(t.Context(), use, "erp", token, &opened); err != nil || opened.Request != "r1" {
		t.Errorf("%v, %+v", err, opened)
	}
}

// flipped is a text with another letter in the middle.
func flipped(text string) string {
	middle := len(text) / 2
	letter := "A"
	if text[middle] == 'A' {
		letter = "B"
	}
	return text[:middle] + letter + text[middle+1:]
}
