// Package mime turns the bytes of one mail into schemas.EmailReceived. It
// reads nothing but its input and writes nothing but the attachments it hands
// to a Sink.
//
// The work is done in rooms below, which never look up: structure reads the
// tree of parts, header what fields say, text tells the new words from those
// that are quoted, trust says who wrote it and whether to believe that. Parse
// asks them one after the other.
//
// Guarantees:
//
//   - No mail makes it fail: a mail's faults become Problems and the state
//     degraded or failed. An error means that the input could not be read or
//     the sink could not write, so that another try may succeed.
//   - Time is linear in the size of the mail, and memory is bounded by Limits
//     whatever the mail holds: it reads the mail once, in order, and streams
//     attachments. Archives are never unpacked.
//   - Every string in the result is valid UTF-8.
package mime
