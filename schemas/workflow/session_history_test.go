package workflow

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"podium/schemas"
)

const testSession = "0b7c1e9e-6d0e-5c1b-9f5e-1a2b3c4d5e6f"

func testTime(minute int) time.Time { return time.Date(2025, 12, 22, 10, 30+minute, 0, 0, time.UTC) }

// parseFact reads one line of a story: a fact's name and its arguments.
//
//	received 1 started      plan 1 t1 t2<t1        dispatched 1 t1 1
//	run 1                   failed 1 t1 1 retry    settled 1 completed
func parseFact(tb testing.TB, line string) schemas.Fact {
	tb.Helper()
	words := strings.Fields(line)
	word := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	number := func(i int) int {
		n, err := strconv.Atoi(word(i))
		if err != nil {
			tb.Fatalf("%q: word %d is not a number", line, i)
		}
		return n
	}
	switch words[0] {
	case "received":
		return &schemas.MessageReceived{
			ID: "m" + word(1), Sequence: uint64(number(1)), Disposition: schemas.Disposition(word(2)), Run: number(3),
		}
	case "run":
		return &schemas.RunStarted{Run: number(1), Profile: "demo", ProfileHash: "hash", Message: schemas.Incoming{
			ID: "m" + word(2), Channel: schemas.ChannelChat, Text: schemas.Content{Result: schemas.Result{Text: "words of m" + word(2)}},
		}}
	case "complexity":
		return &schemas.ComplexityAssessed{Run: number(1), Complexity: schemas.Complexity{Complex: true, Reasons: reasons([]string{"two_verbs"})}}
	case "plan":
		return &schemas.PlanCreated{Run: number(1), Tasks: plannedTasks(words[2:])}
	case "unplanned":
		return &schemas.PlanRefused{Run: number(1), Source: schemas.PlannerAgent, Faults: reasons(words[2:])}
	case "settled":
		return &schemas.RunSettled{Run: number(1), Status: schemas.RunStatus(word(2)), Reason: schemas.StopReason(word(2))}
	case "ended":
		return &schemas.RunEnded{Run: number(1), Status: schemas.RunStatus(word(2)), Reason: schemas.StopReason(word(2)), Replied: "id"}
	case "resend":
		return &schemas.ResendRequested{Run: number(1)}
	case "reopened":
		return &schemas.DeliveryReopened{
			Run: number(1), Attempt: number(2), Status: schemas.RunCompleted, Reason: schemas.StopCompleted, Agent: "mail",
		}
	case "judged":
		return &schemas.Judged{Run: number(1), Question: word(2), Occasion: schemas.OccasionStep, Round: 1, Outcome: schemas.Outcome(word(3))}
	case "reviewed":
		return &schemas.Judged{Run: number(1), Occasion: schemas.OccasionReview, Round: number(2), Outcome: schemas.Outcome(word(3))}
	case "review":
		return &schemas.ReviewBegan{Run: number(1), Round: number(2)}
	case "change":
		return &schemas.PlanChanged{Run: number(1), Change: number(2), Source: schemas.OccasionStep, Tasks: plannedTasks(words[3:])}
	case "asks":
		return &schemas.InquiryOpened{Run: number(1), Task: word(2), Inquiry: number(3), Attempt: number(4), Kind: schemas.HumanTaskInput, Expire: 1}
	case "adopts":
		return &schemas.InquiryOpened{
			Run: number(1), Task: word(2), Inquiry: number(3), Kind: schemas.HumanTaskWork, Expire: 1,
			Adopts: &schemas.Adopted{Letters: []schemas.InquiryName{{Run: number(4), Inquiry: 1}}, Asked: testTime(1), Notices: 1},
		}
	case "again":
		return &schemas.InquiryOpened{Run: number(1), Task: word(2), Inquiry: number(3), Kind: schemas.HumanTaskWork, After: number(4), Expire: 1}
	case "holds":
		return &schemas.InquiryOpened{Run: number(1), Task: schemas.DeliveryTask, Inquiry: number(2), Kind: schemas.HumanTaskAnswerApproval, Hash: "hash", Expire: 1}
	case "agrees":
		return &schemas.InquiryAnswered{Run: number(1), Inquiry: number(2), Choice: schemas.ChoiceApprove}
	case "says":
		return &schemas.InquiryAnswered{Run: number(1), Inquiry: number(2), Choice: schemas.ChoiceAnswer}
	case "silent":
		return &schemas.InquiryClosed{Run: number(1), Inquiry: number(2), Reason: schemas.InquiryExpired}
	case "filled":
		return &schemas.ArgumentsFilled{Run: number(1), Task: word(2), Agent: "echo", Values: []byte("{}")}
	case "withheld":
		return &schemas.ReplyWithheld{Run: number(1), Reason: schemas.WithheldUnproven}
	case "later":
		return &schemas.AnswerDelayed{Run: number(1), Agent: "mail", Until: testTime(59)}
	case "bounced":
		return &schemas.DeliveryBounced{Run: number(1), Message: "b1", Action: word(2), Status: word(3), Failed: word(2) == "failed"}
	}
	return parseTaskFact(tb, words[0], number(1), word(2), word(3), word(4))
}

