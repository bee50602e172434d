package session_test

import (
	"fmt"
	"strings"
	"testing"

	"podium/schemas"
)

const (
	callbackAgents = "\nprofile mode=dag attempts=4\nplanner: {kind: external}\nrouters: [{kind: assigned}]\n" +
		"agents: [{name: calculator, heartbeat: 2s, work: 1h, async: true}, {name: clerk}]\n----\n"
	callbackRequest = "\nrequest id=r%d effect=e1 attempt=%[1]d payload\ntasks: [{task_id: sum, description: %q, assigned_to: calculator}]\n----\n"
)

// TestCallbackOfAnEarlierRun: a callback to the address of an attempt that an earlier run for the same effect has made counts for the one under way, if the
// same agent is told the same, and once.
func TestCallbackOfAnEarlierRun_X03(t *testing.T) {
	t.Parallel()
	done := schemas.ResponsePayload{Status: schemas.StatusCompleted, Result: &schemas.Result{Text: "5"}}
	unknown := schemas.ResponsePayload{Status: schemas.StatusFailed, IssuesEncountered: []schemas.Issue{{
		Severity: "high", Description: "the connection broke", Resolution: schemas.ResolutionDeferred, EffectUnknown: true,
	}}}
	add := func(n int) string { return fmt.Sprintf(callbackRequest, n, "add") }
	begun := add(1) + "\nprogress task=sum waits=1h\n----\n"
	for name, c := range map[string]struct {
		script string
		agent  string
		said   schemas.ResponsePayload
		epoch  uint64
		bare   bool
		counts bool
	}{
		"while the next run has asked": {script: begun + add(2), counts: true},
		"bare":                         {script: begun + add(2), bare: true, counts: true},
		"of the run before the last":   {script: begun + add(2) + add(3), counts: true},
		"that it has failed":           {script: begun + add(2), said: schemas.ResponsePayload{Status: schemas.StatusFailed}, counts: true},
		"that nobody knows":            {script: begun + add(2), said: unknown},
		"by somebody else":             {script: begun + add(2), agent: "clerk"},
		"to a request of a lost past":  {script: begun + add(2), epoch: 6},
		"when something else is asked": {script: begun + fmt.Sprintf(callbackRequest, 2, "subtract")},
		"after a person has cancelled": {script: begun + "\ncancel run=1 id=x1\n----\n" + add(2)},
		"before the next run":          {script: begun + "\ncancel request=r1 id=x1\n----\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, told := attack(t, callbackAgents+c.script)
			if c.said.Status == "" {
				c.said = done
			}
			if c.agent == "" {
				c.agent = "calculator"
			}
			s.lost = c.epoch
			answer := s.answerTo(t, c.agent, 1, "sum", 1, c.said)
			s.lost = 0
			if c.bare {
				answer.Subject, answer.Attempt = "", 0
			}
			decided, err := s.take(t, answer, c.agent)
			if err != nil {
				t.Fatal(err)
			}
			if counts := decided.outcome.Cause.Settles != ""; counts != c.counts {
				t.Fatalf("it counts: %t\n%s%s", counts, strings.Join(told, "\n"), s.tell(decided, nil))
			}
			if again, err := s.take(t, answer, c.agent); err != nil || c.counts && len(again.outcome.Facts) > 0 {
				t.Errorf("once more: %+v, %v", again.outcome.Facts, err)
			}
		})
	}
}

// TestCallbackOfAnyEarlierAttempt: an answer to any attempt before counts for the one under way, however many other requests have ended since; one to a
// request of a lost past does not.
func TestCallbackOfAnyEarlierAttempt(t *testing.T) {
	t.Parallel()
	var others strings.Builder
	others.WriteString("\nrequest id=r1 payload\ntasks:\n- {task_id: sum, description: add, assigned_to: calculator}\n")
	for n := range 5 {
		fmt.Fprintf(&others, "- {task_id: b%d, description: one, assigned_to: clerk}\n", n)
	}
	others.WriteString("----\n\nprogress task=sum\n----\n\nadvance 8s\n----\n\nprogress task=sum attempt=2\n----\n\nadvance 9s\n----\n")
	for n := range 5 {
		fmt.Fprintf(&others, "\nanswer task=b%d\ndone\n----\n", n)
	}
	for name, c := range map[string]struct {
		epoch  uint64
		counts bool
	}{
		"the first attempt": {counts: true},
		"of a lost past":    {epoch: 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, told := attack(t, callbackAgents+others.String())
			if sum := s.state.Active.Task("sum"); sum.Attempt != 3 || !sum.State.UnderWay() {
				t.Fatalf("attempt %d is %s:\n%s", sum.Attempt, sum.State, strings.Join(told, "\n"))
			}
			s.lost = c.epoch
			answer := s.answerTo(t, "calculator", 1, "sum", 1, schemas.ResponsePayload{Status: schemas.StatusCompleted, Result: &schemas.Result{Text: "5"}})
			s.lost = 0
			decided, err := s.take(t, answer, "calculator")
			if err != nil {
				t.Fatal(err)
			}
			if counts := decided.outcome.Cause.Settles != ""; counts != c.counts {
				t.Errorf("it counts: %t\n%s", counts, s.tell(decided, nil))
			}
		})
	}
}

// TestRefusedProcessSaysNothingOfTheWork: a process that is handed the request of an earlier attempt after a crash, and is refused a permit, says that it has failed. That
// ends no attempt, and keeps no callback from counting.
func TestRefusedProcessSaysNothingOfTheWork(t *testing.T) {
	t.Parallel()
	const failed = "status=failed permanent issue=(not permitted)\n----\n"
	begun := fmt.Sprintf(callbackRequest, 1, "add") + "\npermit task=sum id=p1\n----\n"
	for name, script := range map[string]string{
		"in a run": begun + "\nadvance 8s\n----\n" + "\npermit task=sum id=p2\n----\n" + "\nanswer task=sum attempt=1 " + failed + "\nanswer task=sum attempt=1\n5\n----\n",
		"of an earlier run": begun + fmt.Sprintf(callbackRequest, 2, "add") + "\npermit task=sum run=1 id=p2\n----\n" + "\nanswer task=sum run=1 " + failed +
			"\nanswer task=sum run=1\n5\n----\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := strings.Replace(callbackAgents, "async: true", "async: true, side_effects: external", 1)
			s, told := attack(t, profile+script)
			if s.facts["response_late"] != 1 || s.facts["task_completed"] != 1 {
				t.Errorf("%d answers are late, and %d tasks completed:\n%s", s.facts["response_late"], s.facts["task_completed"], strings.Join(told, "\n"))
			}
		})
	}
}
