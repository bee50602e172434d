package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"podium/cmd/podium/likely"
	"podium/schemas"
)

// TestHelp: every verb explains itself with an example that can be typed.
func TestHelp(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&command{}, kong.Name("podium"))
	if err != nil {
		t.Fatal(err)
	}
	verbs := []string{""}
	for _, leaf := range parser.Model.Leaves(true) {
		verbs = append(verbs, strings.TrimSpace(regexp.MustCompile(`[<\[].*`).ReplaceAllString(leaf.Path(), "")))
	}
	verbs = append(verbs, "podium runs", "podium quarantine", "podium agent")
	if len(verbs) < 18 {
		t.Fatalf("only these verbs were found: %q", verbs)
	}
	for _, verb := range verbs {
		arguments := append(strings.Fields(strings.TrimPrefix(verb, "podium")), "--help")
		o := in(t, "", arguments...)
		if o.code != exitOK || o.stderr != "" {
			t.Errorf("%v: exit code %d, %s", arguments, o.code, o.stderr)
		}
		example := "\n    podium " + strings.Join(arguments[:len(arguments)-1], " ")
		if !strings.Contains(o.stdout, strings.TrimSuffix(strings.TrimSpace(example), " list")) || !strings.Contains(o.stdout, "\n    podium") {
			t.Errorf("%v shows no example:\n%s", arguments, o.stdout)
		}
		if typed := in(t, "", append([]string{"help"}, arguments[:len(arguments)-1]...)...); typed.code != exitOK || typed.stdout != o.stdout {
			t.Errorf("help %v is something else than %v", arguments[:len(arguments)-1], arguments)
		}
	}
}

// TestExitCodes: scripts depend on them, and every failure says what to do next.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	wrong := writeFile(t, "agents: {calculator: {kind: calculatr}}\nprofils: {}\n")
	right := writeFile(t, sampleConfig)
	two := writeFile(t, sampleConfig+strings.Replace(deskProfile, "desk", "other", 1))
	for _, c := range []struct {
		name      string
		arguments string
		code      int
		says      string // on standard error
	}{
		{"no verb", "", exitUsage, "podium --help"},
		{"unknown verb", "dance", exitUsage, "podium --help"},
		{"unknown flag", "runs --dance", exitUsage, "unknown flag --dance"},
		{"unknown output", "runs -o xml", exitUsage, "--output must be one of"},
		{"missing argument", "runs show", exitUsage, "<run>"},
		{"missing flag", "mail try", exitUsage, "`podium mail try --help`"},
		{"no ledger", "runs --data " + nowhere, exitNotFound, "--data names the directory"},
		{"no ledger to replay", "replay --verify --data " + nowhere, exitNotFound, "there is no ledger in"},
		{"no instance", "send hello --data " + nowhere, exitNotFound, "podium up"},
		{"nothing to send", "send --data " + nowhere, exitUsage, "there are no words to send"},
		{"no configuration to run", "up -c " + nowhere, exitNotFound, "podium schema config"},
		{"no configuration to check", "check -c " + nowhere, exitNotFound, "-c FILE"},
		{"no configuration to route by", "route hello -c " + nowhere, exitNotFound, "-c FILE"},
		{"wrong configuration to run", "up -c " + wrong, exitUsage, `did you mean "calculator"?`},
		{"wrong configuration to check", "check -c " + wrong, exitUsage, `did you mean "profiles"?`},
		{"wrong configuration to route by", "route hello -c " + wrong, exitUsage, ":1:"},
		{"nothing to route", "route -c " + right, exitUsage, "there are no words to route"},
		{"words to lint by", "route hello --lint -c " + right, exitUsage, "--lint takes no words"},
		{"no ledger to lint by", "route --lint -c " + right + " --data " + nowhere, exitNotFound, "there is no ledger in"},
		{"one profile of two", "route hello -c " + two, exitUsage, "--profile desk, or --profile other"},
		{"no such profile", "route hello --profile none -c " + two, exitNotFound, "there are: desk, other"},
		{"no such schema", "schema none", exitNotFound, "there are: agent"},
		{"no command", "agent exec --name a", exitUsage, "<command>"},
		{"a command that does not exist", "agent exec --name a -- ./does-not-exist", exitUsage, "does-not-exist"},
		{"no agent to check", "agent check -c " + right + " nobody -- ./clerk", exitNotFound, "podium agent check NAME"},
		{"options behind an agent", "agent check clerk --heartbeat 3s", exitUsage, "options stand before it"},
		{"an agent that cannot be", "agent check Clerk", exitUsage, "cannot be the name of an agent"},
		{"a command that cannot start", "agent check clerk -- ./does-not-exist", exitUsage, "does-not-exist"},
		{"arguments that are none", "agent check --arguments " + right + " clerk -- ./clerk", exitUsage, "neither an object of JSON nor a list"},
		{"no language", "agent new clerk", exitUsage, "--lang"},
		{"an unknown language", "agent new --lang perl clerk", exitUsage, "must be one of"},
		{"a name that no file has", "agent new --lang py --dir " + nowhere + " json", exitUsage, "the program needs a module json"},
		{"a right configuration", "check -c " + right, exitOK, ""},
		{"a name", "version", exitOK, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := in(t, "", strings.Fields(c.arguments)...)
			if o.code != c.code || !strings.Contains(o.stderr, c.says) || (c.says == "") != (o.stderr == "") {
				t.Errorf("podium %s: exit code %d, want %d; it says %q, want %q", c.arguments, o.code, c.code, o.stderr, c.says)
			}
			if strings.Contains(o.stderr, "goroutine ") || strings.Contains(o.stderr, ".go:") {
				t.Errorf("podium %s shows its inside: %s", c.arguments, o.stderr)
			}
		})
	}
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "podium.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const sampleConfig = `
agents:
  calculator: {kind: calculator}
  echo: {kind: echo}
  letters: {kind: external}
