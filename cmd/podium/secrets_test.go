package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLostKeyStopsTheStart: a key that a loss of power has taken is named by the start, and
// made anew when somebody has given it up. The keys of what is new in the configuration are
// made all the while.
func TestLostKeyStopsTheStart(t *testing.T) {
	t.Parallel()
	i := install(t, damageConfig)
	i.up()
	i.asks("6 * 7", "42")
	i.stop()
	for _, name := range []string{"capability.key", "agent-calculator.nk", "core.nk"} {
		file := filepath.Join(i.data, "credentials", name)
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if o := i.podium("ledger", "renew", name); o.code != exitFailed || !strings.Contains(o.stderr, "is the one that was made") {
			t.Errorf("a sound key: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
		}
		if err := os.Truncate(file, 0); err != nil {
			t.Fatal(err)
		}
		if o := i.podium("up", "-c", i.config); o.code != exitFailed || !strings.Contains(o.stderr, file+" is damaged") {
			t.Fatalf("with a torn key: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if o := i.podium("up", "-c", i.config); o.code != exitFailed || !strings.Contains(o.stderr, "podium ledger renew "+name+" --data "+i.data) {
			t.Fatalf("without a key: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
		}
		if o := i.podium("ledger", "renew", name); o.code != exitOK || !strings.Contains(o.stdout, "given up") {
			t.Fatalf("renew: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
		}
		i.up()
		i.asks("6 * 7", "42")
		i.stop()
		if after, err := os.ReadFile(file); err != nil || string(after) == string(before) {
			t.Errorf("%s is as before, %v", name, err)
		}
	}
	if o := i.podium("ledger", "renew", "agent-nobody.nk"); o.code != exitNotFound || !strings.Contains(o.stderr, "core.nk") {
		t.Errorf("of an agent that never was: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}
