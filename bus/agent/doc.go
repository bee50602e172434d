// Package agent runs an agent: its requests come in, and each gets one response.
// [Serve] takes requests from a bus.Worker, has a [Handler] do each of them, and publishes exactly one response; [Receive] has a
// [Receiver] take them over instead, as a supervisor does.
//
// What it guarantees, to a handler and to everybody else, stands in package bus
// (promises 11 to 25), each with its test. It does not connect: a bus.Worker comes from
// bus/jetstream, bus/embedded or bus/memory.
package agent