profiles:
` + deskProfile

const deskProfile = `  desk:
    agents: [calculator, echo, letters]
    routers:
      - kind: keywords
        mode: priority
        groups:
          - {name: sums, agent: calculator, priority: 1, keywords: ["calculat*", "how much"]}
          - {name: post, agent: letters, priority: 2, keywords: [letter, {word: mail, mode: prefix, except: [mailand]}]}
      - {kind: default, agent: echo}
    complexity: {verbs: [calculate, write], separators: [then]}
    execution: {mode: sequence}
`

// TestCheckNamesPlaces: what is wrong is named with line, column and the nearest
// valid key, for people and for programs.
func TestCheckNamesPlaces(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "agents:\n  calculator: {knd: calculator}\nprofils: {}\n")
	plain := in(t, "", "check", "-c", file)
	for _, words := range []string{file + ":2:16: ", `unknown key "knd"; did you mean "kind"?`, file + ":3:1: ", `unknown key "profils"; did you mean "profiles"?`} {
		if plain.code != exitUsage || !strings.Contains(plain.stderr, words) {
			t.Errorf("exit code %d, and it does not say %q:\n%s", plain.code, words, plain.stderr)
		}
	}
	var report struct {
		OK       bool     `json:"ok"`
		Problems []string `json:"problems"`
	}
	machine := in(t, "", "check", "-c", file, "-o", "json")
	if err := json.Unmarshal([]byte(machine.stdout), &report); err != nil || report.OK || len(report.Problems) < 2 || machine.code != exitUsage {
		t.Errorf("exit code %d, %s (%v)", machine.code, machine.stdout, err)
	}
	right := in(t, "", "check", "-c", writeFile(t, sampleConfig), "-o", "json").succeeds(t)
	if err := json.Unmarshal([]byte(right.stdout), &report); err != nil || !report.OK || !strings.Contains(right.stdout, `"problems":[]`) {
		t.Errorf("a right one: %s (%v)", right.stdout, err)
	}
}

// TestCheckCautions: what may not be meant is said and no fault: a mailbox about whose
// mail nobody is believed.
func TestCheckCautions(t *testing.T) {
	t.Parallel()
	const mailbox = `
