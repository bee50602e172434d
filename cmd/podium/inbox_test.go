package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus/bustest"
	"podium/bus/intake"
	"podium/bus/memory"
	"podium/cmd/podium/runlog"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

const bookingConfig = `
agents:
  booking:
    kind: exec
    command: [sh, -c, 'cat >/dev/null; echo Booked.']
    input_schema: {type: object, required: [date], properties: {date: {type: string, format: date}}}
    arguments: [{path: date, find: date, ask: {en: "For which day?"}}]
profiles:
  desk: {language: en, agents: [booking], routers: [{kind: default, agent: booking}]}
`

// TestProgramsAreToldWhatARunAsks: the wait of a program ends as soon as the run asks whoever wrote, with what is asked and how to answer it; a
// word on it, and a wait for what comes of that, end with the answer.
func TestProgramsAreToldWhatARunAsks(t *testing.T) {
	t.Parallel()
	i := install(t, bookingConfig)
	i.up()
	waits := i.podium("send", "An appointment, please.", "--thread", "doctor", "--wait", "--timeout", "1m", "-o", "json")
	asked := lines[waitingInquiry](t, outcome{stdout: waits.stdout})
	if waits.code != exitAsks || len(asked) != 1 || !strings.Contains(waits.stderr, "waits for a person: asks: For which day?") {
		t.Fatalf("who waits sees %d %q\n%s", waits.code, waits.stdout, waits.stderr)
	}
	told := asked[0]
	if told.Event != "inquiry" || told.Question != "For which day?" || told.Kind != schemas.HumanTaskInput || len(told.Needs) != 1 || told.Needs[0].Name != "date" ||
		told.ID != told.Run+".1" || told.Answer != "podium answer "+told.ID || told.Follow != "podium runs watch "+told.Run || told.Until.IsZero() || told.Others != nil {
		t.Errorf("it is told %+v", told)
	}
	said := i.podium("send", "On 2030-12-03.", "--thread", "doctor", "--wait", "--timeout", "1m", "-o", "json").succeeds(t)
	var ended struct{ Event, Run, Answer string }
	if err := json.Unmarshal([]byte(said.stdout), &ended); err != nil || ended.Event != "outcome" || ended.Run != told.Run || ended.Answer != "Booked." {
		t.Errorf("%s (%v)", said.stdout, err)
	}
	// What comes from the command line has no signature of a chat.
	if shown := i.podium("runs", "show", told.Run).succeeds(t).stdout; !strings.Contains(shown, "at the command line") || strings.Contains(shown, "(signature)") {
		t.Errorf("who has answered is shown as\n%s", shown)
	}

	again := lines[waitingInquiry](t, outcome{stdout: i.podium("send", "Another appointment, please.", "--wait", "--timeout", "1m", "-o", "json").stdout})
	if len(again) != 1 {
		t.Fatalf("it is told %+v", again)
	}
	words := append(strings.Fields(again[0].Answer)[1:], "On 2030-12-04.")
	i.podium(words...).succeeds(t)
	if o := i.podium(strings.Fields(again[0].Follow)[1:]...).succeeds(t); !strings.HasSuffix(o.stdout, "Booked.\n") {
		t.Errorf("who follows it sees\n%s", o.stdout)
	}
}

const unfitConfig = bookingConfig + `
  bank: {language: en, agents: [teller], routers: [{kind: default, agent: teller}], waiting: {asks: 3}}
`

const unfitTeller = `
cases:
  - {answer: ["/./"], text: "{{.answer.values.count}} of them."}
  - {status: blocked, needs: [{name: count, question: {en: How many?}, schema: {type: integer, maximum: 10}}]}
`

