// Package installation is what stands in a data directory: a ledger, or the keys to one on a
// server of its own, and what a running instance says of itself, so that every verb finds
// it. It opens a ledger for the service and for those who look at it besides; what is on
// a ledger it does not know.
package installation
