// Package keyring holds the keys of a ledger: everybody who has the core account has the same. From each of them one
// key is derived for every [Use], so that what is made for one use counts for no other. What was made under a key names
// it, and holds for as long as the ledger has that key.
//
// Artifact grants are signed under these keys (bus/artifact), and what an agent is handed to answer a request later is
// sealed under them ([Ring.Seal], bus/agent).
package keyring

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"podium/bus"
	"podium/schemas"
)

const (
	// storedUnder is where AgentBucket holds the keys; no agent's name holds a dot.
	storedUnder = "key.grants"
	// maxAge is after how long a ledger that is opened gets another key.
	maxAge = 90 * 24 * time.Hour
	// maxKeys is how many keys are kept: what the oldest has signed is nearly two years old then.
	maxKeys = 8
	// idBytes is how many bytes the id of a key is the hexadecimal form of.
	idBytes = 4
	// derivedFor begins what a key is derived for. It says grant for every use: what was made under the keys of
	// earlier versions holds on.
	derivedFor = "podium grant v1 "
	// refreshEvery is how often the keys are read again when names of keys come that nobody has made, and
	// refreshBurst how many times that may be at once.
	refreshEvery = time.Second
	refreshBurst = 4
)

// A Use is what a key is for.
type Use string

// A Ring is the keys of a ledger as far as this process has read them. It is safe for use by several goroutines at once.
type Ring struct {
	store bus.KeyValue  // nil when the keys never change
	turn  chan struct{} // holds one value while the keys are read again
	pace  *rate.Limiter
	begun atomic.Uint64 // readings
	done  uint64        // the newest of them that has succeeded; whoever has the turn has it

	mu   sync.RWMutex
	keys []key // the newest first, and never none
}

type key struct {
	ID     string    `json:"id"`
	Secret []byte    `json:"secret"`
	Made   time.Time `json:"made"`

	root []byte // the secret as a key to derive others from (RFC 5869, section 2.2)
}

// Open returns the keys of a ledger, which stand in its AgentBucket. It makes the first key, and another one when the
// newest is older than 90 days.
func Open(ctx context.Context, core bus.Core, now time.Time) (*Ring, error) {
	return OpenCopied(ctx, core, nil, now)
}

// A Copy keeps the keys of a ledger in a second place.
type Copy interface {
	// Read returns what was written last, nil when it is gone; made says that something was written.
	Read() (content []byte, made bool, err error)
	// Write returns once the content survives a loss of power.
	Write(content []byte) error
}

// ErrKeysLost refuses to make new keys for a ledger that had some: what was made under these would be
// void without notice.
var ErrKeysLost = errors.New("the keys of the ledger are gone, from the ledger and from its credentials")

// OpenCopied is Open for a ledger whose keys are copied; copied may be nil. Keys that the ledger has
// lost are restored from the copy. Without that, it is ErrKeysLost when there were any.
func OpenCopied(ctx context.Context, core bus.Core, copied Copy, now time.Time) (*Ring, error) {
	r := newRing(core.KeyValue(bus.AgentBucket))
	for {
		keys, revision, err := r.read(ctx)
		if err == nil && len(keys) == 0 && copied != nil {
			keys, err = fromCopy(copied)
		} else if err == nil && len(keys) > 0 && now.Sub(keys[0].Made) < maxAge {
			return r, r.use(ctx, core, keys, copied)
		}
		if err != nil {
			return nil, err
		}
		if len(keys) == 0 || now.Sub(keys[0].Made) >= maxAge {
			keys = slices.Insert(keys, 0, newKey(now))
		}
		body, err := schemas.Marshal(keys[:min(len(keys), maxKeys)])
		if err != nil {
			return nil, err
		}
		if _, err = r.store.Update(ctx, storedUnder, body, revision); err != nil && !errors.Is(err, bus.ErrConflict) {
			return nil, fmt.Errorf("keep a key of the ledger: %w", err)
		}
	}
}

// fromCopy returns the keys that a copy holds, none when none was ever made.
func fromCopy(copied Copy) (keys []key, err error) {
	content, made, err := copied.Read()
	if err == nil && content != nil {
		err = schemas.Unmarshal(content, &keys)
	}
	if err != nil {
		return nil, fmt.Errorf("read the copy of the ledger's keys: %w", err)
	}
	if len(keys) == 0 && made {
		return nil, ErrKeysLost
	}
	return keys, nil
}

