package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podium/cmd/podium/chronicle"
	"podium/schemas"
	"podium/schemas/workflow"
)

const mortalConfig = `
chat: {channels: {web: {profile: desk, secret: %q}}}
agents:
  alpha: {kind: external, heartbeat: 1s, concurrency: 1}
  shaky: {kind: exec, command: [sh, shaky.sh], breaker: {failures: 2, open: 10s}}
profiles:
  desk:
    agents: [alpha, shaky]
    routers:
      - {kind: keywords, groups: [{agent: shaky, keywords: [shaky]}]}
      - {kind: default, agent: alpha}
    retry: {attempts: 2, wait: 100ms}
    deadlines: {queue: 2m, work: 10m}
`

// write puts a program into the folder of the configuration.
func (i *deployment) write(name, text string) string {
	i.t.Helper()
	path := filepath.Join(i.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		i.t.Fatal(err)
	}
	return path
}

// run shows one run.
func (i *deployment) run(id string) workflow.RunHistory {
	i.t.Helper()
	var run workflow.RunHistory
	if err := schemas.Unmarshal([]byte(i.podium("runs", "show", id, "-o", "json").succeeds(i.t).stdout), &run); err != nil {
		i.t.Fatal(err)
	}
	return run
}

// TestKilledAgentIsNoticed: kill -9 of an agent's process is noticed after three
// signs of life that did not come, long before the deadline of its work, and the
// next process does the task.
func TestKilledAgentIsNoticed_M47(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(mortalConfig, webSecret))
	i.write("shaky.sh", "echo done\n")
	i.up()
	latch := filepath.Join(i.folder, "latch")
	script := i.write("script.sh", fmt.Sprintf("while [ ! -e %q ]; do sleep 0.02; done\necho done\n", latch))
	exec := func() *background {
		worker := spawn(t, "--data", i.data, "agent", "exec", "--name", "alpha", "--heartbeat", "300ms", "--timeout", "10m", "--", "sh", script)
		worker.says(t, "agent alpha takes requests")
		return worker
	}
	first := exec()
	sending := spawn(t, "--data", i.data, "send", "Do it", "--wait")
	sending.says(t, "the agent works on it")
	id := i.runs()[0].ID
	lives := time.Now().Add(5 * time.Second)
	eventually(t, "its signs of life are heard", func() bool {
		if task := i.run(id).Tasks[0]; task.Failure().Cause != "" {
			t.Fatalf("while it works: %s", task.Failure().Cause)
		}
		return time.Now().After(lives)
	})
	first.kill()
	sending.says(t, "(crashed)")
	if err := os.WriteFile(latch, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	second := exec()
	sending.ends(t, exitOK)
	if run := i.run(id); run.Status != schemas.RunCompleted || run.Tasks[0].Attempt != 2 || run.Tasks[0].Failure().Cause != schemas.FailureCrashed {
		t.Errorf("the run is %s, its task attempt %d after %s", run.Status, run.Tasks[0].Attempt, run.Tasks[0].Failure().Cause)
	}
	second.stop(t)
	i.stop()
	i.verify()
}

// TestBreakerIsShown: an agent that fails is not asked for a while, across a
// restart too, and `podium agents` says so.
func TestBreakerIsShown_M28(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(mortalConfig, webSecret))
	fixed := filepath.Join(i.folder, "fixed")
	called := filepath.Join(i.folder, "called")
	i.write("shaky.sh", fmt.Sprintf("echo x >> %q\n[ -e %q ] && echo done\n", called, fixed))
	i.up()
	calls := func() int {
		body, err := os.ReadFile(called)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(body), "x")
	}
	breaker := func() schemas.Breaker {
		for _, agent := range lines[schemas.Agent](t, i.podium("agents", "-o", "json")) {
			if agent.Name == "shaky" {
				return *agent.Breaker
			}
		}
		t.Fatal("shaky is not listed")
		return schemas.Breaker{}
	}
	eventually(t, "it has announced itself", func() bool { return strings.Contains(i.podium("agents").stdout, "shaky") })
	if b := breaker(); b.State != schemas.BreakerClosed {
		t.Errorf("at first it is %+v", b)
	}
	i.podium("send", "shaky one", "--wait") // two attempts
	eventually(t, "the breaker is open", func() bool { return breaker().State != schemas.BreakerClosed })
	opened := breaker()
	if opened.State == schemas.BreakerOpen && (opened.Since.IsZero() || opened.Until.Sub(opened.Since) != 10*time.Second) {
		t.Errorf("it is %+v", opened)
	}
	before := calls()
	if before != 2 {
		t.Errorf("%d calls in two attempts", before)
	}
	i.kill()
	i.up()
	// The kill may bring an old request again, so that calls cannot be counted.
	var two struct{ Reason schemas.StopReason }
	sent := i.podium("send", "shaky two", "--wait", "-o", "json")
	if err := json.Unmarshal([]byte(sent.stdout), &two); err != nil {
		t.Fatalf("%v: %s%s", err, sent.stdout, sent.stderr)
	}
	if two.Reason != schemas.StopUnavailable && time.Now().Before(opened.Until) {
		t.Errorf("it ended with %s while the breaker was open", two.Reason)
	}
	eventually(t, "its time is over", func() bool { return breaker().State == schemas.BreakerHalfOpen })
	if shown := i.podium("agents").succeeds(t).stdout; !strings.Contains(shown, "BREAKER") || !strings.Contains(shown, "half_open since ") {
		t.Errorf("agents lists\n%s", shown)
	}
	if err := os.WriteFile(fixed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	i.podium("send", "shaky three", "--wait").succeeds(t)
	eventually(t, "it is closed again", func() bool { return breaker().State == schemas.BreakerClosed })
	i.stop()
	i.verify()
}