// TestAnswersThatDoNotFitAreSaidSo: who answers with what is not asked for is told what was wrong and what is asked instead, programs too and by an exit
// code of its own; who answers so as often as anybody is asked is told that the run has ended.
func TestAnswersThatDoNotFitAreSaidSo(t *testing.T) {
	t.Parallel()
	config := strings.Replace(unfitConfig, "profiles:", "  teller: {kind: scripted, script: teller.yaml}\nprofiles:", 1)
	i := install(t, config)
	i.write("teller.yaml", unfitTeller)
	i.up()
	asked := func(profile string) openInquiry {
		t.Helper()
		i.podium("send", "Please.", "--profile", profile).succeeds(t)
		var open []openInquiry
		eventually(t, "it is asked for", func() bool {
			open = lines[openInquiry](t, i.podium("inbox", "-o", "json"))
			return len(open) == 1 && !open[0].Until.IsZero()
		})
		return open[0]
	}
	bank := asked("bank")
	wrong := i.podium("answer", bank.ID, "plenty")
	if want := bank.ID + " is answered, but the answer does not say what is needed, which is asked again as " + bank.Run + ".2: “plenty” does not fit here. A number is needed. At most 10. How many?; answer it: podium answer " +
		bank.Run + ".2\n"; wrong.code != exitAsks || wrong.stdout != "" || !strings.HasSuffix(wrong.stderr, want) {
		t.Errorf("exit code %d, %q and %q; want %q", wrong.code, wrong.stdout, wrong.stderr, want)
	}
	var told struct {
		Disposition schemas.Disposition
		Inquiry     string
		AskedAgain  askedAgain `json:"asked_again"`
	}
	wrong = i.podium("answer", bank.Run+".2", "12", "-o", "json")
	if err := json.Unmarshal([]byte(wrong.stdout), &told); err != nil || wrong.code != exitAsks || told.Disposition != schemas.DispositionAnswered || told.Inquiry != bank.Run+".2" ||
		told.AskedAgain.ID != bank.Run+".3" || !strings.Contains(told.AskedAgain.Question, "At most 10.") || len(told.AskedAgain.Needs) != 1 || told.AskedAgain.Answer != "podium answer "+bank.Run+".3" {
		t.Errorf("exit code %d, %v: %s", wrong.code, err, wrong.stdout)
	}
	i.podium("answer", bank.Run+".3", "7").succeeds(t)
	eventually(t, "it is done", func() bool { return strings.Contains(i.podium("runs", "show", bank.Run).stdout, "7 of them.") })

	desk := asked("desk")
	if wrong = i.podium("answer", desk.ID, "some", "day"); wrong.code != exitAsks || !strings.Contains(wrong.stderr, "asked again as "+desk.Run+".2: For which day?") {
		t.Errorf("exit code %d, %q", wrong.code, wrong.stderr)
	}
	if wrong = i.podium("answer", desk.Run+".2", "some", "day"); wrong.code != exitFailed || !strings.Contains(wrong.stderr, desk.Run+".2 is answered, but the run has ended blocked all the same: ") ||
		!strings.Contains(wrong.stderr, "This is lacking: date.") {
		t.Errorf("exit code %d, %q", wrong.code, wrong.stderr)
	}
	i.stop()
	i.verify()
}

const undeliveredConfig = `
mail:
  accounts:
    - {name: support, profile: desk, imap: {host: 127.0.0.1, port: 1, tls: none, username: u, password: p, dkim: true}, smtp: {host: 127.0.0.1, port: 1, tls: none, from: support@example.org}}
people: {anna: {mail: anna@practice.example}}
agents: {doctor: {kind: person, people: [anna], description: Looks at findings., expires: 48h}}
profiles: {desk: {language: en, agents: [doctor], routers: [{kind: default, agent: doctor}]}}
`

// TestQuestionsThatNobodyGotAreSaidSo: while no letter goes out, since no mail server is there, that is listed and shown with the reason, and whoever knows
// the answer gives it all the same.
func TestQuestionsThatNobodyGotAreSaidSo(t *testing.T) {
	t.Parallel()
	i := install(t, undeliveredConfig)
	i.up()
	i.podium("send", "Please look at my arm.").succeeds(t)
	var open []openInquiry
	eventually(t, "the letter has failed", func() bool {
		open = lines[openInquiry](t, i.podium("inbox", "-o", "json"))
		return len(open) == 1 && open[0].Letter == view.LetterFailed
	})
	why := regexp.MustCompile(`The mail server cannot be reached: it refuses the connection \(.*connection refused\)\. The question was not sent\.`)
	if !why.MatchString(open[0].Undelivered) || open[0].Until.IsZero() {
		t.Errorf("%+v", open[0])
	}
	i.tells(t, map[string]string{
		"inbox":                    "  anna (not delivered)  ",
		"runs":                     "executing, waits for work of people, question not delivered",
		"runs show " + open[0].Run: "not delivered: attempt ",
	})
	i.podium("answer", open[0].ID, "It is a rash.").succeeds(t)
	eventually(t, "the answer is the result", func() bool { return strings.HasSuffix(i.podium("runs", "show", open[0].Run).stdout, "It is a rash.\n") })
	i.stop()
	i.verify()
}