func plannedTasks(words []string) []schemas.PlannedTask {
	tasks := make([]schemas.PlannedTask, len(words))
	for i, word := range words {
		id, dependencies, depends := strings.Cut(word, "<")
		tasks[i] = schemas.PlannedTask{Task: strings.TrimSuffix(id, "!"), Description: schemas.Content{Result: schemas.Result{Text: "do " + id}}}
		if depends {
			tasks[i].Dependencies = strings.Split(dependencies, ",")
		}
	}
	return tasks
}

func parseTaskFact(tb testing.TB, name string, run int, task, third, fourth string) schemas.Fact {
	tb.Helper()
	attempt, _ := strconv.Atoi(third)
	switch name {
	case "routed":
		return &schemas.TaskRouted{Run: run, Task: task, Decision: schemas.RouteDecision{NextAgent: third, Router: "default"}}
	case "dispatched":
		kind, about, _ := strings.Cut(fourth, "=") // of a notification: what it tells people of
		dispatched := schemas.TaskDispatched{Run: run, Task: task, Agent: "echo", Attempt: attempt, Kind: schemas.TaskKind(kind)}
		if inquiry, err := strconv.Atoi(about); err == nil {
			dispatched.About = &schemas.TaskAbout{HumanTask: inquiry, Notification: schemas.NotificationQuestion}
		}
		return &dispatched
	case "brings": // a request that brings its permit along
		return &schemas.TaskDispatched{Run: run, Task: task, Agent: "echo", Attempt: attempt, Request: task + third, Permitted: true}
	case "permitted":
		return &schemas.PermitGranted{Run: run, Task: task, Attempt: attempt, Permit: "p" + third, Again: fourth == "again"}
	case "refused":
		return &schemas.PermitRefused{Run: run, Task: task, Attempt: attempt, Permit: "p" + third, Reason: schemas.PermitReason(fourth), Agent: "echo"}
	case "started":
		return &schemas.TaskStarted{Run: run, Task: task, Attempt: attempt}
	case "progressed":
		percentage, _ := strconv.Atoi(fourth)
		return &schemas.TaskProgressed{Run: run, Task: task, Attempt: attempt, Percentage: percentage, Message: "page"}
	case "completed":
		return &schemas.TaskCompleted{Run: run, Task: task, Attempt: attempt, Result: schemas.Content{Result: schemas.Result{Text: "done"}}}
	case "brought":
		return &schemas.TaskCompleted{Run: run, Task: task, Brought: attempt, Told: "hash", Permit: "p1"}
	case "failed":
		fact := &schemas.TaskFailed{Run: run, Task: task, Attempt: attempt, Cause: schemas.FailureAgent}
		switch fourth {
		case "":
		case "retry":
			fact.RetryAt = testTime(59)
		case "doubt": // it may have happened all the same
			fact.RetryAt, fact.EffectUnknown = testTime(59), true
		case "timeout":
			fact.RetryAt, fact.Cause = testTime(59), schemas.FailureTimeout
		case "skip":
			fact.Action = schemas.RecoverySkip
		default:
			fact.Agent = fourth
		}
		return fact
	case "skipped":
		return &schemas.TaskSkipped{Run: run, Task: task, Reason: schemas.SkippedDependency, Dependency: "a"}
	case "cancelled":
		return &schemas.TaskCancelled{Run: run, Task: task, Attempt: attempt}
	case "late":
		return &schemas.ResponseLate{Run: run, Task: task, Attempt: attempt, Status: "completed"}
	case "ready":
		return &schemas.TaskReady{Run: run, Task: task, Agent: third, Kind: schemas.TaskKind(fourth)}
	case "unserved":
		fact := &schemas.TaskUnserved{Run: run, Task: task, Agent: third}
		if fourth == "since" {
			fact.Since = testTime(1)
		}
		return fact
	case "heard":
		return &schemas.TaskHeartbeat{Run: run, Task: task, Attempt: attempt, Silence: testTime(30)}
	case "delayed":
		return &schemas.TaskDelayed{Run: run, Task: task, Attempt: attempt, Seconds: 10}
	case "mismatched":
		return &schemas.EntityMismatched{Run: run, Task: task, Entity: third, Found: fourth}
	}
	tb.Fatalf("no fact is called %q", name)
	return nil
}

