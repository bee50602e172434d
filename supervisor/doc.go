// Package supervisor decides what becomes of each message. A process owns a shard: it reads
// the shard's messages in order, has each decided, appends the decision as a record, and
// sends what follows from it.
//
// The judgement is pure and lies below: package session decides what happens next in a
// session, plan in a run, route who does a task. The effects lie above: only agents touch
// the world, and they are asked by messages like everybody else.
//
//	session      a mail thread or a chat, as a state: what its records add up to
//	transition   one decision: a state and an input become facts, and the next state
//	record       one append to a session: a transition, or several
//	epoch        the time of one owner; its number grows by one at each takeover
//	checkpoint   where an owner stands: up to which input all is done, and what is open
//
// # Where to begin
//
// An [Owner] owns one shard. [Owner.Run] takes it over ([Owner.Open]) and calls
// [Owner.Tick] until its context ends. Tick does all work that is possible now, and never
// waits. The time is an argument, so that a simulation repeats exactly. ExampleOwner_Run is
// a whole Podium in memory. When Run fails, the owner is of no more use: make a new one,
// unless the error is [ErrNotOwner].
//
// A message passes read, advance, prepare, decide, evaluate, store, send. The files stand
// in the order of calls: each calls only those listed behind it.
//
//	lifecycle, owner         Run, and one turn of the loop
//	takeover                 what another owner has left
//	advance                  what a session does next
//	read, prepare            inputs in order, and what they need first
//	decide, batch            from inputs to a record, by the pure machine
//	store                    the record goes onto the ledger; before that nothing has happened
//	load, orphans            sessions that are not in memory, answers that belong to none
//	send                     the outputs of the record
//	evaluate, fetch_missing  one decision, and what it lacks
//	damaged, quarantine      what stands on something lost, and messages that cannot be used
//	hints                    answers to questions for a permit, and cancel hints
//	confirm                  whether a session is still as it is on the ledger
//	input, evict             one message on its way; sessions that leave the memory
//	session, stage           a live session, and the drawing of its stages
//
// What they use lies in packages of their own, and docs/architecture.md follows one mail
// through all of it:
//
//	admission    which of the tasks that wait may go: room, breakers, leases
//	checkpoint   what a takeover reads, and the low watermark
//	restore      sessions, inputs and profiles, read again from the ledger
//	publisher    messages are published until the ledger has them
//	eventloop    what has come of operations, and what is due, one after the other
//	progress     whoever asked for a run is told how far it is
//	quarantine   what is kept of a message that cannot be used
//	gateway      requests to a supervisor come in; answers without replyto find their shard
//
// # What it guarantees
//
// For one session:
//
//   - An input is decided at most once (TestARequestThatComesAgain_X03). Its record is
//     appended with the expected sequence of the record before it, so two owners may
//     race but cannot contradict each other (TestTwoOwnersShareRecords_X03).
//   - A record takes all inputs that wait, each decided on the state after the one before
//     it, up to the first that has outputs. These are acknowledged before the next input is
//     decided. So only the last transition of a session's last record can have outputs
//     outstanding, and whoever loads the session publishes them again, under the same ids
//     (TestTakeoverEmitsWhatIsOwed_X03).
//   - Inputs are decided in the order of the stream. A failing append or publish holds
//     its session back and no other (TestAStuckSessionHoldsNobodyUp); nothing is
//     skipped (TestNothingSkippedBeforeQuarantine_X06).
//   - An input may leave no record, such as one that is refused. Then no failed append tells
//     the owner that its copy of the session is old. So it looks first whether the copy is
//     what the ledger had when the input was stored (TestFormerOwnerRefusesNothing_X03).
//
// The low watermark is the sequence up to which all of that is done. Package sim holds it
// against every fault at once, from seeds; package verify decides a shard again and compares.
//
// # What it does not do
//
// It does no work, reads no mail, speaks no NATS. It does not choose which process owns
// which shard: two owners of one shard are safe, and the later one ends the former
// (TestRunYieldsToASecondOwner_X03).
package supervisor
