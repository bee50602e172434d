package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"podium/bus/embedded/filestore"
	"podium/bus/embedded/recovery"
)

const (
	copyPrefix = "podium-look-"
	// copyAge is how long a copy may stand without its reader's lock: one that is being made.
	copyAge = time.Minute
)

// Look runs a server that shows what a ledger at rest holds, and changes no byte of it:
// it works on a copy, of which only the ends of the streams take room. What is written to it
// is gone with it. Lost is what the ledger has lost and nobody has decided on.
func Look(ctx context.Context, config Config) (_ *Server, lost []recovery.Loss, err error) {
	store, err := filepath.Abs(filepath.Join(config.Dir, ledgerDir))
	if err != nil {
		return nil, nil, fmt.Errorf("the ledger's directory: %w", err)
	}
	s := &Server{config: config, storeBytes: math.MaxInt64}
	s.config.Listen, s.config.Durability = "", Interval // nothing of it has to last
	release, err := lockToLook(store)
	if err != nil {
		return nil, nil, err
	}
	s.held = append(s.held, release)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.letGo())
		}
	}()
	if err = checkFormat(store); err != nil {
		return nil, nil, err
	}
	seen, lost, known, err := recovery.Look(ctx, recovery.Config{Data: config.Dir, Store: store, Logger: config.Logger})
	if err != nil {
		return nil, nil, err
	}
	s.lost = known
	folder, err := s.makeCopy()
	if err == nil {
		s.store = filepath.Join(folder, ledgerDir)
		err = filestore.Mirror(seen, store, s.store, len(lost) > 0)
	}
	if err == nil {
		s.keys, err = Credentials(filepath.Join(folder, "own", credentialDir), nil)
	}
	if err == nil {
		err = s.start(ctx)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look at the ledger: %w", err)
	}
	return s, lost, nil
}

// makeCopy makes the folder of the copy, and removes those of readers who were killed: each
// reader holds the lock of its own.
func (s *Server) makeCopy() (folder string, err error) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), copyPrefix+"*"))
	if err != nil {
		return "", err
	}
	for _, one := range left {
		removeCopy(one)
	}
	if folder, err = os.MkdirTemp("", copyPrefix); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(folder, "lock"))
	s.held = append(s.held, func() error { return os.RemoveAll(folder) }, lock.Close)
	_, err = lock.TryLock()
	return folder, err
}

// removeCopy removes the copy of a reader who is gone, as far as it can.
func removeCopy(folder string) {
	info, err := os.Lstat(folder)
	if err != nil || !info.IsDir() || fileUser(info) != os.Geteuid() || time.Since(info.ModTime()) < copyAge {
		return
	}
	lock := flock.New(filepath.Join(folder, "lock"))
	if locked, err := lock.TryLock(); err == nil && locked {
		_ = os.RemoveAll(folder) // the next reader tries again
	}
	_ = lock.Close()
}

// lockToLook keeps servers off a ledger without leaving anything there.
func lockToLook(store string) (release func() error, err error) {
	name := filepath.Join(store, "lock")
	if _, err = os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil // no server was ever started on this copy
	}
	lock := flock.New(name)
	locked, err := lock.TryRLock()
	if errors.Is(err, fs.ErrPermission) || err == nil && locked {
		return lock.Unlock, nil // nobody who may not write there runs a server
	}
	if err != nil {
		return nil, fmt.Errorf("lock the ledger: %w", err)
	}
	return nil, &InUseError{Dir: store, Process: (&storeLock{pid: filepath.Join(store, "lock.pid")}).owner()}
}

// Check says what a ledger at rest has lost, and what was gone over before, and changes nothing.
func Check(ctx context.Context, config Config) (found, known []recovery.Loss, err error) {
	store, err := filepath.Abs(filepath.Join(config.Dir, ledgerDir))
	if err != nil {
		return nil, nil, fmt.Errorf("the ledger's directory: %w", err)
	}
	release, err := lockToLook(store)
	if err != nil {
		return nil, nil, err
	}
	if err = checkFormat(store); err == nil {
		_, found, known, err = recovery.Look(ctx, recovery.Config{Data: config.Dir, Store: store, Logger: config.Logger})
	}
	return found, known, errors.Join(err, release())
}

// Repair makes a ledger at rest go on without what it has lost, and returns that.
func Repair(ctx context.Context, config Config) (losses []recovery.Loss, err error) {
	store, err := filepath.Abs(filepath.Join(config.Dir, ledgerDir))
	if err != nil {
		return nil, fmt.Errorf("the ledger's directory: %w", err)
	}
	lock, err := lockStore(ctx, store, config.Logger)
	if err != nil {
		return nil, err
	}
	if err = checkFormat(store); err == nil {
		losses, err = recovery.Repair(ctx, recovery.Config{Data: config.Dir, Store: store, Logger: config.Logger})
	}
	return losses, errors.Join(err, lock.release())
}
