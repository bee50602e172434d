// Package sim runs the real owners over the in-process ledger, in virtual time,
// against everything that can go wrong, from one seed: crashes before and after
// every effect, lost and late acknowledgments, duplicates, delays, a full
// ledger, a second owner, clocks that jump, and agents that answer late, twice,
// wrongly, with garbage or never, whatever they are asked: work, an assessment
// of themselves, a route or a plan. Some agents declare that they assess themselves,
// others what they are able to, and some worlds are of before they declared anything.
// In some worlds agents act outside, and ask before they do, over a bus that loses, doubles and delays their questions and
// the answers; in some they fail in a row and their breakers open; in some many
// tasks need the same few resources, in several shards. In some, shards are taken over
// from owners that live on: they decide, append and send until a record of their
// successor tells them, or a checkpoint of theirs that was long on its way. In some, people are asked what
// their messages lack, and in half of those others are handed the tasks of some agents. In some an agent
// lets go of its requests and answers by callback, and in some whoever is upstream asks again in the same words. In some, profiles say what strangers may have done outside, and in some what runs may
// use, which agents tell, or do not, or too late. In some, what runs have made is looked at, merged and mended in rounds, by agents that pass it, find errors, want something else done, or are of no use. In some, something is done about failures: people are asked, whoever is upstream decides, or the run goes on without. In some, answers wait until people have agreed to them, in some, runs that are over are begun anew, in some, people are asked in the threads of a chat, in some, runs wait for a decision from upstream, in some, a supervisor below another one gives places back while all of its work waits, and in some, many of these meet. After that it lets the
// system settle and checks what must hold of the ledger, and of what was done.
//
// The seed chooses everything: the configuration of the world, the profiles, the
// messages, the faults and their order. The same seed gives the same ledger,
// byte for byte.
//
// # The checks
//
// The oracle is the fold of the ledger by rules of its own: it shares no code
// with the machine that it judges. Each invariant is one function, and its name
// says it. That every transition follows again from its cause is what
// verify.Shard checks.
//
// # Faults
//
// A simulation that finds nothing proves nothing unless it would have found
// something. TestFaults shows for the bug of each fault point (package fault) that a known seed catches
// it, and which invariant does.
package sim
