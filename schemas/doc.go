// Package schemas holds the messages and records of Podium, and says what each may contain.
// In which order facts may follow each other is the matter of the package workflow inside it.
//
// A mail thread is a session, and so is a chat. A message that asks for something begins a
// run of its session. A run has tasks. A task is asked of an agent, and each try is an
// attempt: one request, and one response or none. What a session decides are facts. A record
// is one append of facts.
//
// The JSON Schema files beside this package (*.schema.json, draft 2020-12) are the
// truth. The Go types are for those who write Go.
//
// # Where to begin
//
// These are what other programs see:
//
//   - event.go: an [Event] is one CloudEvent, the form of everything on the ledger.
//   - email_received.go and chat_received.go: what adapters bring in.
//   - execution_request.go: an [ExecutionRequest] asks for work; a [Task] is one piece of it.
//   - execution_response.go: an [ExecutionResponse] says how it ended.
//   - progress_update.go: a [ProgressUpdate] says how far it is.
//   - permit.go and control.go: an agent asks to act outside; a person says cancel.
//   - profile.go: a [Profile] is how one kind of session is handled; it is all policy.
//   - route_decision.go and task_plan.go: who does a task, and the steps of a run.
//   - agent.go, source_status.go and quarantined.go: who serves, how adapters are, and which
//     messages could not be used.
//
// These are written by the owners of shards alone:
//
//   - record.go: a [Record] is what a session has decided, and why; a [Checkpoint] is where
//     the owner of a shard stands.
//   - fact.go: a [Fact] is one thing decided. Those of a run, of a task and of a delivery
//     stand in fact_run.go, fact_task.go and fact_delivery.go.
//   - trail.go: a [Trail] leads a reader from record to record.
//
// identity.go makes the ids: [SessionID], [RunID], [RequestID] follow from what they name.
//
// [Validate] holds any body to the schema of its name; [Schema] returns that schema. The
// three documented messages are execution_request, execution_response and progress_update.
// They have readers of their own, such as [DecodeExecutionRequest], which check while they
// decode. Both refuse a body by a [podium/schemas/validation.Error]. Codes such as M-28, and
// settlements by their number, are those of docs/requirements.md.
//
// # What it guarantees
//
//   - Types and schemas say the same (TestTypesMatchSchemas, TestGoValuesValidate), and
//     so do the readers of the three (TestReadersAgreeWithLibrary_X06).
//   - Every schema has examples of what is valid and of what is not, the latter each with
//     its error (TestGoldenValid_X06, TestGoldenInvalid_X06).
//   - The error of a body names the place and quotes no value, so that it may stand in a
//     log (TestVerdictQuotesNothing_G37).
//   - Ids are functions of what they name, and never change, so that a retry computes the
//     same ids (TestIdentitiesAreFixed).
//   - asyncapi.yaml has every subject with its messages (TestAsyncAPIChannels,
//     TestAsyncAPIMessages).
//
// # What it does not do
//
// It decides nothing and touches nothing: no file, no clock, no network, no randomness
// (TestPure). It converts nothing between versions: what a record says today it says for
// ever, and what comes new is added.
package schemas
