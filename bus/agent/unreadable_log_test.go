package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"podium/bus/agent"
)

// TestUnreadableIsLoggedWithoutItsWords: what a program has printed is about people, and stands in no line of the log.
func TestUnreadableIsLoggedWithoutItsWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		stop := s.serve(t, func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			outcome, err := agent.ReadOutcome([]byte(`{"type": "execution_response", "payload": {"status": "waiting for ana@example.org"}}`), request)
			if err != nil {
				err = &agent.Failure{Message: "It cannot be read.", Permanent: true, Err: err} // as agents/exec does
			}
			return outcome, err
		})
		s.ask(t, 1, nil)
		s.one(t)
		if strings.Contains(s.log.String(), "ana@example.org") {
			t.Errorf("personal data in the log:\n%s", s.log)
		}
		mustStop(t, stop)
	})
}

// TestAWrongFormIsLogged: whoever writes a program reads in the log, and in the run, which member is wrong; people read nothing of it.
func TestAWrongFormIsLogged(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`{"status": "blocked", "needs": "day"}`:                          "the answer's /needs is of type string, want array",
		`{"status": "blocked", "needs": [{"title": "Day"}]}`:             "invalid message at /payload/needs/0/name: is empty",
		`{"status": "block", "needs": [{"name": "day"}]}`:                `the status "block" is none of completed, partial, failed, blocked`,
		`{"type": "execution_response", "payload": {"status": "block"}}`: `the status "block" is none of completed, partial, failed, blocked`,
		`{"status": "completed", "deliverables": [{"type": "image"}]}`:   `the type "image" of deliverable 1 is none of code, documentation, report, config`,
		"": "there is no output",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1)
			stop := s.serve(t, func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
				outcome, err := agent.ReadOutcome([]byte(said), request)
				if err != nil {
					err = &agent.Failure{Message: "It cannot be read.", Permanent: true, Err: err}
				}
				return outcome, err
			})
			s.ask(t, 1, nil)
			issue := s.one(t).Payload.IssuesEncountered[0]
			if !strings.HasSuffix(issue.ResolutionDetails, want) || strings.Contains(issue.Description, "needs") || strings.Contains(issue.Description, "status") {
				t.Errorf("%s: people read %q, and whoever runs it %q", said, issue.Description, issue.ResolutionDetails)
			}
			quoted, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			if told := s.log.String(); !strings.Contains(told, strings.Trim(string(quoted), `"`)) || !strings.Contains(told, `"level":"error"`) {
				t.Errorf("%s: the log is\n%s", said, told)
			}
			mustStop(t, stop)
		})
	}
}

// TestFirstBytesOfUnreadableOutputAreOnRecord: a record shows how unreadable output begins, within a bound; the log does not, since that may
// be about people.
func TestFirstBytesOfUnreadableOutputAreOnRecord(t *testing.T) {
	t.Parallel()
	long := `{"a": 1} ` + strings.Repeat("ana@ ", 1000)
	for said, want := range map[string]string{
		`{"ana@example.org": `: `after 19 bytes; it begins with "{\"ana@example.org\":"`,
		"ana@\xff\x1b":         `the first at byte 4; it begins with "ana@\xff\x1b"`,
		long:                   `"{\"a\": 1} ana@ ana@ ana@ ana@ ana@ ana@ a"…`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1)
			stop := s.serve(t, func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
				return agent.ReadOutcome([]byte(said), request)
			})
			s.ask(t, 1, nil)
			if issue := s.one(t).Payload.IssuesEncountered[0]; !strings.HasSuffix(issue.ResolutionDetails, want) || strings.Contains(issue.Description, "ana@") {
				t.Errorf("%q: people read %q, and the record holds %q", said, issue.Description, issue.ResolutionDetails)
			}
			if strings.Contains(s.log.String(), "ana@") {
				t.Errorf("personal data in the log:\n%s", s.log)
			}
			mustStop(t, stop)
		})
	}
}
