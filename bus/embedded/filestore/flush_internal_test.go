package filestore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// A disk counts what is flushed.
type disk struct {
	mu      sync.Mutex
	flushed []string
	fails   error
}

func (d *disk) sync(name string, _ int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flushed = append(d.flushed, filepath.Base(name))
	return d.fails
}

func (d *disk) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.flushed
	d.flushed = nil
	slices.Sort(taken)
	return taken
}

// flusher is for a folder with two old files in it.
func flusher(t *testing.T) (*Flusher, *disk, string) {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"1.blk", "2.blk"} {
		put(t, filepath.Join(folder, name), name)
	}
	f, d := NewFlusher(folder), &disk{}
	f.sync = d.sync
	return f, d, folder
}

// put writes a file, and has it and its folder look old.
func put(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	age(t, file, 0)
	age(t, filepath.Dir(file), 0)
}

func age(t *testing.T, name string, more time.Duration) {
	t.Helper()
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(more)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
}

func TestFlushTakesWhatHasChanged(t *testing.T) {
	t.Parallel()
	f, d, folder := flusher(t)
	of := func(names ...string) []string { slices.Sort(names); return names }
	step := func(what string, want []string) {
		t.Helper()
		if err := f.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := d.take(); !slices.Equal(got, want) {
			t.Errorf("%s: flushed is %q, want %q", what, got, want)
		}
	}
	step("at first", of(filepath.Base(folder), "1.blk", "2.blk"))
	step("nothing has changed", nil)
	put(t, filepath.Join(folder, "2.blk"), "2.blk grows")
	step("a file has grown", of("2.blk"))
	if err := os.WriteFile(filepath.Join(folder, "2.blk"), []byte("2.blk GROWS"), 0o600); err != nil {
		t.Fatal(err)
	}
	step("a file has changed", of("2.blk"))
	step("it may have changed again at the same time", of("2.blk"))
	age(t, filepath.Join(folder, "2.blk"), time.Second)
	step("it has another time", of("2.blk"))
	put(t, filepath.Join(folder, "new"), "1.blk")
	if err := os.Rename(filepath.Join(folder, "new"), filepath.Join(folder, "1.blk")); err != nil {
		t.Fatal(err)
	}
	step("another file has the name, as long and as old", of(filepath.Base(folder), "1.blk"))
	if err := f.All(); err != nil {
		t.Fatal(err)
	}
	if got, want := d.take(), of(filepath.Base(folder), "1.blk", "2.blk"); !slices.Equal(got, want) {
		t.Errorf("all are %q, want %q", got, want)
	}
}

// TestFlushFailsForGood: what one flush could not write, the next does not know of any more.
func TestFlushFailsForGood(t *testing.T) {
	t.Parallel()
	f, d, _ := flusher(t)
	d.fails = errors.New("a disk that breaks")
	for range 2 {
		if err := f.Flush(t.Context()); !errors.Is(err, d.fails) {
			t.Errorf("the error is %v", err)
		}
	}
	broken := d.fails
	d.fails = nil
	if err := f.Flush(t.Context()); !errors.Is(err, broken) {
		t.Errorf("once the disk works again the error is %v", err)
	}
}

// TestFlushIsShared: whoever asks while a flush is under way waits for the next one, with
// all others, because what he wrote may have come too late for it.
func TestFlushIsShared(t *testing.T) {
	t.Parallel()
	f, d, _ := flusher(t)
	began, release := make(chan struct{}, 1), make(chan struct{})
	f.sync = func(name string, mode int) error {
		select {
		case began <- struct{}{}:
			<-release
		default:
		}
		return d.sync(name, mode)
	}
	var waiting sync.WaitGroup
	call := func() {
		if err := f.Flush(context.Background()); err != nil {
			t.Error(err)
		}
	}
	waiting.Go(call)
	<-began
	for range 10 {
		waiting.Go(call)
	}
	var shared *flush
	for shared == nil {
		f.mu.Lock()
		if f.next != nil && f.next.asked == 10 {
			shared = f.next
		}
		f.mu.Unlock()
		runtime.Gosched()
	}
	close(release)
	waiting.Wait()
	if shared.asked != 10 || f.next != nil {
		t.Errorf("%d of 10 calls share a pass, and another one follows: %t", shared.asked, f.next != nil)
	}
}

// TestFlushThroughALink: a store that is on another disk is flushed there.
func TestFlushThroughALink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	put(t, filepath.Join(folder, "1.blk"), "content")
	link := filepath.Join(t.TempDir(), "ledger")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	f, d := NewFlusher(link), &disk{}
	f.sync = d.sync
	if err := f.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.All(); err != nil {
		t.Fatal(err)
	}
	if taken := d.take(); len(taken) == 0 {
		t.Error("two flushes have succeeded, and nothing was flushed")
	}
}
