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
	prefixSize            = 16      // bytes of a SHA-256 that are remembered of each message
	chunkBytes            = 8 << 10 // of remembered messages in one entry of the store
	dispositionChunkBytes = 4 << 10 // of dispositions in one entry of the store, at least
)

// A Ledger keeps a cursor in the store, the disposition of every message, and
// the bytes' hashes of every message that was published, which tell known mail
// after UIDVALIDITY changed.
type Ledger struct {
	store    bus.KeyValue
	key      string
	revision uint64
	Cursor   Cursor
	known    map[[prefixSize]byte]bool // loaded when they are needed

	Dispositions Dispositions // of every message
	log          []Span       // of those that fill no entry yet, in the order of their noting

	// incomplete: dispositions that the cursor counts are gone from the store.
	Incomplete bool

	// What stood in the store at the last commit, in bytes and spans. Only that
	// becomes an entry of its own: two adapters that race then write the same bytes.
	storedRecent, storedLog int
}

func mailboxKey(account, mailbox string) string {
	sum := sha256.Sum256([]byte(account + "\x00" + mailbox))
	return "mailbox." + hex.EncodeToString(sum[:12])
}

// Open reads the ledger of a mailbox; found is false when the store has none. One
// that lacks some of its dispositions is incomplete.
func Open(ctx context.Context, store bus.KeyValue, account, mailbox string) (ledger *Ledger, found bool, err error) {
	ledger = &Ledger{store: store, key: mailboxKey(account, mailbox)}
	value, revision, err := store.Get(ctx, ledger.key)
	if errors.Is(err, bus.ErrNotFound) {
		ledger.Cursor = Cursor{Account: account, Mailbox: mailbox}
		return ledger, false, nil
	}
	if err == nil {
		err = schemas.Unmarshal(value, &ledger.Cursor)
	}
	if err == nil {
		err = ledger.loadDispositions(ctx)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read mailbox ledger: %w", err)
	}
	ledger.revision, ledger.storedRecent, ledger.storedLog = revision, len(ledger.Cursor.Recent), len(ledger.log)
	return ledger, true, nil
}

// loadDispositions reads the disposition of every message.
func (l *Ledger) loadDispositions(ctx context.Context) error {
	p := &l.Cursor
	for number := range p.DispositionChunks {
		chunk, _, err := l.store.Get(ctx, l.dispositionKey(number))
		var spans []Span
		if err == nil {
			spans, err = decodeSpans(chunk)
		}
		if errors.Is(err, bus.ErrNotFound) || errors.Is(err, errDispositions) {
			l.Incomplete = true
			continue
		}
		if err != nil {
			return err
		}
		l.Dispositions = l.Dispositions.set(spans...)
	}
	var err error
	l.log, err = decodeSpans(p.Dispositions)
	l.Dispositions = l.Dispositions.set(l.log...)
	return err
}

// note keeps the disposition of messages.
func (l *Ledger) note(s Span) {
	l.Dispositions, l.log = l.Dispositions.set(s), noteSpan(l.log, s)
}

// Unstored is how many spans the next commit adds.
func (l *Ledger) Unstored() int { return len(l.log) - l.storedLog }

// Settle notes that a message is dealt with.
func (l *Ledger) Settle(uid uint32, kind Disposition) {
	if kind == DispositionPublished && uid <= l.Cursor.LowWater && !l.Cursor.IsOpen(uid) {
		l.Cursor.Counts.Recovered++
	}
	l.Cursor.close(uid)
	l.Cursor.Counts.count(kind, 1)
	l.note(Span{First: uid, Last: uid, Disposition: kind})
}

// Fail notes that a message could not be had; broke says that the connection
// ended, and then each wait is twice the one before it. It returns true when the
// message is passed over from now on.
func (l *Ledger) Fail(uid uint32, reason string, broke bool, now time.Time, retry time.Duration) bool {
	p := &l.Cursor
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
	l.note(Span{First: uid, Last: uid, Disposition: DispositionFailed})
	p.Passed++
	p.Failed = append(p.Failed, FailedUID{UID: uid, Tries: one.Tries, Reason: reason, Time: now})
	p.Failed = p.Failed[max(0, len(p.Failed)-maxFailed):]
	return true
}

// Restart forgets every UID, which a new UIDVALIDITY has voided. Hashes stay.
func (l *Ledger) Restart(uidValidity, next uint32) {
	p := &l.Cursor
	p.UIDValidity, p.Backlog, p.LowWater, p.Passed, p.Before = uidValidity, next, 0, 0, p.Remembered()
	l.known = nil
	p.Open, p.Failed, p.Unmarked, p.UnmarkedFailed, p.Canaries = nil, nil, nil, nil, nil
	p.DispositionChunks, l.Dispositions, l.log, l.storedLog = 0, nil, nil, 0
}

