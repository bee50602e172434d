package supervisor_test

import (
	"errors"
	"strings"
	"testing"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/replay"
)

// TestProfilesFetch: a profile that a run has pinned is found by its hash in the
// object store, by a process that is configured without it.
func TestProfilesFetch_X07(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	current := d.profiles.Current("desk")
	stranger, err := replay.NewProfiles(t.Context(), d.ledger.Artifacts(), nil)
	d.must(err)
	if stranger.Current("desk") != nil || stranger.Pinned(current.Hash) != nil {
		t.Fatal("it knows the profile already")
	}
	fetched, err := stranger.Fetch(t.Context(), current.Hash)
	d.must(err)
	if fetched.Hash != current.Hash || fetched.Name != "desk" || stranger.Pinned(current.Hash) != fetched {
		t.Errorf("fetched %q, %s", fetched.Name, fetched.Hash)
	}
	again, err := stranger.Fetch(t.Context(), current.Hash)
	if err != nil || again != fetched {
		t.Errorf("fetched anew: %v", err)
	}
	if stranger.Current("desk") != nil {
		t.Error("a pinned profile is in force")
	}
}

func TestProfilesFetchFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	put := func(content string) string {
		artifact, err := d.ledger.Artifacts().Put(t.Context(), strings.NewReader(content), schemas.MediaTypeJSON)
		d.must(err)
		return artifact.SHA256
	}
	if _, err := d.profiles.Fetch(t.Context(), strings.Repeat("0", 64)); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("a missing profile: %v", err)
	}
	if _, err := d.profiles.Fetch(t.Context(), put("{")); err == nil {
		t.Error("half a profile was fetched")
	}
	if _, err := d.profiles.Fetch(t.Context(), put(`{"name":"empty"}`)); !errors.Is(err, plan.ErrInvalidProfile) {
		t.Errorf("an empty profile: %v", err)
	}
	invalid := deskProfile()
	invalid.Languages = nil
	if _, err := replay.NewProfiles(t.Context(), d.ledger.Artifacts(), []schemas.Profile{invalid}); !errors.Is(err, plan.ErrInvalidProfile) {
		t.Errorf("an invalid profile was taken: %v", err)
	}
}

// TestAnotherProfileAfterARestart: a run under way goes on with the profile that
// it began with; the next one begins with the new one.
func TestAnotherProfileAfterARestart(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	changed := deskProfile()
	changed.Languages[0].Texts.Empty = "finished"
	var err error
	d.profiles, err = replay.NewProfiles(t.Context(), d.ledger.Artifacts(), []schemas.Profile{changed})
	d.must(err)
	o = d.open("two", d.ledger, 0)
	for i, want := range []string{`"text":"done"`, `"text":"finished"`} {
		d.must(d.work(o))
		d.answerNewest("worker", " ")
		d.must(d.work(o))
		deliveries := d.requests("chat")
		if len(deliveries) != i+1 || !strings.Contains(string(deliveries[i].Data), want) {
			t.Errorf("run %d says %s", i+1, deliveries[len(deliveries)-1].Data)
		}
		d.answerNewest("chat", "")
		d.must(d.work(o))
		d.say("thread", "m"+string(rune('2'+i)), "do it again")
	}
	d.clean()
}
