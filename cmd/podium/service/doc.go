// Package service wires the parts together: it opens the ledger, embedded or in
// a NATS cluster, and runs the owners, agents and adapters that a configuration
// names. It decides nothing.
package service
