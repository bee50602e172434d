package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"podium/agents/mail/smtpsink"
	"podium/ingest/imap/memorymailbox"
	"podium/schemas"
	"podium/schemas/workflow"
)

// unwelcome is a deployment whose mail server refuses every letter for good until it is
// told to take them.
func unwelcome(t *testing.T) (i *deployment, mailbox *memorymailbox.Server, sink *smtpsink.Server, welcome *atomic.Bool) {
	t.Helper()
	welcome = &atomic.Bool{}
	sink, err := smtpsink.Start(t.Context(), smtpsink.Config{OnRecipient: func(string) error {
		if welcome.Load() {
			return nil
		}
		return &smtpsink.Refusal{Code: 550, Text: "no ada@example.org here,\x1b[31m ask\tpostmaster"}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	if mailbox, err = memorymailbox.Start(t.Context(), "agent", "secret"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mailbox.Close() })
	return install(t, fmt.Sprintf(`
mail:
  accounts:
    - name: support
      profile: desk
      since: all
      imap: {host: 127.0.0.1, port: %d, tls: none, username: agent, password: secret, poll: 1s}
      smtp: {host: 127.0.0.1, port: %d, tls: none, from: support@praxis.example, sent: none}
agents: {echo: {kind: echo}}
profiles: {desk: {language: en, agents: [echo], routers: [{kind: default, agent: echo}]}}
`, mailbox.Port(), sink.Port())), mailbox, sink, welcome
}

// TestRefusedAnswerIsSeenAndSentAgain: an answer that the mail server refuses for good is
// listed, counted and told with the server's words; once that is mended it is sent again
// under the same Message-ID, and what was delivered is not. Neither the log nor standard
// output says who has written what.
func TestRefusedAnswerIsSeenAndSentAgain(t *testing.T) {
	t.Parallel()
	i, mailbox, sink, welcome := unwelcome(t)
	i.up("-vv")
	if err := mailbox.Deliver(letter("m1@example.org", "Pumps on Thursday", "How many pumps?")); err != nil {
		t.Fatal(err)
	}
	failed := func() []workflow.RunHistory {
		return lines[workflow.RunHistory](t, i.podium("runs", "--status", "answer-failed", "-o", "json").succeeds(t))
	}
	eventually(t, "the answer is listed as failed", func() bool { return len(failed()) == 1 })
	run := failed()[0]
	const words = "SMTP 550: 5.0.0 no ada@example.org here, [31m ask postmaster"
	if run.Delivery == nil || !strings.Contains(run.Delivery.Failure().Detail, words) {
		t.Errorf("the record does not say why: %+v", run.Delivery)
	}
	shown := i.podium("runs", "show", run.ID).succeeds(t).stdout
	for _, want := range []string{words, "next      podium runs resend " + run.ID} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
	if status, health := i.fetch("/healthz"); status != 200 || !strings.Contains(health, `"answers":{"sent":0,"failed":1,"withheld":0,"returned":0,"last_failed":"2`) {
		t.Errorf("health is %d %s", status, health)
	}
	if _, metrics := i.fetch("/metrics"); !strings.Contains(metrics, `podium_answers_total{outcome="failed"} 1`) {
		t.Error("no metric counts it")
	}

	welcome.Store(true)
	if o := i.podium("runs", "resend", run.ID, "-o", "json").succeeds(t); o.stdout != fmt.Sprintf("{\"asked\":\"resend\",\"run\":%q}\n", run.ID) {
		t.Errorf("it says %q", o.stdout)
	}
	eventually(t, "the answer is taken", func() bool { return len(sink.Messages()) == 1 && len(failed()) == 0 })
	again := lines[workflow.RunHistory](t, i.podium("runs", "show", run.ID, "-o", "json").succeeds(t))[0]
	if again.Delivery.Attempt != run.Delivery.Attempt+1 || again.Replied == "" || again.Resends != 1 ||
		strings.Trim(sink.Messages()[0].Header().Get("Message-Id"), "<>") != again.Replied {
		t.Errorf("the run is %+v, the letter %q", again, sink.Messages()[0].Header().Get("Message-Id"))
	}
	if watched := i.podium("runs", "watch", run.ID).succeeds(t).stdout; !strings.Contains(watched, "goes on to deliver its answer") {
		t.Errorf("whoever watches does not see it:\n%s", watched)
	}
	if o := i.podium("runs", "resend", run.ID, "--allow-duplicate"); o.code != exitFailed || !strings.Contains(o.stderr, "was delivered, as "+again.Replied) {
		t.Errorf("what was delivered: exit code %d, %s", o.code, o.stderr)
	}
	i.stop()
	i.verify()

	for _, line := range []string{
		"mail received: run " + run.ID, "run " + run.ID + " begins, by profile desk",
		"run " + run.ID + ": answer failed by mail (agent refused)", "run " + run.ID + " ended: completed (reply failed)",
		"control word received: about run " + run.ID, "run " + run.ID + ": its answer is sent again by mail",
		"run " + run.ID + ": answer sent by mail", "run " + run.ID + " ended: completed\n",
	} {
		if told := i.process.stdout.String(); strings.Count(told, line) != 1 || strings.Contains(told, "\x1b") {
			t.Errorf("%q is not once in\n%s", line, told)
		}
	}
	// As a whole word: "ada" is by chance in hashes, and in "adapter".
	names := regexp.MustCompile(`\b[Aa]da\b|example\.org|praxis\.example|[Pp]ump|hursday|postmaster`)
	if told := i.process.stdout.String() + i.process.stderr.String(); names.MatchString(told) {
		t.Errorf("%q is in what the service says:\n%s", names.FindString(told), told)
	}
}

// TestUndeliverableAnswerIsGivenUp: a run whose answer the mail server does not take, and which tries again, is not cancelled, with what the
// server has said and exit code 1. A person gives up the answer, and is on record with it; it is not sent when the server takes mail again.
func TestUndeliverableAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	i, mailbox, sink, _ := unwelcome(t)
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	i.up()
	if err := mailbox.Deliver(letter("m1@example.org", "Pumps on Thursday", "How many pumps?")); err != nil {
		t.Fatal(err)
	}
	waits := func() []workflow.RunHistory {
		return slices.DeleteFunc(i.runs(), func(run workflow.RunHistory) bool {
			return run.Delivery == nil || run.Delivery.State != workflow.TaskWaiting
		})
	}
	eventually(t, "the answer waits for its next attempt", func() bool { return len(waits()) == 1 })
	id := i.runs()[0].ID
	const cause = "connect: connection refused"
	if o := i.podium("runs", "cancel", id); o.code != exitFailed || !strings.Contains(o.stderr, cause) || !strings.Contains(o.stderr, "`podium runs give-up "+id+"`") {
		t.Errorf("cancel: exit code %d, %s", o.code, o.stderr)
	}
	if shown := i.podium("runs", "show", id).succeeds(t).stdout; !strings.Contains(shown, cause) || !strings.Contains(shown, "next      podium runs give-up "+id) {
		t.Errorf("runs show says\n%s", shown)
	}
	if o := i.podium("runs", "resend", id); o.code != exitFailed || !strings.Contains(o.stderr, "give-up") {
		t.Errorf("resend: exit code %d, %s", o.code, o.stderr)
	}
	eventually(t, "the answer is given up", func() bool { // an attempt under way with its permit is not stopped
		_ = i.podium("runs", "give-up", id, "--reason", "she has called")
		return i.runs()[0].Phase == workflow.PhaseComplete
	})
	shown := i.podium("runs", "show", id).succeeds(t).stdout
	for _, want := range []string{"completed (answer_given_up)", "give up by " + systemUser() + " at the command line: she has called", cause, "next      podium runs resend " + id} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
	if listed := i.podium("runs").succeeds(t).stdout; !strings.Contains(listed, "completed, answer given up") {
		t.Errorf("runs says\n%s", listed)
	}
	if o := i.podium("runs", "give-up", id); o.code != exitFailed || !strings.Contains(o.stderr, "has ended") {
		t.Errorf("twice: exit code %d, %s", o.code, o.stderr)
	}
	i.stop()
	i.verify()
}

// TestResendSaysWhatToDo: a run that is not there, or has nothing to send again, says so.
func TestResendSaysWhatToDo(t *testing.T) {
	t.Parallel()
	withheld, failed := schemas.ReplyWithheld{Run: 1}, &workflow.Task{State: workflow.TaskFailed}
	for want, run := range map[string]*workflow.RunHistory{
		"has not ended (assembling)": {Run: workflow.Run{Phase: workflow.PhaseAssembling}},
		"`podium runs watch r`":      {ID: "r", Run: workflow.Run{Phase: workflow.PhaseExecuting}},
		"somebody has asked for it":  {ResendRequested: true, Run: workflow.Run{Phase: workflow.PhaseComplete}},
		"was delivered, as id":       {Replied: "id", Run: workflow.Run{Phase: workflow.PhaseComplete, Delivery: &workflow.Task{State: workflow.TaskCompleted}}},
		"came back":                  {Bounces: []schemas.DeliveryBounced{{Failed: true}}, Run: workflow.Run{Phase: workflow.PhaseComplete, Delivery: failed}},
		"it has answered planner":    {Run: workflow.Run{Phase: workflow.PhaseComplete, Message: schemas.Incoming{Upstream: &schemas.Upstream{From: "planner"}}}},
		"a newer message took":       {Run: workflow.Run{Phase: workflow.PhaseComplete, Reason: schemas.StopSuperseded}},
		"its message asked for none": {Run: workflow.Run{Phase: workflow.PhaseComplete}},
		"":                           {Run: workflow.Run{Phase: workflow.PhaseComplete, Delivery: failed}},
		"<nil>":                      {Withheld: &withheld, Run: workflow.Run{Phase: workflow.PhaseComplete}},
	} {
		if err := notResent(run, false); want == "" && err != nil || want != "" && !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q is not said, but: %v", want, err)
		}
	}
}
