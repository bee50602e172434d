package workflow_test

import (
	"strings"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
)

// teller tells the words of agents.
type teller struct{}

func (teller) Failure(failed *schemas.TaskFailed) string { return failed.Detail }

func (teller) Issue(issue *schemas.ReviewIssue) string { return issue.Message }

// TestTaskPlanAsItIs: a plan tells of each step its id, what it builds on, how far it is in the word that it has everywhere else, and why it has come to nothing. A step that was
// skipped is not told as one that has failed, and one whose work a review has not passed is not told as done.
func TestTaskPlanAsItIs_O22(t *testing.T) {
	t.Parallel()
	task := func(id string, state workflow.TaskState, message string, failed *schemas.TaskFailed, after ...string) *workflow.Task {
		return &workflow.Task{
			ID: id, Agent: "coder", State: state, Message: message, LastFailure: failed, Deliverables: []schemas.Deliverable{{Path: "setup.cfg"}},
			Plan: &schemas.PlannedTask{Task: id, Description: schemas.Content{Result: schemas.Result{Text: "do " + id}}, Dependencies: after},
		}
	}
	fix := task("fix1.a", workflow.TaskCompleted, "", nil, "a")
	fix.Plan.TaskOptions = &schemas.TaskOptions{Fixes: "a"}
	run := workflow.RunHistory{Run: workflow.Run{
		Reason: schemas.StopReviewFailed,
		Review: &workflow.Review{Outcome: schemas.OutcomeFailed, Issues: []schemas.ReviewIssue{
			{Severity: schemas.ValidationWarning, Message: "It is long.", File: "setup.cfg"},
			{Severity: schemas.ValidationError, Message: "It\ndoes not end.", Task: "a"},
			{Severity: schemas.ValidationError, Message: "Conflict in setup.cfg between [coder, coder]", File: "setup.cfg"}, // names no tasks
			{Severity: schemas.ValidationError, Message: "Conflict in README.md between [coder, coder] (tasks k, l)", File: "README.md", Tasks: []string{"k", "l"}},
		}},
		Tasks: []*workflow.Task{
			task("a", workflow.TaskCompleted, "", nil), fix,
			task("b", workflow.TaskFailed, "", &schemas.TaskFailed{Cause: schemas.FailurePermanent, Detail: "There is no `b`."}, "a"),
			task("c", workflow.TaskSkipped, "dependency b", nil, "a", "b"),
			task("d", workflow.TaskSkipped, schemas.SkippedReplanned, nil),
			task("e", workflow.TaskSkipped, schemas.SkippedForgone, &schemas.TaskFailed{Cause: schemas.FailureTimeout}),
			task("f", workflow.TaskWaitingApproval, "", nil), task("g", workflow.TaskReady, "", nil), task("h", workflow.TaskCancelled, "", nil),
			task("i", workflow.TaskBlocked, "", &schemas.TaskFailed{Cause: schemas.FailureVerdict}), task("j", workflow.TaskRunning, "", nil),
			task("k", workflow.TaskCompleted, "", nil, "a"), task("l", workflow.TaskCompleted, "", nil, "k"),
		},
	}}
	plan := run.TaskPlan(teller{})
	_, got, _ := strings.Cut(plan.Markdown(), "## Tasks\n\n")
	want := "1. **do a** `coder` (completed)\n   - id: `a`\n" +
		"2. **do fix1.a** `coder` (completed, and not right)\n   - id: `fix1.a`, after `a`\n   - why: It does not end.; Conflict in setup.cfg between [coder, coder]\n" +
		"3. **do b** `coder` (failed)\n   - id: `b`, after `a`\n   - why: agent_refused: There is no `b`.\n" +
		"4. **do c** `coder` (skipped)\n   - id: `c`, after `a`, `b`\n   - why: it builds on b (failed)\n" +
		"5. **do d** `coder` (skipped)\n   - id: `d`\n   - why: another plan has taken its place\n" +
		"6. **do e** `coder` (skipped)\n   - id: `e`\n   - why: the run goes on without it: timeout\n" +
		"7. **do f** `coder` (waiting_approval)\n   - id: `f`\n8. **do g** `coder`\n   - id: `g`\n9. **do h** `coder` (cancelled)\n   - id: `h`\n" +
		"10. **do i** `coder` (blocked)\n    - id: `i`\n    - why: verdict\n11. **do j** `coder` (in_progress)\n    - id: `j`\n" +
		"12. **do k** `coder` (completed, and not right)\n    - id: `k`, after `a`\n    - why: Conflict in README.md between [coder, coder] (tasks k, l)\n" +
		"13. **do l** `coder` (completed, and not right)\n    - id: `l`, after `k`\n    - why: Conflict in setup.cfg between [coder, coder]; Conflict in README.md between [coder, coder] (tasks k, l)\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	var said []string
	for _, step := range plan.Tasks {
		said = append(said, string(step.Status)+"/"+step.State)
	}
	if got, want := strings.Join(said, " "), "completed/completed failed/completed failed/failed failed/skipped failed/skipped failed/skipped pending/waiting_approval pending/ready failed/cancelled "+
		"pending/blocked in_progress/running failed/completed failed/completed"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
