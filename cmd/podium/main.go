// Podium is the conductor for agents on NATS: one binary, one verb for each
// thing a person does with it. `podium --help` lists them.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// heapGrowth is how far the heap may grow between collections, in percent of what
// is in use, unless GOGC says otherwise. Go's own 100 costs 5 % more processor
// time per run with the heaps of tens of megabytes that a ledger at work has.
const heapGrowth = 300

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
