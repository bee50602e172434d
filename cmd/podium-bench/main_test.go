package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// called does what the program does with these arguments.
func called(t *testing.T, arguments string) (code int, stdout, stderr string) {
	t.Helper()
	var out, failed strings.Builder
	code = run(t.Context(), strings.Fields(arguments), strings.NewReader(""), &out, &failed)
	return code, out.String(), failed.String()
}

// TestCommandLine: scripts depend on the exit codes, and every failure says what to do next.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	for arguments, test := range map[string]struct {
		code           int
		prints, reason string
	}{
		"--help":             {exitOK, "podium-bench w1 --durability interval -o json", ""},
		"dance":              {exitUsage, "", "See `podium-bench --help`"},
		"--dance":            {exitUsage, "", "unknown flag --dance"},
		"w1 --rounds 0":      {exitUsage, "", "--rounds, --round and --open are greater than 0"},
		"w1 --profile ./not": {exitUsage, "", "--profile: "},
		"--child":            {exitFailed, "", "no assignment on standard input"},
	} {
		t.Run(arguments, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := called(t, arguments)
			if code != test.code || !strings.Contains(stdout, test.prints) || !strings.Contains(stderr, test.reason) || (test.reason == "") != (stderr == "") {
				t.Errorf("exit code %d, want %d; it prints\n%s\nand says\n%s", code, test.code, stdout, stderr)
			}
		})
	}
}

// TestPrints shows the same measurement to a person and to a program.
func TestPrints(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := called(t, "route --rounds 1 --round 10ms")
	if code != exitOK || !strings.Contains(stdout, "a decision by 1000 keywords, µs") || !strings.Contains(stdout, "99 of 100 by 10000 keywords") || stderr != "" {
		t.Errorf("exit code %d, %s, %s", code, stdout, stderr)
	}
	code, stdout, stderr = called(t, "route --rounds 1 --round 10ms -o json")
	var printed map[string]any
	if err := json.Unmarshal([]byte(stdout), &printed); err != nil || code != exitOK || printed["workload"] != "route" || printed["us_per_decision"] == nil || printed["us_p99"] == nil {
		t.Errorf("exit code %d, %s, %s (%v)", code, stdout, stderr, err)
	}
}
