// Package audit proves that every message of a mailbox is accounted for: it compares what
// the mail server has with the ledger of the mailbox, and that with the events and with
// what the sessions have decided about them.
//
// Guarantees:
//
//   - Each message has exactly one outcome, with its reason, or is a gap.
//   - Mail that comes in while an audit runs is pending, and never a gap: the parts are
//     read against the order in which they are written.
//   - It writes nothing, neither on the server nor on the ledger.
//
// It closes no gap: whoever reads the mailbox finds it in its next cycle and takes it.
package audit
