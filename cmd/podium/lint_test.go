package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"podium/supervisor/route"
)

const lintedConfig = `
agents:
  parrot: {kind: echo}
  echo: {kind: echo}
profiles:
  desk:
    agents: [parrot, echo]
    routers:
      - kind: keywords
        groups:
          - {name: sums, agent: parrot, keywords: ["*cation*", mail, never]}
          - {name: post, agent: echo, match: compound, keywords: [Termin, express mail, {word: mail, shared: true}]}
      - {kind: default, agent: echo}
  other:
    agents: [echo]
    routers: [{kind: default, agent: echo}]
`

// TestRouteLint: keywords are compared with each other and with what
// people have asked, on a ledger at rest and on a running instance.
func TestRouteLint(t *testing.T) {
	t.Parallel()
	i := install(t, lintedConfig)
	i.up()
	long := strings.Repeat("What we said about it. ", 400) + "Der Arzttermin!" // stands outside of its record
	for _, text := range []string{"an application and a vacation", "one more application", long} {
		i.podium("send", "--wait", "--profile", "desk", text).succeeds(t)
	}
	running := i.podium("route", "--lint", "-c", i.config, "--profile", "desk")
	want := "profile desk, findings 7; requests read from " + i.data + ": 3\n" +
		`inside   router 1, group "sums": "cation" counts inside longer words, in 2 of the texts: "application" (2), "vacation" (1)` + "\n" +
		`overlap  router 1, group "sums": "mail" counts wherever the keyword "express mail" of group "post" does` + "\n" +
		`silent   router 1, group "sums": "mail" hits nothing of the history` + "\n" +
		`silent   router 1, group "sums": "never" hits nothing of the history` + "\n" +
		`inside   router 1, group "post": "Termin" counts inside longer words, in 1 of the texts: "arzttermin" (1)` + "\n" +
		`silent   router 1, group "post": "express mail" hits nothing of the history` + "\n" +
		`silent   router 1, group "post": "mail" hits nothing of the history` + "\n"
	if running.code != exitDiffers || running.stderr != "" || running.stdout != want {
		t.Errorf("exit code %d, %s\n%swant\n%s", running.code, running.stderr, running.stdout, want)
	}
	i.stop()
	var report struct {
		Profile, Ledger string
		Requests        int
		Findings        []route.Finding
	}
	rest := i.podium("route", "--lint", "-c", i.config, "--profile", "desk", "--last", "1", "-o", "json")
	if err := json.Unmarshal([]byte(rest.stdout), &report); err != nil || rest.code != exitDiffers || report.Requests != 1 || report.Ledger != i.data {
		t.Fatalf("exit code %d, %v in %s", rest.code, err, rest.stdout)
	}
	at := slices.IndexFunc(report.Findings, func(f route.Finding) bool { return f.Keyword == "Termin" })
	if at < 0 || report.Findings[at].Kind != route.FindingInside || report.Findings[at].Words[0].Word != "arzttermin" {
		t.Errorf("the newest request is not read: %+v", report.Findings)
	}
	other := i.podium("route", "--lint", "-c", i.config, "--profile", "other").succeeds(t).stdout
	if other != "profile other, findings 0; requests read from "+i.data+": 0\n" {
		t.Errorf("a profile that nobody asked: %s", other)
	}
}

// TestRouteLintWithoutLedger: where nobody has run anything, keywords are still
// compared with each other.
func TestRouteLintWithoutLedger(t *testing.T) {
	t.Chdir(t.TempDir())
	file := writeFile(t, lintedConfig)
	o := in(t, "", "route", "--lint", "-c", file, "--profile", "desk")
	if o.code != exitDiffers || !strings.HasPrefix(o.stdout, "profile desk, findings 1; no ledger, so what never hits is not known\noverlap  ") {
		t.Errorf("exit code %d, %s%s", o.code, o.stdout, o.stderr)
	}
}

// TestRouteShowsKeywordsAsWritten: a stem has its star wherever it is named, and a whole word has none.
func TestRouteShowsKeywordsAsWritten(t *testing.T) {
	t.Parallel()
	file := writeFile(t, `
agents:
  echo: {kind: echo}
  sums: {kind: calculator}
profiles:
  desk:
    agents: [echo, sums]
    routers:
      - {kind: keywords, groups: [{agent: sums, keywords: ["calculat*", "what is"]}, {agent: echo, keywords: ["*song", "/say \\w+/"]}]}
      - {kind: default, agent: echo}
    complexity: {verbs: ["calculat*", sing], separators: [and]}
`)
	for text, want := range map[string][]string{
		"calculated":         {"“calculat*” is a keyword of the group", `"calculated" at 0–10 by keyword "calculat*"`},
		"what is it":         {"“what is” is a keyword of the group", `by keyword "what is"`},
		"a folksong":         {"“*song” is a keyword of the group", `by keyword "*song"`},
		"calculate and sing": {`2 action verbs: "calculat*", "sing"`},
	} {
		shown := in(t, "", "route", "-c", file, text).succeeds(t).stdout
		for _, words := range want {
			if !strings.Contains(shown, words) {
				t.Errorf("%q: it does not say %s:\n%s", text, words, shown)
			}
		}
	}
}

// TestRouteSaysWhoIsAsked: what a model or the agents would say is not
// known here, and that is said.
func TestRouteSaysWhoIsAsked(t *testing.T) {
	t.Parallel()
	file := writeFile(t, `
agents:
  echo: {kind: echo, description: "Repeats every song"}
  oracle: {kind: external, kinds: [route]}
  singer: {kind: external, capabilities: [{words: [song*], score: 0.2}]}
profiles:
  desk:
    agents: [echo, singer]
    routers: [{kind: agent, agent: oracle}, {kind: score}]
`)
	text := in(t, "", "route", "-c", file, "songs").succeeds(t).stdout
	for _, words := range []string{"a run first asks oracle; without their answers:", "The agent oracle has not been asked.", "→ echo, by router score", `"songs" at 0–5 by keyword "song*"`, "The score of singer is 0.12: 0.2 is declared for it, and its words count 0."} {
		if !strings.Contains(text, words) {
			t.Errorf("it does not say %q:\n%s", words, text)
		}
	}
	var explained explanation
	o := in(t, "", "route", "-c", file, "-o", "json", "songs").succeeds(t)
	if err := json.Unmarshal([]byte(o.stdout), &explained); err != nil || len(explained.Steps) != 1 || strings.Join(explained.Steps[0].Asks, " ") != "oracle" {
		t.Errorf("%v in %s", err, o.stdout)
	}
}
