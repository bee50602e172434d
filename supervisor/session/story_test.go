package session_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"podium/schemas"
)

// TestStories plays every file of testdata/stories; each is named by what it
// shows and says in its first line which requirements that is. `go test
// -rewrite` writes down what happens now.
func TestStories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			story := &story{stage: newStage(t, storyProfile())}
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				t.Helper()
				return story.play(t, d)
			})
		})
	}
}

type story struct {
	*stage
	asked map[string]string // agent by run and task
}

// play is one command:
//
//	profile [mode=sequence] [language=de] [attempts=3] [delivery=1] [default=clerk]
//	mail id=m1 [from=a@example.org] [class=autoreply] [subject=(…)] [reply-to=m0] [language=de] [padding=5000]
//	chat id=c1 [thread=…] [padding=5000]
//	answer task=t1 [attempt=1] [run=1] [status=completed] [agent=…] [issue=(…)] [permanent] [receipt=…] [bare] [padding=5000]
//	progress task=t1 [attempt=1] [percentage=10] [message=(…)]
//	cancel run=1 id=x1
//	repeat id=m1              the same event once more
//	advance 10s            every deadline on the way rings
//	deadline task=t1 kind=work [attempt=1] [run=1]     rings whether it is due or not
//	state
//
// The words of a message and of an answer stand below the command.
func (s *story) play(tb testing.TB, d *datadriven.TestData) string {
	tb.Helper()
	switch d.Cmd {
	case "profile":
		s.adopt(tb, s.profile(tb, d))
		return ""
	case "mail":
		return s.tell(s.take(tb, s.event(tb, text(d, "id", ""), schemas.TypeEmailReceived, s.mail(d)), ""))
	case "chat":
		return s.tell(s.take(tb, s.event(tb, text(d, "id", ""), schemas.TypeChatReceived, schemas.ChatReceived{
			Provider: "webhook", Channel: "web", Thread: text(d, "thread", ""), MessageID: text(d, "id", ""), Text: words(d),
		}), ""))
	case "answer":
		event, agent := s.answer(tb, d)
		return s.tell(s.take(tb, event, agent))
	case "progress":
		event, agent := s.sign(tb, d)
		return s.tell(s.take(tb, event, agent))
	case "cancel":
		return s.tell(s.take(tb, s.cancel(tb, text(d, "id", ""), number(tb, d, "run", 1)), ""))
	case "repeat":
		return s.tell(s.take(tb, s.events[text(d, "id", "")], ""))
	case "advance":
		return s.advance(tb, d.CmdArgs[0].Key)
	case "deadline":
		return s.tell(s.expire(tb, schemas.Deadline{
			Run: number(tb, d, "run", 1), Task: text(d, "task", ""), Attempt: number(tb, d, "attempt", 1),
			Kind: schemas.DeadlineKind(text(d, "kind", "")), At: s.now,
		}), nil)
	case "state":
		return s.describe()
	}
	tb.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	return ""
}

func (s *story) profile(tb testing.TB, d *datadriven.TestData) schemas.Profile {
	tb.Helper()
	profile := storyProfile()
	profile.Execution.Mode = schemas.ExecutionMode(text(d, "mode", string(profile.Execution.Mode)))
	profile.Language = text(d, "language", profile.Language)
	profile.Retry.Attempts = number(tb, d, "attempts", profile.Retry.Attempts)
	profile.Delivery.Attempts = number(tb, d, "delivery", profile.Delivery.Attempts)
	if agent := text(d, "default", ""); agent != "" {
		profile.Routers = append(profile.Routers, schemas.Router{Kind: schemas.RouterDefault, Agent: agent})
	}
	return profile
}

func (s *story) mail(d *datadriven.TestData) schemas.EmailReceived {
	mail := schemas.EmailReceived{
		Account: "support", Mailbox: "INBOX", MessageID: text(d, "id", "") + "@example.org", Subject: text(d, "subject", ""),
		Text: words(d), Language: text(d, "language", ""), Class: schemas.MailClass(text(d, "class", string(schemas.MailHuman))),
		Parse: schemas.ParseOK, Received: s.now, UIDValidity: 1, UID: 1,
		Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1},
	}
	if from := text(d, "from", ""); from != "" {
		mail.From = []schemas.Address{{Address: from}}
	}
	if earlier := text(d, "reply-to", ""); earlier != "" {
		mail.InReplyTo = earlier + "@example.org"
		mail.References = []string{mail.InReplyTo}
	}
	return mail
}

func (s *story) answer(tb testing.TB, d *datadriven.TestData) (event schemas.Event, agent string) {
	tb.Helper()
	run, task := number(tb, d, "run", 1), text(d, "task", "")
	payload := schemas.ResponsePayload{Status: schemas.ResponseStatus(text(d, "status", "completed"))}
	if said := words(d); said != "" {
		payload.Result = &schemas.Result{Text: said}
	}
	if receipt := text(d, "receipt", ""); receipt != "" {
		payload.Result = &schemas.Result{Data: canonical(tb, map[string]string{"message_id": receipt})}
	}
	if issue := text(d, "issue", ""); issue != "" {
		resolution := schemas.ResolutionDeferred
		if d.HasArg("permanent") {
			resolution = schemas.ResolutionEscalated
		}
		payload.IssuesEncountered = []schemas.Issue{{Severity: "high", Description: issue, Resolution: resolution}}
	}
	agent = text(d, "agent", s.asked[fmt.Sprint(run, "/", task)])
	event = s.answerTo(tb, agent, run, task, number(tb, d, "attempt", 1), payload)
	if d.HasArg("bare") {
		event.Subject, event.Attempt = "", 0
	}
	return event, agent
}

func (s *story) sign(tb testing.TB, d *datadriven.TestData) (event schemas.Event, agent string) {
	tb.Helper()
	run, task := number(tb, d, "run", 1), text(d, "task", "")
	agent = text(d, "agent", s.asked[fmt.Sprint(run, "/", task)])
	return s.progressOf(tb, agent, run, task, number(tb, d, "attempt", 1), number(tb, d, "percentage", 0), text(d, "message", "")), agent
}

// advance lets time pass; what falls due on the way rings, in order.
func (s *story) advance(tb testing.TB, span string) string {
	tb.Helper()
	wait, err := time.ParseDuration(span)
	if err != nil {
		tb.Fatal(err)
	}
	until := s.now.Add(wait)
	var told strings.Builder
	for deadline, ok := s.due(until); ok; deadline, ok = s.due(until) {
		s.now = deadline.At
		told.WriteString(s.tell(s.expire(tb, deadline), nil))
	}
	s.now = until
	return told.String()
}

func words(d *datadriven.TestData) string {
	said := d.Input
	if arg, ok := d.Arg("padding"); ok {
		var size int
		if _, err := fmt.Sscan(arg.Vals[0], &size); err == nil && size > len(said) {
			said += strings.Repeat(" and so on", (size-len(said))/len(" and so on")+1)
		}
	}
	return said
}

func text(d *datadriven.TestData, key, otherwise string) string {
	if arg, ok := d.Arg(key); ok && len(arg.Vals) > 0 {
		return strings.Join(arg.Vals, ", ")
	}
	return otherwise
}

func number(tb testing.TB, d *datadriven.TestData, key string, otherwise int) int {
	tb.Helper()
	d.MaybeScanArgs(tb, key, &otherwise)
	return otherwise
}
