// Package imap is the mail adapter: each new mail of a mailbox becomes one
// podium.email.received.v1 event on the ledger.
//
// How the mailbox is reached is the matter of connection, and how far it is and what
// became of each message that of mailbox.
//
// Guarantees:
//
//   - No mail is lost: a mail is dealt with only when its event was stored, and
//     what was dealt with is kept in the mailbox ledger, not in the mailbox. The
//     order is fetch, archive, publish, wait for the ack, flush, ledger, flush, flag or move;
//     after a crash anywhere in it the same mail is published again under the
//     same id, which the conversation knows. One that the server does not hand
//     over in three tries, or at which the connection ends eight times over two
//     hours, is listed as failed, in the ledger and in the log.
//   - While a batch is archived, published and noted the next one is fetched, and
//     no further one. The mails of a conversation are stored in the order of their
//     UIDs; of a batch in which one could not be stored, what is beyond it is offered
//     again.
//   - What the mail server is told survives a loss of power: the events are flushed
//     before the mailbox ledger names them, and that before the flag or move. A
//     mailbox ledger that is lost, or a part of it, is made again from the events:
//     see openWithoutLedger and rebuild.
//   - Every message is accounted for: the ledger keeps the disposition of each UID, every
//     cycle compares them with what the server has and takes what was missed, and
//     audit.Reconcile proves it against the events and the sessions' records.
//   - No mail stops another: a mail that cannot be understood is archived and
//     published as degraded or failed.
//   - The mailbox is only read, but for a flag on mail that was dealt with, or its
//     move where that is configured. A message leaves a mailbox only when the
//     server has confirmed the copy. Nobody else's flags decide anything here.
//   - A connection that has gone silent is noticed within 55 s: an answer is waited
//     for as long as Config.AnswerDeadline, and asked for every Config.Heartbeat.
//   - Being connected is never taken for being up to date: every cycle asks for
//     new mail, whatever the server announced or did not.
//
// When a server changes UIDVALIDITY, so that all ids are void, the mailbox is
// read again and mail whose bytes are known (SHA-256) is passed over. A copy
// that is byte for byte the same, Received fields included, and that arrives
// between the change and its detection, is taken for known.
package imap
