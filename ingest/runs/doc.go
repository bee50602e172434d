// Package runs is the read API: what becomes of a message, whichever adapter it came in by.
//
//	GET  /v1/runs/{ref}          the run, however far it is; 202 while nothing has looked at the message
//	GET  /v1/runs/{ref}/events   the run's records as server-sent events, resumable
//	POST /v1/runs/{ref}/answers  the words for what the run asks; 202 with the URL that says what became of them
//
// # Guarantees
//
// Everything that is shown is read from the ledger: no adapter has to tell what it took in.
// Whoever waits or follows takes one of a bounded number of places of a shard, and does not
// keep others from being served. Nothing is changed but by an answer, which is a word of a
// person like any other: the session decides whether it counts.
//
// # References and who may read them
//
// A run is named "<session>-<n>". A message is named "<session>~<sequence>"
// from the moment that the ledger holds it, and this name leads to the run that
// the message began or answered, also when the message was a repeat. Reading, and answering
// what the run asks, needs one of:
//
//   - the token of a webhook's channel as "Authorization: Bearer …", which opens
//     every run that came in by the channel;
//   - the key in the URL that the POST was answered with ("?key=…"), a keyed
//     hash of the session, which opens this one conversation. It does not
//     expire; whoever holds the URL may read, so it belongs in no public log.
//
// Without either the answer is 401; with one that opens something else, 404. What
// the log knows about a failure beyond its message to the person is not shown.
package runs
