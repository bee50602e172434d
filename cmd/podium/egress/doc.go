// Package egress keeps the agents that Podium runs itself to where their configuration
// lets them go: it makes their HTTP clients, and decides at every connection.
//
// Guarantees:
//
//   - What is judged is the address that is connected to, right before that. What a name
//     was resolved to at another time, or for somebody else, proves nothing.
//   - No policy leads to link-local addresses, metadata services, multicast, ranges that
//     are reserved, or IPv6 addresses that carry an IPv4 address; none leads to where
//     Podium itself listens.
//   - Plain HTTP goes to loopback and private addresses, and to an address that a policy
//     names literally unless it is public. To public ones only HTTPS goes.
//   - No proxy is taken from the environment, no redirect is followed, no cookie is kept,
//     and no answer is read without limit.
//   - A list is looked at before a name is resolved. Under local and public a name is
//     resolved first, so that its letters reach a name server all the same.
//
// What it cannot see: an address that a router, a port forwarding or a NAT64 prefix of
// somebody's own turns into another one.
package egress
