package installation_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus/embedded/serverprocess"
	"podium/bus/jetstream"
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

// TestALedgerThatIsGoneIsNotMadeAnew: a server that lost the ledger with which a data directory was used is refused, as one is
// that became a member of a cluster; without the note, or with another directory, a ledger begins there.
func TestALedgerThatIsGoneIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	open := func(data string) error {
		process := serverprocess.Start(t, serverprocess.Config{})
		named := config.Ledger{Data: data, Shards: 1, NATS: &config.NATS{URL: process.URL(), Credentials: process.Keys().Core.SeedFile}}
		for range 2 { // a start later, the ledger is there as before
			ledger, err := installation.OpenLedger(t.Context(), named, nil, nil, zerolog.Nop())
			if err != nil {
				return err
			}
			ledger.Core.Close()
		}
		return nil
	}
	if err := open(data); err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(data, "joined")
	if err := open(data); !errors.Is(err, jetstream.ErrGone) || !strings.Contains(err.Error(), note) {
		t.Errorf("an empty server is refused with %v", err)
	}
	if err := open(t.TempDir()); err != nil {
		t.Errorf("with another directory: %v", err)
	}
	if err := os.Remove(note); err != nil {
		t.Fatal(err)
	}
	if err := open(data); err != nil {
		t.Errorf("without the note: %v", err)
	}
}
