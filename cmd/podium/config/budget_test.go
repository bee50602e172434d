package config

import (
	"strings"
	"testing"

	"podium/schemas"
)

// TestBudgetOfADay: limits of a day stand in the profile as the supervisor has it, need what a request reserves, and are cautioned about when nothing fits.
func TestBudgetOfADay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ budget, problem, caution string }{
		"of the profile":     {budget: `day: {tokens: 1000, money: 2.5}, price: 3, reserve: 100, exhausted: wait`},
		"of an agent":        {budget: `agent_day: {answer: {tokens: 1000}}, reserve: 100, exhausted: wait`},
		"without a reserve":  {budget: `day: {seconds: 100}`, problem: "write reserve_seconds"},
		"of a run alone":     {budget: `run: {tokens: 1000}, reserve: 100, exhausted: wait`, problem: "there is no other day to wait for"},
		"of nobody":          {budget: `agent_day: {nobody: {tokens: 1000}}, reserve: 100`, problem: "nobody"},
		"without room":       {budget: `day: {tokens: 50}, reserve: 100`, caution: "profiles.team.budget.day has no room for one request"},
		"of a run, too":      {budget: `run: {tokens: 50}, reserve: 100`, caution: "profiles.team.budget.run has no room for one request"},
		"without its room":   {budget: `agent_day: {answer: {tokens: 50}}, reserve: 100`, caution: "profiles.team.budget.agent_day.answer has no room for one request"},
		"of a run's agent":   {budget: `agent: {answer: {tokens: 50}}, reserve: 100`, caution: "profiles.team.budget.agent.answer has no room for one request"},
		"nothing is limited": {budget: `reserve: 100`},
	} {
		config, err := parse([]byte(`
agents:
  answer: {kind: external}
profiles:
  team: {agents: [answer], routers: [{kind: default, agent: answer}], budget: {`+test.budget+`}}
`), "podium.yaml", lookup)
		switch {
		case test.problem != "":
			if err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%s: %v, want %q", name, err, test.problem)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", name, err)
			continue
		}
		if cautions := strings.Join(config.Cautions(), "\n"); (cautions == "") != (test.caution == "") || !strings.Contains(cautions, test.caution) {
			t.Errorf("%s: %q, want %q", name, cautions, test.caution)
		}
		profile := config.Profiles["team"]
		made := config.budget(profile.Budget, nil)
		if name == "of the profile" && (made.Day != schemas.Usage{Tokens: 1000, CostMicros: 2_500_000} || made.Exhausted != schemas.BudgetWaits) || name == "of an agent" && made.DayAgents["answer"].Tokens != 1000 {
			t.Errorf("%s: it is made %+v", name, made)
		}
	}
}
