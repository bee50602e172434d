// Package artifact keeps what is too large for a message in the object store, under its
// SHA-256: [Offload] leaves a reference in the event, [Resolve] follows it.
//
// Agents do not reach the object store. They ask the artifact service, piece by piece,
// and show a grant for what they read: [NewClient] is the agent's half, [Service]
// the core's, and [Grants] makes and checks the grants. A hash alone opens nothing.
// The store itself is the ledger's (bus.ArtifactStore).
package artifact
