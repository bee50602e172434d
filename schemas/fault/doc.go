// Package fault names the places at which a bug can be planted. A build without the tag faults has none of them: Is is
// constantly false there, and the compiler removes what it guards.
//
// A build with the tag shows the one bug that the environment variable PODIUM_FAULT names. TestFaults of package
// podium/supervisor/sim makes one, and shows that each bug is caught.
package fault
