// Package partial hands on what agents have said so far of results that are still to come.
//
// A [Hub] takes it from the agents and shows it to whoever watches a run. It stands between the two in memory
// alone: nothing is stored, what is missed is missed, and what counts is the result. An agent is heard only about a request that
// was sent to it and that says that it is streamed, until that expires.
package partial
