// Package mailbox is the ledger of one mailbox: how far it has been dealt with, and what
// became of each of its messages. It stands in the store, apart from the events, and not
// in the mailbox, where anybody may change flags.
//
// Guarantees:
//
//   - Every UID of a UIDVALIDITY has one disposition, or waits for another try, or was not
//     dealt with. What is noted is stored as a whole by Commit, or not.
//   - Two who write the same ledger do not undo each other: the second fails with
//     bus.ErrConflict and has to read it anew.
//   - However many messages a mailbox has, no entry grows beyond some kilobytes. One that
//     is full never changes again.
//   - A ledger that lacks entries is Incomplete, and says so; it makes nothing up.
//
// It also gives a message its identity, that of its event (EventID). It reads no mail,
// speaks to no server, and flushes nothing to the disk: when that is to be done is for
// whoever publishes the events to know.
package mailbox
