package score_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/score"
)

// A script tells a session by its facts and the second of each.
type script struct {
	tb      testing.TB
	session score.Session
	records uint64
	run     int
}

func at(second float64) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(second * float64(time.Second)))
}

func (s *script) at(second float64, facts ...schemas.Fact) *script {
	s.tb.Helper()
	s.records++
	record := schemas.Record{Session: "s", Number: s.records, Transitions: []schemas.Transition{{Cause: schemas.Cause{Time: at(second)}, Facts: facts}}}
	if err := s.session.Apply(&record); err != nil {
		s.tb.Fatal(err)
	}
	return s
}

// begin begins a run with a plan, one second after the message that it is for.
func (s *script) begin(second float64, profile string, tasks ...schemas.PlannedTask) *script {
	s.tb.Helper()
	s.run++
	id := fmt.Sprint("m", s.run)
	s.at(second, &schemas.MessageReceived{ID: id, Run: s.run, Disposition: schemas.DispositionStarted},
		&schemas.RunStarted{Run: s.run, Profile: profile, Message: schemas.Incoming{ID: id, Channel: schemas.ChannelAgent, Upstream: &schemas.Upstream{Request: id}}})
	facts := []schemas.Fact{&schemas.PlanCreated{Run: s.run, Tasks: tasks}}
	for i := range tasks {
		facts = append(facts, &schemas.TaskRouted{Run: s.run, Task: tasks[i].Task, Decision: schemas.RouteDecision{NextAgent: "worker"}})
	}
	return s.at(second+1, facts...)
}

func (s *script) asks(second float64, task string, attempt int) *script {
	s.tb.Helper()
	return s.at(second, &schemas.TaskDispatched{Run: s.run, Task: task, Agent: "worker", Attempt: attempt, Request: fmt.Sprint(task, attempt)})
}

func (s *script) works(second float64, task string, attempt int) *script {
	s.tb.Helper()
	return s.at(second, &schemas.TaskStarted{Run: s.run, Task: task, Attempt: attempt})
}

func (s *script) ends(second float64, status schemas.RunStatus) *script {
	s.tb.Helper()
	return s.at(second, &schemas.RunSettled{Run: s.run, Status: status}, &schemas.RunEnded{Run: s.run, Status: status})
}

// told are the measures of a profile in short: the item, part and whole.
func told(profile *score.Profile) string {
	var said []string
	for _, m := range profile.Measures {
		value := "-"
		if m.Value != nil {
			value = fmt.Sprintf("%.4f", *m.Value)
			if *m.Met {
				value += "+"
			}
		}
		said = append(said, fmt.Sprintf("%s %.4g/%.4g=%s", m.Item, m.Part, m.Whole, value))
	}
	return fmt.Sprintf("%s %d: %s", profile.Name, profile.Runs, strings.Join(said, " "))
}

func figures(sessions ...*script) string {
	var all []*score.Session
	for _, s := range sessions {
		all = append(all, &s.session)
	}
	var said []string
	for _, profile := range score.Profiles(all) {
		said = append(said, told(&profile))
	}
	return strings.Join(said, "\n")
}

func wrong(issues ...string) *schemas.Findings {
	result := schemas.ValidationResult{Validator: "types", Status: schemas.ValidationFailed, Details: "does not hold"}
	for _, severity := range issues {
		result.Issues = append(result.Issues, schemas.ValidationIssue{Severity: severity, Message: "line 3 " + severity})
	}
	return &schemas.Findings{ValidationResults: []schemas.ValidationResult{{Validator: "words", Status: schemas.ValidationPassed}, result}}
}

// oneOfEach is a run in which one of everything goes wrong. The plan is there in second 1, the outcome in second 25.
func oneOfEach(tb testing.TB) *script {
	tb.Helper()
	s := &script{tb: tb}
	s.begin(0, "office", schemas.PlannedTask{Task: "a", Seconds: 10, Tokens: 100}, schemas.PlannedTask{Task: "b", Seconds: 4}, schemas.PlannedTask{Task: "c", Dependencies: []string{"b"}})
	s.asks(3, "a", 1).works(4, "a", 1) // nobody is asked for 2 s
	s.at(9, &schemas.TaskFailed{Run: 1, Task: "a", Attempt: 1, Cause: schemas.FailureAgent, Detail: "no connection", RetryAt: at(11), Tokens: 30})
	s.asks(11, "a", 2).works(11, "a", 2) // 2 s
	s.at(18, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 2, Tokens: 90, Findings: wrong("error", "warning")})
	s.asks(18, "b", 1).works(20, "b", 1)
	s.at(24, &schemas.TaskFailed{Run: 1, Task: "b", Attempt: 1, Cause: schemas.FailureInvalidResult},
		&schemas.TaskSkipped{Run: 1, Task: "c", Reason: "it builds on b"})
	return s.ends(25, schemas.RunPartial) // 1 s
}

