package config

import (
	"strings"
	"testing"
)

// TestPracticeOfReplanning: a judge without a bound, and one who is not told what is wrong, are cautioned.
func TestPracticeOfReplanning_C18(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ profile, want string }{
		"without a bound":    {profile: `agents: [answer], execution: {mode: replan_loop}, replan: {agent: judge}`, want: "profiles.loop.replan may change a plan until 50 steps are used up"},
		"so many attempts":   {profile: `agents: [answer], execution: {mode: replan_loop}, replan: {agent: judge, attempts: 5}`},
		"so many steps":      {profile: `agents: [answer], execution: {mode: replan_loop, steps: 20}, replan: {agent: judge}`},
		"it says what":       {profile: `agents: [answer, {name: validate, verdict: {pointer: /valid, detail: /error}}], replan: {agent: judge, attempts: 5}`},
		"it says not what":   {profile: `agents: [answer, {name: validate, verdict: {pointer: /valid}}], replan: {agent: judge, attempts: 5}`, want: "validate says that something is wrong and not what"},
		"there is no replan": {profile: `agents: [answer]`},
	} {
		config, err := parse([]byte(`
agents:
  answer: {kind: echo}
  validate: {kind: echo}
  judge: {kind: external, kinds: [judge]}
profiles:
  loop: {`+test.profile+`, routers: [{kind: default, agent: answer}]}
`), "podium.yaml", lookup)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if cautions := strings.Join(config.Cautions(), "\n"); (cautions == "") != (test.want == "") || !strings.Contains(cautions, test.want) {
			t.Errorf("%s: %q, want %q", name, cautions, test.want)
		}
	}
}
