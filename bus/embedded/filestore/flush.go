package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// clockStep is how far apart two changes of a file may be and have the same time.
const clockStep = time.Second

// A Flusher makes what a server has written survive a loss of power. It goes by what
// has changed in the folders, whoever wrote it, and knows nothing of blocks.
//
// After an error of the disk every call fails: what an earlier flush has lost, a later
// one that succeeds does not bring back.
type Flusher struct {
	store string
	sync  func(name string, mode int) error

	running chan struct{} // holds a value while a flush is under way
	mu      sync.Mutex
	next    *flush // that begins after the one under way
	failed  atomic.Pointer[error]
	flushed map[string]stamp // what was flushed, by the file's name
}

// A flush is one pass over the files, for all who asked before it began.
type flush struct {
	done  chan struct{}
	asked int // who waits for it
	err   error
}

// A stamp tells whether a file has changed.
type stamp struct {
	info fs.FileInfo
	at   time.Time // when it was looked at
}

// NewFlusher is for the files of a server's store directory.
func NewFlusher(store string) *Flusher {
	return &Flusher{store: store, sync: syncFile, running: make(chan struct{}, 1), flushed: make(map[string]stamp)}
}

// Flush returns when everything that was written before the call survives a loss of
// power. Of many calls at once, those that wait share the next pass.
func (f *Flusher) Flush(ctx context.Context) error {
	f.mu.Lock()
	mine := f.next
	first := mine == nil
	if first {
		mine = &flush{done: make(chan struct{})}
		f.next = mine
	}
	mine.asked++
	f.mu.Unlock()
	if first {
		go f.run(mine) // it ends with its pass, whoever still waits for it
	}
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
		return fmt.Errorf("flush the ledger: %w", context.Cause(ctx))
	}
}

func (f *Flusher) run(mine *flush) {
	f.running <- struct{}{}
	f.mu.Lock()
	f.next = nil // who comes now may have written after the pass began
	f.mu.Unlock()
	mine.err = f.pass(f.changed)
	<-f.running
	close(mine.done)
}

// All flushes every file and folder, whether it has changed or not: for what was
// written by a process that ended without doing so.
func (f *Flusher) All() error {
	f.running <- struct{}{}
	defer func() { <-f.running }()
	return f.pass(func(string, fs.FileInfo) bool { return true })
}

// pass flushes the files that are due, then the folders that hold them.
func (f *Flusher) pass(due func(name string, info fs.FileInfo) bool) error {
	if f.Failed() == nil {
		if err := f.walk(due); err != nil {
			f.Fail(err)
		}
	}
	if err := f.Failed(); err != nil {
		return fmt.Errorf("flush the ledger: %w", err)
	}
	return nil
}

// Fail makes every later flush fail, as after an error of the disk that the server has met. The first
// reason counts.
func (f *Flusher) Fail(reason error) { f.failed.CompareAndSwap(nil, &reason) }

// Failed returns why every flush fails, or nil.
func (f *Flusher) Failed() error {
	if reason := f.failed.Load(); reason != nil {
		return *reason
	}
	return nil
}

func (f *Flusher) walk(due func(name string, info fs.FileInfo) bool) error {
	seen := make(map[string]stamp, len(f.flushed))
	var folders []string
	began := time.Now()
	var look func(name string, entry fs.DirEntry, err error) error
	look = func(name string, entry fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = entry.Info()
		}
		if err != nil {
			return gone(err)
		}
		if entry.Type()&fs.ModeSymlink != 0 { // a part of the store that is on another disk
			target, err := filepath.EvalSymlinks(name)
			if _, known := seen[target]; known || err != nil {
				return gone(err)
			}
			return filepath.WalkDir(target, look)
		}
		seen[name] = stamp{info: info, at: began}
		switch {
		case !due(name, info):
			return nil
		case entry.IsDir():
			folders = append(folders, name)
			return nil
		case entry.Type().IsRegular():
			return gone(f.sync(name, os.O_RDWR))
		default:
			return nil
		}
	}
	err := filepath.WalkDir(f.store, look)
	for _, folder := range folders {
		if err == nil && runtime.GOOS != "windows" {
			err = gone(f.sync(folder, os.O_RDONLY))
		}
	}
	if err == nil {
		f.flushed = seen
	}
	return err
}

// changed reports whether a file is another than when it was flushed. One that had just
// been changed then may have changed again at the same time by its clock.
func (f *Flusher) changed(name string, info fs.FileInfo) bool {
	before, known := f.flushed[name]
	return !known || !os.SameFile(before.info, info) || before.info.Size() != info.Size() ||
		!before.info.ModTime().Equal(info.ModTime()) || before.at.Sub(info.ModTime()) < clockStep
}

// gone passes over what the server removed meanwhile.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func syncFile(name string, mode int) error {
	file, err := os.OpenFile(name, mode, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