// TestFigures: one of three tasks is done. Of 24 s from the plan to the outcome nobody was asked for 2 + 2 + 1 s. Of the two tasks that
// failed one was mended. The schema and a check have found one error each, and no person another. The task that is done was to take 100
// tokens and 10 s: both attempts together took 30 + 90 tokens and 5 + 7 s. From second 11 to 18 nothing was heard.
func TestFigures_M49_M50_M51_M52_M53_M54(t *testing.T) {
	t.Parallel()
	want := "office 1: M-49 1/3=0.3333 M-50 5/24=0.2083 M-51 1/2=0.5000 M-52 2/2=1.0000+ M-53 120/100=0.2000 M-53 12/10=0.2000 M-54 7/0=7.0000+"
	if got := figures(oneOfEach(t)); got != want {
		t.Errorf("it says %s\nwant    %s", got, want)
	}
}

// TestWaitsForPeopleAreNone: a person is asked in second 5, the letter is gone in second 6, and the word comes in second 66. What is left of
// 69 s are 9, in one of which nobody was asked for anything; nothing was heard for 4 s.
func TestWaitsForPeopleAreNone_M50_M54(t *testing.T) {
	t.Parallel()
	s := &script{tb: t}
	s.begin(0, "office", schemas.PlannedTask{Task: "a"}).asks(1, "a", 1)
	s.at(5, &schemas.InquiryOpened{Run: 1, Inquiry: 1, Task: "a", Attempt: 1, Kind: schemas.HumanTaskInput, Expire: schemas.Duration(time.Hour)},
		&schemas.TaskDispatched{Run: 1, Task: schemas.NoticeTask(1, 1), Kind: schemas.TaskKindNotify, About: &schemas.TaskAbout{HumanTask: 1, Notification: schemas.NotificationQuestion}, Agent: "mail", Attempt: 1, Request: "n"})
	s.at(6, &schemas.TaskCompleted{Run: 1, Task: schemas.NoticeTask(1, 1), Attempt: 1})
	s.at(66, &schemas.InquiryAnswered{Run: 1, Inquiry: 1, Choice: schemas.ChoiceAnswer})
	s.asks(67, "a", 2).at(70, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 2})
	s.ends(70, schemas.RunCompleted)
	want := "office 1: M-49 1/1=1.0000+ M-50 1/9=0.1111 M-51 0/0=- M-52 0/0=- M-53 0/0=- M-53 0/0=- M-54 4/0=4.0000+"
	if got := figures(s); got != want {
		t.Errorf("it says %s\nwant    %s", got, want)
	}
}

