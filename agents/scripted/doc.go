// Package scripted answers requests by a script: a list of cases, each with what it is for and what is
// answered. It stands in for an agent that is not there yet, in demonstrations and in tests of
// a profile.
//
// The first case that fits a request is answered. What fits none gets the script's Otherwise, and
// without one a failure that no other attempt can help. The same request has the same
// outcome: no case depends on what was asked before, on a clock or on chance.
//
// An agent does nothing outside. A case that Acts asks for a permit as if it did, so that a
// profile can be tried with all that belongs to an effect.
//
// Scripts are read and checked by the package of the configuration; here they are plain values.
package scripted