// TestConsoleAnswersWhatARunAsks: who is asked what is listed, the console answers it once, at work and at rest, and
// wherever the run is shown it is said what it waits for and what has become of it.
func TestConsoleAnswersWhatARunAsks(t *testing.T) {
	t.Parallel()
	i := install(t, bookingConfig)
	i.up()
	if o := i.podium("inbox").succeeds(t); o.stdout != "nobody is asked anything\n" {
		t.Errorf("nothing is open: %q", o.stdout)
	}
	waits := i.waitsLonger("send", "An appointment, please.", "--wait")
	inbox := lines[openInquiry](t, i.podium("inbox", "-o", "json").succeeds(t))
	if len(inbox) != 1 || inbox[0].Question == "" || inbox[0].Until.IsZero() || inbox[0].Kind != schemas.HumanTaskInput || inbox[0].Profile != "desk" {
		t.Fatalf("the inbox has %+v", inbox)
	}
	id, run := inbox[0].ID, inbox[0].Run
	if want := "waits for a person: asks: For which day?; answer it: podium answer " + id; waits.code != exitAsks || !strings.Contains(waits.stderr, want) ||
		!strings.Contains(waits.stdout, "t1: has question "+id+" (input): For which day?\n") ||
		!strings.HasSuffix(waits.stdout, "ask:1:1: done\nwaits for a person; answer it: podium answer "+id+"\n") || strings.Count(waits.stdout, "For which day?") != 1 {
		t.Errorf("who waits sees %d %q\n%s", waits.code, waits.stderr, waits.stdout)
	}
	i.tells(t, map[string]string{
		"inbox":            "desk     input  chat  the requester  For which day?",
		"runs":             "executing, waits for an answer",
		"runs show " + run: "next: podium answer " + id,
		"runs -o json":     `"inquiries":[{"run":1,"inquiry":1,"task":"t1","kind":"input"`,
	})
	i.refuses(t, map[string]string{
		"reject " + id:             "cannot be rejected; say it with `podium answer " + id,
		"answer " + run + ".2 x":   "none is " + run + ".2",
		"answer " + run + ".x x":   "is not the number of a question",
		"answer 00000000-0000 x":   "there is no run",
		"answer " + id + " -o yml": "must be one of",
	})
	if o := in(t, "  \n", "answer", id, "--data", i.data); o.code != exitUsage || !strings.Contains(o.stderr, "there are no words to answer with") {
		t.Errorf("no words: %d %s", o.code, o.stderr)
	}

	said := i.podium("answer", run[:13], "On", "2030-12-03.").succeeds(t)
	if want := id + " is decided, and the run goes on; `podium runs watch " + run + "` follows it\n"; said.stdout != want {
		t.Errorf("it says %q, want %q", said.stdout, want)
	}
	if o := i.podium("runs", "watch", run).succeeds(t); !strings.Contains(o.stdout, "question 1: answered by "+systemUser()+" at the command line: On 2030-12-03.") || !strings.HasSuffix(o.stdout, "Booked.\n") {
		t.Errorf("who watches sees\n%s", o.stdout)
	}
	i.tells(t, map[string]string{"inbox": "nobody is asked", "runs show " + run: "answered by " + systemUser() + " at the command line at "})
	i.refuses(t, map[string]string{
		"answer " + id + " again":  id + " is decided already: answered by " + systemUser() + " at the command line at ",
		"answer " + run + " again": id + " is decided already",
	})
	if told := i.process.stdout.String(); strings.Count(told, "run "+run+" waits for a person (input); podium inbox has the question") != 1 ||
		strings.Count(told, "control word received: answers a question of run "+run) != 1 || strings.Contains(told, "2030") || strings.Contains(told, "which day") {
		t.Errorf("the service says\n%s", told)
	}

	i.podium("send", "Another appointment, please.").succeeds(t)
	eventually(t, "it is asked for too", func() bool { return i.podium("inbox").stdout != "nobody is asked anything\n" })
	second := lines[openInquiry](t, i.podium("inbox", "-o", "json"))[0]
	i.stop()
	i.tells(t, map[string]string{"inbox": second.ID})
	if o := in(t, "On 2030-12-04.\n", "answer", second.ID, "--data", i.data, "-o", "json").succeeds(t); !strings.HasPrefix(o.stdout, `{"action":"answer","id":"`) || !strings.HasSuffix(o.stdout, fmt.Sprintf(`"inquiry":%q,"run":%q}`+"\n", second.ID, second.Run)) {
		t.Errorf("at rest it says %q", o.stdout)
	}
	if o := i.podium("answer", second.ID, "again").succeeds(t); !strings.Contains(o.stdout, "it takes effect when the service starts") {
		t.Errorf("at rest it says %q", o.stdout)
	}
	i.up()
	var done []workflow.RunHistory
	eventually(t, "what was said at rest has counted", func() bool {
		done = lines[workflow.RunHistory](t, i.podium("runs", "--status", "completed", "-o", "json"))
		return len(done) == 2
	})
	if word := done[0].Inquiries[0].Answered; word == nil || word.Text.Text != "On 2030-12-04." {
		t.Errorf("%+v", word)
	}
	i.stop()
	i.verify()
}

