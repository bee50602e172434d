package artifact_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"podium/bus/artifact"
	"podium/bus/memory"
)

// A token opens for its agent alone, whole, under the keys of its ledger, also after they have changed.
func TestCallbackTokensAreSealed(t *testing.T) {
	t.Parallel()
	type told struct {
		Request string `json:"request"`
	}
	ledger, now := memory.New(1), ledgerTime()
	grants := openGrants(t, ledger, now)
	token, err := grants.SealCallback("erp", told{"r1"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := grants.SealCallback("erp", told{"r1"})
	if err != nil || again == token || strings.Contains(token, "r1") || strings.ContainsAny(token, "/+= ?#%") {
		t.Errorf("%s and %s (%v)", token, again, err)
	}
	renewed := openGrants(t, ledger, now.Add(91*24*time.Hour))
	other := openGrants(t, memory.New(1), now)
	key, sealed, _ := strings.Cut(token, ".")
	for name, c := range map[string]struct {
		grants       *artifact.Grants
		agent, token string
		fails        bool
	}{
		"its own":             {grants: grants, agent: "erp", token: token},
		"after another key":   {grants: renewed, agent: "erp", token: token},
		"another agent":       {grants, "desk", token, true},
		"another ledger":      {other, "erp", token, true},
		"another key":         {grants, "erp", "00000000." + sealed, true},
		"altered":             {grants, "erp", key + "." + flipped(sealed), true},
		"cut":                 {grants, "erp", token[:len(token)-4], true},
		"no more than a key":  {grants, "erp", key + ".", true},
		"without a key":       {grants, "erp", sealed, true},
		"a grant":             {grants, "erp", grants.Put("erp", hash), true},
		"empty":               {grants, "erp", "", true},
		"other than base64":   {grants, "erp", key + ".ä", true},
		"with something else": {grants, "erp", token + "AAAA", true},
	} {
		var opened told
		err := c.grants.OpenCallback(c.agent, c.token, &opened)
		if c.fails != errors.Is(err, artifact.ErrNotSealed) || !c.fails && opened.Request != "r1" {
			t.Errorf("%s: %v, %+v", name, err, opened)
		}
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

// A token opens in every process of a ledger, also in one that was there before the key was made which has sealed it.
func TestCallbackTokensOpenInOlderProcesses(t *testing.T) {
	t.Parallel()
	ledger, now := memory.New(1), ledgerTime()
	older := openGrants(t, ledger, now)
	token, err := openGrants(t, ledger, now.Add(91*24*time.Hour)).SealCallback("erp", "r1")
	if err != nil {
		t.Fatal(err)
	}
	var opened string
	if err := older.OpenCallback("erp", token, &opened); err != nil || opened != "r1" {
		t.Errorf("%q (%v)", opened, err)
	}
}
