package lease_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/memory"
	"podium/cmd/podium/lease"
)

// A link is one process's way to the ledger's store, which can be away, swallow
// answers, or be frozen with its process.
type link struct {
	bus.KeyValue
	mu        sync.Mutex
	away      bool
	swallows  int // answers of writes that were done
	frozen    chan struct{}
	temporary int // calls that failed
}

var errAway = &bus.TemporaryError{Op: "ask", Err: errors.New("the server is away")}

func (l *link) pass() error {
	l.mu.Lock()
	frozen, away := l.frozen, l.away
	if away {
		l.temporary++
	}
	l.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
	if away {
		return errAway
	}
	return nil
}

func (l *link) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	if err := l.pass(); err != nil {
		return nil, 0, err
	}
	return l.KeyValue.Get(ctx, key)
}

func (l *link) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := l.pass(); err != nil {
		return 0, err
	}
	next, err := l.KeyValue.Update(ctx, key, value, revision)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && l.swallows > 0 {
		l.swallows--
		return 0, errAway
	}
	return next, err
}

func (l *link) set(change func(*link)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

func links(count int) []*link {
	store := memory.New(1).KeyValue(bus.LeaseBucket)
	all := make([]*link, count)
	for i := range all {
		all[i] = &link{KeyValue: store}
	}
	return all
}

func take(t *testing.T, store bus.KeyValue, self lease.Holder) (*lease.Lease, []string, error) {
	t.Helper()
	var said []string
	held, err := lease.Take(t.Context(), store, self, func(sentence string) { said = append(said, sentence) }, zerolog.Nop())
	return held, said, err
}

func mustTake(t *testing.T, store bus.KeyValue, self lease.Holder) *lease.Lease {
	t.Helper()
	held, _, err := take(t, store, self)
	if err != nil {
		t.Fatalf("%s: %v", self.ID, err)
	}
	return held
}

func holder(id, place string) lease.Holder {
	return lease.Holder{ID: id, PID: 4711, Host: "one", Data: "/data/" + id, Since: time.Now(), Place: place}
}

// TestSecondProcessIsRefused: as soon as the holder is seen to live.
func TestSecondProcessIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ways := links(2)
		first := mustTake(t, ways[0], holder("first", "a"))
		defer first.Release()
		began := time.Now()
		_, said, err := take(t, ways[1], holder("second", "b"))
		var refused *lease.HeldError
		if !errors.As(err, &refused) || refused.Holder.ID != "first" {
			t.Fatalf("the second process: %v", err)
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("it took %s to see that the first one lives", took)
		}
		for _, word := range []string{"process 4711 on one", "/data/first", "stop that one first"} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%q does not say %q", err, word)
			}
		}
		if len(said) != 1 || !strings.Contains(said[0], "/data/first") {
			t.Errorf("while it watched it said %q", said)
		}
	})
}

// TestReleasedLeaseIsFree: after a stop in order nobody waits.
func TestReleasedLeaseIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ways := links(2)
		mustTake(t, ways[0], holder("first", "a")).Release()
		began := time.Now()
		second := mustTake(t, ways[1], holder("second", "b"))
		defer second.Release()
		if took := time.Since(began); took > 0 {
			t.Errorf("it waited %s", took)
		}
	})
}

// TestKilledHolder: the same place takes over at once, another one when the lease
// has lapsed, and one of which nothing is known like another one.
func TestKilledHolder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		place, by string
		waits     bool
	}{
		"the same place":     {"a", "a", false},
		"another place":      {"a", "b", true},
		"places not known":   {"", "", true},
		"the newcomer's not": {"a", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ways := links(2)
				first := mustTake(t, ways[0], holder("first", test.place))
				defer first.Release()
				time.Sleep(12 * time.Second)
				ways[0].set(func(l *link) { l.away = true }) // as far as the others see, it is gone
				began := time.Now()
				second := mustTake(t, ways[1], holder("second", test.by))
				defer second.Release()
				if took := time.Since(began); test.waits != (took >= lease.Time) || took > lease.Time+time.Second {
					t.Errorf("it waited %s", took)
				}
			})
		})
	}
}

// TestFrozenHolderIsToldOnceItThaws, and takes nothing back.
func TestFrozenHolderIsToldOnceItThaws(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ways := links(2)
		first := mustTake(t, ways[0], holder("first", "a"))
		thaw := make(chan struct{})
		ways[0].set(func(l *link) { l.frozen = thaw })
		second := mustTake(t, ways[1], holder("second", "b"))
		defer second.Release()
		ways[0].set(func(l *link) { l.frozen = nil })
		close(thaw)
		var lost *lease.LostError
		if err := first.Lost(); !errors.As(err, &lost) || lost.Holder.ID != "second" {
			t.Errorf("the thawed one: %v", err)
		}
		first.Release() // of what it does not have
		if now, lives, err := lease.Find(t.Context(), ways[1]); err != nil || !lives || now.ID != "second" {
			t.Errorf("now it is held by %s, lives %t, %v", now.ID, lives, err)
		}
	})
}

