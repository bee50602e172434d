package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"podium/cmd/podium/view"
)

// evil commands a terminal in every way, and would make a row of its own.
const evil = "\x1b]0;owned\x07\x1b[31m\u009b31m\u0085\x7f\b \u202eright\u2066to\u200fleft\u061c \r\nforged row\tof nobody"

// harmless fails the test when an output commands a terminal.
func harmless(t *testing.T, what, output string) {
	t.Helper()
	for _, r := range output {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Errorf("%s prints %U:\n%q", what, r, output)
			return
		}
	}
}

// orderly fails the test as well when somebody else has made up a line.
func orderly(t *testing.T, what, output string) {
	t.Helper()
	harmless(t, what, output)
	if strings.Contains(output, "\nforged row") {
		t.Errorf("%s prints a row that an agent has made up:\n%s", what, output)
	}
}

// TestNobodyCommandsTheTerminal: whatever an agent or a stranger says is printed by
// every verb without what commands a terminal, and programs read it unchanged.
func TestNobodyCommandsTheTerminal(t *testing.T) {
	t.Parallel()
	quoted, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	hostile := func(text, place string) string { return strings.Replace(text, `"`+place+`"`, string(quoted), 1) }
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	i.up()
	agent := connectPlain(t, i, "alpha")
	announcement := hostile(`{"name":"alpha","kind":"PLACE","description":"PLACE","version":"1"}`, "PLACE")
	if _, err := agent.conn.Request("podium.agent.alpha.announce", []byte(hostile(announcement, "PLACE")), patience); err != nil {
		t.Fatal(err)
	}
	watched := spawn(t, "--data", i.data, "send", "--wait", evil)
	first := agent.pull()
	agent.publish("podium.agent.alpha.progress", hostile(first.progress("alpha", 40, "PLACE"), "PLACE"))
	agent.publish(first.replyTo, hostile(first.response("alpha", "STATUS", "lost"), "STATUS"))
	agent.publish(first.replyTo, hostile(`{"message_id":"PLACE","from":"PLACE"}`, "PLACE"))
	agent.acknowledge(first)
	second := agent.pull()
	failed := strings.Replace(second.response("alpha", "failed", "x"), `"payload":{`, `"payload":{"issues_encountered":[{"issue_id":"i","severity":"high",`+
		`"description":"PLACE","resolution":"deferred"}],`, 1)
	agent.publish(second.replyTo, hostile(failed, "PLACE"))
	agent.acknowledge(second)
	third := agent.pull()
	agent.publish(third.replyTo, hostile(third.response("alpha", "completed", "PLACE"), "PLACE"))
	agent.acknowledge(third)
	watched.ends(t, exitOK)
	harmless(t, "send --wait", watched.stdout.String())

	run := i.runs()[0].ID
	for _, arguments := range [][]string{
		{"agents"}, {"runs"}, {"quarantine"}, {"replay"}, {"replay", "--work"}, {"replay", "--run", run}, {"replay", "--verify"},
	} {
		for _, format := range []string{"text", "json"} {
			orderly(t, fmt.Sprintf("%q as %s", arguments, format), i.podium(append(arguments, "-o", format)...).succeeds(t).stdout)
		}
	}
	typed := [][]string{{"runs", "show", run}, {"runs", "watch", run}} // whose last lines are the answer
	typed = append(typed, []string{"route", "-c", i.config, evil}, []string{"runs", "show", evil}, []string{"quarantine", "show", evil}, []string{"runs", "--" + evil})
	for _, arguments := range typed {
		for _, format := range []string{"text", "json"} {
			o := i.podium(append([]string{"-o", format}, arguments...)...)
			harmless(t, fmt.Sprintf("%q as %s", arguments, format), o.stdout+o.stderr)
		}
	}
	for _, reason := range i.inQuarantine() {
		for _, one := range reason {
			head, _, _ := strings.Cut(i.podium("quarantine", "show", one.ID).succeeds(t).stdout, "\n\n")
			orderly(t, "quarantine show", head)
		}
	}
	shown, _, _ := strings.Cut(i.podium("runs", "show", run).stdout, "reply")
	orderly(t, "runs show", shown)
	listed := lines[struct{ Description string }](t, i.podium("agents", "-o", "json"))
	if !slices.ContainsFunc(listed, func(a struct{ Description string }) bool { return a.Description == evil }) {
		t.Errorf("programs do not read what alpha says of itself: %q", listed)
	}
	if listed := i.podium("agents").succeeds(t).stdout; !strings.Contains(listed, "forged row") || strings.Count(listed, "\n") != 4 {
		t.Errorf("agents lists\n%s", listed)
	}
	i.stop()
}

// TestLogAndErrorsCommandNoTerminal: neither do lines of the log, whose readers get
// every character, nor errors.
func TestLogAndErrorsCommandNoTerminal(t *testing.T) {
	t.Parallel()
	var console bytes.Buffer
	log := logger(view.NewGuard(&console, true), 1)
	log.Error().Err(errors.New(evil)).Str("agent", evil).Msg(evil)
	harmless(t, "the log", console.String())
	var line struct{ Error, Agent, Message string }
	if err := json.Unmarshal(console.Bytes(), &line); err != nil || line.Error != evil || line.Agent != evil || line.Message != evil {
		t.Errorf("%v, %q", err, line)
	}
	console.Reset()
	if code := report(view.NewGuard(&console, false), errors.New(evil)); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	harmless(t, "an error", console.String())
	if o := in(t, "", "runs", "show", evil, "--data", t.TempDir()); o.code == exitOK {
		t.Error("there is a run of that name")
	} else {
		harmless(t, "an error about an argument", o.stderr)
	}
}

// TestGuardKeepsCharactersWhole: what is written in pieces comes out as written at once.
func TestGuardKeepsCharactersWhole(t *testing.T) {
	t.Parallel()
	const text = "größer → \u009b 😀 \u202e end\n"
	for _, asJSON := range []bool{false, true} {
		var whole, pieces bytes.Buffer
		_, _ = view.NewGuard(&whole, asJSON).Write([]byte(text))
		guard := view.NewGuard(&pieces, asJSON)
		for i := range len(text) {
			if n, err := guard.Write([]byte(text[i : i+1])); n != 1 || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
		}
		want := "größer → \uFFFD 😀 \uFFFD end\n"
		if asJSON {
			want = `größer → \u009b 😀 \u202e end` + "\n"
		}
		if whole.String() != want || pieces.String() != want {
			t.Errorf("at once %q, in pieces %q", whole.String(), pieces.String())
		}
	}
}
