package main

import (
	"encoding/json"
	"flag"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"podium/cmd/podium/sandbox"
)

// checkReport is what -o json prints of a check.
type checkReport struct {
	Agent  string
	OK     bool
	Checks []sandbox.Result
}

// of returns the names of those with a verdict.
func (r *checkReport) of(verdict sandbox.Verdict) (names []string) {
	for i := range r.Checks {
		if r.Checks[i].Result == verdict {
			names = append(names, r.Checks[i].Check)
		}
	}
	return names
}

func reportOf(t *testing.T, o outcome) (found checkReport) {
	t.Helper()
	if err := json.Unmarshal([]byte(o.stdout), &found); err != nil {
		t.Fatalf("%v in %s\n%s", err, o.stdout, o.stderr)
	}
	if want := map[bool]int{true: exitOK, false: exitFailed}[found.OK]; o.code != want || found.Agent != "clerk" {
		t.Errorf("exit code %d of %+v", o.code, found)
	}
	return found
}

// wrongAgents are the clerk with one fault each, and the sentence of the check that finds it.
var wrongAgents = []struct {
	fault string
	check string
	why   string
	flags string
	more  bool   // it fails others as well, as nothing goes without what it lacks
	after string // the check in which it does what it is found by
}{
	{fault: "ends-at-once", check: "connects", why: "it has ended before it asked for a request: exit status 1"},
	{fault: "leaves-out-the-plan", check: "answers-once", why: "its answer breaks the schema execution_response", more: true},
	{fault: "answers-nobody", check: "answers-once", why: "its answer names a request in in_reply_to that was never made", more: true},
	{fault: "never-acknowledges", check: "acknowledges", why: "its answer is stored, and 3s later the request is not acknowledged", more: true},
	{fault: "another-id-each-time", check: "repeats-its-answer", why: "a request that came again is answered under another message_id"},
	{fault: "reads-no-store", check: "reads-large-requests", why: "no answer came within 15s"},
	{fault: "answers-the-past", check: "skips-expired-requests", why: "a request that nobody waits for any more got 1 answers"},
	{fault: "dies-of-garbage", check: "survives-garbage", why: "after a message that is no request: its process has ended"},
	{fault: "answers-any-kind", check: "refuses-undeclared-kinds", why: "is answered as completed, and the agent does not declare that kind"},
	{fault: "takes-a-refusal-for-a-yes", check: "repeats-what-was-refused", why: "its answer was refused for now, and then no answer came within 15s"},
	{fault: "tells-nothing", check: "tells-that-it-works", why: "without any progress, so that its work counts as not begun", flags: slow},
	{fault: "tells-once", check: "shows-signs-of-life", why: "while it works, and promises a sign of life every 3s", flags: slow},
	{fault: "keeps-nothing", check: "keeps-its-request", why: "its request was handed out 2 times while it worked", flags: slow},
	{fault: "hears-no-hint", check: "stops-when-cancelled", why: "its request was cancelled, and it has not acknowledged it before its work would have ended", flags: slow},
	{fault: "one-after-the-other", check: "works-on-several", why: "it is configured for 2 requests at a time, and begins the second when the first is answered", flags: slow},
	{fault: "asks-for-no-permit", check: "asks-for-a-permit", why: "it has side effects outside, and has answered without asking", flags: "--side-effects external"},
	{fault: "acts-all-the-same", check: "obeys-a-refusal", why: "its permit was refused, and its answer is completed", flags: "--side-effects external"},
	{fault: "stays-away", check: "comes-back", why: "its connection was cut, and within 30s it has not answered"},
	{fault: "acknowledges-first", check: "loses-nothing-at-its-end", why: "what it had under way when it was told to end is never answered", flags: slow},
	{fault: "eavesdrops", check: "keeps-to-its-subjects", why: "it subscribes to podium.agent.*.request, which it is not permitted"},
	{fault: "tells-too-much", check: "keeps-to-its-subjects", why: "it publishes more than it is asked for: too much progress", after: "answers-many"},
}

// slow takes the clerk longer than a request stays handed out.
const slow = "--slow=in_9_seconds"

var everyCheck = flag.Bool("every-check", false, "hold wrong agents to every check, and not to the one that finds them alone")

// TestWrongAgentsAreFound: whatever is wrong with an agent, one check says it in a
// sentence of its own, and what to do; and every other check still passes (make check-agents), unless nothing goes
// without what it lacks.
func TestWrongAgentsAreFound(t *testing.T) {
	t.Parallel()
	program, err := filepath.Abs("testdata/wrong_agents/wrong.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range wrongAgents {
		t.Run(wrong.fault, func(t *testing.T) {
			t.Parallel()
			arguments := []string{"agent", "check", "-o", "json", "--concurrency", "2", "--heartbeat", "3s"}
			for flag := range strings.FieldsSeq(wrong.flags) {
				arguments = append(arguments, strings.ReplaceAll(flag, "_", " "))
			}
			if !*everyCheck {
				arguments = append(arguments, "--only", strings.Trim(wrong.after+","+wrong.check, ","))
			}
			found := reportOf(t, podium(t, append(arguments, "clerk", "--", "/usr/bin/python3", program, wrong.fault)...))
			at := slices.IndexFunc(found.Checks, func(r sandbox.Result) bool { return r.Check == wrong.check })
			if at < 0 || found.OK {
				t.Fatalf("it is not found: %+v", found)
			}
			if r := found.Checks[at]; r.Result != sandbox.Failed || !strings.Contains(r.Why, wrong.why) || r.Do == "" || strings.Contains(r.Do, "NAME") {
				t.Errorf("%+v, want %q", r, wrong.why)
			}
			if failed := found.of(sandbox.Failed); !wrong.more && len(failed) != 1 {
				t.Errorf("failed are %v: %+v", failed, found)
			}
		})
	}
}