// TestHelpOfPeople: a task that failed and then asked a person is mended by them. A person's word before the first
// failure is no help with it.
func TestHelpOfPeople_M51(t *testing.T) {
	t.Parallel()
	asked := func(s *script, second float64, attempt int) {
		s.at(second, &schemas.InquiryOpened{Run: 1, Inquiry: 1, Task: "a", Attempt: attempt, Kind: schemas.HumanTaskInput, Expire: schemas.Duration(time.Hour)})
		s.at(second+1, &schemas.InquiryAnswered{Run: 1, Inquiry: 1, Choice: schemas.ChoiceAnswer})
	}
	blocked := func(way schemas.RecoveryWay) *schemas.TaskFailed {
		return &schemas.TaskFailed{Run: 1, Task: "a", Attempt: 1, Cause: schemas.FailureTimeout, Recovering: way}
	}
	decided := func(s *script, choice schemas.InquiryChoice, upstream bool) {
		opened := &schemas.InquiryOpened{Run: 1, Inquiry: 1, Task: "a", Kind: schemas.HumanTaskFailure, Expire: schemas.Duration(time.Hour), Upstream: upstream}
		if !upstream {
			opened.People = []string{"anna"}
		}
		s.asks(2, "a", 1).at(3, blocked(schemas.WayHuman))
		s.at(4, opened).at(5, &schemas.InquiryAnswered{Run: 1, Inquiry: 1, Choice: choice})
	}
	failed := func(s *script, second float64, attempt int, again bool) {
		failure := &schemas.TaskFailed{Run: 1, Task: "a", Attempt: attempt, Cause: schemas.FailureTimeout}
		if again {
			failure.RetryAt = at(second + 1)
		}
		s.at(second, failure)
	}
	for name, test := range map[string]struct {
		tell func(*script)
		want string
	}{
		"nothing failed": {func(s *script) { s.asks(2, "a", 1).at(3, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 1}) }, "0/0=-"},
		"another attempt": {func(s *script) {
			s.asks(2, "a", 1)
			failed(s, 3, 1, true)
			s.asks(4, "a", 2).at(5, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 2})
		}, "1/1=1.0000+"},
		"for good": {func(s *script) { s.asks(2, "a", 1); failed(s, 3, 1, false) }, "0/1=0.0000"},
		"more of a budget, which mends nothing": {func(s *script) {
			s.asks(2, "a", 1)
			failed(s, 3, 1, true)
			s.at(4, &schemas.TaskReady{Run: 1, Task: "a", Agent: "x", Held: true})
			s.at(5, &schemas.InquiryOpened{Run: 1, Inquiry: 1, Task: "a", Kind: schemas.HumanTaskBudget, Shortage: &schemas.Shortage{}, Expire: schemas.Duration(time.Hour)})
			s.at(6, &schemas.InquiryAnswered{Run: 1, Inquiry: 1, Choice: schemas.ChoiceRaise, Amount: &schemas.Usage{Tokens: 5}})
			s.asks(7, "a", 2).at(8, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 2})
		}, "1/1=1.0000+"},
		"a person": {func(s *script) {
			s.asks(2, "a", 1)
			failed(s, 3, 1, true)
			s.asks(4, "a", 2)
			asked(s, 5, 2)
			s.asks(7, "a", 3).at(8, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 3})
		}, "0/1=0.0000"},
		"a person who has it tried again": {func(s *script) {
			decided(s, schemas.ChoiceRetry, false)
			s.asks(6, "a", 2).at(7, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 2})
		}, "0/1=0.0000"},
		"a person who says the result": {func(s *script) {
			decided(s, schemas.ChoiceAnswer, false)
			s.at(6, &schemas.TaskCompleted{Run: 1, Task: "a", Recovered: schemas.RecoveryEscalateToHuman})
		}, "0/1=0.0000"},
		"whoever is upstream, who is none": {func(s *script) {
			decided(s, schemas.ChoiceRetry, true)
			s.asks(6, "a", 2).at(7, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 2})
		}, "1/1=1.0000+"},
		"nobody has answered, and nothing was mended": {func(s *script) {
			s.asks(2, "a", 1).at(3, blocked(schemas.WayHuman))
			s.at(4, &schemas.InquiryOpened{Run: 1, Inquiry: 1, Task: "a", Kind: schemas.HumanTaskFailure, People: []string{"anna"}, Expire: schemas.Duration(time.Hour)})
			s.at(5, &schemas.InquiryClosed{Run: 1, Inquiry: 1, Reason: schemas.InquiryExpired})
			s.at(6, &schemas.TaskFailed{Run: 1, Task: "a", Attempt: 1, Cause: schemas.FailureTimeout, Unrecovered: schemas.WayHuman})
		}, "0/1=0.0000"},
		"whoever mends it": {func(s *script) {
			s.asks(2, "a", 1).at(3, blocked(schemas.WayFix))
			s.at(4, &schemas.TaskCompleted{Run: 1, Task: "a", Recovered: schemas.RecoveryRequestFix})
		}, "1/1=1.0000+"},
		"a person before": {func(s *script) {
			s.asks(2, "a", 1)
			asked(s, 3, 1)
			s.asks(5, "a", 2)
			failed(s, 6, 2, true)
			s.asks(7, "a", 3).at(8, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 3})
		}, "1/1=1.0000+"},
	} {
		s := (&script{tb: t}).begin(0, "office", schemas.PlannedTask{Task: "a"})
		test.tell(s)
		s.ends(10, schemas.RunCompleted)
		if got := figures(s); !strings.Contains(got, "M-51 "+test.want+" ") {
			t.Errorf("%s: it says %s, want %s", name, got, test.want)
		}
	}
}

