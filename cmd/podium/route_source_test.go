package main

import (
	"strings"
	"testing"
)

// TestRouteWeighsTheSource_G26: a configuration weighs where a message comes from; podium route shows for each source where words go, and why.
func TestRouteWeighsTheSource_G26(t *testing.T) {
	t.Parallel()
	const profile = `
agents: {doctor: {kind: echo}, writer: {kind: echo}}
profiles:
  desk:
    agents: [doctor, writer]
    routers:
      - kind: keywords
        mode: priority
        groups:
          - {name: symptoms, agent: doctor, priority: 1, keywords: [itching]}
          - {name: letters, agent: writer, priority: 2, keywords: [answer]%s}
      - {kind: default, agent: doctor}
`
	words := "my arm is itching, please answer"
	for name, c := range map[string]struct {
		bonus, source, want, why string
	}{
		"by default, by mail": {"", "email", "→ doctor", "of group \"symptoms\", which goes by its priority 1 before \"letters\""},
		"weighed, by mail":    {", source_bonus: {email: 2}", "email", "→ writer", "of group \"letters\", which goes by its priority 0 with 2 for email before \"symptoms\""},
		"weighed, by chat":    {", source_bonus: {email: 2}", "chat", "→ doctor", "priority 2 after 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := install(t, strings.ReplaceAll(profile, "%s", c.bonus))
			o := i.podium("route", "-c", i.config, "--source", c.source, words)
			o.succeeds(t)
			if !strings.Contains(o.stdout, c.want) || !strings.Contains(o.stdout, c.why) {
				t.Errorf("it says\n%s", o.stdout)
			}
		})
	}
	i := install(t, strings.ReplaceAll(strings.ReplaceAll(profile, "mode: priority", "mode: order"), "%s", ", source_bonus: {email: 2}"))
	if o := i.podium("check", "-c", i.config); o.code != exitUsage || !strings.Contains(o.stderr+o.stdout, "it weighs nothing in the configured order; write mode: score or mode: priority") {
		t.Errorf("exit code %d: %s%s", o.code, o.stdout, o.stderr)
	}
}
