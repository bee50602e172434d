package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// A storeLock keeps two servers off one directory. The server itself does not:
// both would write, and neither would notice.
type storeLock struct {
	file *flock.Flock
	pid  string // names the owner, for the message only
}

// LockData keeps a data directory whose ledger is elsewhere to one process, by the
// file that it returns, until release is called or the process ends. It is an
// InUseError when another process has it.
func LockData(dir string) (file string, release func() error, err error) {
	lock, err := lockStore(dir)
	if err != nil {
		return "", nil, err
	}
	return lock.file.Path(), lock.release, nil
}

func lockStore(dir string) (*storeLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the ledger's directory: %w", err)
	}
	lock := &storeLock{
		file: flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600)),
		pid:  filepath.Join(dir, "lock.pid"),
	}
	locked, err := lock.file.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the ledger: %w", err)
	}
	if !locked {
		return nil, &InUseError{Dir: dir, Process: lock.owner()}
	}
	if err := os.WriteFile(lock.pid, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		_ = lock.file.Unlock()
		return nil, fmt.Errorf("lock the ledger: %w", err)
	}
	return lock, nil
}

// owner returns the process that has the lock; 0 is unknown.
func (l *storeLock) owner() int {
	content, err := os.ReadFile(l.pid)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0
	}
	return pid
}

func (l *storeLock) release() error {
	_ = os.Remove(l.pid)
	if err := l.file.Unlock(); err != nil {
		return fmt.Errorf("unlock the ledger: %w", err)
	}
	return nil
}

// An InUseError reports a ledger that another server has open.
type InUseError struct {
	Dir     string
	Process int // its id; 0 is unknown
}

// Error implements error.
func (e *InUseError) Error() string {
	who := "another process"
	if e.Process != 0 {
		who = "process " + strconv.Itoa(e.Process)
	}
	return fmt.Sprintf("the ledger in %s is in use by %s; stop it, or name another directory with --data", e.Dir, who)
}
