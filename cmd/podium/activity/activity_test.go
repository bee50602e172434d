package activity_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"podium/cmd/podium/activity"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/session"
)

const (
	secret    = "ada@example.org about the pumps"
	sessionID = "1e71220e-f4f1-51eb-a71d-7447ff5b1f6b"
)

// happened is a record of one transition.
func happened(cause string, facts ...schemas.Fact) *schemas.Record {
	return &schemas.Record{Session: sessionID, Transitions: []schemas.Transition{{Cause: schemas.Cause{Type: cause, Time: time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)}, Facts: facts}}}
}

// everything is a record of each kind, as full of words as it can be.
func everything() []*schemas.Record {
	later := time.Date(2026, 1, 1, 12, 5, 0, 0, time.Local)
	mail := func(disposition schemas.Disposition, reason string) *schemas.Record {
		return happened(schemas.TypeEmailReceived, &schemas.MessageReceived{
			ID: secret, Run: 1, Disposition: disposition, Reason: reason, Message: &schemas.Incoming{Subject: secret},
		})
	}
	said := schemas.Result{Text: secret}
	return []*schemas.Record{
		mail(schemas.DispositionStarted, ""), mail(schemas.DispositionQueued, ""), mail(schemas.DispositionMerged, ""),
		mail(schemas.DispositionIgnored, "autoreply"), mail(schemas.DispositionRefused, "already_settled"),
		happened(schemas.TypeControl, &schemas.MessageReceived{ID: secret, Run: 1, Disposition: schemas.DispositionControl}),
		happened("", &schemas.RunStarted{Run: 1, Profile: "desk", Message: schemas.Incoming{Subject: secret}}),
		happened("", &schemas.PlanRefused{Run: 1, Faults: []schemas.Reason{{Code: schemas.ReasonCode(secret)}}}),
		happened("", &schemas.TaskUnserved{Run: 1, Task: secret, Agent: "echo"}),
		happened("", &schemas.TaskFailed{Run: 1, Task: secret, Cause: schemas.FailureTimeout, Detail: secret, RetryAt: later}),
		happened("", &schemas.TaskFailed{Run: 1, Task: secret, Cause: schemas.FailureCrashed, Detail: secret, Agent: "other"}),
		happened("", &schemas.TaskFailed{Run: 1, Task: secret, Cause: schemas.FailurePermanent, Detail: secret}),
		happened("", &schemas.TaskFailed{Run: 1, Task: schemas.DeliveryTask, Cause: schemas.FailureAgent, Detail: secret, RetryAt: later}),
		happened("", &schemas.TaskFailed{Run: 1, Task: schemas.DeliveryTask, Cause: schemas.FailurePermanent, Detail: secret}),
		happened("", &schemas.TaskCompleted{Run: 1, Task: schemas.DeliveryTask, Result: schemas.Content{Result: said}}),
		happened("", &schemas.ReplyWithheld{Run: 1, Reason: schemas.WithheldRefuted}),
		happened("", &schemas.ReplyWithheld{Run: 1, Reason: schemas.WithheldUnproven}),
		happened("", &schemas.AnswerDelayed{Run: 1, Agent: "mail", Until: later}),
		happened("", &schemas.DeliveryBounced{Run: 1, Message: secret, Action: secret, Status: secret, Failed: true}),
		happened("", &schemas.DeliveryReopened{Run: 1, Agent: "mail", Message: schemas.Incoming{Subject: secret}}),
		happened("", &schemas.RunEnded{Run: 1, Status: schemas.RunCompleted, Reason: schemas.StopReplyFailed, Replied: secret}),
		happened("", &schemas.RunEnded{Run: 1, Status: schemas.RunFailed, Reason: schemas.StopTimeout}),
		happened("", &schemas.InquiryOpened{Run: 1, Inquiry: 1, Task: "t1", Kind: schemas.HumanTaskInput, Question: secret, People: []string{secret}, To: []schemas.Address{{Address: secret}}}),
		happened("", &schemas.TaskFailed{Run: 1, Task: "ask:1:1", Cause: schemas.FailureAgent, Detail: secret, RetryAt: later}),
		happened("", &schemas.TaskFailed{Run: 1, Task: "ask:1:1", Cause: schemas.FailurePermanent, Detail: secret}),
		happened("", &schemas.TaskCompleted{Run: 1, Task: "ask:1:1", Result: schemas.Content{Result: said}}),
		happened("", &schemas.TaskCompleted{Run: 1, Task: "ask:2:1", Result: schemas.Content{Result: said}}), // a record before has not made it
		happened("", &schemas.DeliveryBounced{Run: 1, Inquiry: 1, Message: secret, Failed: true}),
		mail(schemas.DispositionAnswered, ""),
		happened("", &schemas.InquiryAnswered{
			Run: 1, Inquiry: 1, Choice: schemas.ChoiceAnswer, Actor: schemas.Actor{Via: schemas.ViaMail, ID: secret}, Text: schemas.Content{Result: said},
		}),
		happened("", &schemas.InquiryAnswered{Run: 1, Inquiry: 1, Choice: schemas.ChoiceReject, Actor: schemas.Actor{Via: schemas.ViaAPI, ID: secret}}),
		happened("", &schemas.InquiryClosed{Run: 1, Inquiry: 1, Reason: schemas.InquiryExpired}),
		// These are nobody's business here, or not worth a line.
		happened("", &schemas.TaskProgressed{Run: 1, Task: "t1", Message: secret}),
		happened("", &schemas.TaskCompleted{Run: 1, Task: "t1", Result: schemas.Content{Result: said}}),
	}
}

