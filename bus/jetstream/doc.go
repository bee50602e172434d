// Package jetstream keeps the ledger in NATS JetStream, on a server in this
// process, in another one, or on a cluster.
//
// [Connect] is for the core account and gives a bus.Core. Package worker connects one
// agent in the agents' account, and package wire has what both say to a server.
//
// Three things differ from what a client library does by itself, because an
// agent can write to the streams that the core reads:
//
//   - Whether a message is data or a status of the server is decided by what the
//     server alone controls (the reply subject of a delivery), never by a Status
//     header, which any publisher can set.
//   - A single message under a subject that an agent can publish to is asked of
//     the stream's leader, whose answer holds the stored headers apart from its
//     own. A direct get mixes them, so that it could be told a wrong subject; it is
//     used where only the core publishes, and at one replica only: a follower
//     could answer with the past.
//   - Headers that begin with "Nats-" belong to the server. They are neither
//     published nor handed out, save the expectation of an append. In particular no
//     append carries a Nats-Msg-Id: whoever guessed it could have it swallowed.
//
// An agent that publishes with a Nats-Msg-Id of its own can lose no message but
// such as carry the same id within the streams' duplicate window, a tenth of a
// second: its own, or that of another agent which also sets ids and has them guessed.
// The server tells the publisher ("duplicate":true in the PubAck), and a Worker
// neither sets the header nor takes such an ack for a success.
package jetstream
