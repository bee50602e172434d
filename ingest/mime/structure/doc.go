// Package structure reads the tree of a mail (RFC 5322, RFC 2045 and 2046):
// header blocks, multiparts and their boundaries, texts and attachments, and
// what attachments hold: mails, archives, invitations, delivery reports.
//
// It reads its input once, from the beginning to the end, in time that grows
// with nothing but its size, and in memory that Limits bounds. It streams
// attachments to a Sink, and never unpacks an archive. It repairs what can be
// repaired without a guess and never fails on a mail. It does not say who wrote
// a mail, nor which of its words are new.
//
// It does not build on net/mail, mime/multipart or go-message: they stop at the
// first malformed field or missing boundary, which is where about a sixth of
// hostile mail begins. Readers that go on need memory and time that grow with the
// nesting (ADR 12).
package structure
