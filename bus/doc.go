// Package bus stores messages in streams and hands work to agents. It is a thin contract
// over NATS JetStream, and the same contract holds in memory.
//
// A message is one CloudEvent 1.0: a mail has come, do this task, the task is done. It is
// stored before anybody acts on it, and it is read in the order of its stream. Its body is
// the documented JSON and nothing else. What comes may be in binary mode, in structured
// mode, or that JSON alone, so that a shell script with a NATS client can be an agent.
//
// A mail thread is a session, and so is a chat. Sessions are spread over a fixed number of
// shards, and each shard is one stream. One process owns a shard: it reads the shard's
// messages and decides for its sessions. What it decides is a record in the same stream.
//
// # Where to begin
//
// There are two sides. A [Core] may do everything: adapters, the owners of shards and the
// command line hold one. A [Worker] is all that one agent may do. A supervisor is on both:
// it takes requests over as an agent does ([podium/bus/agent.Receive]), and answers them
// from its shards. Read the files in this order:
//
//   - ledger.go: a [Ledger] keeps every [Message] in streams; a [Reader] reads one of them.
//   - append.go: [Append] and [Next], one message in and one message out. ExampleAppend runs.
//   - subject.go: a [Subject] says where a message stands, and whose it is.
//   - worker.go: how an agent is handed its requests, each a [Delivery].
//   - core.go: what else a [Core] has, such as a [KeyValue] and [Artifacts].
//   - errors.go: whose fault it is. lost.go and format.go: which ledgers are refused.
//   - precedence.go and disk.go: which readers always find room, and how full a ledger is.
//
// This is what NATS has for each:
//
//	Ledger        streams
//	KeyValue      a key-value bucket
//	Artifacts     an object store, which agents reach by request and reply
//	Worker        a durable pull consumer for the agent's requests
//	Core.Serve    request and reply, the other end of Worker.Ask
//	Core.Signal   a plain publish, which is not stored
//
// The packages memory, jetstream and embedded make them: in memory, from a NATS server, or
// from one in this process. Nothing above them can tell which it has.
// [podium/bus/agent.Serve] runs an agent in Go, and [podium/bus/intake.Intake] takes what an
// adapter has received; both have examples that run.
//
// # What it guarantees
//
// What was acknowledged is stored once, and keeps its order. An append may name the newest
// message of its subject ([ExpectLast]). If another append came first, it fails with
// [ErrConflict]. A request is handed out at least once, and has exactly one response. Work
// may be done twice, because a process may die between the work and its response. State
// changes once, because whoever owns a session remembers what it has seen.
//
// An effect outside has an id, the same for every attempt
// ([podium/bus/agent.Request.EffectID]), and a permit. A second permit is given if the agent
// says that the permitted attempt has failed. If nobody knows whether the effect has
// happened, the profile says whether it is tried again, by a second permit too. The 25
// promises at the end of this page say all this in full.
//
// # What it does not do
//
// It knows neither what a message means nor who should act on it: that is the business of
// the packages schemas and supervisor. It does not deduplicate, and no append carries a
// Nats-Msg-Id: readers know a repeat by its event id.
//
// # What stands on the contract
//
//	binding    an event becomes a message, and a message an event
//	artifact   large bodies and files, and who may read them
//	intake     how an adapter submits what it has received
//	history    reading the records of a session
//	registry   which agents there are, and whether anybody serves them
//	agent      the process of an agent: requests in, one response each
//	gate       how much the agents of other processes may publish
//	backoff    the wait between two tries
//	bustest    suites that every ledger and every agent has to pass
//
// # Subjects
//
//	podium.in.<adapter>.<p>             what an adapter received      PODIUM_<p>
//	podium.in.agent.<p>                 requests to a supervisor      PODIUM_<p>
//	podium.agent.<agent>.response.<p>   how a request ended           PODIUM_<p>
//	podium.agent.<agent>.progress.<p>   how far it is                 PODIUM_<p>
//	podium.agent.<agent>.permit.<p>     asks to act outside           PODIUM_<p>
//	podium.control.<p>                  a person's word               PODIUM_<p>
//	podium.session.<p>.<session>        the records of a session      PODIUM_<p>
//	podium.shard.<p>                    the checkpoints of a shard    PODIUM_<p>
//	podium.dead.<reason>.<p>            quarantine                    PODIUM_<p>
//	podium.agent.<agent>.request        work for an agent             PODIUM_WORK
//	podium.agent.<agent>.response       from one that ignores replyto PODIUM_WORK
//	podium.agent.<agent>.progress       likewise                      PODIUM_WORK
//	podium.agent.<agent>.announce       a service: the registry       not stored
//	podium.agent.<agent>.alive          a service: the registry       not stored
//	podium.agent.<agent>.artifact       a service: the object store   not stored
//	podium.agent.<agent>.cancel         a hint to the agent           not stored
//	podium.agent.<agent>.permitted      the answer to a permit        not stored
//	podium.source.<adapter>.status      how an adapter is             not stored
//
// <p> is a shard, <agent> and <adapter> match [a-z0-9_-]{1,63}. The subject says whose
// message it is, because permissions guard it. The body never does.
//
// # Whose fault it is
//
// ErrConflict is the caller's: read again. A [TemporaryError] is nobody's: try
// again, and remember that the first try may have succeeded. A [MalformedError]
// is the sender's: quarantine it, no other try can help. ErrFull and ErrDenied
// are the operator's. A [podium/bus/agent.Failure] is the agent's word to a person; any other
// error of a handler is between the agent and its log.
//
// # What the ledger promises
//
// Each promise names the test that pins it. The tests of package bustest run on every
// implementation.
//
//  1. A message that was acknowledged is in the stream of its subject, once and
//     unchanged (Append/EachSubjectHasItsStream, Read/CarriesWhatWasWritten). How
//     much a power failure may take is the setting of the ledger, not of the call.
//  2. Messages published from one goroutine keep their order, and done is called
//     exactly once for each (Append/SameGoroutineKeepsOrder, Append/DoneIsCalledOnce).
//  3. Nothing is swallowed as a repeat: the same body twice is two messages
//     (Append/SameBodyTwiceIsTwoMessages).
//  4. Of those who append after the same message of a subject exactly one wins, the
//     first message included; the others get ErrConflict and changed nothing
//     (Append/CompareAndAppend, Append/RacingAppendersHaveOneWinner).
//  5. A reader sees each message once, in stream order, from any sequence on, then
//     those that follow (Read/InOrderThenWaits, Read/ResumesFromAnySequence,
//     Read/WakesForLaterMessages). A scan ends where the stream ended when it was
//     called (Read/ScanEnds).
//  6. A key of a store changes only for whoever knows its revision
//     (Store/PODIUM_AGENTS); an artifact is found by the hash of its bytes, and by
//     nothing less (Artifacts/Core).
//  7. Full and too large are said at once, and nothing is stored (Append/TooLarge,
//     TestFullMeansRefusedNeverForgotten). Intake is refused first, so that work
//     under way can end (TestIntakeLeavesRoomForWorkUnderWay).
//
// Order holds inside one stream and nowhere else. Two shards have no order, and
// neither have a request and what stands in the shard it came from.
//
// # What the queue promises
//
//  8. An agent's processes together never hold more requests than its pool has
//     (Queue/PoolBoundsAllWorkers_M31_M32).
//  9. A request comes again when its holder gives no sign of life for an ack-wait or
//     gives it back, and never after an ack (Queue/RedeliveryAfterAckWait,
//     Queue/InProgressKeeps, Queue/NakGivesBack). So it comes at least once.
//  10. An agent takes its own requests only, and writes under its own subjects only
//     (Queue/AgentsAreApart_G40, Services/OwnSubjectsOnly_G40).
//
// # What Serve promises a handler
//
//  11. It has as many requests as slots, and none waits in a buffer
//     (TestServeBoundsItsSlots_M31_M32).
//  12. Its context ends when the request expires, when nobody waits any more
//     (TestServeEndsTheHandlersContext), and before the lease lapses
//     (TestServeEndsBeforeItsLeaseLapses), which lasts as long as the work does
//     (TestServeKeepsTheLeaseOfLongWork).
//  13. A request of the past is not begun (TestServeIsAHandlerSystem/skips-expired-requests),
//     and one of a kind that its agent does not declare never reaches it
//     (TestServeRefusesUndeclaredKinds, TestServeIsAHandlerSystem/refuses-undeclared-kinds).
//  14. Two copies of a request are never worked on at the same time in one process,
//     and a copy of an answered one gets the same response without work
//     (TestServeDoesOneOfTwoCopiesAtATime, TestServeAnswersARedeliveryFromMemory).
//  15. On stop it may finish within DrainTimeout; what it does not finish goes to
//     another process at once (TestServeDrains).
//
// # What Serve promises everybody else
//
//  16. Every request that can be read ends in exactly one response: of the handler,
//     of its error, of its panic (TestServeFailures). The response is on the ledger
//     before the request is acknowledged (TestServeRetriesThePublish). The one exception
//     is work that goes on elsewhere ([podium/bus/agent.ErrElsewhere]): its last progress says
//     until when there is silence and is on the ledger before the request is acknowledged
//     (TestWithoutItsNoticeARequestComesAgain), and whoever brings the answer gives the response
//     that Serve would have given (TestServeSaysThatTheWorkGoesOnElsewhere).
//  17. Its id derives from the request's, so a repeat of it is known as one
//     (TestServeIsAHandlerSystem/repeats-its-answer).
//  18. Progress says that work has begun within 100 ms, never falls, never follows
//     the response (TestServeProgress). While the work goes on it comes at least
//     every ProgressEvery, also when nothing has changed, and not when nobody waits
//     any more (TestServeGivesSignsOfLife_M36_M47, TestServeGivesNoSignOfADeadRequest).
//  19. What cannot be read stops nobody (TestServeIsAHandlerSystem/survives-garbage).
//
// # What Receive promises
//
//  20. A request is acknowledged once its receiver has made it durable, and never
//     before; else it comes again. Its large body stays a reference
//     (TestReceiveHandsOver_X03).
//  21. Of what is not taken over, what has expired is dropped, what can be answered
//     is answered with a failure, and the rest goes into quarantine
//     (TestReceiveRefuses_X06). A question is not taken over
//     (TestReceiveRefusesUndeclaredKinds).
//  22. A supervisor is held to all that an agent is held to, however deep it is
//     nested (supervisor.TestSupervisorOfSupervisorsIsAHandler).
//
// # What a permit promises
//
//  23. An agent that asks before it acts outside ([podium/bus/agent.Request.Permit]) acts
//     with a permit only; without an answer it asks again, with the same question
//     (TestPermitIsAskedUntilAnswered, Services/PermitReachesTheAgent). The permit that a
//     request brings along counts for whoever is handed it first, and nobody else
//     (TestPermitComesAlongOnce). Who that is does not rest on the server's count of
//     deliveries alone, which a crash turns back ([IsFirstDelivery], First/FreshCopyIsBelieved,
//     TestWorkIsNotDoneAgainAfterACrashOfTheServer).
//  24. Without a permit there is a failed response for good, or none when another
//     process has the permit by now (TestPermitRefused, TestPermitGoneIsLeftToOthers).
//     For a question there is no permit, whoever asks (TestNoPermitForAQuestion).
//  25. Once it is permitted, whatever ends a handler without its own word is told as an
//     effect that may have happened (TestPermitLeavesDoubt). So is whatever ends one
//     that has not heard what is permitted, when others may have been handed the request
//     (TestPermitOfAnEarlierDelivery, TestFailingBeforeAskingLeavesDoubt).
package bus
