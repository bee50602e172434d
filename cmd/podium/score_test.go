package main

import (
	"encoding/csv"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/supervisor/score"
)

// TestScore: over the ledger of the demonstration, whose two runs have three tasks between them, none of which fails.
func TestScore_M49_M54_C14(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "demo")
	podium(t, "demo", "--once", "--data", data).succeeds(t)
	profiles := lines[score.Profile](t, podium(t, "score", "--data", data, "-o", "json"))
	if len(profiles) != 1 || profiles[0].Name != "office" || profiles[0].Runs != 2 {
		t.Fatalf("it says %+v", profiles)
	}
	items := []string{}
	for _, m := range profiles[0].Measures {
		items = append(items, m.Item)
		switch m.Item {
		case "M-49":
			if m.Part != 3 || m.Whole != 3 || *m.Value != 1 || !*m.Met {
				t.Errorf("tasks: %+v", m)
			}
		case "M-50", "M-54":
			if *m.Value < 0 || m.Item == "M-50" && (m.Whole <= 0 || m.Part > m.Whole) {
				t.Errorf("times: %+v", m)
			}
		default: // nothing has failed, and nothing is estimated
			if m.Value != nil || m.Met != nil {
				t.Errorf("nothing to measure: %+v", m)
			}
		}
	}
	if want := []string{"M-49", "M-50", "M-51", "M-52", "M-53", "M-53", "M-54"}; !slices.Equal(items, want) {
		t.Errorf("it has %v", items)
	}
	told := podium(t, "score", "--data", data, "--profile", "office").succeeds(t).stdout
	for _, words := range []string{"profile office, runs 2\n", "3 of 3: 100.0 %", "at least 90 %", "met", "nothing to measure"} {
		if !strings.Contains(told, words) {
			t.Errorf("it does not say %q:\n%s", words, told)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(podium(t, "score", "--data", data, "--rows", "csv", "--errors-of", "summary").succeeds(t).stdout)).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v: %q", err, rows)
	}
	if want := []string{"query", "attempts", "completed", "errors_present", "summary_errors"}; !slices.Equal(rows[0], want) {
		t.Errorf("the header is %q", rows[0])
	}
	if !strings.HasPrefix(rows[1][0], "Figures and report for Thursday\n\nHello,") || !slices.Equal(rows[1][1:], []string{"1", "true", "false", ""}) {
		t.Errorf("the mail is %q", rows[1])
	}
	if want := []string{"How much is 12.5 * 8 + 50?", "1", "true", "false", ""}; !slices.Equal(rows[2], want) {
		t.Errorf("the chat message is %q", rows[2])
	}
	if shown := in(t, "", "score", "--data", data).succeeds(t).stdout; strings.Contains(shown, "M-") || !strings.Contains(shown, "tasks completed") {
		t.Errorf("people are shown\n%s", shown)
	}
	for arguments, code := range map[string]int{
		"score --profile none --data " + data:                      exitNotFound,
		"score --errors-of echo --data " + data:                    exitUsage,
		"score --rows xml --data " + data:                          exitUsage,
		"score --data " + filepath.Join(data, "none"):              exitNotFound,
		"score --rows csv --profile none --data " + data:           exitOK,
		"score --rows csv --profile office -o json --data " + data: exitOK,
	} {
		if o := in(t, "", strings.Fields(arguments)...); o.code != code {
			t.Errorf("podium %s: exit code %d, want %d; %s", arguments, o.code, code, o.stderr)
		}
	}
}
