// Package chat is the adapter that chat messages come in by: webhooks of several
// providers.
//
//	GET  /v1/chat/{channel}      204 for whoever shows the channel's token
//	POST /v1/chat/{channel}      a message in; 202 with the run's URL, or the answer with "Prefer: wait=N"
//
// What became of a message is read where package runs shows it.
//
// # Guarantees
//
// A message is answered with 202 or 200 only after the ledger holds it. Any
// other status means that the sender may offer it again, with the same id, as
// often as it likes: one id in one conversation makes one run, however often
// and however long afterwards it comes. The adapter itself remembers recent ids,
// which saves work; that it is right rests on the session's memory alone.
//
// A message is read after its sender is known and never before, except for the
// token that Mattermost puts into the body: by a signature over the raw body, by a
// secret that the provider shows, or by the channel's bearer token, as the Provider
// of the channel says. Two secrets hold at a time, so that one can replace the
// other. A channel that does not exist answers as one whose secret is wrong,
// but without reading the message: names of channels are no secrets.
//
// What bots say and what is no message is acknowledged, counted and goes no
// further. What an authentic provider sends and nobody can read goes into
// quarantine, with its bytes but without tokens, and is acknowledged; a sender of
// the provider webhook, who can mend it, is told.
//
// # Answers
//
// What it takes to answer at the provider goes along as a reply_ref, which only
// the agent that delivers answers can open. Teams, and Mattermost without a bot,
// take an answer only in the response to their request: it is held as long as they
// wait, and then says where the answer will be.
//
// # Errors
//
// Every error is a problem document (RFC 9457) whose detail says what to do next.
package chat
