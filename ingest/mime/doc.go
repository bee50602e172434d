// Package mime turns the bytes of one mail into schemas.EmailReceived. It
// reads nothing but its input and writes nothing but the attachments it hands
// to a Sink.
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
//
// Header fields and parts are read by this package's own tolerant reader:
// net/mail and the stock multipart readers stop at the first malformed field or
// missing boundary, which is where about a sixth of hostile mail begins.
package mime