// tells checks what verbs that succeed say.
func (i *deployment) tells(t *testing.T, want map[string]string) {
	t.Helper()
	for verb, words := range want {
		if o := i.podium(strings.Fields(verb)...).succeeds(t); !strings.Contains(o.stdout, words) {
			t.Errorf("podium %s does not say %q:\n%s", verb, words, o.stdout)
		}
	}
}

// refuses checks what verbs that fail say.
func (i *deployment) refuses(t *testing.T, want map[string]string) {
	t.Helper()
	for verb, words := range want {
		if o := i.podium(strings.Fields(verb)...); o.code == exitOK || !strings.Contains(o.stderr, words) {
			t.Errorf("podium %s: exit code %d, and it does not say %q:\n%s", verb, o.code, words, o.stderr)
		}
	}
}

// TestWordsAreRefusedWithWhatToDo: each reason for which a word changes nothing is told in words, with what comes next.
func TestWordsAreRefusedWithWhatToDo(t *testing.T) {
	t.Parallel()
	of := func(change func(*workflow.Inquiry)) runlog.NamedInquiry {
		inquiry := &workflow.Inquiry{InquiryOpened: schemas.InquiryOpened{Run: 1, Inquiry: 1, Kind: schemas.HumanTaskInput}}
		change(inquiry)
		return runlog.NamedInquiry{Run: &workflow.RunHistory{ID: "r", Run: workflow.Run{Inquiries: []*workflow.Inquiry{inquiry}}}, Number: 1}
	}
	for name, c := range map[string]struct {
		change func(*workflow.Inquiry)
		action schemas.ControlAction
		reason string // of the supervisor; what the ledger says before when empty
		want   string
	}{
		"an answer":             {change: func(*workflow.Inquiry) {}, action: schemas.ControlAnswer, want: "<nil>"},
		"work that nobody does": {change: func(i *workflow.Inquiry) { i.Kind = schemas.HumanTaskWork }, action: schemas.ControlReject, want: "<nil>"},
		"nothing to decline":    {change: func(*workflow.Inquiry) {}, action: schemas.ControlReject, want: "podium runs cancel r"},
		"answered by mail": {change: func(i *workflow.Inquiry) {
			i.Answered = &schemas.InquiryAnswered{Choice: schemas.ChoiceAnswer, Actor: schemas.Actor{Via: schemas.ViaMail, ID: "ana@example.org", Proof: schemas.ProofMail}}
		}, action: schemas.ControlAnswer, want: "r.1 is decided already: answered by ana@example.org by mail (mail authentication)"},
		"rejected": {change: func(i *workflow.Inquiry) {
			i.Answered = &schemas.InquiryAnswered{Choice: schemas.ChoiceReject}
		}, action: schemas.ControlAnswer, want: "decided already: rejected by somebody"},
		"too late":             {change: func(i *workflow.Inquiry) { i.Closed = schemas.InquiryExpired }, action: schemas.ControlAnswer, want: "its time was over"},
		"taken back":           {change: func(i *workflow.Inquiry) { i.Closed = schemas.InquirySuperseded }, action: schemas.ControlAnswer, want: "(superseded)"},
		"too late by a second": {change: func(*workflow.Inquiry) {}, reason: "expired", want: "its time was over"},
		"the run has ended":    {change: func(*workflow.Inquiry) {}, reason: "no_inquiry", want: "has ended"},
		"the profile is gone":  {change: func(*workflow.Inquiry) {}, reason: "not_allowed", want: "is not in the configuration"},
		"another reason":       {change: func(*workflow.Inquiry) {}, reason: "no_room", want: "was refused (no room)"},
	} {
		found := of(c.change)
		err := unsayable(found, c.action)
		if c.reason != "" {
			err = refusedWord(found, schemas.Rejection(c.reason))
		}
		if !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %q is not said, but: %v", name, c.want, err)
		}
	}
}

