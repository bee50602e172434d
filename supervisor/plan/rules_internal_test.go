package plan

import (
	"testing"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// TestRulesWithoutEndEndTheRun: rules that come to no end are applied a bounded number of times, and the run ends, whether its outcome was fixed or not.
func TestRulesWithoutEndEndTheRun(t *testing.T) {
	t.Parallel()
	for _, phase := range []workflow.Phase{workflow.PhaseExecuting, workflow.PhaseAssembling} {
		run := &workflow.Run{Number: 1, Phase: phase, Tasks: []*workflow.Task{{ID: "t1", State: workflow.TaskRunning, Plan: &schemas.PlannedTask{Task: "t1"}}}}
		if phase == workflow.PhaseAssembling {
			run.Tasks, run.Delivery = nil, &workflow.Task{ID: schemas.DeliveryTask, State: workflow.TaskRunning}
		}
		profile := &Profile{Profile: schemas.Profile{Languages: []schemas.Language{{Tag: "en", Texts: schemas.Texts{TaskFailed: "That did not work."}}}}}
		emitted, now := 0, time.Unix(0, 0)
		decision := NewDecision(View{Run: run, Profile: profile, Now: now, Admission: Unlimited{}}, func(event schemas.Fact, _ string) {
			emitted++
			run.Apply(event, now)
		})
		endless := func(*View) events { return events{&schemas.TaskHeartbeat{Run: 1, Task: "t1"}} }
		applyRules(decision, []ruleGroup{{rules: []rule{{name: "repeat", when: endless}}}})
		if run.Phase != workflow.PhaseComplete || run.Reason != schemas.StopInternalFault || emitted > mostRules(decision)+4 {
			t.Errorf("from %s: the run is %s, %s, after %d events", phase, run.Phase, run.Reason, emitted)
		}
	}
}
