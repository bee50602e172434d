package plan

import (
	"testing"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// barredWithRoom is an agent whose circuit breaker is open and that has room for one more: the first refusal has looked for it, and no later one does.
type barredWithRoom struct{ Unlimited }

func (barredWithRoom) Admit(string) AdmissionResult { return Unavailable }

// TestOneTryPastAnOpenBreaker: of the letters of one decision, one goes to an agent whose circuit breaker is open, and the others wait for
// room.
func TestOneTryPastAnOpenBreaker(t *testing.T) {
	t.Parallel()
	run := &workflow.Run{Phase: workflow.PhaseExecuting}
	for i := range 3 {
		run.Inquiries = append(run.Inquiries, &workflow.Inquiry{InquiryOpened: schemas.InquiryOpened{Inquiry: i + 1, Kind: schemas.HumanTaskWork, People: []string{"anna"}}})
	}
	counts := map[string]int{}
	decision := &Decision{Run: run, Profile: &Profile{}, Now: time.Unix(0, 0), Admission: barredWithRoom{}}
	decision.Emit = func(fact schemas.Fact, _ string) {
		counts[fact.Name()]++
		run.Apply(fact, decision.Now)
	}
	notifyNext(decision)
	if counts["task_dispatched"] != 1 || counts["task_ready"] != 2 {
		t.Errorf("%v, want one dispatched", counts)
	}
}
