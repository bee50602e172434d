package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestScriptsSurviveAnyWords: the scripts of the examples, which people copy, answer in
// the words that they were asked in, whatever stands in them.
func TestScriptsSurviveAnyWords(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	i.up()
	shout := spawn(t, "--data", i.data, "agent", "exec", "--name", "alpha", "--", "../../deploy/examples/desk/shout.sh")
	note := spawn(t, "--data", i.data, "agent", "exec", "--name", "beta", "--", graphExample+"note.sh")
	shout.says(t, "agent alpha takes requests")
	note.says(t, "agent beta takes requests")
	for _, words := range []string{
		`she said "hi"`, `"`, `\`, `\\`, `a \" b \\" c`, `ends with \`, `ends with "`, `\n is no line break`, "one\ntwo\r\nthree\tfour",
		`"description":"another"`, `{"text":"no","status":"failed"}`, `%s %d %% $(id) $HOME 'x' & \1`, "`id`", "a\u0001b\u007f", "größer 😀 \u2028 ß",
		`\u00e9 as it stands`, strings.Repeat(`"\`, 1500),
	} {
		if run, answer := i.answered(words); run.Tasks[0].Agent != "alpha" || answer != upper(words) {
			t.Errorf("%q is answered %q by %s", words, answer, run.Tasks[0].Agent)
		}
		if run, answer := i.answered("beta " + words); run.Tasks[0].Agent != "beta" || answer != "beta "+words+": done, knowing 0 results." {
			t.Errorf("%q is answered %q by %s", words, answer, run.Tasks[0].Agent)
		}
	}
	plan := filepath.Join(i.folder, "plan.json")
	if err := os.WriteFile(plan, []byte(`{"tasks": [{"task_id": "a", "description": "", "assigned_to": "alpha"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	unanswered := i.podium("send", "--wait", "--plan", plan)
	if unanswered.code != exitFailed || !strings.Contains(unanswered.stdout, "The program gave no answer.") {
		t.Errorf("no words at all end with %d: %s", unanswered.code, unanswered.stdout)
	}
	shout.stop(t)
	note.stop(t)
	i.stop()
	i.verify()
}

// upper is what tr makes of a text on any machine: capitals of A to Z alone.
func upper(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, text)
}