// TestReviews: what a round of review has found in the results of a task is an error of that, mended when the last round finds none in it. What nobody is responsible for is one as well,
// a warning is none, and a task that has failed before counts once.
func TestReviews_M51(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rounds []string // the tasks in which each round has found an error; ? is nobody's, and ! is but a warning
		fails  bool     // the first attempt of a
		want   string
	}{
		"nothing found":           {rounds: []string{""}, want: "0/0=-"},
		"a warning":               {rounds: []string{"a!"}, want: "0/0=-"},
		"mended":                  {rounds: []string{"a", ""}, want: "1/1=1.0000+"},
		"found twice":             {rounds: []string{"a", "a", ""}, want: "1/1=1.0000+"},
		"left":                    {rounds: []string{"a b", "a"}, want: "1/2=0.5000"},
		"come by mending":         {rounds: []string{"a", "b"}, want: "1/2=0.5000"},
		"nobody's":                {rounds: []string{"?"}, want: "0/1=0.0000"},
		"nobody's, and mended":    {rounds: []string{"? a", ""}, want: "2/2=1.0000+"},
		"it had failed before":    {rounds: []string{"a", ""}, fails: true, want: "1/1=1.0000+"},
		"it had failed, and left": {rounds: []string{"a"}, fails: true, want: "0/1=0.0000"},
	} {
		s := (&script{tb: t}).begin(0, "office", schemas.PlannedTask{Task: "a"}, schemas.PlannedTask{Task: "b"})
		attempt := 1
		if c.fails {
			s.asks(2, "a", 1).at(3, &schemas.TaskFailed{Run: 1, Task: "a", Attempt: 1, Cause: schemas.FailureTimeout, RetryAt: at(4)})
			attempt = 2
		}
		s.asks(4, "a", attempt).at(5, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: attempt})
		s.asks(4, "b", 1).at(5, &schemas.TaskCompleted{Run: 1, Task: "b", Attempt: 1})
		for n, round := range c.rounds {
			judged := schemas.Judged{Run: 1, Occasion: schemas.OccasionReview, Round: n + 1, Outcome: schemas.OutcomePassed}
			for word := range strings.FieldsSeq(round) {
				issue := schemas.ReviewIssue{Severity: schemas.ValidationError, Message: "so", Task: strings.Trim(word, "?!")}
				if strings.HasSuffix(word, "!") {
					issue.Severity = schemas.ValidationWarning
				}
				judged.Issues = append(judged.Issues, issue)
			}
			if len(judged.Issues) > 0 {
				judged.Outcome = schemas.OutcomeFailed
			}
			s.at(6, &schemas.ReviewBegan{Run: 1, Round: n + 1}, &judged)
			if n+1 == len(c.rounds) {
				break
			}
			fix := fmt.Sprint("fix", n+1, ".a")
			s.at(6, &schemas.PlanChanged{Run: 1, Change: n + 1, Source: schemas.OccasionReview, Tasks: []schemas.PlannedTask{{Task: fix, Agent: "worker", Routed: true}}})
			s.asks(6, fix, 1).at(7, &schemas.TaskCompleted{Run: 1, Task: fix, Attempt: 1})
		}
		s.ends(10, schemas.RunCompleted)
		if got := figures(s); !strings.Contains(got, "M-51 "+c.want+" ") {
			t.Errorf("%s: it says %s, want %s", name, got, c.want)
		}
	}
}

