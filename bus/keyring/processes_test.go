package keyring_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/embedded"
	"podium/bus/keyring"
	"podium/bus/memory"
	"podium/bus/registry"
)

// later is when a ledger that is opened gets another key.
func later() time.Time { return ledgerTime().Add(91 * 24 * time.Hour) }

// TestAProcessLearnsTheKeyOfAnother: two processes are connected to one server, and one of them has made a key since the
// other has read them. What it has sealed, and the grants that it has made, count at the other one as well.
func TestAProcessLearnsTheKeyOfAnother(t *testing.T) {
	t.Parallel()
	server, err := embedded.Start(t.Context(), embedded.Config{
		Dir: t.TempDir(), Shards: 1, Agents: []string{"erp"}, Durability: embedded.Interval, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	process := func() bus.Core {
		core, err := server.Core(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(core.Close)
		return core
	}
	older, newer := process(), process()
	ring := open(t, older, ledgerTime())
	stop, err := registry.ServeAgents(t.Context(), older, registry.AgentServices{Clock: ledgerTime})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	worker, err := server.Worker(t.Context(), "erp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Close)
	put, err := older.Artifacts().Put(t.Context(), strings.NewReader("an order"), "text/plain")
	if err != nil {
		t.Fatal(err)
	}

	token := seal(t, open(t, newer, later()))
	grants, err := artifact.OpenGrants(t.Context(), newer, later())
	if err != nil {
		t.Fatal(err)
	}
	put.Grant = grants.Read("erp", "r1", put.SHA256, ledgerTime().Add(time.Hour))

	var opened told
	if err := ring.Unseal(t.Context(), use, "erp", token, &opened); err != nil || opened.Request != "r1" {
		t.Errorf("what was sealed under the newer key: %v, %+v", err, opened)
	}
	content, err := worker.Artifacts("r1").Get(t.Context(), put)
	if err != nil {
		t.Fatalf("what was granted under the newer key: %v", err)
	}
	if read, err := io.ReadAll(content); err != nil || !bytes.Equal(read, []byte("an order")) {
		t.Errorf("%q, %v", read, err)
	}
	if err := ring.Unseal(t.Context(), use, "erp", "00000000"+token[8:], &opened); !errors.Is(err, keyring.ErrNotSealed) {
		t.Errorf("a key that nobody has made: %v", err)
	}
}

// counted is a ledger that counts how often its keys are read; it fails while it is away.
type counted struct {
	bus.Core
	reads atomic.Int64
	away  atomic.Bool
}

func (c *counted) KeyValue(bucket string) bus.KeyValue {
	return countedValues{c.Core.KeyValue(bucket), c}
}

type countedValues struct {
	bus.KeyValue
	counted *counted
}

func (v countedValues) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	v.counted.reads.Add(1)
	if v.counted.away.Load() {
		return nil, 0, &bus.TemporaryError{Op: "get", Err: errors.New("no responders")}
	}
	return v.KeyValue.Get(ctx, key)
}

// TestForgedKeysAreNoStorm: however many ids of keys come that nobody has made, the ledger is asked a few times at once and
// once a second from then on, and a token under a key that somebody has made meanwhile is refused at no moment.
func TestForgedKeysAreNoStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := &counted{Core: memory.New(1)}
		ring := open(t, ledger, ledgerTime())
		_, sealed, _ := strings.Cut(seal(t, ring), ".")
		before, start := ledger.reads.Load(), time.Now()
		var group sync.WaitGroup
		for range 200 {
			group.Go(func() {
				for _, id := range []string{"00000000", "ffffffff", "0badcafe", "no id at all", ""} {
					if err := ring.Unseal(t.Context(), use, "erp", id+"."+sealed, &told{}); !errors.Is(err, keyring.ErrNotSealed) {
						t.Errorf("%q: %v", id, err)
					}
				}
			})
		}
		synctest.Wait()
		token := seal(t, open(t, ledger.Core, later()))
		if err := ring.Unseal(t.Context(), use, "erp", token, &told{}); err != nil {
			t.Errorf("a token among forged ones: %v", err)
		}
		group.Wait()
		if reads, most := ledger.reads.Load()-before, 5+int64(time.Since(start)/time.Second); reads > most || time.Since(start) > time.Minute {
			t.Errorf("the keys are read %d times in %s", reads, time.Since(start))
		}
		known := ledger.reads.Load()
		if err := ring.Unseal(t.Context(), use, "erp", token, &told{}); err != nil || ledger.reads.Load() != known {
			t.Errorf("what is known is read again: %v", err)
		}
	})
}

// TestNobodyIsRefusedWhileTheLedgerIsAway: it cannot be told whether somebody has made the key. The keys at hand stay of use.
func TestNobodyIsRefusedWhileTheLedgerIsAway(t *testing.T) {
	t.Parallel()
	ledger := &counted{Core: memory.New(1)}
	ring := open(t, ledger, ledgerTime())
	mine, token := seal(t, ring), seal(t, open(t, ledger.Core, later()))
	ledger.away.Store(true)
	if err := ring.Unseal(t.Context(), use, "erp", token, &told{}); !bus.Temporary(err) {
		t.Errorf("a key that may be there: %v", err)
	}
	if err := ring.Unseal(t.Context(), use, "erp", mine, &told{}); err != nil {
		t.Errorf("a key that is at hand: %v", err)
	}
	ledger.away.Store(false)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ring.Unseal(ended, use, "erp", token, &told{}); errors.Is(err, keyring.ErrNotSealed) {
		t.Errorf("whoever has gone is refused: %v", err)
	}
	if err := ring.Unseal(t.Context(), use, "erp", token, &told{}); err != nil {
		t.Errorf("when the ledger is back: %v", err)
	}
	if err := ledger.KeyValue(bus.AgentBucket).Delete(t.Context(), "key.grants"); err != nil {
		t.Fatal(err)
	}
	if err := ring.Refresh(t.Context()); err != nil || ring.Unseal(t.Context(), use, "erp", mine, &told{}) != nil {
		t.Errorf("without keys in the ledger those at hand are gone: %v", err)
	}
}
