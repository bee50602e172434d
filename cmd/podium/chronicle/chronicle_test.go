package chronicle_test

import (
	"slices"
	"testing"
	"time"

	"podium/cmd/podium/chronicle"
	"podium/schemas"
)

// TestEveryAttemptIsKept: of each attempt of a task its times are kept, and what it has failed by; a refusal by a circuit breaker is one, too.
func TestEveryAttemptIsKept(t *testing.T) {
	t.Parallel()
	kept := &chronicle.Run{}
	second := func(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }
	for n, fact := range []schemas.Fact{
		&schemas.TaskDispatched{Run: 2, Task: "t1", Attempt: 1, Agent: "clerk"},
		&schemas.TaskStarted{Run: 2, Task: "t1", Attempt: 1},
		&schemas.TaskFailed{Run: 1, Task: "t1", Attempt: 1, Cause: schemas.FailureCrashed},
		&schemas.TaskFailed{Run: 2, Task: "t1", Attempt: 1, Cause: schemas.FailureAgent, Detail: "no paper", RetryAt: second(4)},
		&schemas.TaskFailed{Run: 2, Task: "t1", Attempt: 1, Cause: schemas.FailureUnavailable},
		&schemas.TaskDispatched{Run: 2, Task: "t1", Attempt: 2, Agent: "clerk"},
		&schemas.InquiryOpened{Run: 2, Task: "t1", Attempt: 2, Inquiry: 1},
		&schemas.TaskFailed{Run: 2, Task: "t1", Attempt: 2, Cause: schemas.FailureRejected},
		&schemas.TaskDispatched{Run: 2, Task: schemas.DeliveryTask, Attempt: 1, Agent: "mail"},
		&schemas.TaskDispatched{Run: 2, Task: "t1", Attempt: 3, Agent: "other"},
		&schemas.TaskCompleted{Run: 2, Task: "t1", Attempt: 3},
		&schemas.TaskCancelled{Run: 2, Task: schemas.DeliveryTask, Attempt: 1},
	} {
		kept.Apply(&schemas.Record{Transitions: []schemas.Transition{{Cause: schemas.Cause{Time: second(n)}, Facts: []schemas.Fact{fact}}}}, 2)
	}
	want := []chronicle.Attempt{
		{Task: "t1", Attempt: 1, Agent: "clerk", Asked: second(0), Begun: second(1), Ended: second(3), Outcome: chronicle.AttemptFailed, Cause: schemas.FailureAgent, Detail: "no paper", RetryAt: second(4)},
		{Task: "t1", Attempt: 1, Asked: second(4), Ended: second(4), Outcome: chronicle.AttemptFailed, Cause: schemas.FailureUnavailable},
		{Task: "t1", Attempt: 2, Agent: "clerk", Asked: second(5), Ended: second(6), Outcome: chronicle.AttemptAsks},
		{Task: "t1", Attempt: 3, Agent: "other", Asked: second(9), Ended: second(10), Outcome: chronicle.AttemptCompleted},
	}
	if got := kept.AttemptsOf("t1"); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if reply := kept.AttemptsOf(schemas.DeliveryTask); len(reply) != 1 || reply[0].Outcome != chronicle.AttemptCancelled || len((*chronicle.Run)(nil).AttemptsOf("t1")) > 0 {
		t.Errorf("%+v", reply)
	}
}

// TestEveryRoundIsKept: of each round of review its own findings are kept and the change that follows it, of each failure that others mend what was found and who
// mends it; what is said of other runs is not.
func TestEveryRoundIsKept(t *testing.T) {
	t.Parallel()
	mends := func(task string, options schemas.TaskOptions) []schemas.PlannedTask {
		return []schemas.PlannedTask{{Task: task, TaskOptions: &options}}
	}
	issue := func(message string) []schemas.ReviewIssue {
		return []schemas.ReviewIssue{{Severity: schemas.ValidationError, Message: message}}
	}
	fixes := func(attempt int) *schemas.TaskFailed {
		return &schemas.TaskFailed{Run: 2, Task: "test", Attempt: attempt, Action: schemas.RecoveryRequestFix}
	}
	kept := &chronicle.Run{}
	for _, fact := range []schemas.Fact{
		fixes(1),
		&schemas.PlanChanged{Run: 2, Source: schemas.OccasionFix, Tasks: mends("c1.fix.code", schemas.TaskOptions{Recovers: "test"})},
		fixes(2),
		&schemas.PlanChanged{Run: 2, Source: schemas.OccasionFix, Tasks: mends("c2.fix.code", schemas.TaskOptions{Recovers: "test"})},
		&schemas.TaskFailed{Run: 2, Task: "test", Attempt: 3, Action: schemas.RecoveryEscalateToCoordinator},
		&schemas.ReviewBegan{Run: 2, Round: 1},
		&schemas.ReviewBegan{Run: 1, Round: 7},
		&schemas.Judged{Run: 2, Occasion: schemas.OccasionReview, Round: 1, Outcome: schemas.OutcomeFailed, Issues: issue("first")},
		&schemas.PlanChanged{Run: 2, Source: schemas.OccasionReview, Tasks: mends("fix1.code", schemas.TaskOptions{Fixes: "code"})},
		&schemas.PlanChanged{Run: 2, Source: schemas.OccasionFailure, Tasks: mends("c4.other", schemas.TaskOptions{})},
		&schemas.ReviewBegan{Run: 2, Round: 2, Forced: true},
		&schemas.Judged{Run: 2, Occasion: schemas.OccasionReview, Round: 2, Question: "check:critic:2", Outcome: schemas.OutcomePlan},
		&schemas.Judged{Run: 2, Occasion: schemas.OccasionReview, Round: 2, Outcome: schemas.OutcomeFailed, Issues: issue("second")},
	} {
		kept.Apply(&schemas.Record{Transitions: []schemas.Transition{{Facts: []schemas.Fact{fact}}}}, 2)
	}
	if len(kept.Rounds) != 2 || kept.Round(3) != nil {
		t.Fatalf("%+v", kept.Rounds)
	}
	first, second := kept.Round(1), kept.Round(2)
	if first.Issues[0].Message != "first" || first.Change.Tasks[0].Task != "fix1.code" || first.Forced {
		t.Errorf("the first round: %+v", first)
	}
	if second.Issues[0].Message != "second" || second.Change != nil || !second.Forced || !second.Wants("check:critic:2") || second.Wants("check:critic:1") {
		t.Errorf("the second round: %+v", second)
	}
	found := kept.MendingsOf("test")
	if len(found) != 2 || found[0].Failed.Attempt != 1 || !slices.Equal(found[0].By, []string{"c1.fix.code"}) || !slices.Equal(found[1].By, []string{"c2.fix.code"}) {
		t.Errorf("%+v", found)
	}
	if len(kept.MendingsOf("code")) > 0 {
		t.Error("a task that has not failed is mended")
	}
}
