// Package cloudevents is the adapter that events of other systems come in by: the HTTP
// binding of CloudEvents 1.0.2 and its webhooks.
//
//	POST    /v1/events/{source}   an event, or a batch of them; 202 with the URLs of their runs
//	OPTIONS /v1/events/{source}   the handshake of HTTP 1.1 Web Hooks for CloudEvents
//
// # Guarantees
//
// An event is answered with 202 only after the ledger holds it. Any other status
// means that the sender may offer it again, as often as it likes: an event is one by
// the source that it came in by and its attributes source and id, and makes one run
// however often and however long afterwards it comes. There are no redirects.
//
// An event is read after its sender is known and never before. A signature covers
// the body alone, so events whose attributes are headers (binary mode) need the
// bearer token. A source that does not exist answers as one whose secret is wrong,
// but without reading the event: names of sources are no secrets.
//
// # What becomes of an event
//
// A source names the types that it takes. An event becomes a message in the words
// that its type's pointers lead to; its conversation is the one that its partition
// key names inside its source, or its own. An execution_request, where a source
// takes it, brings its plan with it; it is answered in its run, whatever reply
// subject it names.
//
// # Batches
//
// The events of a batch are taken one by one. When some of them are wrong the others
// are taken nonetheless, and the answer is a problem that names both: to repeat the
// batch as a whole is free.
//
// # Where the specifications are left
//
//   - A token in the query ("access_token", HTTP 1.1 Web Hooks, section 3.2) is
//     refused: it would stand in the logs of every proxy.
//   - WebHook-Request-Callback is never called: it would let anybody send requests
//     from here. Whoever wants a permission gets it in the answer.
//   - Attribute values have at most 1 KiB, ids 256 bytes, and batches 100 events.
package cloudevents
