// Package callback is the adapter that answers of asynchronous agents come in by: endpoints that were asked by HTTP
// and have said that they answer later.
//
//	POST /v1/agents/{name}/answer/{token}   the answer; 202 when the ledger has it
//
// # Guarantees
//
// An answer is answered with 202 only after the ledger holds it. Any other status means that nothing was taken, but
// for the problem ledger-unavailable: there it may have been. The endpoint may send an answer again as often as it
// likes, whatever has come of it: of one call one answer counts.
//
// The token in the address says which request is answered. It was sealed for that agent when it was asked, so that
// nobody can make one, change one, or answer for another agent; and it ends when nobody waits for the answer any more.
// It is no password: the body is signed by Standard Webhooks 1.0 with the secret of the agent, and nothing is
// read of it before the header shows a fresh signature and the token is one of ours. An agent that
// does not exist, or is not asynchronous, answers as one whose secret is wrong.
//
// The log says which agent's answers are refused and why, once a minute for each reason, and nothing of what came.
//
// What the ledger gets is what the agent itself would have published, had it had the answer at once: see
// agent.Answerer.
package callback
