package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"podium/agents/mail/smtpsink"
	"podium/ingest/imap/memorymailbox"
	"podium/schemas"
	"podium/schemas/workflow"
)

// parkedConfig has a supervisor ask another one, which works on one request at a time, and whose orders wait for a person for two days.
const parkedConfig = `
mail:
  accounts:
    - name: support
      profile: front
      imap: {host: 127.0.0.1, port: %d, tls: none, username: agent, password: secret, poll: 5s}
      smtp: {host: 127.0.0.1, port: %d, tls: none, from: support@practice.example, sent: none}
people: {anna: {mail: anna@practice.example}}
agents:
  orders: {kind: exec, command: [sh, -c, 'cat >/dev/null; echo Ordered.']}
  echo: {kind: echo}
  team: {kind: supervisor, profile: desk, concurrency: 1}
profiles:
  front:
    language: en
    agents: [{name: team, work: 72h}]
    routers: [{kind: default, agent: team}]
  desk:
    language: en
    agents: [orders, echo]
    routers: [{kind: keywords, groups: [{agent: orders, keywords: [order]}]}, {kind: default, agent: echo}]
    approval: [{agents: [orders], people: [anna], expires: 48h}]
`

// TestParkedApprovalsLeaveRoom: a supervisor that works on one request at a time, and has two ahead of that, waits for a person with four, and is asked for others and answers them meanwhile, also
// after the service was killed. Once the person has decided, those go on as any other.
func TestParkedApprovalsLeaveRoom(t *testing.T) {
	t.Parallel()
	sink, err := smtpsink.Start(t.Context(), smtpsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	mailbox, err := memorymailbox.Start(t.Context(), "agent", "secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mailbox.Close() })
	i := install(t, fmt.Sprintf(parkedConfig, mailbox.Port(), sink.Port()), oneShard)
	i.up()
	const parked = 4
	for n := range parked {
		i.podium("send", fmt.Sprintf("Please order paper %d.", n)).succeeds(t)
	}
	within(t, patience, "the person is asked about all of them", func() bool { return len(sink.Messages()) == parked })
	within(t, patience, "all of them are said to wait", func() bool { return len(i.parked()) == parked })
	if _, answer := i.answered("Please say hello."); !strings.Contains(answer, "say hello") {
		t.Errorf("the answer is %q", answer)
	}
	shown := i.podium("runs", "show", i.parked()[0])
	if !strings.Contains(shown.stdout, "team says that it waits, first until ") {
		t.Errorf("shown is\n%s", shown.stdout)
	}
	i.kill()
	i.up()
	if _, answer := i.answered("Please say goodbye."); !strings.Contains(answer, "say goodbye") {
		t.Errorf("the answer is %q", answer)
	}
	for _, run := range i.runs() {
		if run.Profile == "desk" && len(run.Inquiries) > 0 {
			i.podium("approve", run.ID+".1").succeeds(t)
		}
	}
	within(t, patience, "every run has ended", func() bool {
		return len(lines[workflow.RunHistory](t, i.podium("runs", "list", "--status", "open", "-o", "json"))) == 0
	})
	completed := 0
	for _, run := range i.runs() {
		if run.Status == schemas.RunCompleted {
			completed++
		}
		if run.Profile == "front" && len(run.Tasks) > 0 && run.Tasks[0].Attempt != 1 {
			t.Errorf("run %s has asked %d times", run.ID, run.Tasks[0].Attempt)
		}
	}
	if want := 2 * (parked + 2); completed != want {
		t.Errorf("%d runs are completed, want %d", completed, want)
	}
	i.stop()
	i.verify()
}

// parked are the ids of the runs whose supervisor says that it waits.
func (i *deployment) parked() (runs []string) {
	i.t.Helper()
	type shown struct {
		ID    string `json:"id"`
		Tasks []struct {
			WaitingUntil *time.Time `json:"waiting_until"`
		} `json:"tasks"`
	}
	for _, run := range lines[shown](i.t, i.podium("runs", "list", "-o", "json")) {
		if len(run.Tasks) == 1 && run.Tasks[0].WaitingUntil != nil {
			runs = append(runs, run.ID)
		}
	}
	return runs
}
