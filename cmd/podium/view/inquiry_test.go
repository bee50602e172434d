package view_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// asking is a run with a question of each fate: answered by mail, declined at the console, timed out, and open.
func asking() *workflow.RunHistory {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)
	asked := func(number int, kind schemas.HumanTaskKind, question string) *workflow.Inquiry {
		return &workflow.Inquiry{
			InquiryOpened: schemas.InquiryOpened{Run: 1, Inquiry: number, Task: "t1", Kind: kind, Question: question, Expire: schemas.Duration(72 * time.Hour)},
			Opened:        at, Asked: at, Notices: 1,
		}
	}
	answered, rejected, expired, open := asked(1, schemas.HumanTaskInput, "Where to?"), asked(2, schemas.HumanTaskWork, "Please call her."),
		asked(3, schemas.HumanTaskInput, "When?"), asked(4, schemas.HumanTaskInput, "By which\nplane?")
	answered.Ended, answered.Answered = at.Add(time.Hour), &schemas.InquiryAnswered{
		Run: 1, Inquiry: 1, Choice: schemas.ChoiceAnswer, Text: schemas.Content{Result: schemas.Result{Text: "Rue de la Paix 3"}},
		Actor: schemas.Actor{Via: schemas.ViaMail, ID: "ana@example.org", Proof: schemas.ProofLetter},
	}
	rejected.People, rejected.Ended, rejected.Answered = []string{"bob", "eve"}, at.Add(time.Hour), &schemas.InquiryAnswered{
		Run: 1, Inquiry: 2, Choice: schemas.ChoiceReject, Actor: schemas.Actor{Via: schemas.ViaAPI, ID: "command line", Proof: schemas.ProofToken},
	}
	expired.Notices, expired.Ended, expired.Closed = 2, at.Add(72*time.Hour), schemas.InquiryExpired
	return &workflow.RunHistory{ID: "5f0c-1", Session: "5f0c", Started: at, Run: workflow.Run{
		Number: 1, Profile: "desk", Phase: workflow.PhaseExecuting, Inquiries: []*workflow.Inquiry{answered, rejected, expired, open},
		Message: schemas.Incoming{Channel: "email", Language: "en", Subject: "A letter", Author: &schemas.Author{Address: "ana@example.org"}},
		Tasks:   []*workflow.Task{{ID: "t1", Agent: "clerk", State: workflow.TaskWaitingInput, Attempt: 1}, {ID: "t2", Agent: "clerk", State: workflow.TaskPending}},
	}}
}

// TestRunTellsItsQuestions: what was asked, of whom, who has said what by what way and when, and how what is open is answered.
func TestRunTellsItsQuestions(t *testing.T) {
	t.Parallel()
	const want = `run       5f0c-1
channel   email, profile desk, language en
state     executing, waits for an answer
started   2026-01-01 12:00:00
asked     A letter

? t1       clerk      waiting_input 
· t2       clerk      pending    
? 1        t1         answered   Where to?
           asks: ana@example.org (input)
           waits: since 2026-01-01 12:00:00, until 2026-01-04 12:00:00
           answered by ana@example.org by mail (letter) at 2026-01-01 13:00:00: Rue de la Paix 3
? 2        t1         rejected   Please call her.
           asks: bob, eve (work)
           waits: since 2026-01-01 12:00:00, until 2026-01-04 12:00:00
           rejected by command line by api (token) at 2026-01-01 13:00:00
? 3        t1         expired    When?
           asks: ana@example.org (input)
           waits: since 2026-01-01 12:00:00, until 2026-01-04 12:00:00, reminded
           closed at 2026-01-04 12:00:00: expired
? 4        t1         open       By which plane?
           asks: ana@example.org (input)
           waits: since 2026-01-01 12:00:00, until 2026-01-04 12:00:00
           next: podium answer 5f0c-1.4
`
	if told := view.Run(asking(), nil, ""); told != want {
		t.Errorf("it is told\n%s\nwant\n%s", told, want)
	}
}

