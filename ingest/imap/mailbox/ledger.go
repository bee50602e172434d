package mailbox

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

// A Ledger keeps a position in the store, the fate of every message, and
// the bytes' hashes of every message that was published, which tell known mail
// after UIDVALIDITY changed.
type Ledger struct {
	store    bus.Store
	key      string
	revision uint64
	Position Position
	known    map[[prefixSize]byte]bool // loaded when they are needed

	Fates Fates  // of every message
	log   []Span // of those that fill no entry yet, in the order of their noting

	// incomplete: fates that the position counts are gone from the store.
	Incomplete bool

	// What stood in the store at the last commit, in bytes and spans. Only that
	// becomes an entry of its own: two doors that race then write the same bytes.
	storedRecent, storedLog int
}

func mailboxKey(account, mailbox string) string {
	sum := sha256.Sum256([]byte(account + "\x00" + mailbox))
	return "mailbox." + hex.EncodeToString(sum[:12])
}

// Open reads the ledger of a mailbox; found is false when the store has none. One
// that lacks some of its fates is incomplete.
func Open(ctx context.Context, store bus.Store, account, mailbox string) (ledger *Ledger, found bool, err error) {
	ledger = &Ledger{store: store, key: mailboxKey(account, mailbox)}
	value, revision, err := store.Get(ctx, ledger.key)
	if errors.Is(err, bus.ErrNotFound) {
		ledger.Position = Position{Version: positionVersion, Account: account, Mailbox: mailbox}
		return ledger, false, nil
	}
	if err == nil {
		err = schemas.Unmarshal(value, &ledger.Position)
	}
	if err == nil {
		err = ledger.loadFates(ctx)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read mailbox ledger: %w", err)
	}
	ledger.revision, ledger.storedRecent, ledger.storedLog = revision, len(ledger.Position.Recent), len(ledger.log)
	return ledger, true, nil
}