// TestHolderOutlivesTheServer: an outage longer than the lease takes it from nobody,
// also not when the newcomer is the first to be back, and neither does an answer that
// is lost.
func TestHolderOutlivesTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ways := links(2)
		first := mustTake(t, ways[0], holder("first", "a"))
		defer first.Release()
		ways[0].set(func(l *link) { l.swallows = 3 })
		time.Sleep(time.Minute)
		for _, way := range ways {
			way.set(func(l *link) { l.away = true })
		}
		go func() {
			time.Sleep(time.Minute)
			ways[1].set(func(l *link) { l.away = false })
			time.Sleep(3 * time.Second)
			ways[0].set(func(l *link) { l.away = false })
		}()
		var err error
		for tries := 0; tries == 0 || bus.Temporary(err); tries++ {
			time.Sleep(100 * time.Millisecond)
			_, _, err = take(t, ways[1], holder("second", "b"))
		}
		if _, refused := errors.AsType[*lease.HeldError](err); !refused {
			t.Errorf("the second process: %v", err)
		}
		if ways[0].temporary == 0 || ways[0].swallows != 0 {
			t.Error("the holder has met no trouble")
		}
	})
}

// TestWatcherThatWasAwayWatchesAnew: a newcomer that was itself frozen has seen nothing.
func TestWatcherThatWasAwayWatchesAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ways := links(2)
		first := mustTake(t, ways[0], holder("first", "a"))
		defer first.Release()
		ways[0].set(func(l *link) { l.away = true }) // 14 s without a sign of life
		thaw := make(chan struct{})
		go func() {
			time.Sleep(2 * time.Second)
			ways[1].set(func(l *link) { l.frozen = thaw })
			time.Sleep(20 * time.Second)
			ways[1].set(func(l *link) { l.frozen = nil })
			close(thaw)
			time.Sleep(6 * time.Second)
			ways[0].set(func(l *link) { l.away = false })
		}()
		var refused *lease.HeldError
		if _, _, err := take(t, ways[1], holder("second", "b")); !errors.As(err, &refused) {
			t.Errorf("the second process: %v", err)
		}
	})
}

// TestTwoAtOnce: of those who start together one works.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count = 5
		ways := links(count)
		outcomes := make(chan error, count)
		for i, way := range ways {
			go func() {
				held, err := lease.Take(t.Context(), way, holder(string(rune('a'+i)), string(rune('a'+i))), func(string) {}, zerolog.Nop())
				outcomes <- err
				if err == nil {
					<-t.Context().Done()
					held.Release()
				}
			}()
		}
		took := 0
		for range count {
			err := <-outcomes
			if err == nil {
				took++
			} else if _, refused := errors.AsType[*lease.HeldError](err); !refused {
				t.Error(err)
			}
		}
		if took != 1 {
			t.Errorf("%d processes have taken the lease", took)
		}
	})
}

// TestStopWhileWatching: whoever watches can be told to stop.
func TestStopWhileWatching(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ways := links(2)
		first := mustTake(t, ways[0], holder("first", "a"))
		defer first.Release()
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
		defer stop()
		_, err := lease.Take(ctx, ways[1], holder("second", "b"), func(string) {}, zerolog.Nop())
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("told to stop: %v", err)
		}
	})
}

// TestPlaceIsTheFile: a copy of a directory, in the same path or another, is another place.
func TestPlaceIsTheFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	lock := filepath.Join(folder, "lock")
	write := func(file string) {
		t.Helper()
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(lock)
	place := lease.Myself(folder, lock).Place
	if place == "" {
		t.Log("this system does not tell places apart: a lease that is left behind is watched")
		return
	}
	if again := lease.Myself(folder, lock).Place; again != place {
		t.Errorf("the same file is %q and %q", place, again)
	}
	moved := filepath.Join(folder, "moved")
	if err := os.Rename(lock, moved); err != nil {
		t.Fatal(err)
	}
	write(lock)
	if copied := lease.Myself(folder, lock).Place; copied == place {
		t.Errorf("another file in the same path is the same place %q", place)
	}
	if renamed := lease.Myself(folder, moved).Place; renamed != place {
		t.Errorf("the file by another name is %q, not %q", renamed, place)
	}
}