// TestOneCheckAlone: who mends one fault need not wait for all checks, and a name that is none is said so.
func TestOneCheckAlone(t *testing.T) {
	t.Parallel()
	clerk := []string{"clerk", "--", "/usr/bin/python3", agentExamples + "python/clerk.py"}
	found := reportOf(t, podium(t, append([]string{"agent", "check", "-o", "json", "--only", "acknowledges"}, clerk...)...))
	if passed := found.of(sandbox.Passed); !found.OK || !slices.Equal(passed, []string{"connects", "acknowledges"}) || len(found.Checks) != 2 {
		t.Errorf("%+v", found)
	}
	if o := podium(t, append([]string{"agent", "check", "--only", "is-nice"}, clerk...)...); o.code != exitUsage || !strings.Contains(o.stderr, `there is no check "is-nice"; there are: connects, answers-once, `) {
		t.Errorf("exit code %d: %s", o.code, o.stderr)
	}
}

// TestNewAgentsPass: what is written as the beginning of an agent passes its own test and
// every check that concerns it, by the commands that are printed.
func TestNewAgentsPass(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"go", "js", "py", "sh"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			home := filepath.Join(folder, "otters")
			said := podium(t, "agent", "new", "-o", "json", "--lang", language, "--dir", home, "otters").succeeds(t)
			var made struct{ Files, Next []string }
			if err := json.Unmarshal([]byte(said.stdout), &made); err != nil || len(made.Next) != 3 {
				t.Fatalf("%v in %s", err, said.stdout)
			}
			for i, next := range made.Next[:2] {
				command := shell(t, map[bool]string{true: folder, false: home}[i == 0], next)
				command.Env = append(command.Env, "CGO_ENABLED=0", "npm_config_prefer_offline=true", "npm_config_audit=false", "npm_config_fund=false")
				output, err := command.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v (`make tools` installs what is missing)\n%s", next, err, output)
				}
				if i == 1 && !strings.Contains(string(output), "\notters: passed 18, failed 0, not checked 2\n") {
					t.Errorf("all but what is asked of agents that act outside was to be checked:\n%s", output)
				}
			}
			if o := podium(t, "agent", "new", "--lang", language, "--dir", home, "otters"); o.code != exitUsage || !strings.Contains(o.stderr, "is there already; name another directory by --dir") {
				t.Errorf("once more: exit code %d, %s", o.code, o.stderr)
			}
		})
	}
}

// TestProgramThatActsOutsidePasses: what podium agent exec announces of a program is
// taken into account, and permits are asked for and refused.
func TestProgramThatActsOutsidePasses(t *testing.T) {
	t.Parallel()
	program, err := filepath.Abs(agentExamples + "shell/clerk.sh")
	if err != nil {
		t.Fatal(err)
	}
	found := reportOf(t, podium(t, "agent", "check", "-o", "json", "clerk", "--",
		binary(t), "agent", "exec", "--name", "clerk", "--side-effects", "external", "--", program))
	if passed := found.of(sandbox.Passed); !found.OK || !slices.Contains(passed, "asks-for-a-permit") || !slices.Contains(passed, "obeys-a-refusal") {
		t.Errorf("%+v", found)
	}
}

// TestAgentStartedByHand: somebody starts the agent with what is printed, and ends it.
func TestAgentStartedByHand(t *testing.T) {
	t.Parallel()
	checking := spawn(t, "agent", "check", "-o", "json", "--concurrency", "2", "clerk")
	var environment [][]string
	exported := regexp.MustCompile(`(?m)^ +export (PODIUM_\w+=\S+)$`)
	eventually(t, "it says how to start the agent", func() bool {
		environment = exported.FindAllStringSubmatch(checking.stderr.String(), -1)
		return len(environment) == 4
	})
	clerk := exec.CommandContext(t.Context(), "/usr/bin/python3", agentExamples+"python/clerk.py")
	clerk.Env = append(clerk.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	for _, variable := range environment {
		clerk.Env = append(clerk.Env, variable[1])
	}
	process := launch(t, clerk)
	checking.ends(t, exitOK)
	process.stop(t)
	var found checkReport
	if err := json.Unmarshal([]byte(checking.stdout.String()), &found); err != nil {
		t.Fatal(err)
	}
	if left := found.of(sandbox.NotChecked); !found.OK || !slices.Contains(left, "loses-nothing-at-its-end") || slices.Contains(left, "comes-back") {
		t.Errorf("%+v", found)
	}
}
