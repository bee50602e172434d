// Package mcp makes an agent of one tool of a server of the Model Context Protocol.
//
// # What is trusted
//
// What a server says of a tool decides what is sent to it and who is asked for what, so that it is looked at before it is used. A Pin holds a
// tool as somebody has looked at it: name, description, both schemas and annotations, and the SHA-256 of these in canonical
// form (RFC 8785). The tool is compared with it at every connection, after each notice that tools have changed, and every
// half minute. A tool without a pin, and one that is another by now, does no work.
//
// # How the server is reached
//
// A program is started without a shell, in a process group of its own, and spoken to over its standard input and output. It has PATH,
// HOME, LANG and TMPDIR of the agent's process (on Windows also what a program cannot start without), and the variables that are
// named. One process answers all requests. It is started by the first request or check, and again when it has ended, after a
// pause that grows. To be ended it gets its input closed, after 300 ms SIGTERM, and half a second later SIGKILL, with all that
// it has started; whatever is left of its group when it ends by itself is killed. Of what it writes to standard error
// one line is kept, for whoever pins its tool, and none is logged, since it may hold anybody's words.
//
// A URL is spoken to by streamable HTTP, by the client that is given. It decides where calls may go.
//
// # What the tool gets
//
// The arguments of the task, held to the tool's input schema unless the agent has one of its own. _meta holds
// podium/effect, which every attempt of one piece of work has. Files of the request are not handed on.
//
// # What its answer means
//
// Structured content is the data of the result, up to 1 MiB, and text its text; text that says the same as the data is
// left out. Pictures, sounds and embedded resources become files, and links to resources are named. Without structured
// content, text that is a JSON object or array is data for an agent whose own configuration has an output schema. Progress
// goes on to whoever waits.
//
// A server that asks its user something in between (elicitation, in its form mode) is told that there is no answer yet. The
// outcome is blocked by what it lacks, a person is asked with the server's words named as such, and the next
// attempt brings the answer. Servers of agents with side effects outside are not offered to ask.
//
// # How it fails
//
// An error of the tool is worth another attempt, and its words are for the person; arguments that the server refuses, and too
// large answers, are not. An agent with side effects outside calls its tool once that is permitted, and from then on nothing but a
// result says what was done: errors of the tool and broken connections leave it open.
//
// A call that is given up is cancelled at the server. A server that does not even read, or after a timeout does not answer a ping, is
// ended.
package mcp