// excerptsAgree: of each run and each message, an excerpt says what the conversation
// does, whether it has all records or only those that speak of it.
func excerptsAgree(t *testing.T, conversation *SessionHistory, records []schemas.Record) {
	t.Helper()
	for _, all := range []bool{true, false} {
		fold := func(e *Excerpt) *Excerpt {
			for i := range records {
				if !all && !slices.ContainsFunc(slices.Collect(records[i].AllFacts()), func(f schemas.Fact) bool {
					return schemas.RunOf(f) == e.Number || schemas.As[*schemas.MessageReceived](f) != nil && schemas.As[*schemas.MessageReceived](f).ID == e.Input
				}) {
					continue
				}
				if err := e.Apply(&records[i]); err != nil {
					t.Fatal(err)
				}
			}
			return e
		}
		for number := range len(conversation.Runs) + 2 {
			e := fold(&Excerpt{Session: testSession, Number: number})
			if !reflect.DeepEqual(e.Run(), conversation.Run(number)) {
				t.Errorf("run %d: excerpt %+v, conversation %+v", number, e.Run(), conversation.Run(number))
			}
			given := slices.ContainsFunc(conversation.Messages, func(m ReceivedMessage) bool { return m.begins() && m.Run == number })
			if e.Known() != (given || e.Run() != nil) {
				t.Errorf("run %d is known: %v", number, e.Known())
			}
		}
		for _, message := range conversation.Messages {
			e := fold(&Excerpt{Session: testSession, Number: message.Run, Input: message.ID})
			if !reflect.DeepEqual(e.Message(), &message) || message.begins() && all && fold(&Excerpt{Session: testSession, Input: message.ID}).Number != message.Run {
				t.Errorf("message %s: excerpt %+v, conversation %+v", message.ID, e.Message(), message)
			}
		}
	}
}

// Stories: each command "record" folds one record, each of its lines is a fact,
// and "then" begins its next transition, 30 s later.
func TestSessionHistoryStories(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "histories", func(t *testing.T, path string) {
		t.Helper()
		conversation, records := &SessionHistory{}, []schemas.Record{}
		number := uint64(0)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			switch d.Cmd {
			case "new":
				conversation, records, number = &SessionHistory{}, nil, 0
				return ""
			case "record":
				number++
				record := schemas.Record{Session: testSession, Number: number, Transitions: []schemas.Transition{{Cause: schemas.Cause{Time: testTime(int(number))}}}}
				facts, now := &record.Last().Facts, testTime(int(number))
				for line := range strings.Lines(strings.TrimSpace(d.Input)) {
					if strings.TrimSpace(line) == "then" {
						now = now.Add(30 * time.Second)
						record.Transitions = append(record.Transitions, schemas.Transition{Cause: schemas.Cause{Time: now}})
						facts = &record.Last().Facts
						continue
					}
					*facts = append(*facts, parseFact(t, line))
				}
				if err := conversation.Apply(record); err != nil {
					if !errors.Is(err, ErrGrammar) {
						t.Fatalf("%v is not ErrGrammar", err)
					}
					return err.Error() + "\n"
				}
				records = append(records, record)
				excerptsAgree(t, conversation, records)
				return describe(conversation)
			case "show":
				var run int
				d.ScanArgs(t, "run", &run)
				text, err := schemas.Marshal(conversation.Run(run))
				if err != nil {
					t.Fatal(err)
				}
				return strings.ReplaceAll(string(text), ",\"", ",\n\"") + "\n"
			case "messages":
				var b strings.Builder
				for _, message := range conversation.Messages {
					fmt.Fprintf(&b, "%s %s run %d\n", message.ID, message.Disposition, message.Run)
				}
				return b.String()
			case "plan":
				return conversation.Run(1).TaskPlan(teller{}).Markdown()
			}
			t.Fatalf("no command %q", d.Cmd)
			return ""
		})
	})
}

