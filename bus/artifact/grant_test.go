package artifact_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/bus/registry"
	"podium/schemas"
)

var hash = strings.Repeat("0a", 32)

func ledgerTime() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func openGrants(t *testing.T, core bus.Core, now time.Time) *artifact.Grants {
	t.Helper()
	grants, err := artifact.OpenGrants(t.Context(), core, now)
	if err != nil {
		t.Fatal(err)
	}
	return grants
}

// A grant opens one artifact to one agent for one request until it expires, and
// says nothing about anything else.
func TestGrantOpensOneThing(t *testing.T) {
	t.Parallel()
	grants := openGrants(t, memory.New(1), ledgerTime())
	now, other := ledgerTime(), strings.Repeat("b", 64)
	read := grants.Read("alpha", "r1", hash, now.Add(time.Hour))
	put := grants.Put("alpha", hash)
	for name, c := range map[string]struct {
		grant, agent, request, sha256 string
		after                         time.Duration
		want                          bool
	}{
		"its own":                  {read, "alpha", "r1", hash, 0, true},
		"a moment before the end":  {read, "alpha", "r1", hash, time.Hour, true},
		"expired":                  {read, "alpha", "r1", hash, time.Hour + 2*time.Minute, false},
		"another agent's":          {read, "beta", "r1", hash, 0, false},
		"another request's":        {read, "alpha", "r2", hash, 0, false},
		"another artifact's":       {read, "alpha", "r1", other, 0, false},
		"fields that run together": {grants.Read("alph", "ar1", hash, now.Add(time.Hour)), "alpha", "r1", hash, 0, false},
		"a later end":              {strings.Replace(read, "."+expiryOf(read)+".", ".99999999999.", 1), "alpha", "r1", hash, 0, false},
		"no end":                   {strings.Replace(read, "."+expiryOf(read)+".", "..", 1), "alpha", "r1", hash, 0, false},
		"tampered":                 {read[:len(read)-2] + "AA", "alpha", "r1", hash, 0, false},
		"cut":                      {read[:len(read)-8], "alpha", "r1", hash, 0, false},
		"put for read":             {strings.Replace(put, "put.", "read.", 1), "alpha", "r1", hash, 0, false},
		"read for put":             {strings.Replace(read, "read.", "put.", 1), "alpha", "r1", hash, 0, false},
		"of no key":                {"read.00000000.." + strings.Repeat("A", 43), "alpha", "r1", hash, 0, false},
		"what it has put":          {put, "alpha", "any", hash, 0, true},
		"put, years ago":           {put, "alpha", "any", hash, 1e6 * time.Hour, true},
		"put by another":           {put, "beta", "any", hash, 0, false},
		"none":                     {"", "alpha", "r1", hash, 0, false},
		"garbage":                  {"a.b.c.d", "alpha", "r1", hash, 0, false},
		"too long":                 {read + strings.Repeat("A", 1<<20), "alpha", "r1", hash, 0, false},
	} {
		if got := grants.MayRead(c.grant, c.agent, c.request, c.sha256, now.Add(c.after)); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for name, c := range map[string]struct{ got, want bool }{
		"put is a proof":             {grants.HasPut(put, "alpha", hash), true},
		"read is none":               {grants.HasPut(read, "alpha", hash), false},
		"read proves what was given": {grants.WasGiven(read, "alpha", "r1", hash), true},
		"to that request":            {grants.WasGiven(read, "alpha", "r2", hash), false},
		"put was not given":          {grants.WasGiven(put, "alpha", "r1", hash), false},
		"for ever":                   {grants.MayRead(grants.Read("alpha", "r1", hash, time.Time{}), "alpha", "r1", hash, now.Add(1e6*time.Hour)), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: %t", name, c.got)
		}
	}
}

// Nobody has the keys read again by a grant that no key can prove.
func TestForeignGrant(t *testing.T) {
	t.Parallel()
	grants := openGrants(t, memory.New(1), ledgerTime())
	put := grants.Put("alpha", hash)
	for name, c := range map[string]struct {
		grant string
		want  bool
	}{
		"of a key that is known":      {grant: put},
		"of another key":              {grant: "put.00000000.." + strings.Repeat("A", 43), want: true},
		"to read, of another key":     {grant: "read.00000000.99999999999." + strings.Repeat("A", 43), want: true},
		"for nothing that there is":   {grant: strings.Replace(put, "put.", "tell.", 1)},
		"for nothing, of another key": {grant: "tell.00000000.." + strings.Repeat("A", 43)},
		"without a purpose":           {grant: strings.TrimPrefix(put, "put")},
	} {
		if got := grants.Foreign(c.grant); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What earlier versions have granted is what is granted now: agents hand it back after an update.
func TestGrantsOfBefore(t *testing.T) {
	t.Parallel()
	grants, err := artifact.NewGrants([]byte("a secret of tests"))
	if err != nil {
		t.Fatal(err)
	}
	expires := time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC)
	for want, got := range map[string]string{
		"put.fixed..MHxPaIuI6cu3aqXwwx0PtlApnEXlIePf2CupwJbELyk":            grants.Put("alpha", hash),
		"read.fixed.1777723260.FrjKKYt-5itKeA0zUVQh28QiIWsbi2ROrdAumAyGM4k": grants.Read("alpha", "r1", hash, expires),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func expiryOf(grant string) string { return strings.Split(grant, ".")[2] }

// What an older key has signed counts until it is one of the oldest; whoever
// opens the ledger has the same keys, and learns of one that another has made.
func TestGrantKeysChange(t *testing.T) {
	t.Parallel()
	ledger, now := memory.New(1), ledgerTime()
	first := openGrants(t, ledger, now)
	old := first.Put("alpha", hash)
	if same := openGrants(t, ledger, now.Add(80*24*time.Hour)); same.Put("alpha", hash) != old {
		t.Error("the key changes before its time")
	}
	now = now.Add(91 * 24 * time.Hour)
	second := openGrants(t, ledger, now)
	young := second.Put("alpha", hash)
	if young == old || !second.HasPut(old, "alpha", hash) || !second.HasPut(young, "alpha", hash) {
		t.Error("with another key the old one is forgotten, or still signs")
	}
	if !first.Foreign(young) || first.Foreign(old) || first.HasPut(young, "alpha", hash) {
		t.Error("a key of another process is not noticed")
	}
	if err := first.Refresh(t.Context()); err != nil || first.Foreign(young) || !first.HasPut(young, "alpha", hash) || !first.HasPut(old, "alpha", hash) {
		t.Errorf("a key of another process is not learned: %v", err)
	}
	for range 7 {
		now = now.Add(91 * 24 * time.Hour)
		second = openGrants(t, ledger, now)
	}
	if second.HasPut(old, "alpha", hash) || !second.HasPut(young, "alpha", hash) {
		t.Error("not eight keys are kept")
	}
	if agents, err := registry.Agents(t.Context(), ledger); err != nil || len(agents) != 0 {
		t.Errorf("the keys are taken for agents: %+v, %v", agents, err)
	}
}

func TestGrantKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	made := make([]string, 16)
	var group sync.WaitGroup
	for i := range made {
		group.Go(func() {
			if grants, err := artifact.OpenGrants(t.Context(), ledger, ledgerTime()); err == nil {
				made[i] = grants.Put("alpha", hash)
			}
		})
	}
	group.Wait()
	if made[0] == "" || len(slices.Compact(made)) != 1 {
		t.Errorf("%q", made)
	}
}

// The reference to a body has what its reader demands.
func TestBodiesAreVouchedFor(t *testing.T) {
	t.Parallel()
	grants, now := openGrants(t, memory.New(1), ledgerTime()), ledgerTime()
	for subject, proves := range map[string]func(string) bool{
		bus.RequestSubject("alpha"):     func(grant string) bool { return grants.MayRead(grant, "alpha", "r1", hash, now) },
		bus.ResponseSubject("alpha", 0): func(grant string) bool { return grants.HasPut(grant, "alpha", hash) },
		"podium.agent.alpha.response":   func(grant string) bool { return grants.HasPut(grant, "alpha", hash) },
		bus.InSubject("chat", 0):        func(grant string) bool { return grant == "" },
		bus.SessionSubject("s", 1):      func(grant string) bool { return grant == "" },
	} {
		shared := &schemas.Artifact{SHA256: hash, Size: 1}
		event := schemas.Event{ID: "r1", Source: "/s", Type: "t", Expires: now.Add(time.Hour), Artifact: shared}
		grants.GrantBody(subject, &event)
		message, err := binding.Encode(subject, &event)
		if err != nil {
			t.Fatal(err)
		}
		back, err := binding.Decode(message)
		if err != nil || !proves(back.Artifact.Grant) || shared.Grant != "" {
			t.Errorf("%s: %+v, %v", subject, back.Artifact, err)
		}
	}
	whole := schemas.Event{ID: "r1", Source: "/s", Type: "t"}
	if grants.GrantBody(bus.RequestSubject("alpha"), &whole); whole.Artifact != nil {
		t.Error("a body that stands in the message has a reference")
	}
}
