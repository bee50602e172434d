// Package supervisor is the shell around the decision machines: it owns shards
// of the ledger, reads their inputs in order, stores what was decided and sends
// what follows from it. It decides nothing itself.
//
// An [Owner] owns one shard. It is single-threaded: [Owner.Tick] takes the
// moment as an argument, never waits, and is called by [Owner.Run] in
// production and by the simulator in tests. Its promises, for one session:
//
//   - An input is decided at most once; its record is appended with the expected
//     sequence of the record before it, so two owners may race but cannot
//     contradict each other.
//   - A record takes all inputs that wait, each decided on the state after the one
//     before it, up to the first that has outputs. These are published and
//     acknowledged before the next input is decided. So only the last transition
//     of a session's last record can have outputs outstanding, and whoever loads the session
//     publishes them again, under the same ids.
//   - Inputs are decided in the order of the stream. A failing append or publish
//     holds its session back and no other; nothing is skipped.
//   - Whatever leaves no record, such as a refusal, goes by a session that is known to
//     be as the ledger had it when the input was stored, whoever wrote to it.
//
// The low watermark of the checkpoints is the sequence up to which all of that is done.
//
// Its files stand in the order of a message's way, and none calls one before it: lifecycle, owner,
// takeover, advance, read, prepare, decide, batch, store, load, orphans, send, evaluate, fetch,
// quarantine, notify, confirm, input, evict, session, stage. What they use lies below, each in a
// package of its own: admission, checkpoint, restore, progress, publisher, quarantine, eventloop.
package supervisor
