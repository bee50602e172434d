// Package heap has a process that uses little memory collect its garbage less often.
package heap

import "os"

// floorSize is in bytes. Half as much gave less on a machine with 32 MB of shared
// cache; how much more would be too much is not known (see ADR 31).
const floorSize = 32 << 20

var floor []byte //nolint:gochecknoglobals,unused // what it is for is to be reachable as long as the process lives

// Raise lets the process gather 32 MiB of garbage, and as much as is in use,
// before it is collected. Go on its own collects a process that uses 2 to 5 MB as
// soon as it has gathered as much, which Podium under load does twenty to forty
// times a second. The floor is never written, so that it takes no memory itself.
//
// Who sets GOGC or GOMEMLIMIT has decided, and nothing is changed.
func Raise() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		floor = make([]byte, floorSize)
	}
}
