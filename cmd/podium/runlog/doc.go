// Package runlog reads from a ledger what has become of messages: runs, what is around
// each, the records of one until it has ended, and every message in the order of time. It
// writes nothing, and says nothing but what it returns and Reader.Warnings.
package runlog
