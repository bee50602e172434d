// Package supervisor is the loop of a shard's owner: it reads the inputs of the shard in
// order, has each decided, stores the decision, and sends what follows from it.
//
// It decides nothing itself. The judgement is pure and lies below: package session
// decides what happens next in a session, plan in a run, route who does a task. The effects lie above:
// only agents touch the world, and they are asked by messages like everybody else.
//
// # Where to begin
//
// An [Owner] owns one shard. [Owner.Tick] does all that can be done at a moment, which
// is an argument, and never waits. [Owner.Run] calls it in production, the simulator in
// tests. [Owner.Open] takes the shard over. ExampleOwner_Run is a whole Podium in memory.
//
// The files stand in the order of a message's way, and none calls one before it:
//
//	lifecycle, owner         Run, and one turn of the loop
//	takeover                 what another owner has left
//	advance                  what a session does next
//	read, prepare            inputs in order, and what they need first
//	decide, batch            from inputs to a record, by the pure machine
//	store                    the record goes onto the ledger; before that nothing has happened
//	load, orphans            sessions that are not in memory, answers that belong to none
//	send                     the outputs of the record
//	evaluate, fetch          one decision, and what it lacks
//	quarantine, notify       messages that cannot be used, answers to questions for a permit
//	confirm                  whether a session is still as it is on the ledger
//	input, evict             one message on its way; sessions that leave the memory
//	session, stage           a live session, and the drawing of its stages
//
// What they use lies in packages of their own: admission, checkpoint, restore, progress,
// publisher, quarantine, eventloop. docs/architecture.md follows one mail through all of it.
//
// # What it guarantees
//
// For one session:
//
//   - An input is decided at most once (TestARequestThatComesAgain_X03). Its record is
//     appended with the expected sequence of the record before it, so two owners may
//     race but cannot contradict each other (TestTwoOwnersShareRecords_X03).
//   - A record takes all inputs that wait, each decided on the state after the one
//     before it, up to the first that has outputs. These are published and
//     acknowledged before the next input is decided. So only the last transition of a
//     session's last record can have outputs outstanding, and whoever loads the session publishes
//     them again, under the same ids (TestTakeoverEmitsWhatIsOwed_X03).
//   - Inputs are decided in the order of the stream. A failing append or publish holds
//     its session back and no other (TestAStuckSessionHoldsNobodyUp); nothing is
//     skipped (TestNothingSkippedBeforeQuarantine_X06).
//   - Whatever leaves no record, such as a refusal, goes by a session that is known to
//     be as the ledger had it when the input was stored, whoever wrote to it
//     (TestFormerOwnerRefusesNothing_X03).
//
// The low watermark of the checkpoints is the sequence up to which all of that is done.
// Package sim holds it against every fault at once, from seeds; package verify decides
// a shard again and compares.
//
// # What it does not do
//
// It does no work, reads no mail, speaks no NATS. It does not choose which process owns
// which shard: two owners of one shard are safe, and the later one ends the former
// (TestRunYieldsToASecondOwner_X03).
package supervisor
