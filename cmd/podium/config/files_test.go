package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/cmd/podium/diagnostic"
)

// TestLoadReadsScripts: a script is beside the configuration, and what is wrong with either is named at once.
func TestLoadReadsScripts(t *testing.T) {
	t.Parallel()
	const profile = "profiles: {desk: {agents: [web], routers: [{kind: default, agent: web}]}}\n"
	for _, test := range []struct{ name, agents, script, want string }{
		{"right", "web: {kind: scripted, script: ./web.yaml}", "cases: [{text: x}]", ""},
		{"no script", "web: {kind: scripted, script: web.yml}", "", "podium.yaml:1:40: agents.web.script: there is no file web.yml"},
		{"a folder", "web: {kind: scripted, script: .}", "", "agents.web.script: "},
		{"mistakes of two scripts", "{web: {kind: scripted, script: web.yaml}, more: {kind: scripted, script: web.yaml}}", "cases: [{txt: x}]", "web.yaml:1:10: cases[0]: unknown key \"txt\"; did you mean \"text\"?\n"},
		{"nobody asks for it", "web: {kind: scripted, script: web.yaml}", "cases: [{text: x}, {kind: plan, data: 1}]", "agents.web: its script has a case of kind plan, which it is never asked: write kinds: [work, plan]"},
		{"nothing to say", "web: {kind: scripted, script: web.yaml, kinds: [work, route]}", "cases: [{text: x}]", "agents.web.kinds[1]: its script has no case of kind route, and no otherwise"},
		{"otherwise is for all", "web: {kind: scripted, script: web.yaml, kinds: [work, route]}", "{cases: [{match: [x], text: x}], otherwise: {data: 1}}", ""},
		{"without a permit", "web: {kind: scripted, script: web.yaml}", "cases: [{text: x, acts: true}]", "agents.web: cases[0] of its script acts: write side_effects: external"},
		{"otherwise acts", "web: {kind: scripted, script: web.yaml}", "{cases: [{match: [x], text: x}], otherwise: {text: x, acts: true}}", "agents.web: otherwise of its script acts: write side_effects: external"},
		{"with one", "web: {kind: scripted, script: web.yaml, side_effects: external}", "cases: [{text: x, acts: true}]", ""},
		{"too large", "web: {kind: scripted, script: web.yaml}", "cases: [{text: x}] #" + strings.Repeat("x", 1<<20), "agents.web.script: web.yaml has 1048596 bytes; it may have 1048576"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			agents := test.agents
			if !strings.HasPrefix(agents, "{") {
				agents = "{" + agents + "}"
			}
			for name, text := range map[string]string{"podium.yaml": "agents: " + agents + "\n" + profile, "web.yaml": test.script} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			loaded, err := Load(filepath.Join(folder, "podium.yaml"))
			switch {
			case test.want == "" && (err != nil || loaded.Agents["web"].Answers == nil):
				t.Errorf("%v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || diagnostic.ProblemsOf(err) == nil):
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}