// TestInboxIsATable: one line a question, whoever is asked, the oldest run's first.
func TestInboxIsATable(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)
	open := func(id string, message schemas.Incoming, asked schemas.InquiryOpened, told time.Time) *workflow.RunHistory {
		closed := &workflow.Inquiry{Closed: schemas.InquiryExpired}
		return &workflow.RunHistory{ID: id, Run: workflow.Run{
			Profile: "desk", Message: message, Inquiries: []*workflow.Inquiry{closed, {InquiryOpened: asked, Opened: at, Asked: told}},
		}}
	}
	day := schemas.Duration(24 * time.Hour)
	letters := func(run *workflow.RunHistory, notices ...*workflow.Task) *workflow.RunHistory {
		run.DecisionTasks = notices
		return run
	}
	down := &schemas.TaskFailed{Attempt: 2, Cause: schemas.FailureAgent, Detail: "The mail server cannot be reached."}
	runs := []*workflow.RunHistory{
		letters(open("77aa-1", schemas.Incoming{Channel: "email", Origin: schemas.OriginProven, Author: &schemas.Author{Address: "eva@example.org"}},
			schemas.InquiryOpened{Inquiry: 2, Kind: schemas.HumanTaskInput, Question: "By when?", Expire: day}, at), &workflow.Task{ID: "ask:2:1", Kind: schemas.TaskKindNotify, About: &schemas.TaskAbout{HumanTask: 2}, Attempt: 2, State: workflow.TaskWaiting, LastFailure: down}),
		open("5f0c-2", schemas.Incoming{Channel: "chat", Author: &schemas.Author{User: "U1"}}, schemas.InquiryOpened{Inquiry: 2, Kind: schemas.HumanTaskInput, Question: "When?\nAnd why?", Expire: day}, time.Time{}),
		open("1e71-1", schemas.Incoming{Channel: "email", Reply: &schemas.Reply{To: []schemas.Address{{Address: "ana@example.org"}}}}, schemas.InquiryOpened{Inquiry: 2, Kind: schemas.HumanTaskInput, Question: "Where to?", Expire: day}, at),
		open("0a2b-9", schemas.Incoming{Channel: "email"}, schemas.InquiryOpened{Inquiry: 2, Kind: schemas.HumanTaskWork, Question: "Please call her.", People: []string{"bob"}, Expire: day}, at),
	}
	const want = `ID        SINCE                UNTIL                PROFILE  KIND   FROM                         ASKED                            QUESTION
0a2b-9.2  2026-01-01 12:00:00  2026-01-02 12:00:00  desk     work   email (unconfirmed)          bob                              Please call her.
1e71-1.2  2026-01-01 12:00:00  2026-01-02 12:00:00  desk     input  email (unconfirmed)          ana@example.org                  Where to?
5f0c-2.2  2026-01-01 12:00:00                       desk     input  U1                           U1                               When? And why?
77aa-1.2  2026-01-01 12:00:00  2026-01-02 12:00:00  desk     input  eva@example.org (confirmed)  eva@example.org (not delivered)  By when?
`
	var out bytes.Buffer
	if err := (&environment{stdout: &out}).printInbox(openInquiries(runs)); err != nil || out.String() != want {
		t.Errorf("it lists (%v)\n%s\nwant\n%s", err, out.String(), want)
	}
}

// TestInboxTurnsNoDirection: what programs read of a requester and of their words turns no direction of writing.
func TestInboxTurnsNoDirection(t *testing.T) {
	t.Parallel()
	author := &schemas.Author{Name: "E\u202eve", Address: "e\u2066ve@example.org", User: "U\u200f1"}
	message := schemas.Incoming{
		Channel: schemas.ChannelEmail, Author: author,
		Text: schemas.Content{Result: schemas.Result{Text: "Pay\u202e nip\x1b\nnow"}},
	}
	asked := &workflow.Inquiry{InquiryOpened: schemas.InquiryOpened{Inquiry: 1, Kind: schemas.HumanTaskApproval}}
	run := &workflow.RunHistory{ID: "77aa-1", Run: workflow.Run{Message: message, Inquiries: []*workflow.Inquiry{asked}}}
	open := openInquiries([]*workflow.RunHistory{run})
	want := view.Requester{Name: "Eve", Address: "eve@example.org", User: "U1", Channel: schemas.ChannelEmail}
	if len(open) != 1 || open[0].Requester != want || open[0].Words != "Pay nip\nnow" {
		t.Errorf("it lists %+v", open)
	}
}