mail: {accounts: [{name: support, profile: desk, imap: {host: imap.example.org, username: u, password: p%s}, smtp: {host: smtp.example.org, from: a@example.org}}]}
agents: {echo: {kind: echo}}
profiles: {desk: {agents: [echo], routers: [{kind: default, agent: echo}], conversation: {answer: %s}}}
`
	for name, test := range map[string]struct {
		imap, answer string
		cautious     bool
	}{
		"nobody is believed":  {"", "proven", true},
		"and forged mail not": {"", "unrefuted", true},
		"a server is":         {", authserv_ids: [mx.example.org]", "proven", false},
		"signatures are":      {", dkim: true", "proven", false},
		"it is meant":         {"", "everybody", false},
	} {
		file := writeFile(t, fmt.Sprintf(mailbox, test.imap, test.answer))
		if told := in(t, "", "check", "-c", file).succeeds(t).stdout; strings.Contains(told, `caution: mail account "support"`) != test.cautious {
			t.Errorf("%s: %s", name, told)
		}
		var report struct {
			OK       bool     `json:"ok"`
			Cautions []string `json:"cautions"`
		}
		machine := in(t, "", "check", "-c", file, "-o", "json").succeeds(t)
		if err := json.Unmarshal([]byte(machine.stdout), &report); err != nil || !report.OK || report.Cautions == nil || (len(report.Cautions) > 0) != test.cautious {
			t.Errorf("%s: %s (%v)", name, machine.stdout, err)
		}
	}
}

// TestRouteExplains_O16: all candidates, their scores, the matched words with their
// places, and why the losers lost.
func TestRouteExplains_O16(t *testing.T) {
	t.Parallel()
	file := writeFile(t, sampleConfig)
	const text = "How much is the mailing? A letter will do."
	var explained struct {
		Profile string
		Steps   []struct {
			Text     string
			Decided  bool
			Decision schemas.RouteDecision
			Why      string
		}
	}
	o := in(t, "", "route", "-c", file, "-o", "json", text).succeeds(t)
	if err := json.Unmarshal([]byte(o.stdout), &explained); err != nil || len(explained.Steps) != 1 {
		t.Fatalf("%v in %s", err, o.stdout)
	}
	decision := explained.Steps[0].Decision
	if !explained.Steps[0].Decided || decision.NextAgent != "calculator" || decision.Router != "keywords" || len(decision.Reasons) == 0 || explained.Steps[0].Why == "" {
		t.Errorf("decided: %+v", decision)
	}
	agents := map[string]schemas.Candidate{}
	for _, candidate := range decision.Candidates {
		agents[candidate.Agent] = candidate
		for _, match := range candidate.Matches {
			if text[match.Start:match.End] != match.Text {
				t.Errorf("%q is not at %d–%d", match.Text, match.Start, match.End)
			}
		}
	}
	if winner := agents["calculator"]; len(winner.Lost) > 0 || winner.Score <= 0 || len(winner.Matches) != 1 || winner.Matches[0].Text != "How much" {
		t.Errorf("the winner: %+v", winner)
	}
	if loser := agents["letters"]; len(loser.Lost) == 0 || len(loser.Matches) != 2 || loser.Matches[0].Text != "mailing" && loser.Matches[1].Text != "mailing" {
		t.Errorf("the loser: %+v", loser)
	}
	if last := agents["echo"]; len(last.Lost) == 0 {
		t.Errorf("the default agent is not among the candidates: %+v", decision.Candidates)
	}
	plain := in(t, "", "route", "-c", file, text).succeeds(t).stdout
	for _, words := range []string{"profile desk", "→ calculator, by router keywords", `"How much" at 0–8 by keyword "how much"`, "letters (post)", "lost: ", "chosen"} {
		if !strings.Contains(plain, words) {
			t.Errorf("it does not say %q:\n%s", words, plain)
		}
	}
	steps := in(t, "", "route", "-c", file, "Calculate 6 * 7, then write a letter").succeeds(t).stdout
	for _, words := range []string{"step 1: Calculate 6 * 7", "step 2: write a letter", "→ letters"} {
		if !strings.Contains(steps, words) {
			t.Errorf("a text of two steps does not say %q:\n%s", words, steps)
		}
	}
	if fallback := in(t, "", "route", "-c", file, "In Mailand scheint die Sonne").succeeds(t).stdout; !strings.Contains(fallback, "→ echo, by router default") {
		t.Errorf("words of no group:\n%s", fallback)
	}
}

// TestSchema: every schema is printed, and is JSON.
func TestSchema(t *testing.T) {
	t.Parallel()
	names := strings.Fields(in(t, "", "schema").succeeds(t).stdout)
	for _, name := range []string{"config", schemas.EnvelopeTypeExecutionRequest, schemas.EnvelopeTypeExecutionResponse, schemas.EnvelopeTypeProgressUpdate, "email_received", "chat_received", "task_plan"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not listed", name)
		}
	}
	for _, name := range names {
		var schema struct {
			Dialect string `json:"$schema"`
		}
		o := in(t, "", "schema", name).succeeds(t)
		if err := json.Unmarshal([]byte(o.stdout), &schema); err != nil || schema.Dialect != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("schema %s: %v, dialect %q", name, err, schema.Dialect)
		}
	}
	var listed []string
	if err := json.Unmarshal([]byte(in(t, "", "schema", "-o", "json").stdout), &listed); err != nil || !slices.Equal(listed, names) {
		t.Errorf("as JSON the list is %q (%v)", listed, err)
	}
}

// TestVersion names the server that is inside.
func TestVersion(t *testing.T) {
	t.Parallel()
	var version map[string]string
	if err := json.Unmarshal([]byte(podium(t, "version", "-o", "json").succeeds(t).stdout), &version); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(version["nats_server"], "v2.") || !strings.HasPrefix(version["go"], "go1.") {
		t.Errorf("version says %v", version)
	}
	flag, verb := in(t, "", "--version"), in(t, "", "version")
	if flag.code != exitOK || flag.stderr != "" || flag.stdout != verb.stdout || !strings.HasPrefix(flag.stdout, "podium ") {
		t.Errorf("--version says %q, and version %q", flag.stdout, verb.stdout)
	}
}

// TestCheckMissesPrograms: neither a program that is not there passes, nor one that an interpreter is to read.
func TestCheckMissesPrograms(t *testing.T) {
	t.Parallel()
	i := install(t, `
