package mailbox

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/memory"
)

// weigher notes the largest value that it was given.
type weigher struct {
	bus.KeyValue

	mu      sync.Mutex
	largest int
	values  map[string][]byte
	changed []string // entries that were written again, with other bytes
}

func (w *weigher) note(key string, value []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.largest = max(w.largest, len(value))
	if before, written := w.values[key]; written && !bytes.Equal(before, value) {
		w.changed = append(w.changed, key)
	}
	w.values[key] = bytes.Clone(value)
}

// Put implements bus.KeyValue.
func (w *weigher) Put(ctx context.Context, key string, value []byte) (uint64, error) {
	w.note(key, value)
	return w.KeyValue.Put(ctx, key, value)
}

// Update implements bus.KeyValue.
func (w *weigher) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	w.mu.Lock()
	w.largest = max(w.largest, len(value))
	w.mu.Unlock()
	return w.KeyValue.Update(ctx, key, value, revision)
}

func openTestLedger(t *testing.T, store bus.KeyValue) *Ledger {
	t.Helper()
	ledger, _, err := Open(t.Context(), store, "a", "INBOX")
	if err != nil {
		t.Fatal(err)
	}
	return ledger
}

// TestTenMillionMessages_I13: the disposition of each is known, whatever the pattern, and
// no entry of the store grows beyond 64 KiB.
func TestTenMillionMessages_I13(t *testing.T) {
	t.Parallel()
	const messages, batch = 10_000_000, 40_000
	store := &weigher{KeyValue: memory.New(1).KeyValue(bus.MailboxBucket), values: map[string][]byte{}}
	ledger := openTestLedger(t, store)
	ledger.Restart(7, 1)
	// Runs of ten, each with a hole and another disposition in it.
	for from := uint32(1); from < messages; from += batch {
		for uid := from; uid < from+batch; uid += 10 {
			ledger.note(Span{First: uid, Last: uid + 7, Disposition: DispositionPublished})
			ledger.note(Span{First: uid + 8, Last: uid + 8, Disposition: DispositionVanished})
		}
		ledger.Cursor.LowWater = from + batch - 1
		for range batch / 500 { // as often as an adapter commits, within reason
			if err := ledger.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(store.changed) > 0 {
		t.Errorf("entries that were full have changed: %v", store.changed)
	}
	again := openTestLedger(t, store)
	for _, uid := range []uint32{1, 8, 9, 10, 11, messages / 2, messages - 3, messages - 2, messages - 1, messages} {
		want := DispositionPublished
		switch uid % 10 {
		case 9:
			want = DispositionVanished
		case 0:
			want = DispositionNone
		}
		if got := again.Dispositions.Of(uid); got != want {
			t.Errorf("disposition of %d is %d, want %d", uid, got, want)
		}
	}
	if len(again.Dispositions) != 2*messages/10 || store.largest > 64<<10 {
		t.Errorf("%d spans; the largest entry has %d bytes", len(again.Dispositions), store.largest)
	}
}

// TestEntriesStaySmall_I13 commits as an adapter does: after each batch.
func TestEntriesStaySmall_I13(t *testing.T) {
	t.Parallel()
	store := &weigher{KeyValue: memory.New(1).KeyValue(bus.MailboxBucket), values: map[string][]byte{}}
	ledger := openTestLedger(t, store)
	ledger.Restart(7, 1)
	hash := strings.Repeat("0123456789abcdef", 4)
	now := time.Unix(1_700_000_000, 0)
	for uid := uint32(1); uid < 60_000; uid += 2 {
		switch uid % 6 {
		case 1:
			ledger.Settle(uid, DispositionPublished)
			ledger.Remember(hash)
		case 3:
			ledger.Settle(uid, DispositionVanished)
		case 5:
			for range maxTries {
				ledger.Fail(uid, strings.Repeat("reason ", 10), false, now, time.Minute)
			}
		}
		if uid%128 == 1 {
			if err := ledger.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if store.largest > 64<<10 || len(store.changed) > 0 {
		t.Errorf("the largest entry has %d bytes; changed %v", store.largest, store.changed)
	}
	if err := ledger.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := openTestLedger(t, store)
	if again.Cursor.Passed != 10_000 || len(again.Cursor.Failed) != maxFailed || again.Cursor.DispositionChunks < 5 || again.Cursor.Chunks != 10_000*prefixSize/chunkBytes {
		t.Errorf("position: passed %d, failed %d, chunks %d and %d", again.Cursor.Passed, len(again.Cursor.Failed), again.Cursor.DispositionChunks, again.Cursor.Chunks)
	}
	for uid := uint32(1); uid < 60_000; uid++ {
		if again.Dispositions.Of(uid) != ledger.Dispositions.Of(uid) {
			t.Fatalf("disposition of %d is %d, want %d", uid, again.Dispositions.Of(uid), ledger.Dispositions.Of(uid))
		}
	}
}

// TestRacingAdaptersWriteTheSameEntries_I01: whoever loses the race has written
// nothing that the winner does not count with.
func TestRacingAdaptersWriteTheSameEntries_I01(t *testing.T) {
	t.Parallel()
	store := &weigher{KeyValue: memory.New(1).KeyValue(bus.MailboxBucket), values: map[string][]byte{}}
	first := openTestLedger(t, store)
	first.Restart(7, 1)
	if err := first.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for round := range 200 {
		one, two := openTestLedger(t, store), openTestLedger(t, store)
		for i := range uint32(60) {
			one.Settle(uint32(round)*200+2*i+1, DispositionPublished)
			one.Remember(fmt.Sprintf("%064x", round*1000+int(i)))
			two.Settle(uint32(round)*200+2*i+1, Disposition(1+i%2))
			two.Remember(fmt.Sprintf("%064x", i))
		}
		if round%2 == 0 {
			one, two = two, one
		}
		if err := one.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := two.Commit(t.Context()); err == nil {
			t.Fatal("both have won")
		}
	}
	last := openTestLedger(t, store)
	if last.Cursor.DispositionChunks == 0 || last.Cursor.Chunks == 0 || len(store.changed) > 0 {
		t.Errorf("%d and %d entries; changed %v", last.Cursor.DispositionChunks, last.Cursor.Chunks, store.changed)
	}
}
