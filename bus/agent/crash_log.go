package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"
)

const (
	// crashLimit is how often a process may end while it works on a request: then the request is not worked on again.
	crashLimit = 2

	crashSlot     = 256 // bytes
	crashSlots    = 1024
	crashFileSize = crashSlots * crashSlot
	maxCrashKey   = crashSlot - 3
	maxProcesses  = 64 // that work for one agent on one data directory, each with a file of its own
)

// The bytes of a slot before its key.
const (
	slotRunning = iota // 1 while a handler works on the request
	slotCrashes        // how often a start has found it so
	slotLength         // of the key; 0 is a free slot
	slotKey
)

// A CrashLog knows which requests the handlers of a process work on, and which of them were worked on when an earlier
// process ended without an orderly stop. It is a small file that is never synced: the end of a process keeps what it holds,
// and a loss of power may take it. A nil CrashLog knows nothing. It is safe for use by several goroutines at once.
type CrashLog struct {
	lock   *flock.Flock
	memory slotMemory
	log    zerolog.Logger

	mu      sync.Mutex
	free    []int
	crashed map[string]int // slots of the requests that an earlier process was at, by key
	order   []string       // the keys of crashed, the oldest first
}

// OpenCrashLog opens the crash log of a process in a directory, which it makes. Processes of one name have a file each. It
// counts, and tells the log of, each request that the last process with its file was at when it ended.
func OpenCrashLog(directory, name string, log zerolog.Logger) (*CrashLog, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("open the crash log: %w", err)
	}
	for n := range maxProcesses {
		file := filepath.Join(directory, name+"."+strconv.Itoa(n))
		lock := flock.New(file+".lock", flock.SetPermissions(0o600))
		held, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("open the crash log: %w", err)
		}
		if !held {
			continue
		}
		memory, err := openSlots(file, crashFileSize)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open the crash log: %w", err), lock.Close())
		}
		opened := &CrashLog{lock: lock, memory: memory, log: log, crashed: map[string]int{}}
		if err := opened.read(); err != nil {
			return nil, errors.Join(fmt.Errorf("open the crash log: %w", err), opened.Close())
		}
		return opened, nil
	}
	return nil, fmt.Errorf("open the crash log: %d processes use the files of %s in %s; end some of them", maxProcesses, name, directory)
}

// read counts what an earlier process was at, and frees every other slot.
func (c *CrashLog) read() error {
	for n := range crashSlots {
		slot := make([]byte, crashSlot)
		if err := c.memory.read(slot, n*crashSlot); err != nil {
			return err
		}
		key := string(slot[slotKey : slotKey+min(int(slot[slotLength]), maxCrashKey)])
		_, twice := c.crashed[key]
		if key == "" || twice || slot[slotRunning] == 0 && slot[slotCrashes] == 0 {
			c.free = append(c.free, n)
			continue
		}
		if slot[slotRunning] != 0 {
			slot[slotRunning], slot[slotCrashes] = 0, min(slot[slotCrashes]+1, crashLimit)
			c.log.Warn().Str("request", key).Int("crashes", int(slot[slotCrashes])).
				Msg("an earlier process has ended while it worked on a request; after two of them the request is not worked on again")
			if err := c.memory.write(slot[:slotKey], n*crashSlot); err != nil {
				return err
			}
		}
		c.crashed[key] = n
		c.order = append(c.order, key)
	}
	slices.Reverse(c.free) // the first is taken first, so that little of the file is in use
	return nil
}

// begin notes that a handler works on a request, until end is called. It reports false, and notes nothing, when processes
// have ended too often while they did.
func (c *CrashLog) begin(key string) (end func(), allowed bool) {
	if c == nil || len(key) > maxCrashKey {
		return func() {}, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n, known := c.crashed[key]
	crashes := byte(0)
	switch {
	case known:
		head := make([]byte, slotKey)
		if c.memory.read(head, n*crashSlot) == nil && head[slotCrashes] >= crashLimit {
			return nil, false
		}
		crashes = head[slotCrashes]
		c.forget(key)
	case len(c.free) == 0 && !c.forgetOldest():
		return func() {}, true // more at work than there are slots: that is not counted
	default:
		n = c.free[len(c.free)-1]
		c.free = c.free[:len(c.free)-1]
	}
	slot := append(make([]byte, 0, crashSlot), 0, crashes, byte(len(key)))
	slot = append(slot, key...)
	slot[slotRunning] = 1
	if err := c.memory.write(slot, n*crashSlot); err != nil {
		c.log.Warn().Err(err).Msg("what the process works on cannot be noted; a request that ends the process is given out again")
	}
	return func() { c.end(n) }, true
}

// end frees the slot of a request that was worked on to its end.
func (c *CrashLog) end(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.memory.write(make([]byte, slotKey), n*crashSlot) // begin has told of a file that cannot be written
	c.free = append(c.free, n)
}

// forgetOldest frees the slot of the request that was found first. All slots at work is more than a process has.
func (c *CrashLog) forgetOldest() bool {
	if len(c.order) == 0 {
		return false
	}
	c.free = append(c.free, c.crashed[c.order[0]])
	c.forget(c.order[0])
	return true
}

// forget drops a request from those that were found; its slot is the caller's.
func (c *CrashLog) forget(key string) {
	delete(c.crashed, key)
	c.order = slices.DeleteFunc(c.order, func(known string) bool { return known == key })
}

// Close frees the file for another process.
func (c *CrashLog) Close() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.memory.close(), c.lock.Close())
}