// TestARequestThatEndsPodiumIsGivenUp: a request whose handler ends the process of Podium itself is worked on by two processes, and
// not by the third: its attempt has failed as crashed, `podium runs show` says so, and the instance stays up.
func TestARequestThatEndsPodiumIsGivenUp(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(`
chat: {channels: {web: {profile: desk, secret: %q}}}
agents:
  echo: {kind: echo}
  bomb: {kind: exec, command: [sh, bomb.sh]}
profiles:
  desk:
    agents: [echo, bomb]
    routers:
      - {kind: keywords, groups: [{agent: bomb, keywords: [bomb]}]}
      - {kind: default, agent: echo}
    retry: {attempts: 1}
    deadlines: {queue: 5m, work: 10m}
`, webSecret))
	i.write("bomb.sh", "echo x >> called\nkill -9 $PPID\nsleep 60\n")
	i.up()
	i.podium("send", "bomb").succeeds(t)
	for range 2 {
		<-i.process.exited
		i.up()
	}
	var run workflow.RunHistory
	eventually(t, "the attempt is given up", func() bool {
		run = i.runs()[0]
		return run.Status != ""
	})
	if cause := run.Tasks[0].Failure().Cause; cause != schemas.FailureCrashed {
		t.Errorf("the attempt has failed as %s", cause)
	}
	if shown := i.podium("runs", "show", run.ID).succeeds(t).stdout; !strings.Contains(shown, "crashed") || !strings.Contains(shown, "broken down twice") {
		t.Errorf("runs show does not say it:\n%s", shown)
	}
	if called, err := os.ReadFile(filepath.Join(i.folder, "called")); err != nil || strings.Count(string(called), "x") != 2 {
		t.Errorf("it was worked on by %q, %v", called, err)
	}
	i.podium("send", "hello", "--wait").succeeds(t)
	i.stop()
	i.verify()
}

// TestBreakerIsReset: a run that an open breaker has refused says since when it is open and when the next probe may go, and podium agents what has
// opened it. A person closes it: the agent is asked at once, long before the time of the breaker is over, and who has done it is on record.
func TestBreakerIsReset(t *testing.T) {
	t.Parallel()
	i := install(t, strings.Replace(fmt.Sprintf(mortalConfig, webSecret), "open: 10s", "open: 24h", 1))
	fixed := filepath.Join(i.folder, "fixed")
	i.write("shaky.sh", fmt.Sprintf("[ -e %q ] && echo done\n", fixed))
	i.up()
	if o := i.podium("agents", "reset", "shaky"); o.code != exitFailed || !strings.Contains(o.stderr, "is closed: it is asked as any other") {
		t.Errorf("closed: exit code %d, %s", o.code, o.stderr)
	}
	if o := i.podium("agents", "reset", "nothing"); o.code != exitNotFound {
		t.Errorf("unknown: exit code %d, %s", o.code, o.stderr)
	}
	i.podium("send", "shaky one", "--wait") // two attempts
	open := func(name string) bool {
		return strings.Contains(i.podium("agents").succeeds(t).stdout, name)
	}
	eventually(t, "the breaker is open", func() bool { return open("shaky: circuit breaker of shaky open since ") })
	first := i.runs()[0].ID
	listed := i.podium("agents").succeeds(t).stdout
	for _, want := range []string{", next probe at ", "the newest agent failed (podium runs show " + first + ")", "podium agents reset shaky closes it"} {
		if !strings.Contains(listed, want) {
			t.Errorf("%q is not in\n%s", want, listed)
		}
	}
	i.podium("send", "shaky two", "--wait")
	refused := i.runs()[0]
	if why := refused.Tasks[0].Failure().Reasons; refused.Reason != schemas.StopUnavailable || len(why) != 1 || why[0].Code != schemas.CircuitOpen || why[0].Values["agent"] != "shaky" {
		t.Errorf("it ended with %s, %v", refused.Reason, why)
	}
	if shown := i.podium("runs", "show", refused.ID).succeeds(t).stdout; !strings.Contains(shown, "unavailable The agent shaky has failed too often and has not been asked since ") || !strings.Contains(shown, "The next attempt is at ") {
		t.Errorf("runs show says\n%s", shown)
	}
	var attempts struct {
		Attempts []chronicle.Attempt `json:"attempts"`
	}
	if err := schemas.Unmarshal([]byte(i.podium("runs", "show", first, "-o", "json").succeeds(t).stdout), &attempts); err != nil {
		t.Fatal(err)
	}
	if all := attempts.Attempts; len(all) < 2 || all[0].Cause != schemas.FailureAgent || all[1].Attempt != 2 || all[0].Ended.Before(all[0].Asked) {
		t.Errorf("the attempts are %+v", all)
	}
	if err := os.WriteFile(fixed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	i.podium("agents", "reset", "shaky", "--reason", "it is repaired").succeeds(t)
	if by := "shaky: circuit breaker closed at "; !open(by) || !open(" by "+systemUser()+" at the command line: it is repaired") {
		t.Errorf("agents lists\n%s", i.podium("agents").stdout)
	}
	if told := i.podium("replay").succeeds(t).stdout; !strings.Contains(told, "reset breaker by "+systemUser()) {
		t.Errorf("replay does not say who has closed it")
	}
	eventually(t, "the agent is asked", func() bool { return i.podium("send", "shaky three", "--wait").code == exitOK })
	i.stop()
	i.verify()
}
