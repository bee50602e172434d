package plan

import (
	"testing"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// barredWithRoom is an agent whose circuit breaker is open and that has room for one more: the first refusal has looked for it, and no later one does.
type barredWithRoom struct {
	Unlimited
	sent bool
}

func (*barredWithRoom) Room(string, int) AdmissionResult { return Unavailable }

func (b *barredWithRoom) Sent(string) bool { return b.sent }

// TestOneTryPastAnOpenBreaker: of the letters of one decision, one goes to an agent whose circuit breaker is open, and the others wait for
// room.
func TestOneTryPastAnOpenBreaker(t *testing.T) {
	t.Parallel()
	run := &workflow.Run{Phase: workflow.PhaseExecuting}
	for i := range 3 {
		run.Inquiries = append(run.Inquiries, &workflow.Inquiry{InquiryOpened: schemas.InquiryOpened{Inquiry: i + 1, Kind: schemas.HumanTaskWork, People: []string{"anna"}}})
	}
	counts := map[string]int{}
	now, agent := time.Unix(0, 0), &barredWithRoom{}
	decision := NewDecision(View{Run: run, Profile: &Profile{}, Now: now, Admission: agent}, func(fact schemas.Fact, _ string) {
		counts[fact.Name()]++
		agent.sent = agent.sent || fact.Name() == "task_dispatched"
		run.Apply(fact, now)
	})
	applyRules(decision, []ruleGroup{{rules: []rule{{name: "notify_next", when: notifyNext}}}})
	if counts["task_dispatched"] != 1 || counts["task_ready"] != 2 {
		t.Errorf("%v, want one dispatched", counts)
	}
}
