// Package admission limits what strangers may send to the adapters that speak HTTP, all
// of them together.
//
// # Guarantees
//
// A sender is a stranger until an adapter knows him (Known). Strangers of one address
// have a bounded number of connections, of requests whose bodies are under way, and
// of bytes of those bodies, and never all that there are: whatever one address does,
// senders at others are served. So is a bounded number of connections all that one
// address has, though each of its senders is known: the URL of a run makes one known.
// Silence, half a request and a body that trickles
// count as long as they last.
//
// The bytes of all bodies under way, known senders' included, are bounded. A body
// that finds no room is refused at once and nothing of it is kept.
//
// An address is an IPv4 address or an IPv6 network of 64 bits, which is what one
// subscriber has. Behind a proxy that is named in the limits it is the one that the
// proxy names. Addresses are kept no longer than their connections.
package admission