// TestChangedPlans_M49_M51_C14: a task that a change of the plan has replaced is neither done nor missing, a failure among them is mended,
// and each change is one more attempt. The plan is a, which fails, and b, which was not begun; then c.
func TestChangedPlans_M49_M51_C14(t *testing.T) {
	t.Parallel()
	s := (&script{tb: t}).begin(0, "office", schemas.PlannedTask{Task: "a"}, schemas.PlannedTask{Task: "b"})
	s.asks(1, "a", 1).at(2, &schemas.TaskFailed{Run: 1, Task: "a", Attempt: 1, Cause: schemas.FailureAgent})
	question := schemas.EvaluateTask(schemas.TriggerFailure, 1)
	s.at(3, &schemas.TaskDispatched{Run: 1, Task: question, Agent: "judge", Kind: schemas.TaskKindEvaluate, About: &schemas.TaskAbout{Trigger: schemas.TriggerFailure}, Attempt: 1, Request: "q"})
	s.at(4, &schemas.TaskCompleted{Run: 1, Task: question, Attempt: 1},
		&schemas.Judged{Run: 1, Question: question, Occasion: schemas.OccasionFailure, Round: 1, Outcome: schemas.OutcomePlan},
		&schemas.TaskSkipped{Run: 1, Task: "b", Reason: schemas.SkippedReplanned},
		&schemas.PlanChanged{Run: 1, Change: 1, Source: schemas.OccasionFailure, Tasks: []schemas.PlannedTask{{Task: "c1.c", Routed: true}}, Replaces: []string{"a"}})
	s.asks(5, "c1.c", 1).at(6, &schemas.TaskCompleted{Run: 1, Task: "c1.c", Attempt: 1}).ends(7, schemas.RunCompleted)
	if got := figures(s); !strings.Contains(got, "M-49 1/1=1.0000+ ") || !strings.Contains(got, "M-51 1/1=1.0000+ ") {
		t.Errorf("it says %s", got)
	}
	if rows := score.Rows([]*score.Session{&s.session}, ""); len(rows) != 1 || rows[0].Attempts != 2 {
		t.Errorf("rows: %+v", rows)
	}
}

// TestWhatPeopleFind: of what a check has found, and a person rejects or is asked about because nobody else knows what to do. Who declines
// work that is handed to them has found nothing.
func TestWhatPeopleFind_M52(t *testing.T) {
	t.Parallel()
	for kind, want := range map[schemas.HumanTaskKind]string{
		schemas.HumanTaskApproval: "2/3=0.6667", schemas.HumanTaskFailure: "2/3=0.6667", schemas.HumanTaskWork: "2/2=1.0000+",
	} {
		s := (&script{tb: t}).begin(0, "office", schemas.PlannedTask{Task: "a"}, schemas.PlannedTask{Task: "b"})
		s.asks(2, "b", 1).at(3, &schemas.TaskCompleted{Run: 1, Task: "b", Attempt: 1, Findings: wrong("error", "error")})
		s.asks(3, "a", 1)
		opened, choice := schemas.InquiryOpened{Run: 1, Inquiry: 1, Task: "a", Attempt: 1, Kind: kind, Expire: schemas.Duration(time.Hour)}, schemas.ChoiceReject
		if kind == schemas.HumanTaskFailure {
			s.at(4, &schemas.TaskFailed{Run: 1, Task: "a", Attempt: 1, Cause: schemas.FailureVerdict, Recovering: schemas.WayHuman})
			opened.Attempt, choice = 0, schemas.ChoiceRetry
		}
		s.at(4, &opened)
		s.at(5, &schemas.InquiryAnswered{Run: 1, Inquiry: 1, Choice: choice})
		if kind == schemas.HumanTaskApproval {
			s.at(6, &schemas.TaskFailed{Run: 1, Task: "a", Attempt: 1, Cause: schemas.FailureRejected}).ends(8, schemas.RunFailed)
		} else {
			s.asks(6, "a", 2).at(7, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 2}).ends(8, schemas.RunCompleted)
		}
		if got := figures(s); !strings.Contains(got, "M-52 "+want+" ") {
			t.Errorf("%s: it says %s, want %s", kind, got, want)
		}
	}
	s := (&script{tb: t}).begin(0, "office", schemas.PlannedTask{Task: "a"})
	hash, other := strings.Repeat("a", 64), strings.Repeat("b", 64)
	s.at(2, &schemas.InquiryOpened{Run: 1, Inquiry: 1, Task: "a", Kind: schemas.HumanTaskApproval, Hash: hash, Expire: schemas.Duration(time.Hour)})
	s.at(3, &schemas.InquiryAnswered{Run: 1, Inquiry: 1, Choice: schemas.ChoiceApprove, Arguments: jsontext.Value(`{"n":2}`), Hash: other})
	s.asks(4, "a", 1).at(5, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 1}).ends(6, schemas.RunCompleted)
	if got := figures(s); !strings.Contains(got, "M-52 0/1=0.0000 ") {
		t.Errorf("what a person changes before they agree: %s", got)
	}
	s = (&script{tb: t}).begin(0, "office", schemas.PlannedTask{Task: "a"})
	s.asks(2, "a", 1).at(3, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 1, Findings: wrong()}).ends(4, schemas.RunCompleted)
	if got := figures(s); !strings.Contains(got, "M-52 1/1=") {
		t.Errorf("a check that names no error: %s", got)
	}
}

