// Package recovery looks at a ledger's files before a server opens them, and says what
// was lost. A server that finds something damaged cuts it off, and what is missing it does
// not know of: then nothing is left to be said, or to be brought back.
//
// It goes by two things: what the files themselves show, and high-water marks that stand
// apart from them. What a loss of power explains is gone over and said. Anything else
// refuses the start, and changes nothing, until somebody has decided to go on without.
package recovery
