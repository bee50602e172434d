package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/supervisor/verify"
)

// demoConfiguration writes the configuration of the demonstration, with something in it replaced, beside its ledger.
func demoConfiguration(t *testing.T, data, name string, replaced ...string) string {
	t.Helper()
	configuration, err := os.ReadFile("demo/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	filled := strings.NewReplacer(
		"${PODIUM_DEMO_DATA}", data, "${PODIUM_DEMO_IMAP}", "1143", "${PODIUM_DEMO_SMTP}", "1125",
		"${PODIUM_DEMO_TOKEN}", "demo-token-of-this-machine", "${PODIUM_DEMO_PROGRAM}", binary(t),
	).Replace(string(configuration))
	changed := strings.NewReplacer(replaced...).Replace(filled)
	if len(replaced) > 0 && changed == filled {
		t.Fatalf("%q is not in the configuration", replaced)
	}
	file := filepath.Join(filepath.Dir(data), name+".yaml")
	if err = os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestWhatAnotherConfigurationWouldDecide: over the ledger of the demonstration, of which the mail's run has a step of each of two
// routes and the chat message's a step of one.
func TestWhatAnotherConfigurationWouldDecide_X07(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "demo")
	summary := theOneObject(t, podium(t, "demo", "--once", "-o", "json", "--data", data).succeeds(t).stdout)
	mail, chat := summary.Runs[0].Run, summary.Runs[1].Run
	before := sums(t, data)
	route := []string{"agent: summary, keywords", "agent: echo, keywords"}
	for name, test := range map[string]struct {
		replaced []string
		code     int
		kinds    map[string]string // by run
		says     string
	}{
		"the same":                  {nil, exitOK, nil, "runs 2: 0 decided otherwise, 0 not decided"},
		"another description":       {[]string{"the most telling sentences", "a few sentences"}, exitOK, nil, "0 decided otherwise"},
		"the route of the mail":     {route, exitDiffers, map[string]string{mail: "task_routed"}, "would be: t2 → echo"},
		"a deadline":                {[]string{"execution: {mode: sequence}", "execution: {mode: sequence}\n    deadlines: {queue: 7s, work: 50s}"}, exitDiffers, map[string]string{mail: "task_dispatched", chat: "task_dispatched"}, "queue \""},
		"the language":              {[]string{"language: user", "language: de"}, exitDiffers, map[string]string{mail: "run_started", chat: "run_started"}, "answers in de"},
		"a profile of another name": {[]string{"profile: office", "profile: bureau", "  office:\n    language", "  bureau:\n    language"}, exitDiffers, nil, `so 1 more`},
	} {
		file := demoConfiguration(t, data, strings.ReplaceAll(name, " ", "_"), test.replaced...)
		told := podium(t, "replay", "--verify", "--config", file)
		if told.code != test.code || !strings.Contains(told.stdout, test.says) || (told.code == exitOK) != (told.stderr == "") {
			t.Errorf("%s: exit code %d, want %d; it says\n%s%s", name, told.code, test.code, told.stdout, told.stderr)
		}
		programs := podium(t, "replay", "--verify", "-c", file, "-o", "json")
		if programs.code != test.code {
			t.Errorf("%s, for programs: exit code %d", name, programs.code)
		}
		programs.code = exitOK
		type difference struct{ Run, Kind string }
		var found []difference
		undecided := 0
		for _, shard := range lines[struct {
			WhatIf struct {
				Differences []difference
				Undecided   []verify.Undecided
			} `json:"what_if"`
		}](t, programs) {
			found, undecided = append(found, shard.WhatIf.Differences...), undecided+len(shard.WhatIf.Undecided)
		}
		if len(found) != len(test.kinds) || strings.Contains(name, "another name") != (undecided == len(summary.Runs)) {
			t.Errorf("%s: it names %+v, and %d that are not decided", name, found, undecided)
		}
		for _, difference := range found {
			if test.kinds[difference.Run] != difference.Kind {
				t.Errorf("%s: %s differs in %s", name, difference.Run, difference.Kind)
			}
		}
	}
	if after := sums(t, data); !maps.Equal(after, before) {
		t.Errorf("it has changed the ledger: %d files, %d before", len(after), len(before))
	}
	all := podium(t, "replay", "--verify", "--all", "-c", demoConfiguration(t, data, "all", "execution: {mode: sequence}", "execution: {mode: sequence}\n    deadlines: {queue: 7s, work: 50s}"))
	if first := podium(t, "replay", "--verify", "-c", filepath.Join(filepath.Dir(data), "all.yaml")); strings.Count(all.stdout, mail) <= strings.Count(first.stdout, mail) {
		t.Errorf("all of them are\n%s\nand the first\n%s", all.stdout, first.stdout)
	}
	elsewhere := podium(t, "replay", "--verify", "--data", filepath.Join(data, "none"), "-c", filepath.Join(filepath.Dir(data), "all.yaml"))
	if elsewhere.code != exitNotFound {
		t.Errorf("with --data: exit code %d, %s", elsewhere.code, elsewhere.stderr)
	}
	for arguments, says := range map[string]string{
		"replay --all":                           "--verify and -c FILE",
		"replay --verify -c none.yaml":           "none.yaml does not exist",
		"replay -c podium.yaml --nats nats://no": "leave one of them out",
	} {
		if refused := in(t, "", strings.Fields(arguments)...); refused.code == exitOK || !strings.Contains(refused.stderr, says) {
			t.Errorf("podium %s: exit code %d, it says %q", arguments, refused.code, refused.stderr)
		}
	}
}