// TestPictureAsks: the live view says what is waited for above the tasks, however little room there is below.
func TestPictureAsks(t *testing.T) {
	t.Parallel()
	const want = `░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   0 %  executing, waits for an answer
2 tasks: 1 asks, 1 pending
  asks: By which plane?
  answer it: podium answer 5f0c-1.4
  ? t1   clerk asks
  · t2   clerk pending`
	if told := drawn(asking(), noon); told != want {
		t.Errorf("it draws\n%s\nwant\n%s", told, want)
	}
	run := sixty()
	run.Inquiries = asking().Inquiries
	run.Tasks[59].State = workflow.TaskWaitingInput
	var tree view.Tree
	tree.Put(view.Place{}, run)
	lines, _ := view.Picture{Columns: 80, Rows: 12, Colors: true}.Draw(&tree, noon)
	if told := strings.Join(lines, "\n"); len(lines) != 11 || !strings.Contains(told, "answer it\x1b[0m: podium answer run-1.4") || !strings.Contains(told, "?\x1b[0m t60") {
		t.Errorf("in a small window:\n%s", told)
	}
}

// TestLinesTellQuestions: each fact about a question is a line, and an object for programs has the one that is open.
func TestLinesTellQuestions(t *testing.T) {
	t.Parallel()
	run := asking()
	record := &schemas.Record{Session: "5f0c", Transitions: []schemas.Transition{{Facts: []schemas.Fact{
		&schemas.ArgumentsFilled{
			Run: 1, Task: "t1", Agent: "clerk", Sources: map[string]schemas.ArgumentSource{"day": schemas.ArgumentRule}, Missing: []schemas.Need{{Name: "to"}, {Name: "reason", Readings: []string{"check-up"}}, {Name: "by"}},
		},
		&schemas.MessageReceived{ID: "m2", Run: 1, Inquiry: 1, Disposition: schemas.DispositionAnswered}, run.Inquiries[0].Answered,
		run.Inquiries[1].Answered, &schemas.InquiryClosed{Run: 1, Inquiry: 3, Reason: schemas.InquiryExpired}, &run.Inquiries[3].InquiryOpened,
		&schemas.DeliveryBounced{Run: 1, Inquiry: 4, Failed: true},
	}}}}
	want := []string{
		"t1: 1 arguments of clerk are filled; missing: to, by; read and not sure: reason",
		"message received: answers question 1 of run 1",
		"question 1: answered by ana@example.org by mail (letter): Rue de la Paix 3",
		"question 2: rejected by command line by api (token)",
		"question 3: closed without an answer, expired",
		"t1: has question 5f0c-1.4 (input): By which plane?",
		"report: delivery of question 4 returned, it has not arrived",
	}
	if told := strings.Join(view.Lines(record), "\n"); told != strings.Join(want, "\n") {
		t.Errorf("it is told\n%s", told)
	}
	var out bytes.Buffer
	view.Watch(&out, view.Changes).Show(view.Place{}, record, run)
	if asked := `"inquiry":{"id":"5f0c-1.4","kind":"input","question":"By which\nplane?","expires":"`; !strings.Contains(out.String(), asked) {
		t.Errorf("%s is not in\n%s", asked, out.String())
	}
}

// TestWorkOfPeopleIsTold: what others than the requester are asked to do is told behind what the requester is asked, and counted.
func TestWorkOfPeopleIsTold(t *testing.T) {
	t.Parallel()
	work := func(number int) *workflow.Inquiry {
		return &workflow.Inquiry{InquiryOpened: schemas.InquiryOpened{Inquiry: number, Kind: schemas.HumanTaskWork, Question: "Please call her.", People: []string{"bob"}}}
	}
	run := &workflow.RunHistory{ID: "r", Run: workflow.Run{Phase: workflow.PhaseExecuting, Inquiries: []*workflow.Inquiry{work(1), work(2)}}}
	if told := strings.Join(view.Asks(run), "; "); told != "asks: Please call her.; answer it: podium answer r.1; more: 1 are open beside it, see podium inbox" {
		t.Error(told)
	}
	if state := view.State(run); state != "executing, waits for work of people" {
		t.Error(state)
	}
	run.Inquiries = append(run.Inquiries, &workflow.Inquiry{InquiryOpened: schemas.InquiryOpened{Inquiry: 3, Question: "When?"}})
	if told := strings.Join(view.Asks(run), "; "); told != "asks: When?; answer it: podium answer r.3; more: 2 are open beside it, see podium inbox" {
		t.Error(told)
	}
}

