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
// successor tells them, or a checkpoint of theirs that was long on its way. What else worlds are about,
// a Kind says: people are asked, plans are judged, runs have budgets, and so on. After that it lets the
// system settle and checks what must hold of the ledger, and of what was done.
//
// The seed chooses everything: the configuration of the world, the profiles, the
// messages, the faults and their order. The same seed gives the same ledger,
// byte for byte.
//
// # What is checked
//
// The oracle is the fold of the ledger by rules of its own: it shares no code
// with what decides. Each invariant is one function, and its name
// says it. They hold whatever profiles say:
//
//   - every message, run, inquiry, attempt and reservation ends, once, and nothing happens after its end;
//   - no effect happens twice, and nobody is asked or told twice, unless somebody says so;
//   - nothing that came in, was decided or was answered is lost, and what the ledger says of a run is found;
//   - nothing waits for ever, and nobody waits while there is room;
//   - what somebody has to agree to, or a stranger wants, is done only once somebody has agreed;
//   - nobody uses more than a budget, a pool or a resource has;
//   - messages, runs, levels, attempts, deadlines and those who wait come in their order;
//   - deciding again gives the same facts, which package verify checks.
//
// # What is not
//
// Policies are proven by the stories of package session, and the oracle knows nothing of them: who does a task, who is asked, told or
// written to, and where; which words decide what; what is done about a failure, who mends it, and what is kept when a plan changes; what a review finds, and which versions of
// files stand; what a run brings that is begun anew, and what an answer holds. Changing a policy does not change the oracle. Where it
// has to know what a profile wants in order to check that it is done (who has to agree, what a budget is, who is more urgent), it reads that from the profile.
//
// # Faults
//
// A simulation that finds nothing proves nothing unless it would have found
// something. TestFaults shows for the bugs of fault points (package fault) that a known seed catches
// each, and which invariant does; TestFaultsOfPolicies shows for those of policies which story does.
package sim
