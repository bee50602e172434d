// Package sim runs the real owner over the in-process ledger, in virtual time,
// against everything that can go wrong, from one seed: crashes before and after
// every effect, lost and late acknowledgments, duplicates, delays, late, wrong
// and garbage answers, agents that crash, and a second owner. After that it
// lets the system settle and checks what must hold of the ledger.
//
// The same seed gives the same ledger, byte for byte.
package sim
