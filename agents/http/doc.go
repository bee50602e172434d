// Package http makes an agent of any HTTP endpoint.
//
// # What the endpoint gets
//
// A POST of the whole execution_request as JSON, signed by Standard Webhooks 1.0: webhook-id, webhook-timestamp and
// webhook-signature, if there is a secret. For an agent with side effects outside, and for one that is asynchronous, webhook-id is the
// effect id, which every attempt has, so that the endpoint knows repeats; for any other it is the id of the attempt's own request. Files of the
// request stand in task.context.attachments, with their bytes in base64 under content, as far as there is room.
//
// # What its answer means
//
//   - 200 and 201: the body, as agent.ReadBody reads it: words, data, a result, or a whole response. A deliverable may hold
//     a file: base64 under content in its metadata.
//   - 204: done, without a result.
//   - 202 of an asynchronous agent: the answer comes by callback, to the address in the header Podium-Callback. Until
//     then the agent is silent (agent.ErrElsewhere). It may come before the 202 does.
//   - 408, 425, 429, 500 and 502 to 504: another attempt may help; 429 and 503 say that there is no room now.
//   - 3xx and all others: no attempt can help. Redirects are not followed.
//
// # How it fails
//
// An endpoint with side effects outside is called once that is permitted, and from then on nothing but an answer says
// that it has done nothing: a broken connection and any other status leave that open. Only when no connection was made is it known that
// nothing was done. Where the endpoint may be is decided by the client that is given.
//
// No error names the URL, which may hold a secret, nor what the endpoint has said but in its words for people.
package http
