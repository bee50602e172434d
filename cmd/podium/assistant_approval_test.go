package main

import (
	"fmt"
	"net/mail"
	"strings"
	"testing"
	"time"

	"podium/schemas"
)

// TestAssistantWaitsForLeave: a plan is saved and kept up to date in its file; its expensive step waits until whoever wrote agrees by a reply, over a crash too; then
// exactly the saved call runs, once, at the saved agent, and one letter in the thread tells of all steps.
func TestAssistantWaitsForLeave_O23_O31(t *testing.T) {
	t.Parallel()
	i, mailbox, sink, plans := assistantByMail(t)
	sent := 0
	write := func(from, answers, words string) {
		sent++
		answered := ""
		if answers != "" {
			answered = "In-Reply-To: " + answers + "\r\n"
		}
		mailbox.Deliver(t, fmt.Appendf(nil, "Authentication-Results: mx.example.org; dmarc=pass header.from=example.org\r\n%sFrom: %s\r\nTo: assistant@example.org\r\n"+
			"Subject: Membranes\r\nMessage-ID: <%d@example.org>\r\n\r\n%s\r\n", answered, from, sent, words))
	}
	write("ada@example.org", "", "Optimize C[N+](C)(C)C and then simulate it at 400 K for 50 ps, please")
	within(t, 5*time.Minute, "ada is asked", func() bool { return len(sink.Messages()) == 1 })
	letter := sink.Messages()[0]
	if said := textOf(&letter); !strings.Contains(said, "May an agent do this?") || !strings.Contains(said, "by molecular dynamics") || !strings.Contains(said, "50") || !strings.Contains(said, "400") {
		t.Errorf("the letter does not say what is to be done\n%s", said)
	}
	written := func() (document string) {
		for _, document = range plansIn(t, plans) {
		}
		return document
	}
	// The file follows the run: it may be a moment behind the letter.
	within(t, time.Minute, "the plan says what has been done", func() bool { return strings.Contains(written(), "`qm_agent` (completed)") })
	if plan := written(); strings.Contains(plan, "`md_agent` (completed)") {
		t.Errorf("while it waits the plan is\n%s", plan)
	}
	i.kill()
	i.up()
	question := letter.Header().Get("Message-ID")
	write("eve@example.org", question, "approve")
	within(t, time.Minute, "eve's word is refused", func() bool {
		return strings.Contains(i.podium("replay", "-o", "json").succeeds(t).stdout, `"reason":"not_allowed"`)
	})
	write("ada@example.org", question, "approve")
	within(t, 5*time.Minute, "ada is answered", func() bool { return len(sink.Messages()) == 2 })
	answer := sink.Messages()[1]
	read, err := mail.ReadMessage(strings.NewReader(string(answer.Data)))
	if err != nil || read.Header.Get("Subject") != "Re: Membranes" {
		t.Errorf("%v: %+v", err, read.Header)
	}
	said := textOf(&answer)
	if first, second := strings.Index(said, "optimized by GFN2-xTB"), strings.Index(said, "50 ps of molecular dynamics of C[N+](C)(C)C"); first < 0 || second < first || !strings.Contains(said, "set to 400 K") {
		t.Errorf("the answer is\n%s", said)
	}
	runs := i.runs()
	run := i.run(runs[len(runs)-1].ID)
	if run.Status != schemas.RunCompleted || len(run.Tasks) != 2 || run.Tasks[1].Agent != "md_agent" || run.Tasks[1].Attempt != 1 {
		t.Errorf("%s, %+v", run.Status, run.Tasks)
	}
	within(t, time.Minute, "the plan in its file is done", func() bool { return strings.Count(written(), "(completed)") == 2 })
	if got := len(sink.Messages()); got != 2 {
		t.Errorf("%d letters have gone out, want the question and the answer", got)
	}
	i.stop()
	i.verify()
}
