package restore_test

import (
	"errors"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/bustest"
	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/restore"
)

// TestProfilesFetch: a profile that a run has pinned is found by its hash in the
// object store, by a process that is configured without it.
func TestProfilesFetch_X07(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	current := d.profiles.Current("desk")
	stranger, err := restore.NewProfiles(t.Context(), d.ledger.Artifacts(), nil)
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
	d := newDesk(t)
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
	invalid := bustest.DeskProfile(1)
	invalid.Languages = nil
	if _, err := restore.NewProfiles(t.Context(), d.ledger.Artifacts(), []schemas.Profile{invalid}); !errors.Is(err, plan.ErrInvalidProfile) {
		t.Errorf("an invalid profile was taken: %v", err)
	}
}
