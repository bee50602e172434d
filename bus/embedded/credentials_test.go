package embedded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
)

// TestKeysBesideALedger: a key that is gone or torn beside a ledger is made anew by nobody,
// and the start says what to do; an agent that is new in the configuration gets its key.
func TestKeysBesideALedger(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(file string) error{
		"gone":  os.Remove,
		"empty": func(file string) error { return os.Truncate(file, 0) },
		"short": func(file string) error { return os.Truncate(file, 20) },
	} {
		for _, seed := range []string{"core.nk", "agent-alpha.nk"} {
			t.Run(name+" "+seed, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				begin := func(agents ...string) (embedded.Keys, error) {
					server, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Agents: agents, Logger: zerolog.Nop()})
					if err != nil {
						return embedded.Keys{}, err
					}
					return server.Keys(), server.Close()
				}
				before, err := begin("alpha")
				if err != nil {
					t.Fatal(err)
				}
				after, err := begin("alpha", "beta")
				if err != nil || after.Core != before.Core || after.Agents["alpha"] != before.Agents["alpha"] || after.Agents["beta"].Public == "" {
					t.Fatalf("with a new agent: %v, %v", after, err)
				}
				if err := harm(filepath.Join(dir, "credentials", seed)); err != nil {
					t.Fatal(err)
				}
				if keys, err := begin("alpha", "beta"); err == nil || !strings.Contains(err.Error(), seed) || !strings.Contains(err.Error(), "podium ledger renew "+seed) {
					t.Fatalf("it started with %v; the error is %v", keys, err)
				}
			})
		}
	}
}
