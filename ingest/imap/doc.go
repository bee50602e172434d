// Package imap is the mail door: each new mail of a mailbox becomes one
// podium.email.received.v1 event on the ledger.
//
// Guarantees:
//
//   - No mail is lost: a mail is dealt with only when its event was stored, and
//     what was dealt with is kept in the mailbox ledger, not in the mailbox. The
//     order is fetch, archive, publish, wait for the ack, ledger, flag; after a
//     crash anywhere in it the same mail is published again under the same id,
//     which the conversation knows. One that cannot be had in three tries is
//     listed as failed, in the ledger and in the log.
//   - No mail stops another: a mail that cannot be understood is archived and
//     published as degraded or failed.
//   - The mailbox is only read, but for one flag on mail that was dealt with.
//     Nobody else's flags decide anything here.
//   - A connection that has gone silent is noticed within Config.AnswerDeadline
//     of a command, and a command is sent at the latest every Config.IdleReissue.
//   - Being connected is never taken for being up to date: every cycle asks for
//     new mail, whatever the server announced or did not.
//
// When a server changes UIDVALIDITY, so that all ids are void, the mailbox is
// read again and mail whose bytes are known (SHA-256) is passed over. A copy
// that is byte for byte the same, Received fields included, and that arrives
// between the change and its detection, is taken for known.
package imap
