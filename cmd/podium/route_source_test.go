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
		"by default, by mail": {"", "email", "→ doctor", "of the group “symptoms”. By its priority 1 it goes before \"letters\"."},
		"weighed, by mail":    {", source_bonus: {email: 2}", "email", "→ writer", "of the group “letters”. By its priority 0 it goes before \"symptoms\". The source email counts 2 in this."},
		"weighed, by chat":    {", source_bonus: {email: 2}", "chat", "→ doctor", "lost: The priority 2 comes after 1."},
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

// TestRouteShowsPlans: podium route decides as the supervisor does which tasks a message becomes: by the template that fits it, with the agents that its plan
// names or that the routers find; by the steps of its words; or by one task, where a plan is refused or a planner would be asked.
func TestRouteShowsPlans(t *testing.T) {
	t.Parallel()
	const configuration = `
agents: {searcher: {kind: echo}, writer: {kind: echo}}
profiles:
  desk:
    agents: [searcher, writer]
    routers: %s
    planner:
      kind: template
      templates:
        - name: report
          keywords: [report]
          parameters: [{name: subject, pattern: 'report on (\w+)', required: true}]
          tasks:
            - {task: find, agent: searcher, description: "Look for {subject}."}
            - {task: tell, description: "Write about {subject}.", dependencies: [find]}
    execution: {mode: dag}
    budget: {run: {tokens: 5}, reserve: 10, exhausted: end}
    approval: [{agents: [searcher, writer], people: [requester]}]
    waiting: {expire: 1h}
`
	const assigned, found = "[{kind: assigned}, {kind: default, agent: writer}]", "[{kind: keywords, groups: [{agent: writer, keywords: [write]}]}, {kind: default, agent: searcher}]"
	for name, c := range map[string]struct {
		routers, words string
		says, never    []string
	}{
		"a template that fits": {
			assigned, "Please make a report on pumps.",
			[]string{"plan by template report, tasks 2", "step 1: Look for pumps.\n→ searcher, by router assigned: The plan names this agent.", "step 2: Write about pumps.\nafter find\n→ writer, by router default"},
			[]string{"Please make"},
		},
		"with agents that routers find": {
			found, "a report on valves", []string{"step 2: Write about valves.\nafter find\n→ writer, by router keywords"}, nil,
		},
		"whose parameter is missing": {assigned, "a report", []string{"→ writer, by router default"}, []string{"template", "step"}},
		"none that fits":             {assigned, "Good morning", []string{"→ writer, by router default"}, []string{"template", "step"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := install(t, strings.ReplaceAll(configuration, "%s", c.routers))
			o := i.podium("route", "-c", i.config, c.words).succeeds(t)
			for _, want := range c.says {
				if !strings.Contains(o.stdout, want) {
					t.Errorf("%q is not in\n%s", want, o.stdout)
				}
			}
			for _, never := range c.never {
				if strings.Contains(o.stdout, never) {
					t.Errorf("%q is in\n%s", never, o.stdout)
				}
			}
		})
	}
}
