// Package embedded runs a NATS server with JetStream inside the process, for an
// installation that is one machine. A separate nats-server, configured by the
// same text, takes its place without any other change.
//
// What it guarantees:
//
//   - With [Fsync], a message that was acknowledged survives a power failure;
//     with [Interval], it survives the end of the process.
//   - One directory belongs to one server at a time: a second one is an error
//     that names the first.
//   - The server listens on the loopback interface, on the same port after a
//     restart if it is still free, so that agents in other processes come back.
//   - Nobody connects without a key. Agents have their own account, with exactly
//     the permissions that [Accounts.Config] lists.
//   - The server never ends the process, and its log lines carry no subject and
//     no address.
package embedded