// TestDispositionIsAwaited: a word is decided, refused with the reason and exit code 1, or not looked at within ten seconds.
func TestDispositionIsAwaited(t *testing.T) {
	t.Parallel()
	received, answered := &schemas.MessageReceived{Run: 1, Inquiry: 1, Disposition: schemas.DispositionAnswered}, &schemas.InquiryAnswered{
		Run: 1, Inquiry: 1, Choice: schemas.ChoiceAnswer, Actor: schemas.Actor{Via: schemas.ViaAPI, ID: "command line"},
	}
	for name, c := range map[string]struct {
		facts []schemas.Fact // behind the word
		input bool           // it is about what a task lacks, and not about work
		json  bool
		says  string
		after string // what it says behind that
		never string
		fails string
		code  int  // of the failure; exitFailed when 0
		no    bool // the word says no
	}{
		"the run ends by a no": {
			facts: []schemas.Fact{received, answered, &schemas.RunSettled{Run: 1, Status: schemas.RunPartial}}, no: true, says: ".1 is rejected, and the run has ended partial; `podium runs show ",
		},
		"the run goes on without it": {facts: []schemas.Fact{received, answered}, no: true, says: ".1 is rejected, and the run goes on without it; `podium runs watch "},
		"it does not fit": {
			facts: []schemas.Fact{received, answered, &schemas.InquiryOpened{Run: 1, Inquiry: 2, Task: "t1", Kind: schemas.HumanTaskInput, Question: "A number is needed.\nHow many?"}},
			input: true, fails: ".2: A number is needed. How many?; answer it: podium answer ", code: exitAsks,
		},
		"it does not fit, for programs": {
			facts: []schemas.Fact{received, answered, &schemas.InquiryOpened{Run: 1, Inquiry: 2, Task: "t1", Kind: schemas.HumanTaskInput, Question: "How many?"}},
			input: true, json: true, says: `"asked_again":{"id":"`, fails: "is asked again", code: exitAsks,
		},
		"another task asks": {
			facts: []schemas.Fact{received, answered, &schemas.InquiryOpened{Run: 1, Inquiry: 2, Task: "t2", Kind: schemas.HumanTaskInput, Question: "How many?"}},
			input: true, says: ".1 is decided, and the run goes on",
		},
		"work leads to a question": {
			facts: []schemas.Fact{received, answered, &schemas.InquiryOpened{Run: 1, Inquiry: 2, Task: "t1", Kind: schemas.HumanTaskInput, Question: "How many?"}},
			says:  ".1 is decided, and the run goes on",
		},
		"the next question is told": {
			facts: []schemas.Fact{received, answered, &schemas.InquiryOpened{Run: 1, Inquiry: 2, Task: "t2", Kind: schemas.HumanTaskBudget, Question: "More?"}},
			says:  "` follows it\nit asks next, as ", after: ".2: More?; answer it: podium raise ",
		},
		"the next question is told to programs": {
			facts: []schemas.Fact{received, answered, &schemas.InquiryOpened{
				Run: 1, Inquiry: 2, Task: "t2", Kind: schemas.HumanTaskFailure, Question: "What now?", Choices: []schemas.InquiryChoice{schemas.ChoiceRetry},
			}},
			json: true, says: `"asks":{"id":"`, after: `.2 retry"}`,
		},
		"a question that is taken back is not told": {
			facts: []schemas.Fact{received, answered, &schemas.InquiryOpened{Run: 1, Inquiry: 2, Kind: schemas.HumanTaskWork}, &schemas.InquiryClosed{Run: 1, Inquiry: 2, Reason: schemas.InquiryWithdrawn}},
			says:  "` follows it\n", never: "it asks next",
		},
		"nobody is asked any more": {
			facts: []schemas.Fact{received, answered, &schemas.RunSettled{Run: 1, Status: schemas.RunBlocked, Error: &schemas.Error{Message: map[string]string{"en": "It is lacking:\nthe day."}}}},
			input: true, json: true, says: `"status":"blocked"`, fails: ".1 is answered, but the run has ended blocked all the same: It is lacking: the day.",
		},
		"the run is done": {
			facts: []schemas.Fact{received, answered, &schemas.RunSettled{Run: 1, Status: schemas.RunCompleted}}, input: true, says: ".1 is decided, and the run goes on",
		},
		"decided": {
			facts: []schemas.Fact{
				&schemas.MessageReceived{Run: 1, Inquiry: 1, Disposition: schemas.DispositionAnswered},
				&schemas.InquiryAnswered{Run: 1, Inquiry: 1, Choice: schemas.ChoiceReject, Actor: schemas.Actor{Via: schemas.ViaAPI, ID: "command line"}},
			},
			says: ".1 is decided, and the run goes on; `podium runs watch ",
		},
		"for programs": {
			facts: []schemas.Fact{
				&schemas.MessageReceived{Run: 1, Inquiry: 1, Disposition: schemas.DispositionAnswered},
				&schemas.InquiryAnswered{Run: 1, Inquiry: 1, Choice: schemas.ChoiceAnswer, Actor: schemas.Actor{Via: schemas.ViaAPI, ID: "command line"}},
			},
			json: true, says: `"disposition":"answered"`,
		},
		"somebody was faster": {
			facts: []schemas.Fact{
				&schemas.InquiryAnswered{Run: 1, Inquiry: 1, Choice: schemas.ChoiceAnswer, Actor: schemas.Actor{Via: schemas.ViaMail, ID: "bob"}},
				&schemas.MessageReceived{Run: 1, Disposition: schemas.DispositionRefused, Reason: "already_decided"},
			},
			fails: ".1 is decided already: answered by bob by mail",
		},
		"refused, for programs": {
			facts: []schemas.Fact{
				&schemas.InquiryClosed{Run: 1, Inquiry: 1, Reason: schemas.InquiryExpired},
				&schemas.MessageReceived{Run: 1, Disposition: schemas.DispositionRefused, Reason: "expired"},
			},
			json: true, says: `"disposition":"refused","id":`, fails: "its time was over",
		},
		"nobody looks at it": {fails: "nobody has looked at it within 10s; do not say it again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				core, session := memory.New(1), schemas.SessionID("p", "asks")
				opened := &schemas.InquiryOpened{Run: 1, Inquiry: 1, Task: "t1", Kind: schemas.HumanTaskWork, People: []string{"bob"}}
				if c.input {
					opened.Kind, opened.People = schemas.HumanTaskInput, nil
				}
				script := bustest.NewScript(t, core, session)
				script.Record(
					&schemas.MessageReceived{ID: "m1", Sequence: 1, Run: 1, Disposition: schemas.DispositionStarted},
					&schemas.RunStarted{Run: 1, Message: schemas.Incoming{ID: "m1", Language: "en"}},
					&schemas.PlanCreated{Run: 1, Tasks: []schemas.PlannedTask{{Task: "t1"}}}, opened)
				var out bytes.Buffer
				env := &environment{ctx: t.Context(), stdout: &out, json: c.json}
				found, err := env.runLog(core).Inquiry(t.Context(), schemas.RunID(session, 1)[:8])
				if err != nil || found.Number != 1 {
					t.Fatalf("%+v (%v)", found, err)
				}
				receipt, err := intake.NewIntake(core).SubmitControl(t.Context(), controlSource, 0, &schemas.Control{Action: schemas.ControlReject, Run: found.Run.ID, Inquiry: 1})
				if err != nil {
					t.Fatal(err)
				}
				for i, fact := range c.facts {
					if told, is := fact.(*schemas.MessageReceived); is {
						named := *told
						named.ID, named.Sequence = receipt.ID, receipt.Sequence
						c.facts[i] = &named
					}
				}
				if len(c.facts) > 0 {
					time.AfterFunc(3*time.Second, func() { script.Record(c.facts...) })
				}
				told := map[string]any{"id": receipt.ID}
				if c.no {
					told["action"] = schemas.ControlReject
				}
				err = env.decided(core, found, receipt, told)
				if _, behind, said := strings.Cut(out.String(), c.says); !said || !strings.Contains(behind, c.after) || c.never != "" && strings.Contains(behind, c.never) || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
					t.Errorf("it says %q, and %v", out.String(), err)
				}
				if code := report(io.Discard, err); err != nil && code != cmp.Or(c.code, exitFailed) {
					t.Errorf("exit code %d", code)
				}
			})
		})
	}
}
