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
	prefixSize     = 16      // bytes of a SHA-256 that are remembered of each message
	chunkBytes     = 8 << 10 // of remembered messages in one entry of the store
	fateChunkBytes = 4 << 10 // of fates in one entry of the store, at least
)

// A mailboxLedger keeps a position in the store, the fate of every message, and
// the bytes' hashes of every message that was published, which tell known mail
// after UIDVALIDITY changed.
type mailboxLedger struct {
	store    bus.Store
	key      string
	revision uint64
	position position
	known    map[[prefixSize]byte]bool // loaded when they are needed

	fates fates  // of every message
	log   []span // of those that fill no entry yet, in the order of their noting

	// incomplete: fates that the position counts are gone from the store.
	incomplete bool

	// What stood in the store at the last commit, in bytes and spans. Only that
	// becomes an entry of its own: two doors that race then write the same bytes.
	storedRecent, storedLog int
}

func mailboxKey(account, mailbox string) string {
	sum := sha256.Sum256([]byte(account + "\x00" + mailbox))
	return "mailbox." + hex.EncodeToString(sum[:12])
}

// openLedger reads the ledger of a mailbox; found is false when the store has none. One
// that lacks some of its fates is incomplete.
func openLedger(ctx context.Context, store bus.Store, account, mailbox string) (ledger *mailboxLedger, found bool, err error) {
	ledger = &mailboxLedger{store: store, key: mailboxKey(account, mailbox)}
	value, revision, err := store.Get(ctx, ledger.key)
	if errors.Is(err, bus.ErrNotFound) {
		ledger.position = position{Version: positionVersion, Account: account, Mailbox: mailbox}
		return ledger, false, nil
	}
	if err == nil {
		err = schemas.Unmarshal(value, &ledger.position)
	}
	if err == nil {
		err = ledger.loadFates(ctx)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read mailbox ledger: %w", err)
	}
	ledger.revision, ledger.storedRecent, ledger.storedLog = revision, len(ledger.position.Recent), len(ledger.log)
	return ledger, true, nil
}

// loadFates reads the fate of every message.
func (l *mailboxLedger) loadFates(ctx context.Context) error {
	p := &l.position
	for number := range p.FateChunks {
		chunk, _, err := l.store.Get(ctx, l.fateKey(number))
		if err == nil {
			err = l.addFates(chunk, nil)
		}
		if errors.Is(err, bus.ErrNotFound) || errors.Is(err, errFates) {
			l.incomplete = true
			continue
		}
		if err != nil {
			return err
		}
	}
	if err := l.addFates(p.Fates, &l.log); err != nil {
		return err
	}
	if p.Version < fatesVersion {
		l.adoptEarlier()
	}
	if p.Version < positionVersion {
		p.Before = p.remembered()
	}
	p.Version = positionVersion
	return nil
}

// adoptEarlier gives a fate to what was dealt with before fates were kept.
func (l *mailboxLedger) adoptEarlier() {
	p := &l.position
	p.Passed = uint64(len(p.Failed))
	open := make([]uint32, len(p.Open))
	for i, one := range p.Open {
		open[i] = one.UID
	}
	slices.Sort(open)
	next := uint32(1)
	for _, uid := range append(open, p.LowWater+1) {
		if uid > next {
			l.note(span{first: next, last: uid - 1, fate: fateEarlier})
		}
		next = uid + 1
	}
	for _, one := range p.Failed {
		l.note(span{first: one.UID, last: one.UID, fate: fateFailed})
	}
}

func (l *mailboxLedger) addFates(packed []byte, log *[]span) error {
	spans, err := decodeSpans(packed)
	for _, s := range spans {
		l.fates = l.fates.set(s)
	}
	if log != nil {
		*log = spans
	}
	return err
}

// note keeps the fate of messages.
func (l *mailboxLedger) note(s span) {
	l.fates, l.log = l.fates.set(s), appendFate(l.log, s)
}

// unstored is how many spans the next commit adds.
func (l *mailboxLedger) unstored() int { return len(l.log) - l.storedLog }

// settle notes that a message is dealt with.
func (l *mailboxLedger) settle(uid uint32, kind fate) {
	if kind == fatePublished && uid <= l.position.LowWater && !l.position.isOpen(uid) {
		l.position.Counts.Recovered++
	}
	l.position.close(uid)
	l.position.Counts.count(kind, 1)
	l.note(span{first: uid, last: uid, fate: kind})
}