// loadFates reads the fate of every message.
func (l *Ledger) loadFates(ctx context.Context) error {
	p := &l.Position
	for number := range p.FateChunks {
		chunk, _, err := l.store.Get(ctx, l.fateKey(number))
		if err == nil {
			err = l.addFates(chunk, nil)
		}
		if errors.Is(err, bus.ErrNotFound) || errors.Is(err, errFates) {
			l.Incomplete = true
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
		p.Before = p.Remembered()
	}
	p.Version = positionVersion
	return nil
}

// adoptEarlier gives a fate to what was dealt with before fates were kept.
func (l *Ledger) adoptEarlier() {
	p := &l.Position
	p.Passed = uint64(len(p.Failed))
	open := make([]uint32, len(p.Open))
	for i, one := range p.Open {
		open[i] = one.UID
	}
	slices.Sort(open)
	next := uint32(1)
	for _, uid := range append(open, p.LowWater+1) {
		if uid > next {
			l.note(Span{First: next, Last: uid - 1, Fate: FateEarlier})
		}
		next = uid + 1
	}
	for _, one := range p.Failed {
		l.note(Span{First: one.UID, Last: one.UID, Fate: FateFailed})
	}
}

func (l *Ledger) addFates(packed []byte, log *[]Span) error {
	spans, err := decodeSpans(packed)
	for _, s := range spans {
		l.Fates = l.Fates.set(s)
	}
	if log != nil {
		*log = spans
	}
	return err
}

// note keeps the fate of messages.
func (l *Ledger) note(s Span) {
	l.Fates, l.log = l.Fates.set(s), appendFate(l.log, s)
}

// Unstored is how many spans the next commit adds.
func (l *Ledger) Unstored() int { return len(l.log) - l.storedLog }

// Settle notes that a message is dealt with.
func (l *Ledger) Settle(uid uint32, kind Fate) {
	if kind == FatePublished && uid <= l.Position.LowWater && !l.Position.IsOpen(uid) {
		l.Position.Counts.Recovered++
	}
	l.Position.close(uid)
	l.Position.Counts.count(kind, 1)
	l.note(Span{First: uid, Last: uid, Fate: kind})
}

// Fail notes that a message could not be had; broke says that the connection
// ended, and then each wait is twice the one before it. It returns true when the
// message is passed over from now on.
func (l *Ledger) Fail(uid uint32, reason string, broke bool, now time.Time, retry time.Duration) bool {
	p := &l.Position
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
	l.note(Span{First: uid, Last: uid, Fate: FateFailed})
	p.Passed++
	p.Failed = append(p.Failed, FailedUID{UID: uid, Tries: one.Tries, Reason: reason, Time: now})
	p.Failed = p.Failed[max(0, len(p.Failed)-maxFailed):]
	return true
}

// Restart forgets every UID, which a new UIDVALIDITY has voided. Hashes stay.
func (l *Ledger) Restart(uidValidity, next uint32) {
	p := &l.Position
	p.UIDValidity, p.Backlog, p.LowWater, p.Passed, p.Before = uidValidity, next, 0, 0, p.Remembered()
	l.known = nil
	p.Open, p.Failed, p.Unmarked, p.UnmarkedFailed, p.Canaries = nil, nil, nil, nil, nil
	p.FateChunks, l.Fates, l.log, l.storedLog = 0, nil, nil, 0
}

// NotePublished notes messages, whose UIDs ascend, and has the next commit write all
// fates and all that is remembered anew.
func (l *Ledger) NotePublished(uids []uint32) {
	var spans []Span
	for _, uid := range uids {
		spans = appendFate(spans, Span{First: uid, Last: uid, Fate: FatePublished})
	}
	for _, s := range spans {
		l.Fates = l.Fates.set(s)
	}
	l.log, l.Position.FateChunks = slices.Clone(l.Fates), 0
	l.storedLog, l.storedRecent = len(l.log), len(l.Position.Recent)
}

// Commit writes the ledger. It fails with bus.ErrConflict when someone else
// reads the same mailbox: then the ledger must be read anew.
func (l *Ledger) Commit(ctx context.Context) error {
	err := l.seal(ctx)
	l.Position.Fates = encodeSpans(l.log)
	var value []byte
	if err == nil {
		value, err = schemas.Marshal(l.Position)
	}
	if err != nil {
		return fmt.Errorf("write mailbox ledger: %w", err)
	}
	revision, err := l.store.Update(ctx, l.key, value, l.revision)
	if err != nil {
		return fmt.Errorf("write mailbox ledger: %w", err)
	}
	l.revision, l.storedRecent, l.storedLog = revision, len(l.Position.Recent), len(l.log)
	return nil
}

// seal moves what is many into entries of its own. They go before the position
// that counts them; written again after a crash in between, they are the same.
func (l *Ledger) seal(ctx context.Context) error {
	p := &l.Position
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
func (l *Ledger) fullFates() (packed []byte, spans int) {
	previous := uint32(0)
	for _, s := range l.log[:max(0, l.storedLog-1)] {
		packed, previous = appendSpan(packed, previous, s), s.Last
		if spans++; len(packed) >= fateChunkBytes {
			return packed, spans
		}
	}
	return nil, 0
}

func (l *Ledger) chunkKey(number int) string {
	return fmt.Sprintf("%s.known.%06d", l.key, number)
}

func (l *Ledger) fateKey(number int) string {
	return fmt.Sprintf("%s.fate.%d.%06d", l.key, l.Position.UIDValidity, number)
}

// Remember adds a message to those that are known.
func (l *Ledger) Remember(sha256Hex string) {
	prefix := hashPrefix(sha256Hex)
	l.Position.Recent = append(l.Position.Recent, prefix[:]...)
}

// Forget drops whatever is remembered.
func (l *Ledger) Forget() {
	l.Position.Chunks, l.Position.Recent, l.known = 0, nil, nil
}

// IsKnown tells whether a message with these bytes was published before UIDVALIDITY
// changed. Those that were published since have their fates: another one with the
// same bytes is another mail.
func (l *Ledger) IsKnown(ctx context.Context, sha256Hex string) (bool, error) {
	if l.known == nil {
		known := map[[prefixSize]byte]bool{}
		left := l.Position.Before * prefixSize
		for number := 0; number < l.Position.Chunks && left > 0; number++ {
			chunk, _, err := l.store.Get(ctx, l.chunkKey(number))
			if err != nil {
				return false, fmt.Errorf("read mailbox ledger: %w", err)
			}
			addPrefixes(known, chunk[:min(len(chunk), left)])
			left -= min(len(chunk), left)
		}
		addPrefixes(known, l.Position.Recent[:min(len(l.Position.Recent), left)])
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