// before is a session whose run has its answer delivered by mail.
func before() *session.State {
	return &session.State{Session: sessionID, Active: &workflow.Run{
		Number: 1, Tasks: []*workflow.Task{{ID: secret, Agent: "echo"}}, DecisionTasks: []*workflow.Task{{ID: "ask:1:1", Kind: schemas.TaskKindNotify, About: &schemas.TaskAbout{HumanTask: 1}, Agent: "mail"}}, Delivery: &workflow.Task{ID: schemas.DeliveryTask, Kind: schemas.TaskKindDeliver, Agent: "mail"},
	}}
}

// told is what a feed writes of all that happens.
func told(t *testing.T, out activity.Output, happen func(*activity.Feed)) string {
	t.Helper()
	var b bytes.Buffer
	out.Writer = &b
	feed := activity.New()
	feed.Begin(true)
	happen(feed)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := feed.Show(ctx, out); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func observeAll(feed *activity.Feed) {
	for _, record := range everything() {
		feed.Observe(before(), record)
	}
	feed.Gone("shout", time.Time{})
	feed.Gone("shout", time.Date(2026, 1, 1, 11, 0, 0, 0, time.Local))
	feed.Back("shout")
	feed.Say("podium stops")
}

// TestLinesHoldNothingPersonal: each thing is a line, in words of the ledger and of the
// configuration; nothing that anybody has written is in it.
func TestLinesHoldNothingPersonal(t *testing.T) {
	t.Parallel()
	got := strings.Split(told(t, activity.Output{}, observeAll), "\n")
	run := "run " + sessionID + "-1"
	want := []string{
		"mail received: " + run, "mail received: waits as " + run, "mail received: part of " + run + ", which waits",
		"mail received: not answered (autoreply)", "mail received, and refused (already settled)", "control word received: about " + run,
		run + " begins, by profile desk", run + ": a plan is refused", run + " waits: nobody serves echo",
		run + ": echo has failed (timeout); again at 12:05:00", run + ": echo has failed (crashed); other is asked instead",
		run + ": echo has failed (agent refused)", run + ": answer not sent by mail yet (agent failed); again at 12:05:00",
		run + ": answer failed by mail (agent refused); podium runs show says why, podium runs resend sends it again",
		run + ": answer sent by mail", run + ": answer withheld (sender refuted)", run + ": answer withheld (sender unproven)",
		run + ": answer waits (reply budget) until 12:05:00",
		run + ": a mail system reports that its answer came back", run + ": its answer is sent again by mail",
		run + " ended: completed (reply failed)", run + " ended: failed (timeout)",
		run + " waits for a person (input); podium inbox has the question",
		run + ": question not sent by mail yet (agent failed); again at 12:05:00", run + ": question failed by mail (agent refused); podium runs show says why",
		run + ": question sent by mail", run + ": question sent by its agent",
		run + ": a mail system reports that its question came back; podium inbox has it", "mail received: answers a question of " + run,
		run + ": its question is answered by mail", run + ": its question is rejected by api", run + ": its question is closed without an answer (expired)",
		"nobody serves agent shout, and no sign of life of it is on record", "nobody serves agent shout; its last sign of life was at 11:00:00",
		"agent shout is served", "podium stops", "",
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i, line := range got {
		if _, sentence, _ := strings.Cut(line, "  "); sentence != want[i] {
			t.Errorf("line %d is %q, want %q", i+1, line, want[i])
		}
	}
}

// TestLinesForPrograms: with colors only in a terminal, and objects for programs.
func TestLinesForPrograms(t *testing.T) {
	t.Parallel()
	if plain, colored := told(t, activity.Output{}, observeAll), told(t, activity.Output{Colors: true}, observeAll); strings.Contains(plain, "\x1b") ||
		!strings.Contains(colored, "\x1b[31mrun "+sessionID+"-1: answer failed") || !strings.Contains(colored, "\x1b[0m\n") {
		t.Errorf("colors:\n%s\n%s", plain, colored)
	}
	names := map[string]bool{}
	for line := range strings.Lines(told(t, activity.Output{JSON: true}, observeAll)) {
		var read struct {
			Time             time.Time
			Event, Run, Text string
		}
		if err := json.Unmarshal([]byte(line), &read); err != nil || read.Time.IsZero() || read.Event == "" || read.Text == "" {
			t.Errorf("%s: %v", line, err)
		}
		if names[read.Event] = true; read.Event == "task_failed" && read.Run != sessionID+"-1" {
			t.Errorf("of which run? %s", line)
		}
	}
	for _, name := range []string{"message_received", "run_started", "run_ended", "task_failed", "reply_withheld", "agent_gone", "agent_served", "service"} {
		if !names[name] {
			t.Errorf("nothing is called %s", name)
		}
	}
}

// TestAnswersAreCounted whether anybody looks on or not.
func TestAnswersAreCounted(t *testing.T) {
	t.Parallel()
	feed := activity.New()
	observeAll(feed)
	counted := feed.Answers()
	if counted.Sent != 1 || counted.Failed != 1 || counted.Withheld != 2 || counted.Returned != 1 || counted.Last == nil {
		t.Errorf("%+v", counted)
	}
}

// A stuck output takes nothing until it is let go.
type stuck struct {
	bytes.Buffer
	busy, release chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	select {
	case s.busy <- struct{}{}:
	default:
	}
	<-s.release
	return s.Buffer.Write(p)
}

// TestSlowOutputHoldsUpNobody: who works never waits for who shows; what found no room is
// left out, and how much that was is said.
func TestSlowOutputHoldsUpNobody(t *testing.T) {
	t.Parallel()
	out := &stuck{busy: make(chan struct{}, 1), release: make(chan struct{})}
	feed := activity.New()
	feed.Begin(true)
	ctx, stop := context.WithCancel(t.Context())
	shown := make(chan error, 1)
	go func() { shown <- feed.Show(ctx, activity.Output{Writer: out}) }()
	feed.Say("first")
	<-out.busy
	const lines = 20_000
	for i := range lines { // it comes back although nothing is written
		feed.Say(fmt.Sprint("line ", i))
	}
	close(out.release)
	stop()
	if err := <-shown; err != nil {
		t.Fatal(err)
	}
	var left int
	written := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range written {
		var some int
		if _, sentence, _ := strings.Cut(line, "  "); strings.Contains(sentence, "are left out here") {
			if _, err := fmt.Sscan(sentence, &some); err != nil {
				t.Fatal(err)
			}
			left += some
		}
	}
	if left == 0 || left+len(written) < lines+2 || left+len(written) > lines+3 {
		t.Errorf("%d lines are written and %d left out, of %d", len(written), left, lines+1)
	}
}

var errGone = errors.New("nobody reads")

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errGone }

// TestOutputThatIsGone: an output that takes nothing any more ends the showing, and nothing
// else.
func TestOutputThatIsGone(t *testing.T) {
	t.Parallel()
	feed := activity.New()
	feed.Begin(true)
	feed.Say("first")
	if err := feed.Show(t.Context(), activity.Output{Writer: gone{}}); !errors.Is(err, errGone) {
		t.Errorf("it ends with %v", err)
	}
	if feed.Shown() {
		t.Error("lines are kept that nobody reads")
	}
}

// BenchmarkObserve is what a record costs whoever has stored it, with somebody looking on.
func BenchmarkObserve(b *testing.B) {
	feed := activity.New()
	feed.Begin(true)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	go func() { _ = feed.Show(ctx, activity.Output{Writer: &bytes.Buffer{}}) }()
	state, records := before(), everything()
	b.ReportAllocs()
	for i := range b.N {
		feed.Observe(state, records[i%len(records)])
	}
}
