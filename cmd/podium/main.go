// Podium is the conductor for agents on NATS: one binary, one verb for each
// thing a person does with it. `podium --help` lists them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/rs/zerolog"

	"podium/cmd/podium/build"
	"podium/cmd/podium/heap"
	"podium/cmd/podium/service"
)

func main() {
	heap.Raise()
	service.RedirectDefaultLog(zerolog.New(os.Stderr).With().Timestamp().Logger())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// versionCommand prints what this binary is.
type versionCommand struct{}

func (versionCommand) Help() string {
	return `For a report of a fault.

  podium version -o json
  podium --version`
}

func (versionCommand) Run(env *environment) error {
	version := versions()
	return env.answer(version, "%s\n", versionLine(version))
}

// versions says what this binary was built of.
func versions() map[string]string {
	version := map[string]string{"version": "devel", "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "build": build.This()}
	if info, ok := debug.ReadBuildInfo(); ok {
		version["version"] = build.Version(info)
		for _, dependency := range info.Deps {
			if dependency.Path == "github.com/nats-io/nats-server/v2" {
				version["nats_server"] = dependency.Version
			}
		}
	}
	return version
}

func versionLine(version map[string]string) string {
	return fmt.Sprintf("podium %s (%s, %s, nats-server %s)", version["version"], version["go"], version["platform"], version["nats_server"])
}
