// Package llm lets a language model answer requests, by the chat completions that most servers of models speak.
//
// An agent has one role: router, planner, steps, judge, critic, responder, extractor, summarizer or worker. The role is a prompt, what kind of
// request it answers, and what an answer has to look like. No model is given tools: what shall be done is a task
// of a plan, which is routed, permitted and recorded like any other.
//
// # What the model is told
//
// The system message holds what the configuration says and nothing else: the prompt, the agents there are, the schema of the answer.
// All that a request brings is in the message of the user, between marks that nobody can guess, and the system message
// says that what is between them is data. Files are told by name, media type and size.
//
// # How an answer is read
//
// An answer without finish_reason was cut off, and is a failure. Where data is wanted it is the JSON of the answer, also
// inside of prose, fences or a lone member output, response or result, repaired if it is broken, and held to the
// schema of the role, whatever the server promises. What breaks it is asked for once more, with the words of the validator.
// Then it is an invalid result, but for a worker, whose words are a partial one.
//
// # How it fails
//
//   - 429 and 503: there is no room now. A Retry-After is waited for within a few seconds; else the failure says it.
//   - 408, 409, 425, any other 5xx, a broken connection, silence, an answer that is cut off: another attempt may help.
//   - Any other status, and an answer that is too large: none can.
//
// The words for people say what of that it is, and Failure.Remedy says to whoever runs the agent what to look at.
//
// Nothing that a failing server says is read, so that a key that it repeats goes nowhere. What a request has cost is
// always reported, also by a failure, and estimated when the server does not say.
package llm
