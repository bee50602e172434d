package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOrderOfDecisions: where two things could come first, one of them does, and a story shows it.
func TestOrderOfDecisions(t *testing.T) {
	t.Parallel()
	for _, pair := range []struct{ first, then, story, shows, before string }{
		{"arguments", "approval", "order_of_a_start", "(inquiry 1, input)", "(inquiry 2, approval)"},
		{"approval", "the budget of the run", "order_of_a_start", "approve by anna", "b held by the budget"},
		{"the budget of the run", "room at the agent", "order_of_a_start", "b held by the budget", "b ready, waits for clerk"},
		{"room at the agent", "the circuit breaker", "breaker_opens_before_a_grant", "t1 ready, waits for clerk", "failed, unavailable"},
		{"a grant", "the checks of the task once more", "granted_and_held", "b ready, waits for writer", "b held by the budget"},
		{"a proposal", "what is lacking", "order_of_a_failure", "(inquiry 1, approval)", "(inquiry 2, input)"},
		{"what is lacking", "a retry", "order_of_a_failure", "(inquiry 2, input)", "again at +1s"},
		{"a retry", "another agent", "order_of_a_failure", "again at +1s", "now summary"},
		{"another agent", "people", "order_of_a_failure", "now summary", "(inquiry 3, failure)"},
		{"repairs", "the failure for good", "recovery_request_fix_fails", "(validation: request_fix), blocked", "for good, by fix"},
		{"people", "going on without the task", "order_of_a_failure", "(inquiry 3, failure)", "t1 skipped: forgone"},
		{"an evaluator", "skipping what depends on the failure", "replan_on_failure", "judge:failure:1 attempt 1: replanner asked", "skipped"},
		{"the review", "the end of the budget", "budget_ends_while_reviewed", "judged by review in round 1: failed", "settled: failed (budget_exhausted)"},
		{"a reply", "a message that supersedes", "superseding_answer", "message c2: answered", "message c3: started, run 2"},
		{"urgent words that decide nothing", "the run that waits", "asked_and_urgent", "message m2: started, run 2", "inquiry 1 closed: superseded"},
		{"a cancel", "a permit after it", "permit_after_a_cancel", "message x1: control", "p1 of calculator is refused, cancelled"},
		{"a permit", "a cancel after it", "permit_before_a_cancel", "p1 is granted", "message x1: control"},
		{"a message that was accepted", "a resend", "resend_behind_a_run", "run 3 ends: completed", "run 1 goes on to deliver"},
		{"one failure", "another one of the same input", "two_failures_at_once", "The calculator is being repaired.\\n\\nThis", "The clerk is on holiday."},
	} {
		body, err := os.ReadFile(filepath.Join("testdata", "stories", pair.story+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, shown := strings.Cut(string(body), pair.shows)
		if !shown || !strings.Contains(rest, pair.before) {
			t.Errorf("story %s does not show that %s comes before %s", pair.story, pair.first, pair.then)
		}
	}
}
