package service_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus/bustest"
	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
	"podium/schemas"
)

// tiers is an installation in which a supervisor has a supervisor do its work.
const tiers = `
ledger: {data: %q, durability: interval, shards: 2}
http: {listen: "127.0.0.1:0"}
agents:
  echo: {kind: echo}
  inner: {kind: supervisor, profile: inner}
  outer: {kind: supervisor, profile: outer}
profiles:
  inner: {language: en, agents: [echo], routers: [{kind: default, agent: echo}]}
  outer: {language: en, agents: [inner], routers: [{kind: default, agent: inner}]}
`

// TestSupervisorOfSupervisorsIsAHandler: over a NATS server, with each of them in
// an account of its own, a supervisor under a supervisor is an agent like any other.
func TestSupervisorOfSupervisorsIsAHandler(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		settings, err := config.Parse(fmt.Appendf(nil, tiers, t.TempDir()), "podium.yaml")
		if err != nil {
			t.Fatal(err)
		}
		running, err := service.Start(t.Context(), settings, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		ended := make(chan error, 1)
		go func() { ended <- running.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				t.Errorf("run: %v", err)
			}
			if err := running.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		return bustest.HandlerSystem{Core: running.Ledger.Core, Agent: "outer", Task: func(n int) schemas.Task {
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: fmt.Sprint("say ", n), Dependencies: []string{},
				Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
				Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`)},
			}
		}}
	})
}
