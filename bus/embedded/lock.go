package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"

	"podium/bus/backoff"
)

// readersEvery is how often a server looks whether the last reader has gone.
const readersEvery = 100 * time.Millisecond

// A storeLock keeps two servers off one directory. The server itself does not:
// both would write, and neither would notice.
type storeLock struct {
	file *flock.Flock
	pid  string // names the owner, for the message only
}

// LockData keeps a data directory whose ledger is elsewhere to one process, by the
// file that it returns, until release is called or the process ends. It is an
// InUseError when another process has it.
func LockData(ctx context.Context, dir string, log zerolog.Logger) (file string, release func() error, err error) {
	lock, err := lockStore(ctx, dir, log)
	if err != nil {
		return "", nil, err
	}
	return lock.file.Path(), lock.release, nil
}

// lockStore locks a directory. It waits for those who only read there, until ctx ends.
func lockStore(ctx context.Context, dir string, log zerolog.Logger) (*storeLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the ledger's directory: %w", err)
	}
	lock := &storeLock{
		file: flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600)),
		pid:  filepath.Join(dir, "lock.pid"),
	}
	if info, err := os.Stat(lock.file.Path()); err == nil {
		if err = rootFault(dir, os.Geteuid(), fileUser(info)); err != nil {
			return nil, err
		}
	}
	if err := lock.take(ctx, log); err != nil {
		return nil, err
	}
	if err := os.WriteFile(lock.pid, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		_ = lock.file.Unlock()
		return nil, fmt.Errorf("lock the ledger: %w", err)
	}
	return lock, nil
}

// take takes the lock once nobody reads there. It is an InUseError when another process has
// it for itself.
func (l *storeLock) take(ctx context.Context, log zerolog.Logger) error {
	for told := false; ; {
		locked, err := l.file.TryLock()
		if err != nil {
			return fmt.Errorf("lock the ledger: %w", err)
		}
		if locked {
			return nil
		}
		others := flock.New(l.file.Path())
		if readers, err := others.TryRLock(); err != nil || !readers {
			return &InUseError{Dir: filepath.Dir(l.pid), Process: l.owner()}
		}
		if err = others.Unlock(); err != nil {
			return fmt.Errorf("lock the ledger: %w", err)
		}
		if !told {
			told = true
			log.Info().Msg("a verb reads the ledger; this goes on when it has ended")
		}
		if err := backoff.Pause(ctx, readersEvery); err != nil {
			return err
		}
	}
}

// rootFault refuses root on a ledger that belongs to another user, who could not open the
// files that root makes there.
func rootFault(dir string, user, owner int) error {
	if user != 0 || owner <= 0 {
		return nil
	}
	return fmt.Errorf("the ledger in %s belongs to user %d, who could not open what root makes there; "+
		"run this as that user, as by sudo -u '#%d', or give the directory to root: chown -R root of --data", dir, owner, owner)
}

// owner returns the process that has the lock; 0 is unknown.
func (l *storeLock) owner() int {
	content, _ := os.ReadFile(l.pid)
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0 // a number out of range, too
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

func (e *InUseError) Error() string {
	who := "another process"
	if e.Process != 0 {
		who = "process " + strconv.Itoa(e.Process)
	}
	return fmt.Sprintf("the ledger in %s is in use by %s; stop it, or name another directory with --data", e.Dir, who)
}
