// Package filestore reads, checks, mends and copies the files in which a NATS server keeps
// streams, while no server runs on them; Flusher flushes them while one does. A server
// that finds something damaged cuts what stands behind it, and says so in its log at most:
// here it is seen before.
//
// The layout is the server's own (server/filestore.go of the version that go.mod pins).
// The tests of package recovery take streams that this server has written, so that they
// fail when another version keeps them otherwise (TestWhatIsGoneIsSeen):
//
//	STORE/jetstream/ACCOUNT/streams/STREAM/meta.inf, meta.sum   what the stream is
//	                                      /msgs/N.blk           messages, one behind the other
//	                                      /msgs/index.db        derived from the blocks
//	                                      /obs/CONSUMER/...     what agents have taken
//
// A record of a block carries a checksum over its sequence, time, subject, headers and
// body. What that leaves out, the lengths of subject and headers, a digest of the whole block
// covers: the bytes of a message are its sender's, and nothing of them is expected.
package filestore