func describe(c *SessionHistory) string {
	var b strings.Builder
	for i := range c.Runs {
		run := &c.Runs[i]
		fmt.Fprintf(&b, "run %d %s %d%%", run.Number, run.Phase, run.Percentage)
		if run.Status != "" {
			fmt.Fprintf(&b, " %s", run.Status)
		}
		for j := range run.Tasks {
			fmt.Fprintf(&b, " %s", describeTask(run.Tasks[j]))
		}
		if run.Delivery != nil {
			fmt.Fprintf(&b, " %s", describeTask(run.Delivery))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func describeTask(task *Task) string {
	text := task.ID + "=" + string(task.State)
	if task.Attempt > 0 {
		text += "#" + strconv.Itoa(task.Attempt)
	}
	return text
}

func TestSessionHistoryRefusesOtherRecords(t *testing.T) {
	t.Parallel()
	for name, records := range map[string][]schemas.Record{
		"begins late":     {{Session: testSession, Number: 2}},
		"gap":             {{Session: testSession, Number: 1}, {Session: testSession, Number: 3}},
		"repeat":          {{Session: testSession, Number: 1}, {Session: testSession, Number: 1}},
		"another session": {{Session: testSession, Number: 1}, {Session: "other", Number: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var conversation SessionHistory
			for i, record := range records {
				err := conversation.Apply(record)
				if last := i == len(records)-1; errors.Is(err, ErrGrammar) != last {
					t.Fatalf("record %d: %v", i+1, err)
				}
			}
			if err := conversation.Apply(schemas.Record{Session: testSession, Number: conversation.Records + 1}); !errors.Is(err, ErrGrammar) {
				t.Fatalf("a broken conversation took another record: %v", err)
			}
		})
	}
}

// Whatever facts come, in whatever order: the fold never panics, refuses or
// keeps its promises, and folding the same records again gives the same.
func TestSessionHistoryInvariants(t *testing.T) {
	t.Parallel()
	lines := []string{
		"received 1 started 1", "received 2 queued 2", "received 3 ignored 0", "run 1 1", "run 2 2", "complexity 1",
		"plan 1 t1 t2<t1", "plan 2 t1", "routed 1 t1 echo", "routed 1 t2 echo", "routed 2 t1 echo",
		"dispatched 1 t1 1", "dispatched 1 t1 2", "dispatched 1 t2 1", "dispatched 2 t1 1", "dispatched 1 reply 1", "dispatched 2 reply 1",
		"started 1 t1 1", "started 1 t2 1", "progressed 1 t1 1 50", "completed 1 t1 1", "completed 1 t1 2", "completed 1 t2 1", "completed 2 t1 1",
		"failed 1 t1 1 retry", "failed 1 t1 1", "failed 1 t2 0", "skipped 1 t2", "cancelled 1 t1 1", "completed 1 reply 1", "failed 1 reply 1",
		"settled 1 completed", "settled 1 failed", "settled 2 cancelled", "ended 1 completed", "ended 2 cancelled", "late 1 t1 1",
		"unplanned 1 circle", "ready 1 t1 echo", "ready 1 t2 echo", "ready 1 reply mail", "ready 1 plan planner plan", "dispatched 1 plan 1 plan",
		"completed 1 plan 1", "failed 1 plan 1", "heard 1 t1 1", "delayed 1 t1 1", "mismatched 1 t1 customer 13", "failed 1 t1 1 other", "failed 1 t1 1 skip",
		"filled 1 t1", "dispatched 1 judge:step:1 1 judge", "completed 1 judge:step:1 1", "judged 1 judge:step:1 plan", "change 1 1 c1.t1", "review 1 1", "review 1 2", "dispatched 1 check:a:1 1 judge", "completed 1 check:a:1 1", "reviewed 1 1 passed", "reviewed 1 1 failed", "reviewed 1 2 passed", "asks 1 t1 1 0", "asks 1 t1 1 1", "asks 1 t2 2 0", "says 1 1", "says 1 2", "silent 1 1", "silent 1 2",
	}
	facts := map[string]schemas.Fact{}
	for _, line := range lines {
		facts[line] = parseFact(t, line)
	}
	rapid.Check(t, func(t *rapid.T) {
		var conversation SessionHistory
		var accepted []schemas.Record
		for i, line := range rapid.SliceOfN(rapid.SampledFrom(lines), 1, 200).Draw(t, "facts") {
			trial := copyOf(t, &conversation)
			record := schemas.Record{Session: testSession, Number: trial.Records + 1, Transitions: []schemas.Transition{{Cause: schemas.Cause{Time: testTime(i)}, Facts: []schemas.Fact{facts[line]}}}}
			if err := trial.Apply(record); err != nil {
				if !errors.Is(err, ErrGrammar) {
					t.Fatalf("%s: %v", line, err)
				}
				continue
			}
			checkPromises(t, &conversation, &trial)
			conversation, accepted = trial, append(accepted, record)
		}
		var again SessionHistory
		for _, record := range accepted {
			if err := again.Apply(record); err != nil {
				t.Fatalf("again: %v", err)
			}
		}
		if !bytes.Equal(marshal(t, &conversation), marshal(t, &again)) {
			t.Fatal("the same records gave another conversation")
		}
	})
}

func marshal(t *rapid.T, c *SessionHistory) []byte {
	body, err := schemas.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func copyOf(t *rapid.T, c *SessionHistory) SessionHistory {
	var twin SessionHistory
	if err := schemas.Unmarshal(marshal(t, c), &twin); err != nil {
		t.Fatal(err)
	}
	return twin
}

// checkPromises: what has ended stays as it is, and the percentage is that of
// the completed tasks (M-33).
func checkPromises(t *rapid.T, before, after *SessionHistory) {
	for i := range after.Runs {
		run := &after.Runs[i]
		completed := 0
		for j := range run.Tasks {
			task := run.Tasks[j]
			if task.State == TaskCompleted {
				completed++
			}
			if run.Phase == PhaseComplete && !task.State.Ended() {
				t.Fatalf("run %d ended with task %s %s", run.Number, task.ID, task.State)
			}
			if i < len(before.Runs) && j < len(before.Runs[i].Tasks) {
				if old := before.Runs[i].Tasks[j]; old.State.Ended() && old.State != task.State {
					t.Fatalf("task %s went from %s to %s", task.ID, old.State, task.State)
				}
			}
		}
		want := 0
		if len(run.Tasks) > 0 {
			want = completed * 100 / len(run.Tasks)
		}
		if run.Percentage != want {
			t.Fatalf("run %d: %d%%, want %d%%", run.Number, run.Percentage, want)
		}
		if i < len(before.Runs) && before.Runs[i].Phase == PhaseComplete && run.Phase != PhaseComplete {
			t.Fatalf("run %d began again", run.Number)
		}
	}
}

func TestPlanWithoutAMoment(t *testing.T) {
	t.Parallel()
	run := RunHistory{Started: testTime(0), Run: Run{Tasks: []*Task{{ID: "t1", Agent: "calculator", Attempt: 1}}}}
	if got := run.TaskPlan(teller{}).Created; !got.Equal(testTime(0)) {
		t.Errorf("a plan without a moment was made at %s", got)
	}
}

// teller tells reasons by their codes.
type teller struct{}

func (teller) Failure(failed *schemas.TaskFailed) string { return failed.Detail }

func (teller) Issue(issue *schemas.ReviewIssue) string { return issue.Message }

func reasons(codes []string) []schemas.Reason {
	reasons := make([]schemas.Reason, len(codes))
	for i, code := range codes {
		reasons[i].Code = schemas.ReasonCode(code)
	}
	return reasons
}