agents:
  gone: {kind: exec, command: [./gone]}
  read: {kind: exec, command: [/bin/sh, -eu, gone.sh]}
  told: {kind: exec, command: [/bin/sh, -c, "gone.sh"]}
profiles:
  desk: {agents: [gone, read, told], routers: [{kind: default, agent: told}]}
`)
	said := i.podium("check", "-c", i.config)
	if said.code != exitUsage || !strings.Contains(said.stderr, `agent "gone"`) || !strings.Contains(said.stderr, `agent "read": exec: /bin/sh is to run gone.sh, which is not there`) || strings.Contains(said.stderr, `"told"`) {
		t.Errorf("exit code %d\n%s", said.code, said.stderr)
	}
}

// TestLikelyCommands: a word of another program that is no command of this one is answered with the command that does it, and each of these is there.
func TestLikelyCommands(t *testing.T) {
	t.Parallel()
	for _, word := range likely.Words() {
		said := in(t, "", word)
		if want := "unexpected argument " + word + "; what you look for is " + likely.Command(word); said.code != exitUsage || !strings.Contains(said.stderr, want) {
			t.Errorf("%s: %d %s", word, said.code, said.stderr)
		}
		command, _, _ := strings.Cut(likely.Command(word), ",")
		var verbs []string
		for _, part := range strings.Fields(command)[1:] {
			if part == strings.ToLower(part) {
				verbs = append(verbs, part)
			}
		}
		if help := in(t, "", append(verbs, "--help")...); help.code != exitOK {
			t.Errorf("%s is no command: %s", command, help.stderr)
		}
	}
	for _, line := range []string{"runs verify", "verify it"} {
		if said := in(t, "", strings.Fields(line)...); said.code != exitUsage || !strings.Contains(said.stderr, "podium replay --verify") {
			t.Errorf("%s: %s", line, said.stderr)
		}
	}
	for _, line := range []string{"nothing", "version status"} {
		if said := in(t, "", strings.Fields(line)...); said.code != exitUsage || strings.Contains(said.stderr, "what you look for") {
			t.Errorf("%s: %s", line, said.stderr)
		}
	}
}
