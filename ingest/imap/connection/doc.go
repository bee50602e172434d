// Package connection reaches one mailbox on one mail server: it dials, protects the
// connection, logs in, and says each command of IMAP that is needed, behind MailSource.
//
// Guarantees:
//
//   - Nothing is said without TLS to an address that is not allowed (cleartext).
//   - Every call ends: with its context, with the deadline for commands, or with
//     ErrSilent when no byte has come for as long as Config.AnswerDeadline while an
//     answer is due. Waiting, it asks for a sign of life every Config.Heartbeat.
//   - A message is handed over whole or its reading fails, and reading sets no flag.
//   - What is removed or moved is what was named, and nobody else's mail with it; a
//     message leaves a mailbox only when the server has confirmed the copy.
//   - What a server has said stands in no error but behind RefusedError.Sentence, since
//     errors are logged.
//
// It decides nothing about mail, keeps nothing, and connects anew for nobody: that is
// its caller's. SentFolder, the folder that letters of ours are kept in, is reached in
// the same way, by a connection for each call.
package connection
