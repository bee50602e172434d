package embedded

import (
	"os"
	"runtime"
)

// processorsAtStart is what the machine, the container or the environment gives.
var processorsAtStart = runtime.GOMAXPROCS(0) //nolint:gochecknoglobals // a fact of the process

// Processors returns how many the process of a server is best given by
// runtime.GOMAXPROCS. A goroutine that waits for the disk keeps its processor
// until the scheduler notices; with Fsync every stream waits nearly always, and
// two of them can hold up all that two cores could do. So each gets two more: for
// its messages and for the state of its consumers. GOMAXPROCS in the environment
// counts as it is.
func Processors(durability Durability, shards int) int {
	if durability == Interval || os.Getenv("GOMAXPROCS") != "" {
		return processorsAtStart
	}
	const ofStream = 2
	streams := shards + 1
	return processorsAtStart + ofStream*streams
}
