package imap

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"podium/bus"
	"podium/schemas"
)

const (
	maxTries   = 3   // to fetch a message before it is passed over
	prefixSize = 16  // bytes of a SHA-256 that are remembered of each message
	chunkCount = 512 // messages remembered in one entry of the store
)

// A position is how far a mailbox has been dealt with: one entry of the store,
// written with compare-and-set after each batch.
type position struct {
	Account     string `json:"account"`
	Mailbox     string `json:"mailbox"`
	UIDValidity uint32 `json:"uid_validity"`
	// LowWater: every message up to this UID is dealt with, except those in Open.
	LowWater uint32       `json:"low_water"`
	Open     []openUID    `json:"open,omitzero"`   // to be tried again
	Failed   []failedUID  `json:"failed,omitzero"` // passed over
	Since    time.Time    `json:"since"`           // mail of the backlog that is older was never to be taken
	Backlog  uint32       `json:"backlog"`         // messages below this UID were there at first contact, or when UIDVALIDITY changed
	Chunks   int          `json:"chunks,omitzero"` // full entries of remembered messages
	Recent   []byte       `json:"recent,omitzero"` // remembered messages that fill no entry yet
	Counts   outcomeCount `json:"counts"`
}

// An openUID is a message that could not be had yet.
type openUID struct {
	UID   uint32    `json:"uid"`
	Tries int       `json:"tries"`
	Due   time.Time `json:"due"` // not to be tried again before
}

// A failedUID is a message that was passed over.
type failedUID struct {
	UID    uint32    `json:"uid"`
	Tries  int       `json:"tries"`
	Reason string    `json:"reason"`
	Time   time.Time `json:"time"`
}

// outcomeCount counts what became of messages, over the life of the mailbox.
type outcomeCount struct {
	Published uint64 `json:"published"`
	Known     uint64 `json:"known"`    // passed over after UIDVALIDITY changed
	Old       uint64 `json:"old"`      // older than Since
	Vanished  uint64 `json:"vanished"` // removed by someone before they could be had
}

// settle notes that a message is dealt with.
func (p *position) settle(uid uint32) {
	p.LowWater = max(p.LowWater, uid)
	p.Open = slices.DeleteFunc(p.Open, func(o openUID) bool { return o.UID == uid })
}

// fail notes that a message could not be had. It returns true when it is
// passed over from now on.
func (p *position) fail(uid uint32, reason string, now time.Time, retry time.Duration) bool {
	tries := 1
	for _, known := range p.Open {
		if known.UID == uid {
			tries += known.Tries
		}
	}
	p.settle(uid)
	if tries >= maxTries {
		p.Failed = append(p.Failed, failedUID{UID: uid, Tries: tries, Reason: reason, Time: now})
		return true
	}
	p.Open = append(p.Open, openUID{UID: uid, Tries: tries, Due: now.Add(retry)})
	return false
}

// due returns the open messages whose time has come, and when the next one's comes.
func (p *position) due(now time.Time) (uids []uint32, next time.Time) {
	for _, one := range p.Open {
		if !one.Due.After(now) {
			uids = append(uids, one.UID)
		} else if next.IsZero() || one.Due.Before(next) {
			next = one.Due
		}
	}
	slices.Sort(uids)
	return uids, next
}

// A mailboxLedger keeps a position in the store, and the bytes' hashes of every
// message that was published, which tell known mail after UIDVALIDITY changed.
type mailboxLedger struct {
	store    bus.Store
	key      string
	revision uint64
	position position
	known    map[[prefixSize]byte]bool // loaded when they are needed
}

func mailboxKey(account, mailbox string) string {
	sum := sha256.Sum256([]byte(account + "\x00" + mailbox))
	return "mailbox." + hex.EncodeToString(sum[:12])
}

// openLedger reads the position of a mailbox; found is false at first contact.
func openLedger(ctx context.Context, store bus.Store, account, mailbox string) (ledger *mailboxLedger, found bool, err error) {
	ledger = &mailboxLedger{store: store, key: mailboxKey(account, mailbox)}
	value, revision, err := store.Get(ctx, ledger.key)
	if errors.Is(err, bus.ErrNotFound) {
		ledger.position = position{Account: account, Mailbox: mailbox}
		return ledger, false, nil
	}
	if err == nil {
		err = schemas.Unmarshal(value, &ledger.position)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read mailbox ledger: %w", err)
	}
	ledger.revision = revision
	return ledger, true, nil
}

// commit writes the position. It fails with bus.ErrConflict when someone else
// reads the same mailbox: then the position must be read anew.
func (l *mailboxLedger) commit(ctx context.Context) error {
	for len(l.position.Recent) >= chunkCount*prefixSize {
		// The entry goes before the position that counts it; written again after
		// a crash in between, it is the same.
		chunk := l.position.Recent[:chunkCount*prefixSize]
		if _, err := l.store.Put(ctx, l.chunkKey(l.position.Chunks), chunk); err != nil {
			return fmt.Errorf("write mailbox ledger: %w", err)
		}
		l.position.Chunks++
		l.position.Recent = bytes.Clone(l.position.Recent[len(chunk):])
	}
	value, err := schemas.Marshal(l.position)
	if err != nil {
		return err
	}
	revision, err := l.store.Update(ctx, l.key, value, l.revision)
	if err != nil {
		return fmt.Errorf("write mailbox ledger: %w", err)
	}
	l.revision = revision
	return nil
}

func (l *mailboxLedger) chunkKey(number int) string {
	return fmt.Sprintf("%s.known.%06d", l.key, number)
}

// remember adds a message to those that are known.
func (l *mailboxLedger) remember(sha256Hex string) {
	prefix := hashPrefix(sha256Hex)
	l.position.Recent = append(l.position.Recent, prefix[:]...)
	if l.known != nil {
		l.known[prefix] = true
	}
}

// isKnown tells whether a message with these bytes was published before.
func (l *mailboxLedger) isKnown(ctx context.Context, sha256Hex string) (bool, error) {
	if l.known == nil {
		known := map[[prefixSize]byte]bool{}
		for number := range l.position.Chunks {
			chunk, _, err := l.store.Get(ctx, l.chunkKey(number))
			if err != nil {
				return false, fmt.Errorf("read mailbox ledger: %w", err)
			}
			addPrefixes(known, chunk)
		}
		addPrefixes(known, l.position.Recent)
		l.known = known
	}
	return l.known[hashPrefix(sha256Hex)], nil
}

func addPrefixes(known map[[prefixSize]byte]bool, packed []byte) {
	for prefix := range slices.Chunk(packed, prefixSize) {
		if len(prefix) == prefixSize {
			known[[prefixSize]byte(prefix)] = true
		}
	}
}

func hashPrefix(sha256Hex string) (prefix [prefixSize]byte) {
	_, _ = hex.Decode(prefix[:], []byte(sha256Hex[:2*prefixSize])) // hex by construction
	return prefix
}
