// Podium is the conductor for agents on NATS: one binary, one verb for each
// thing a person does with it. `podium --help` lists them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"podium/cmd/podium/heap"
)

func main() {
	heap.Raise()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
