package agent_test

import (
	"context"
	"testing"
	"testing/synctest"

	"podium/bus/agent"
	"podium/schemas"
)

// TestFailureKeepsItsIssue: the issue that a program gives for its failure is in the response as the program has written it.
func TestFailureKeepsItsIssue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		stop := s.serve(t, func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			return agent.ReadOutcome([]byte(`{"status": "failed", "issues_encountered": [
				{"issue_id": "E-17", "task_id": "pages", "severity": "critical", "description": "No ink.", "resolution": "deferred", "resolution_details": "Order cartridge 4711."},
				{"issue_id": "E-18", "task_id": "covers", "severity": "low", "description": "No ink.", "resolution": "deferred"}]}`), request)
		})
		s.ask(t, 1, nil)
		issues := s.one(t).Payload.IssuesEncountered
		said := map[string]schemas.Issue{}
		for _, issue := range issues {
			said[issue.IssueID] = issue
		}
		if first := said["E-17"]; first.Severity != "critical" || first.ResolutionDetails != "Order cartridge 4711." || first.TaskID != "pages" {
			t.Errorf("E-17 is %+v in %+v", first, issues)
		}
		if _, there := said["E-18"]; !there {
			t.Errorf("E-18 is missing in %+v", issues)
		}
		mustStop(t, stop)
	})
}