// NotePublished notes messages, whose UIDs ascend, and has the next commit write all
// dispositions and all that is remembered anew.
func (l *Ledger) NotePublished(uids []uint32) {
	var spans []Span
	for _, uid := range uids {
		spans = noteSpan(spans, Span{First: uid, Last: uid, Disposition: DispositionPublished})
	}
	l.Dispositions = l.Dispositions.set(spans...)
	l.log, l.Cursor.DispositionChunks = slices.Clone(l.Dispositions), 0
	l.storedLog, l.storedRecent = len(l.log), len(l.Cursor.Recent)
}

// Commit writes the ledger. It fails with bus.ErrConflict when someone else
// reads the same mailbox: then the ledger must be read anew.
func (l *Ledger) Commit(ctx context.Context) error {
	err := l.seal(ctx)
	l.Cursor.Dispositions = encodeSpans(l.log)
	var value []byte
	if err == nil {
		value, err = schemas.Marshal(l.Cursor)
	}
	if err != nil {
		return fmt.Errorf("write mailbox ledger: %w", err)
	}
	revision, err := l.store.Update(ctx, l.key, value, l.revision)
	if err != nil {
		return fmt.Errorf("write mailbox ledger: %w", err)
	}
	l.revision, l.storedRecent, l.storedLog = revision, len(l.Cursor.Recent), len(l.log)
	return nil
}

// seal moves what is many into entries of its own. They go before the cursor
// that counts them; written again after a crash in between, they are the same.
func (l *Ledger) seal(ctx context.Context) error {
	p := &l.Cursor
	for l.storedRecent >= chunkBytes {
		if _, err := l.store.Put(ctx, l.chunkKey(p.Chunks), p.Recent[:chunkBytes]); err != nil {
			return err
		}
		p.Chunks++
		p.Recent, l.storedRecent = bytes.Clone(p.Recent[chunkBytes:]), l.storedRecent-chunkBytes
	}
	for {
		packed, spans := l.fullDispositions()
		if spans == 0 {
			return nil
		}
		if _, err := l.store.Put(ctx, l.dispositionKey(p.DispositionChunks), packed); err != nil {
			return err
		}
		p.DispositionChunks++
		l.log, l.storedLog = slices.Clone(l.log[spans:]), l.storedLog-spans
	}
}

// fullDispositions returns the first spans of the log that fill an entry; the newest
// stored one may still grow.
func (l *Ledger) fullDispositions() (packed []byte, spans int) {
	previous := uint32(0)
	for _, s := range l.log[:max(0, l.storedLog-1)] {
		packed, previous = appendSpan(packed, previous, s), s.Last
		if spans++; len(packed) >= dispositionChunkBytes {
			return packed, spans
		}
	}
	return nil, 0
}

func (l *Ledger) chunkKey(number int) string {
	return fmt.Sprintf("%s.known.%06d", l.key, number)
}

func (l *Ledger) dispositionKey(number int) string {
	return fmt.Sprintf("%s.disposition.%d.%06d", l.key, l.Cursor.UIDValidity, number)
}

// Remember adds a message to those that are known.
func (l *Ledger) Remember(sha256Hex string) {
	prefix := hashPrefix(sha256Hex)
	l.Cursor.Recent = append(l.Cursor.Recent, prefix[:]...)
}

// Forget drops whatever is remembered.
func (l *Ledger) Forget() {
	l.Cursor.Chunks, l.Cursor.Recent, l.known = 0, nil, nil
}

// IsKnown tells whether a message with these bytes was published before UIDVALIDITY
// changed. Those that were published since have their dispositions: another one with the
// same bytes is another mail.
func (l *Ledger) IsKnown(ctx context.Context, sha256Hex string) (bool, error) {
	if l.known == nil {
		known := map[[prefixSize]byte]bool{}
		left := l.Cursor.Before * prefixSize
		for number := 0; number < l.Cursor.Chunks && left > 0; number++ {
			chunk, _, err := l.store.Get(ctx, l.chunkKey(number))
			if err != nil {
				return false, fmt.Errorf("read mailbox ledger: %w", err)
			}
			addPrefixes(known, chunk[:min(len(chunk), left)])
			left -= min(len(chunk), left)
		}
		addPrefixes(known, l.Cursor.Recent[:min(len(l.Cursor.Recent), left)])
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
