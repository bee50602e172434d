package config

import (
	"slices"
	"strings"
	"testing"
)

// TestPeopleBelowAreWaitedFor: whoever waits for a supervisor waits at least as long as that waits for people, or is cautioned, through every tier. An answer that is held counts nowhere:
// whoever has asked there holds it.
func TestPeopleBelowAreWaitedFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		inner, front string
		want         []string
	}{
		"approval":  {`approval: [{agents: [echo], people: [anna]}]`, `[team]`, []string{`profile "inner" of "team" waits for people up to 72h, and its answer is waited for 30s`, "{name: team, work: 81h}"}},
		"in time":   {`approval: [{agents: [echo], people: [anna], expires: 45m}]`, `[{name: team, work: 45m}]`, nil},
		"short":     {`approval: [{agents: [echo], people: [anna], expires: 45m}]`, `[{name: team, work: 44m30s}]`, []string{"up to 45m, and its answer is waited for 44m30s"}},
		"two tiers": {`approval: [{agents: [echo], people: [anna], expires: 96h}]`, `[office]`, []string{`profile "middle" of "office" waits for people up to 96h`, `profile "inner" of "team" waits for people up to 96h`}},
		"budget":    {`budget: {run: {tokens: 500}, reserve: 100, exhausted: ask, people: [anna], expires: 2h}`, `[team]`, []string{"up to 2h"}},
		"failures":  {`recovery: {default: human}, escalation: {human: {people: [anna], expires: 3h}}`, `[team]`, []string{"up to 3h"}},
		"delivery":  {`approval: [{delivery: true, people: [anna]}]`, `[team]`, nil},
		"requester": {`approval: [{agents: [echo], people: [requester]}]`, `[team]`, nil},
		"nobody":    {`deadlines: {work: 1h}`, `[team]`, nil},
	} {
		config, err := parse([]byte(`
people: {anna: {mail: anna@practice.example}}
mail:
  accounts:
    - {name: support, profile: front, imap: {host: localhost, tls: none, username: u, password: p, authserv_ids: [h]}, smtp: {host: localhost, tls: none, from: desk@practice.example}}
agents:
  echo: {kind: echo}
  team: {kind: supervisor, profile: inner}
  office: {kind: supervisor, profile: middle}
profiles:
  inner: {agents: [echo], routers: [{kind: default, agent: echo}], `+test.inner+`}
  middle: {agents: [team], routers: [{kind: default, agent: team}]}
  front: {agents: `+test.front+`, routers: [{kind: assigned}]}
`), "podium.yaml", lookup)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		cautions := slices.DeleteFunc(config.shortTiers(), func(caution string) bool {
			return name != "two tiers" && strings.HasPrefix(caution, "profiles.middle.") // it waits for none of them longer than others
		})
		for _, want := range test.want {
			if !strings.Contains(strings.Join(cautions, "\n"), want) {
				t.Errorf("%s: %q, want %q", name, cautions, want)
			}
		}
		if (len(cautions) > 0) != (len(test.want) > 0) {
			t.Errorf("%s: %q", name, cautions)
		}
	}
}
