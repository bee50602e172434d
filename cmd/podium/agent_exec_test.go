package main

import (
	"strings"
	"testing"
	"time"

	"podium/cmd/podium/installation"
	"podium/schemas"
)

const promisingConfig = `
agents:
  act: {kind: external, side_effects: external, heartbeat: 2s}
  look: {kind: external}
profiles:
  desk: {agents: [{name: act, on_tainted: allow}, look], routers: [{kind: default, agent: act}]}
`

// TestAgentExecKeepsWhatTheConfigurationSays: an agent that acts outside by podium.yaml is not served by a program that
// asks for no permits, and a heartbeat that is promised is kept.
func TestAgentExecKeepsWhatTheConfigurationSays(t *testing.T) {
	t.Parallel()
	i := install(t, promisingConfig)
	i.up()
	without := i.podium("agent", "exec", "--name", "act", "--", "cat")
	if without.code != exitUsage || !strings.Contains(without.stderr, "--side-effects external") {
		t.Errorf("without the flag: exit code %d, %s", without.code, without.stderr)
	}
	for _, c := range []struct {
		flags []string
		says  string
	}{
		{[]string{"--name", "act", "--side-effects", "external"}, "agent act takes requests"},
		{[]string{"--name", "act", "--side-effects", "external", "--heartbeat", "10s"}, "--heartbeat 10s gives way: podium.yaml promises one every 2s for act"},
		{[]string{"--name", "look"}, "agent look takes requests"},
	} {
		worker := spawn(t, append(append([]string{"--data", i.data, "agent", "exec"}, c.flags...), "--", "cat")...)
		worker.says(t, c.says)
		worker.stop(t)
	}
	i.stop()
}

// TestHeartbeatOfAgentExec: it is the one that podium.yaml promises, or a shorter one.
func TestHeartbeatOfAgentExec(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asked, promised, want time.Duration
		says                  int
	}{
		{0, 0, 10 * time.Second, 0},
		{0, 2 * time.Second, 2 * time.Second, 0},
		{time.Second, 2 * time.Second, time.Second, 0},
		{10 * time.Second, 2 * time.Second, 2 * time.Second, 1},
		{time.Minute, 0, time.Minute, 0},
		{-1, 0, 10 * time.Second, 0},
	} {
		about := installation.ExternalAgent{Heartbeat: schemas.Duration(c.promised)}
		made, says := (&agentExecCommand{Heartbeat: c.asked}).beat(&about, nil)
		if made != c.want || len(says) != c.says {
			t.Errorf("asked %s, promised %s: %s, %q", c.asked, c.promised, made, says)
		}
	}
}
