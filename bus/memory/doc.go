// Package memory is a whole ledger inside one process: the streams, the tables,
// the object store, the queue and the services of package bus, without a server.
//
// It starts no goroutine and reads no clock but its own: everything happens in
// the goroutine that calls. The same calls in the same order give the same
// answers, so that the simulator can drive it.
package memory