// use copies keys, and has them survive a loss of power before anything is made under them.
func (r *Ring) use(ctx context.Context, core bus.Core, keys []key, copied Copy) error {
	if err := core.Flush(ctx); err != nil {
		return fmt.Errorf("keep a key of the ledger: %w", err)
	}
	if copied != nil {
		body, err := schemas.Marshal(keys)
		if err == nil {
			err = copied.Write(body)
		}
		if err != nil {
			return fmt.Errorf("copy the keys of the ledger: %w", err)
		}
	}
	return r.adopt(keys)
}

// ErrNoKeys says that a ledger has no keys yet: nothing was ever made under one.
var ErrNoKeys = errors.New("the ledger has no keys yet")

// Existing returns the keys that a ledger has, and makes none. The error is ErrNoKeys when there are none.
func Existing(ctx context.Context, core bus.Core) (*Ring, error) {
	r := newRing(core.KeyValue(bus.AgentBucket))
	keys, _, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, ErrNoKeys
	}
	return r, r.adopt(keys)
}

// New returns a ring of one key that is in no ledger, for tests and simulations that repeat.
func New(secret []byte) (*Ring, error) {
	r := newRing(nil)
	return r, r.adopt([]key{{ID: "fixed", Secret: secret}})
}

func newRing(store bus.KeyValue) *Ring {
	return &Ring{store: store, turn: make(chan struct{}, 1), pace: rate.NewLimiter(rate.Every(refreshEvery), refreshBurst)}
}

func newKey(now time.Time) key {
	random := make([]byte, idBytes+sha256.Size)
	_, _ = rand.Read(random) // never fails
	return key{ID: hex.EncodeToString(random[:idBytes]), Secret: random[idBytes:], Made: now.UTC()}
}

func (r *Ring) read(ctx context.Context) (keys []key, revision uint64, err error) {
	body, revision, err := r.store.Get(ctx, storedUnder)
	if errors.Is(err, bus.ErrNotFound) {
		return nil, 0, nil
	}
	if err == nil {
		err = schemas.Unmarshal(body, &keys)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the keys of the ledger: %w", err)
	}
	return keys, revision, nil
}

func (r *Ring) adopt(keys []key) (err error) {
	for i := range keys {
		if keys[i].root, err = hkdf.Extract(sha256.New, keys[i].Secret, nil); err != nil {
			return fmt.Errorf("derive a key of the ledger: %w", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = keys
	return nil
}

// Newest returns the key that is signed and sealed under now, and its id.
func (r *Ring) Newest(use Use) (id string, derived []byte) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.keys[0].ID, r.keys[0].derive(use)
}

// Key returns the key of an id, or nil when the ring does not have it: see Foreign.
func (r *Ring) Key(id string, use Use) []byte {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if at := r.find(id); at >= 0 {
		return r.keys[at].derive(use)
	}
	return nil
}

// find returns where the key of an id is, or -1. The lock is held.
func (r *Ring) find(id string) int {
	return slices.IndexFunc(r.keys, func(k key) bool { return k.ID == id })
}

func (k *key) derive(use Use) []byte {
	derived, _ := hkdf.Expand(sha256.New, k.root, derivedFor+string(use), sha256.Size) // fails for longer keys alone
	return derived
}

// Foreign reports whether an id may be that of a key which is not known here: Refresh may bring it.
func (r *Ring) Foreign(id string) bool {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != idBytes {
		return false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.find(id) < 0
}

// Refresh reads the keys again: another process may have made one. When it has succeeded, every key is known that was
// made before the call. Whoever calls at the same time shares a reading, and after the first ones waits up to a second
// for it, so that no number of forged ids has the ledger read more often. Errors are temporary, or those of the ledger.
func (r *Ring) Refresh(ctx context.Context) error {
	if r.store == nil {
		return nil
	}
	came := r.begun.Load()
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return &bus.TemporaryError{Op: "read the keys of the ledger", Err: context.Cause(ctx)}
	}
	if r.done > came {
		return nil // it has begun since
	}
	if err := r.pace.Wait(ctx); err != nil {
		return &bus.TemporaryError{Op: "read the keys of the ledger", Err: err}
	}
	number := r.begun.Add(1)
	keys, _, err := r.read(ctx)
	if err == nil && len(keys) > 0 {
		err = r.adopt(keys)
	}
	if err == nil {
		r.done = number
	}
	return err
}
