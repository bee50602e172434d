// Package schemas holds the nouns of Podium and their grammar: what a message looks
// like, and what a record of a session says. In which order facts may follow each other is
// the matter of the package workflow inside it.
//
// The JSON Schema files beside this package (*.schema.json, draft 2020-12) are the
// truth. The Go types are for those who write Go.
//
// # Where to begin
//
// Read the files in this order:
//
//   - event.go: an [Event] is one CloudEvent, the form of everything on the ledger.
//   - email_received.go and chat_received.go: what adapters bring in.
//   - execution_request.go: an [ExecutionRequest] asks for work; a [Task] is one piece of it.
//   - execution_response.go: an [ExecutionResponse] says how it ended.
//   - progress_update.go: a [ProgressUpdate] says how far it is.
//   - profile.go: a [Profile] is how one kind of session is handled; it is all policy.
//   - route_decision.go and task_plan.go: who does the work, and in which steps.
//   - record.go and fact.go: a [Record] is what a session has decided, and why. The facts
//     stand in fact_run.go, fact_task.go and fact_delivery.go.
//   - identity.go: [SessionID], [RunID], [RequestID] follow from what they name.
//
// [Validate] holds any body to the schema of its name; [Schema] returns that schema. The
// three documented messages have readers of their own, such as
// [DecodeExecutionRequest], which check while they decode. What both know of JSON Schema
// is the package validation inside this one, and so is their error.
//
// # What it guarantees
//
//   - Types and schemas say the same (TestTypesMatchSchemas, TestGoValuesValidate), and
//     so do the readers of the three (TestReadersAgreeWithLibrary_X06).
//   - Every schema has examples of what is valid and of what is not, the latter each with
//     its error (TestGoldenValid_X06, TestGoldenInvalid_X06).
//   - The error of a body names the place and quotes no value, so that it may stand in a
//     log (TestVerdictQuotesNothing_G37).
//   - Ids are functions of what they name, and never change (TestIdentitiesAreFixed):
//     whoever does something again says the same.
//   - asyncapi.yaml has every subject with its messages (TestAsyncAPIChannels,
//     TestAsyncAPIMessages).
//
// # What it does not do
//
// It decides nothing and touches nothing: no file, no clock, no network, no randomness
// (TestPure). It converts nothing between versions: what a record says today it says for
// ever, and what comes new is added.
package schemas
