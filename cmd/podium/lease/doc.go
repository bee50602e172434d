// Package lease keeps a ledger on a server of its own to one process at a time.
//
// The lease is one key in the ledger's bucket of leases. It changes by
// compare-and-set alone, and its holder renews it. Whoever finds it held watches it:
// if it is renewed, the holder lives; if it is not for the whole of Time, it has
// lapsed, and is taken. No clock is compared with that of another machine.
//
// A holder that was killed leaves its lease behind. The same data directory takes
// it over at once: the directory is locked by whoever runs on it, so that the former
// process is gone when the lock is free.
//
// The lease is a courtesy, and nothing rests on it: two holders may race, and the
// checkpoints of the shards decide. What it prevents is that a process which is
// started by mistake ends the one that works.
package lease
