package mailbox

import (
	"slices"
	"time"
)

const (
	maxTries  = 3   // to fetch a message that the server refuses, before it is passed over
	maxBreaks = 8   // to fetch one at which the connection ends: that may be chance
	maxFailed = 100 // messages passed over that are named with their reason
)

// MaxOpen is how many messages may wait for another try; above it no new ones are taken.
const MaxOpen = 256

// A Cursor is how far a mailbox has been dealt with: one entry of the store,
// written with compare-and-set after each batch. Whatever grows with the mailbox
// is moved from it into entries that never change again.
type Cursor struct {
	Account     string `json:"account"`
	Mailbox     string `json:"mailbox"`
	UIDValidity uint32 `json:"uid_validity"`
	// LowWater: every message up to this UID is dealt with, except those in Open.
	LowWater uint32      `json:"low_water"`
	Open     []OpenUID   `json:"open,omitzero"`   // to be tried again
	Failed   []FailedUID `json:"failed,omitzero"` // passed over: the newest of them
	Passed   uint64      `json:"passed,omitzero"` // passed over under this UIDVALIDITY
	Since    time.Time   `json:"since"`           // mail of the backlog that is older was never to be taken
	Backlog  uint32      `json:"backlog"`         // messages below this UID were there at first contact, or when UIDVALIDITY changed
	Chunks   int         `json:"chunks,omitzero"` // full entries of remembered messages
	Recent   []byte      `json:"recent,omitzero"` // remembered messages that fill no entry yet
	Before   int         `json:"before,omitzero"` // how many of the remembered ones are from before UIDVALIDITY changed
	Counts   Counts      `json:"counts"`
	Rebuilt  time.Time   `json:"rebuilt,omitzero"` // when it was last made again from the events
	// Dispositions is the end of the log of dispositions; DispositionChunks counts the entries that
	// hold what stands before it.
	Dispositions      []byte `json:"dispositions,omitzero"`
	DispositionChunks int    `json:"disposition_chunks,omitzero"`
	// What is dealt with, and not yet flagged or moved; passed over, and not yet
	// moved; ours, and not yet removed.
	Unmarked       []uint32 `json:"unmarked,omitzero"`
	UnmarkedFailed []uint32 `json:"unmarked_failed,omitzero"`
	Canaries       []uint32 `json:"canaries,omitzero"`
}

// An OpenUID is a message that could not be had yet.
type OpenUID struct {
	UID    uint32    `json:"uid"`
	Tries  int       `json:"tries"`
	Breaks int       `json:"breaks,omitzero"` // tries at which the connection ended
	Due    time.Time `json:"due"`             // not to be tried again before
}

// A FailedUID is a message that was passed over.
type FailedUID struct {
	UID    uint32    `json:"uid"`
	Tries  int       `json:"tries"`
	Reason string    `json:"reason"`
	Time   time.Time `json:"time"`
}

// Counts counts what became of messages, over the life of the mailbox.
type Counts struct {
	Published uint64 `json:"published"`
	Known     uint64 `json:"known"`              // passed over after UIDVALIDITY changed
	Old       uint64 `json:"old"`                // older than Since
	Vanished  uint64 `json:"vanished"`           // removed by someone before they could be had
	Canary    uint64 `json:"canary,omitzero"`    // that the adapter has sent to itself
	Recovered uint64 `json:"recovered,omitzero"` // found below LowWater without a disposition, and published then
}

func (c *Counts) count(kind Disposition, messages uint64) {
	switch kind {
	case DispositionPublished:
		c.Published += messages
	case DispositionKnown:
		c.Known += messages
	case DispositionOld:
		c.Old += messages
	case DispositionVanished:
		c.Vanished += messages
	case DispositionCanary:
		c.Canary += messages
	case DispositionNone, DispositionFailed, dispositionCount:
	}
}

// close takes a message from those that are open and returns what was tried.
func (p *Cursor) close(uid uint32) OpenUID {
	p.LowWater = max(p.LowWater, uid)
	closed := OpenUID{UID: uid}
	p.Open = slices.DeleteFunc(p.Open, func(o OpenUID) bool {
		if o.UID == uid {
			closed = o
		}
		return o.UID == uid
	})
	return closed
}

// IsOpen reports whether a message is to be tried again.
func (p *Cursor) IsOpen(uid uint32) bool {
	return slices.ContainsFunc(p.Open, func(o OpenUID) bool { return o.UID == uid })
}

// Breaks returns how often the connection ended at a message.
func (p *Cursor) Breaks(uid uint32) int {
	for _, one := range p.Open {
		if one.UID == uid {
			return one.Breaks
		}
	}
	return 0
}

// Remembered is how many messages are.
func (p *Cursor) Remembered() int {
	return p.Chunks*(chunkBytes/prefixSize) + len(p.Recent)/prefixSize
}

// LongestWait is longer than any try is put off.
func LongestWait(retry time.Duration) time.Duration { return retry << maxBreaks }

// Due returns the open messages whose time has come, and when the next one's comes.
// One that is further off than the longest wait was noted while the clock was ahead.
func (p *Cursor) Due(now time.Time, longest time.Duration) (uids []uint32, next time.Time) {
	for _, one := range p.Open {
		if !one.Due.After(now) || one.Due.Sub(now) > longest {
			uids = append(uids, one.UID)
		} else if next.IsZero() || one.Due.Before(next) {
			next = one.Due
		}
	}
	slices.Sort(uids)
	return uids, next
}