// fail notes that a message could not be had; broke says that the connection
// ended, and then each wait is twice the one before it. It returns true when the
// message is passed over from now on.
func (l *mailboxLedger) fail(uid uint32, reason string, broke bool, now time.Time, retry time.Duration) bool {
	p := &l.position
	one := p.close(uid)
	one.Tries++
	if broke {
		one.Breaks++
		retry <<= one.Breaks - 1
	}
	if one.Tries-one.Breaks < maxTries && one.Breaks < maxBreaks {
		one.Due = now.Add(retry)
		p.Open = append(p.Open, one)
		return false
	}
	l.note(span{first: uid, last: uid, fate: fateFailed})
	p.Passed++
	p.Failed = append(p.Failed, failedUID{UID: uid, Tries: one.Tries, Reason: reason, Time: now})
	p.Failed = p.Failed[max(0, len(p.Failed)-maxFailed):]
	return true
}

// restart forgets every UID, which a new UIDVALIDITY has voided. Hashes stay.
func (l *mailboxLedger) restart(uidValidity, next uint32) {
	p := &l.position
	p.UIDValidity, p.Backlog, p.LowWater, p.Passed, p.Before = uidValidity, next, 0, 0, p.remembered()
	l.known = nil
	p.Open, p.Failed, p.Unmarked, p.UnmarkedFailed, p.Canaries = nil, nil, nil, nil, nil
	p.FateChunks, l.fates, l.log, l.storedLog = 0, nil, nil, 0
}

// commit writes the ledger. It fails with bus.ErrConflict when someone else
// reads the same mailbox: then the ledger must be read anew.
func (l *mailboxLedger) commit(ctx context.Context) error {
	err := l.seal(ctx)
	l.position.Fates = encodeSpans(l.log)
	var value []byte
	if err == nil {
		value, err = schemas.Marshal(l.position)
	}
	if err != nil {
		return fmt.Errorf("write mailbox ledger: %w", err)
	}
	revision, err := l.store.Update(ctx, l.key, value, l.revision)
	if err != nil {
		return fmt.Errorf("write mailbox ledger: %w", err)
	}
	l.revision, l.storedRecent, l.storedLog = revision, len(l.position.Recent), len(l.log)
	return nil
}

// seal moves what is many into entries of its own. They go before the position
// that counts them; written again after a crash in between, they are the same.
func (l *mailboxLedger) seal(ctx context.Context) error {
	p := &l.position
	for l.storedRecent >= chunkBytes {
		if _, err := l.store.Put(ctx, l.chunkKey(p.Chunks), p.Recent[:chunkBytes]); err != nil {
			return err
		}
		p.Chunks++
		p.Recent, l.storedRecent = bytes.Clone(p.Recent[chunkBytes:]), l.storedRecent-chunkBytes
	}
	for {
		packed, spans := l.fullFates()
		if spans == 0 {
			return nil
		}
		if _, err := l.store.Put(ctx, l.fateKey(p.FateChunks), packed); err != nil {
			return err
		}
		p.FateChunks++
		l.log, l.storedLog = slices.Clone(l.log[spans:]), l.storedLog-spans
	}
}

// fullFates returns the first spans of the log that fill an entry; the newest
// stored one may still grow.
func (l *mailboxLedger) fullFates() (packed []byte, spans int) {
	previous := uint32(0)
	for _, s := range l.log[:max(0, l.storedLog-1)] {
		packed, previous = appendSpan(packed, previous, s), s.last
		if spans++; len(packed) >= fateChunkBytes {
			return packed, spans
		}
	}
	return nil, 0
}

func (l *mailboxLedger) chunkKey(number int) string {
	return fmt.Sprintf("%s.known.%06d", l.key, number)
}

func (l *mailboxLedger) fateKey(number int) string {
	return fmt.Sprintf("%s.fate.%d.%06d", l.key, l.position.UIDValidity, number)
}

// remember adds a message to those that are known.
func (l *mailboxLedger) remember(sha256Hex string) {
	prefix := hashPrefix(sha256Hex)
	l.position.Recent = append(l.position.Recent, prefix[:]...)
}

// isKnown tells whether a message with these bytes was published before UIDVALIDITY
// changed. Those that were published since have their fates: another one with the
// same bytes is another mail.
func (l *mailboxLedger) isKnown(ctx context.Context, sha256Hex string) (bool, error) {
	if l.known == nil {
		known := map[[prefixSize]byte]bool{}
		left := l.position.Before * prefixSize
		for number := 0; number < l.position.Chunks && left > 0; number++ {
			chunk, _, err := l.store.Get(ctx, l.chunkKey(number))
			if err != nil {
				return false, fmt.Errorf("read mailbox ledger: %w", err)
			}
			addPrefixes(known, chunk[:min(len(chunk), left)])
			left -= min(len(chunk), left)
		}
		addPrefixes(known, l.position.Recent[:min(len(l.position.Recent), left)])
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
