// Package gate decides what the agents of other processes may put onto the ledger.
//
// An agent that Podium does not run itself is a stranger with a key. Permissions say
// on which subjects it may publish, but not how much: one agent stored 100,000
// messages in a second, and a full shard stops everybody's intake. So what such an
// agent publishes reaches the ledger through a [Gate], which holds it against what
// the agent was asked to do:
//
//	responses   2 for each request, with ids of their own
//	progress    40 KiB for each request, and 8 KiB a second more while it is waited for
//	permits     5 for each request, and 2 a second more
//	the rest    further responses, answers to no request that the gate has seen go
//	            out, and what cannot be read: 100 messages and 1 MiB, and one in ten
//	            seconds, 1 MiB an hour, more
//	stores      128 MiB of artifacts, and 1 GiB an hour more, where each counts for
//	            16 KiB at least; 40 announcements and signs of life, and 20 a second
//	            more. Of these a tenth of the store without a request under way, and
//	            as much more in a day, and a tenth for each request; from 80 % of the
//	            store on nothing without one, and from 88 % on nothing
//	partials    1 MiB of text before its result, and 64 KiB a second more
//
// A message counts with its headers, with the body in the object store that it refers to, and one KiB at least. Only a
// response may refer to one. The first response to a
// request, its expiry, or a week without either end what it allows, but for what is
// left then. What is refused is refused for now: the sender is told, nothing was stored,
// and the same message may be sent again. A message that comes again under its id gets
// its earlier acknowledgement and is not stored again, but for the question for a
// permit, which is asked until it is answered. The first response to each request passes
// whatever came before.
//
// An agent that goes on for a minute to send what answers no request, or cannot be read, although all of that is
// refused, is told of (Gate.Floods). So is one
// that goes on to put artifacts without a request. Too much progress, or too many signs of life, are refused, and no more than that.
//
// A gate knows the requests that it has seen go out. It allows as many more as waited
// for the agent when it was opened, or when its connection came back.
package gate
