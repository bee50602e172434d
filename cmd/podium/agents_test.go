package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"podium/agents/mail/smtpsink"
	"podium/ingest/imap/memorymailbox"
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
		for _, row := range []string{fmt.Sprintf(`alpha +python +ok +%d +1 +0 +0 +0 +0 +closed +20`, want), `beta +external +never +7 +0 +0 +0 +0 +0 +closed +never +has not connected`} {
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
		if _, err := agent.conn.Request("podium.agent.alpha.alive", nil, patience); err != nil { // it lives, however long this takes
			t.Fatal(err)
		}
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
	if listed := i.podium("agents").succeeds(t).stdout; !regexp.MustCompile(`(?m)^alpha +python +(ok|late) +[23] +[01] +0 +0 +0 +0 +closed +20`).MatchString(listed) {
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

const practiceConfig = `
mail:
  accounts:
    - name: support
      profile: desk
      imap: {host: 127.0.0.1, port: %d, tls: none, username: agent, password: secret, poll: 1s}
      smtp: {host: 127.0.0.1, port: %d, tls: none, from: support@praxis.example, sent: none}
people:
  anna: {mail: anna@praxis.example}
agents:
  doctor: {kind: person, people: [anna], description: Looks at findings.}
profiles:
  desk: {language: en, agents: [doctor], routers: [{kind: default, agent: doctor}]}
`

// TestPeopleAreNoAgentsThatNeverCame: an agent that is people is listed as that, with how many tasks they are asked to do, and nobody
// is told that nobody serves it.
func TestPeopleAreNoAgentsThatNeverCame(t *testing.T) {
	t.Parallel()
	sink, err := smtpsink.Start(t.Context(), smtpsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	mailbox, err := memorymailbox.Start(t.Context(), "agent", "secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mailbox.Close() })
	i := install(t, fmt.Sprintf(practiceConfig, mailbox.Port(), sink.Port()))
	i.up()
	listed := func(asked int) bool {
		row := fmt.Sprintf(`(?m)^doctor +person +people: anna; asked to do at present: %d$`, asked)
		return regexp.MustCompile(row).MatchString(i.podium("agents").succeeds(t).stdout)
	}
	if !listed(0) {
		t.Errorf("nobody is asked:\n%s", i.podium("agents").stdout)
	}
	i.podium("send", "What does this finding mean?").succeeds(t)
	eventually(t, "one is asked", func() bool { return listed(1) })
	found := false
	for _, one := range lines[agentRow](t, i.podium("agents", "-o", "json")) {
		if one.Name == "doctor" {
			found = one.Kind == "person" && slices.Equal(one.People, []string{"anna"}) && one.Asked != nil && *one.Asked == 1 && one.Served == nil && one.Breaker == nil
		}
	}
	if _, page := i.fetch("/health"); !found || !strings.Contains(page, `{"name":"doctor","kind":"person","people":["anna"]}`) {
		t.Errorf("programs are told\n%s\n%s", i.podium("agents", "-o", "json").stdout, page)
	}
	if told := i.process.stdout.String(); strings.Contains(told, "nobody serves doctor") {
		t.Errorf("the service says\n%s", told)
	}
}

// TestWhoIsTakenOutOfTheConfigurationIsNotListed: an external agent, and the one that writes letters, of which nobody had said that it is there.
func TestWhoIsTakenOutOfTheConfigurationIsNotListed(t *testing.T) {
	t.Parallel()
	mailbox, err := memorymailbox.Start(t.Context(), "agent", "secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mailbox.Close() })
	account := fmt.Sprintf("\nmail: {accounts: [{name: a, profile: desk, imap: {host: 127.0.0.1, port: %d, tls: none, username: agent, password: secret}, "+
		"smtp: {host: 127.0.0.1, port: 2525, tls: none, from: agent@example.org}}]}\n", mailbox.Port())
	i := install(t, fmt.Sprintf(externalConfig, webSecret)+account)
	i.up()
	if _, err = connectPlain(t, i, "beta").conn.Request("podium.agent.beta.announce", []byte(`{"name":"beta"}`), patience); err != nil {
		t.Fatal(err)
	}
	listed := func() (names []string) {
		for _, one := range lines[agentRow](t, i.podium("agents", "-o", "json")) {
			names = append(names, one.Name)
		}
		return names
	}
	eventually(t, "all have announced themselves", func() bool { return slices.Equal(listed(), []string{"alpha", "beta", "chat", "mail"}) })
	i.stop()
	i.replace(account, "")
	i.replace("  beta: {kind: external}\n", "")
	i.replace("agents: [alpha, beta]", "agents: [alpha]")
	i.replace("      - {kind: keywords, groups: [{agent: beta, keywords: [beta]}]}\n", "")
	i.up()
	if found := listed(); !slices.Equal(found, []string{"alpha", "chat"}) {
		t.Errorf("listed are %v", found)
	}
	i.stop()
	i.verify()
}
