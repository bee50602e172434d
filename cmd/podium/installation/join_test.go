package installation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
)

// TestEmbeddedLedgerIsNotJoined: a second service that names the server of an embedded ledger is refused,
// with the directory of the ledger. A verb may look.
func TestEmbeddedLedgerIsNotJoined(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	ledger, err := installation.OpenLedger(t.Context(), config.Ledger{Data: data, Durability: config.DurabilityFsync, Shards: 1}, nil, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	}()
	named := config.Ledger{Data: t.TempDir(), NATS: &config.NATS{URL: ledger.URL, Credentials: ledger.Keys.Core.SeedFile}}
	if joined, err := installation.OpenLedger(t.Context(), named, nil, nil, zerolog.Nop()); err == nil {
		joined.Core.Close()
		t.Error("a second service is let in")
	} else if !errors.Is(err, installation.ErrEmbedded) || !strings.Contains(err.Error(), data) {
		t.Errorf("a second service is refused with %v", err)
	}
	looked, err := installation.Join(t.Context(), named, zerolog.Nop())
	if err != nil {
		t.Fatalf("a verb: %v", err)
	}
	looked.Core.Close()
}