// TestWhatCounts: each profile for itself, by name; a run without an outcome does not count, nor a task that nobody wanted any more; and a
// clock that was set back takes no time away.
func TestWhatCounts_M49(t *testing.T) {
	t.Parallel()
	first := (&script{tb: t}).begin(0, "office", schemas.PlannedTask{Task: "a"}, schemas.PlannedTask{Task: "old"}, schemas.PlannedTask{Task: "lost"})
	first.asks(2, "a", 1).at(1, &schemas.TaskStarted{Run: 1, Task: "a", Attempt: 1}) // the clock was set back
	first.at(3, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 1}, &schemas.TaskSkipped{Run: 1, Task: "old", Reason: "replanned"},
		&schemas.TaskSkipped{Run: 1, Task: "lost", Reason: "it builds on what failed"})
	first.ends(3, schemas.RunPartial)
	first.begin(100, "office", schemas.PlannedTask{Task: "a"}).ends(130, schemas.RunCancelled) // 29 s without anything asked
	first.begin(200, "office", schemas.PlannedTask{Task: "a"}).asks(201, "a", 1)               // open
	other := (&script{tb: t}).begin(0, "lab", schemas.PlannedTask{Task: "a"})
	other.asks(1, "a", 1).at(11, &schemas.TaskCompleted{Run: 1, Task: "a", Attempt: 1}).ends(11, schemas.RunCompleted)
	want := `lab 1: M-49 1/1=1.0000+ M-50 0/10=0.0000+ M-51 0/0=- M-52 0/0=- M-53 0/0=- M-53 0/0=- M-54 10/0=10.0000+
office 2: M-49 1/2=0.5000 M-50 30/31=0.9677 M-51 0/0=- M-52 0/0=- M-53 0/0=- M-53 0/0=- M-54 29/0=29.0000`
	if got := figures(first, other); got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
	if none := figures(); none != "" {
		t.Errorf("of nothing: %s", none)
	}
}

// TestRows: a row for each run with an outcome, the oldest first.
func TestRows_C14(t *testing.T) {
	t.Parallel()
	s := oneOfEach(t)
	s.begin(100, "office", schemas.PlannedTask{Task: "a"}).asks(101, "a", 1)
	s.at(102, &schemas.TaskCompleted{Run: 2, Task: "a", Attempt: 1}).ends(102, schemas.RunCompleted)
	s.begin(200, "office", schemas.PlannedTask{Task: "a"})
	before := (&script{tb: t}).begin(-50, "lab", schemas.PlannedTask{Task: "a"}).asks(-49, "a", 1)
	before.at(-48, &schemas.TaskFailed{Run: 1, Task: "a", Attempt: 1, Cause: schemas.FailureAgent, Detail: strings.Repeat("ä", 600)}).ends(-47, schemas.RunFailed)
	rows := score.Rows([]*score.Session{&s.session, &before.session}, "")
	if len(rows) != 3 {
		t.Fatalf("rows: %+v", rows)
	}
	for i, want := range []score.Row{
		{Attempts: 1, Errors: strings.Repeat("ä", score.ErrorLimit)},
		{Attempts: 1, Errors: "no connection; line 3 error; invalid_result"},
		{Attempts: 1, Completed: true},
	} {
		want.Run = rows[i].Run
		if rows[i] != want {
			t.Errorf("row %d is %+v, want %+v", i, rows[i], want)
		}
	}
	if others := score.Rows([]*score.Session{&s.session}, "another"); others[0].Errors != "" {
		t.Errorf("the errors of another agent: %q", others[0].Errors)
	}
	if its := score.Rows([]*score.Session{&s.session}, "worker"); its[0].Errors == "" {
		t.Error("the errors of the agent are lost")
	}
}

// TestWhatMayNotFollow: of a session that has lost something the rest is refused, and what was counted before stands.
func TestWhatMayNotFollow(t *testing.T) {
	t.Parallel()
	s := oneOfEach(t)
	before := figures(s)
	if err := s.session.Apply(&schemas.Record{Session: "s", Number: s.records + 2}); err == nil {
		t.Error("a record that does not follow is taken")
	}
	if after := figures(s); after != before {
		t.Errorf("it says %s, before %s", after, before)
	}
}
