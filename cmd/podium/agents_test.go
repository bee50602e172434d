package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"podium/schemas"
)

// TestAgentsSayHowManyRequestsAtATime: as many as the bus lets it have, unless the
// agent says fewer; and whether anybody serves it.
func TestAgentsSayHowManyRequestsAtATime(t *testing.T) {
	t.Parallel()
	i := install(t, strings.Replace(fmt.Sprintf(externalConfig, webSecret), "beta: {kind: external}", "beta: {kind: external, concurrency: 7}", 1))
	i.up()
	agent := connectPlain(t, i, "alpha")
	for announced, want := range map[string]int{"": 3, `,"concurrency":0`: 3, `,"concurrency":2`: 2, `,"concurrency":50`: 3} {
		if _, err := agent.conn.Request("podium.agent.alpha.announce", []byte(`{"name":"alpha","kind":"python"`+announced+`}`), patience); err != nil {
			t.Fatal(err)
		}
		listed := i.podium("agents").succeeds(t).stdout
		for _, row := range []string{fmt.Sprintf(`alpha +python +%d +yes +20`, want), `beta +7 +no +never +closed +has not connected`} {
			if !regexp.MustCompile(`(?m)^` + row).MatchString(listed) {
				t.Errorf("announced with %q, no row is %s:\n%s", announced, row, listed)
			}
		}
		for _, found := range lines[schemas.Agent](t, i.podium("agents", "-o", "json")) {
			if found.Name == "alpha" && found.Concurrency != want {
				t.Errorf("announced with %q: %d at a time for programs", announced, found.Concurrency)
			}
		}
	}
	for name, want := range map[string]bool{"alpha": true, "beta": false, "chat": true} {
		found := i.listedAgent(name)
		if found.Served == nil || *found.Served != want || found.Breaker.State != schemas.BreakerClosed || found.LastSeen.IsZero() == want {
			t.Errorf("programs are told of %s: %+v", name, found)
		}
	}
	if beta := i.listedAgent("beta"); beta.Concurrency != 7 || !beta.Announced.IsZero() {
		t.Errorf("programs are told of beta, which has not connected: %+v", beta)
	}
	i.stop()
	if found := i.listedAgent("alpha"); found.Served != nil {
		t.Errorf("at rest programs are told that somebody serves alpha: %t", *found.Served)
	}
	if listed := i.podium("agents").succeeds(t).stdout; !regexp.MustCompile(`(?m)^alpha +python +[23] +20`).MatchString(listed) {
		t.Errorf("at rest:\n%s", listed)
	}
}

// A listedAgent is what programs are told of an agent.
type listedAgent struct {
	schemas.Agent

	Served *bool `json:"served"`
}

// listedAgent is what `podium agents -o json` says of an agent.
func (i *deployment) listedAgent(name string) listedAgent {
	i.t.Helper()
	all := lines[listedAgent](i.t, i.podium("agents", "-o", "json"))
	for _, found := range all {
		if found.Name == name {
			return found
		}
	}
	i.t.Fatalf("%s is not among the %d agents for programs", name, len(all))
	return listedAgent{}
}
