package installation

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"podium/bus"
	"podium/bus/memory"
)

// TestOtherKeysAfterAFailoverAreNamed: a second data directory with keys of its own is named once for each
// change, and one with the same keys is not.
func TestOtherKeysAfterAFailoverAreNamed(t *testing.T) {
	t.Parallel()
	store := memory.New(1).KeyValue(bus.AgentBucket)
	folder := func(keys map[string]byte) string {
		dir := t.TempDir()
		for name, key := range keys {
			if err := os.WriteFile(filepath.Join(dir, name), bytes.Repeat([]byte{key}, 32), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	first := folder(map[string]byte{"capability.key": 1, "reply.key": 2})
	for _, step := range []struct {
		what, folder string
		want         []string
	}{
		{"the first", first, nil},
		{"the first again", first, nil},
		{"the same keys elsewhere", folder(map[string]byte{"capability.key": 1, "reply.key": 2}), nil},
		{"another key", folder(map[string]byte{"capability.key": 3, "reply.key": 2}), []string{"capability.key"}},
		{"back", first, []string{"capability.key"}},
		{"none", folder(nil), []string{"capability.key", "reply.key"}},
	} {
		changed, err := compareKeyPrints(t.Context(), store, step.folder)
		if err != nil || !slices.Equal(changed, step.want) {
			t.Errorf("%s: named are %v, want %v (%v)", step.what, changed, step.want, err)
		}
	}
}