// TestLettersThatHaveNotGoneOutAreTold: who is asked by letters that all fail is said not to have been told, with the reason, until one has gone out.
func TestLettersThatHaveNotGoneOutAreTold(t *testing.T) {
	t.Parallel()
	failed := func(cause schemas.FailureKind) *schemas.TaskFailed {
		return &schemas.TaskFailed{Attempt: 2, Cause: cause, Detail: "The mail server cannot be reached."}
	}
	notice := func(n int, state workflow.TaskState, failure *schemas.TaskFailed) *workflow.Task {
		return &workflow.Task{ID: schemas.NoticeTask(4, n), Kind: schemas.TaskKindNotify, About: &schemas.TaskAbout{HumanTask: 4}, Attempt: 1, State: state, LastFailure: failure}
	}
	permitted := func(notice *workflow.Task) *workflow.Task {
		notice.Permit = "p1"
		return notice
	}
	const reason = "attempt 2: agent_failed The mail server cannot be reached."
	for name, test := range map[string]struct {
		letters []*workflow.Task
		want    view.Letter
		why     string
		state   string
	}{
		"none yet":            {want: view.LetterWaiting},
		"no room for it":      {letters: []*workflow.Task{notice(1, workflow.TaskReady, nil)}, want: view.LetterWaiting},
		"on its way":          {letters: []*workflow.Task{notice(1, workflow.TaskRunning, nil)}, want: view.LetterUnderWay},
		"sent":                {letters: []*workflow.Task{notice(1, workflow.TaskCompleted, nil)}, want: view.LetterSent},
		"sent at last":        {letters: []*workflow.Task{notice(1, workflow.TaskCompleted, failed(schemas.FailureAgent))}, want: view.LetterSent},
		"tried again later":   {letters: []*workflow.Task{notice(1, workflow.TaskWaiting, failed(schemas.FailureAgent))}, want: view.LetterFailed, why: reason, state: ", question not delivered"},
		"being tried again":   {letters: []*workflow.Task{notice(1, workflow.TaskRunning, failed(schemas.FailureAgent))}, want: view.LetterFailed, why: reason, state: ", question not delivered"},
		"given up":            {letters: []*workflow.Task{notice(1, workflow.TaskFailed, failed(schemas.FailurePermanent))}, want: view.LetterFailed, why: "attempt 2: agent_refused The mail server cannot be reached.", state: ", question not delivered"},
		"nobody knows":        {letters: []*workflow.Task{notice(1, workflow.TaskFailed, failed(schemas.FailureUnknownEffect))}, want: view.LetterUnconfirmed, why: "attempt 2: unknown_effect The mail server cannot be reached.", state: ", question perhaps not delivered"},
		"nobody has said":     {letters: []*workflow.Task{permitted(notice(1, workflow.TaskFailed, failed(schemas.FailureTimeout)))}, want: view.LetterUnconfirmed, why: "attempt 2: timeout The mail server cannot be reached.", state: ", question perhaps not delivered"},
		"a reminder that was": {letters: []*workflow.Task{notice(1, workflow.TaskFailed, failed(schemas.FailureAgent)), notice(2, workflow.TaskCompleted, nil)}, want: view.LetterSent},
		"a reminder that was not": {
			letters: []*workflow.Task{notice(1, workflow.TaskCompleted, nil), notice(2, workflow.TaskFailed, failed(schemas.FailureAgent))}, want: view.LetterSent,
		},
	} {
		run := asking()
		run.DecisionTasks = test.letters
		letter, why := view.LetterOf(run, run.Inquiries[3])
		if letter != test.want || why != test.why {
			t.Errorf("%s: %s (%s)", name, letter, why)
		}
		if state := view.State(run); state != "executing, waits for an answer"+test.state {
			t.Errorf("%s: %s", name, state)
		}
		if told := view.Run(run, nil, ""); test.why != "" && !strings.Contains(told, "           "+letter.Trouble()+": "+test.why+"\n           next: podium answer 5f0c-1.4\n") || strings.Contains(told, "delivered") != (test.why != "") {
			t.Errorf("%s:\n%s", name, told)
		}
	}
	run := asking()
	run.Inquiries[3].Adopts = &schemas.Adopted{}
	if letter, why := view.LetterOf(run, run.Inquiries[3]); letter != "" || why != "" {
		t.Errorf("told by an earlier run: %s (%s)", letter, why)
	}
}

// TestWhatIsOfferedIsTaken: a task is tried once more by the command that is named where that is one of the choices, and else one of these goes behind it.
func TestWhatIsOfferedIsTaken(t *testing.T) {
	t.Parallel()
	for choices, want := range map[schemas.InquiryChoice]string{schemas.ChoiceRetry: "podium answer r.1 retry", schemas.ChoiceSkip: "podium answer r.1"} {
		if got := view.HowToAnswer(schemas.HumanTaskFailure, []schemas.InquiryChoice{choices}, "r.1"); got != want {
			t.Errorf("%s: %q, want %q", choices, got, want)
		}
	}
}
