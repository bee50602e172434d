package session_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"

	"podium/schemas"
	"podium/supervisor/session"
)

// TestStories plays every file of testdata/stories; each is named by what it
// shows and says in its first line what, with the requirements that it is about. `go test
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
	names map[string]string // what the story calls an id
}

// play is one command:
//
//	profile [mode=sequence] [language=de] [attempts=3] [delivery=1] [default=clerk]
//	mail id=m1 [from=a@example.org] [class=autoreply] [subject=(…)] [reply-to=m0] [language=de] [padding=5000]
//	     [origin=proven]      as the adapter has found; answer-to is whom it would answer then
//	     [answer-to=b@example.org] [wants=b@example.org] [to=(c@example.org, …)] [cc=(d@example.org, …)] [suppress]
//	     [file=a]             a file of the letter, whose hash is 64 times the name
//	     [name=(Ana)] [quoted=(…)]
//	     [answers=1.1]        the letter of ours that it names: run, and inquiry
//	     [bounce-of=1 [notice=ask:1:1] [action=failed] [status=5.1.1] [signed] [recipient=b@example.org]]     a report on the answer of
//	     that run; 0 is another mail
//	chat id=c1 [thread=…] [reply_ref=…] [user=U1] [file=a] [padding=5000]
//	request id=r1 [from=planner] [to=podium] [effect=e1] [attempt=1] [expires=1m] [bare]
//	answer task=t1 [attempt=1] [run=1] [status=completed] [agent=…] [issue=(…)] [permanent] [unknown] [category=resource] [receipt=…] [data|payload] [bare] [padding=5000]
//	progress task=t1 [attempt=1] [percentage=10] [message=(…)] [waits=1h] [bare]     it waits for so long
//	permit task=t1 id=p1 [attempt=1] [run=1] [agent=…] [bare]     an agent asks before it acts outside; below it what it
//	     would do, if it says that
//	again id=p1 agent=mail    the same message of an agent once more
//	cancel run=1|request=r1 id=x1
//	     mail, chat and word [taken=-1h] were taken by their adapter, or are said, so long after now
//	resend run=1 id=x1 [allow-duplicate]     a person wants the answer sent again
//	word id=w1 [run=1|request=r1] [inquiry=1] [reject|replan]  a person's word to the service itself on an inquiry, or that of whoever has made
//	     the request; the words below
//	repeat id=m1              the same event once more
//	room calculator=1         so many requests may be under way; "free" is no limit
//	breaker calculator=open   open, closed or probe (half-open)
//	day limit=100 taken=90 need=20 [agent=coder]     so many tokens of the budget of the day; "day" alone has room
//	grant task=t1 [run=1]     the shell lets a ready task begin
//	absence agent=calculator task=t1 [run=1] [since=1m]     nobody serves the agent, never or for so long
//	advance 10s               every deadline on the way rings
//	deadline task=t1 kind=work [attempt=1] [run=1]     rings whether it is due or not
//	state
//	takeover                  the process is gone, and another one owns the shard
//	unconfigure               the profile is taken out of the configuration
//	told [eta=sum]            the progress update that whoever asked gets now
//	schedule                  the order of work by the plan alone
//
// Below a profile stand, in YAML or JSON, the members that differ from the
// story's own; below a request the words of one task or a payload with tasks;
// below a message or an answer its words, with data the answer's data, with
// payload all of it.
func (s *story) play(tb testing.TB, d *datadriven.TestData) string {
	tb.Helper()
	switch d.Cmd {
	case "profile":
		s.adopt(tb, s.profile(tb, d))
		return ""
	case "mail":
		return s.tell(s.take(tb, s.taken(tb, d, s.event(tb, text(d, "id", ""), schemas.TypeEmailReceived, s.mail(d))), ""))
	case "chat":
		return s.tell(s.take(tb, s.taken(tb, d, s.event(tb, text(d, "id", ""), schemas.TypeChatReceived, schemas.ChatReceived{
			Provider: text(d, "provider", "webhook"), Channel: text(d, "channel", "web"),
			Thread: text(d, "thread", ""), MessageID: text(d, "id", ""), Text: words(d),
			ReplyRef: text(d, "reply_ref", ""), User: schemas.ChatUser{ID: text(d, "user", "")}, Attachments: files(d),
		})), ""))
	case "request":
		return s.tell(s.take(tb, s.upstream(tb, d), ""))
	case "answer":
		event, agent := s.answer(tb, d)
		return s.tell(s.take(tb, event, agent))
	case "progress":
		event, agent := s.sign(tb, d)
		return s.tell(s.take(tb, event, agent))
	case "permit":
		event, agent := s.ask(tb, d)
		return s.tell(s.take(tb, event, agent))
	case "again":
		return s.tell(s.take(tb, s.events[text(d, "id", "")], text(d, "agent", "")))
	case "cancel":
		return s.tell(s.take(tb, s.stop(tb, d), ""))
	case "word":
		return s.tell(s.take(tb, s.taken(tb, d, s.word(tb, d)), ""))
	case "resend":
		return s.tell(s.take(tb, s.resend(tb, text(d, "id", ""), number(tb, d, "run", 1), d.HasArg("allow-duplicate")), ""))
	case "give-up":
		return s.tell(s.take(tb, s.giveUp(tb, text(d, "id", ""), number(tb, d, "run", 1)), ""))
	case "retry":
		return s.tell(s.take(tb, s.retry(tb, text(d, "id", ""), number(tb, d, "run", 1), text(d, "from", ""), d.HasArg("allow-duplicate")), ""))
	case "repeat":
		return s.tell(s.take(tb, s.events[text(d, "id", "")], ""))
	case "takeover":
		s.lost++
		return ""
	case "unconfigure":
		s.unconfigured = true
		return ""
	case "advance":
		return s.advance(tb, d.CmdArgs[0].Key)
	case "deadline":
		return s.tell(s.expire(tb, schemas.Deadline{
			Run: number(tb, d, "run", 1), Task: text(d, "task", ""), Attempt: number(tb, d, "attempt", 1),
			Kind: schemas.DeadlineKind(text(d, "kind", "")), At: s.now,
		}), nil)
	case "grant":
		grant := schemas.Grant{Run: number(tb, d, "run", 1), Task: text(d, "task", "")}
		return s.tell(s.step(tb, session.Input{Now: s.now, Grant: &grant}), nil)
	case "absence":
		absence := schemas.Absence{Run: number(tb, d, "run", 1), Task: text(d, "task", ""), Agent: text(d, "agent", "")}
		if ago := text(d, "since", ""); ago != "" {
			span, err := time.ParseDuration(ago)
			if err != nil {
				tb.Fatalf("%s: %v", d.Pos, err)
			}
			absence.Since = s.now.Add(-span)
		}
		return s.tell(s.step(tb, session.Input{Now: s.now, Absence: &absence}), nil)
	case "room", "breaker":
		s.limit(tb, d)
		return ""
	case "day":
		tokens := func(of string) schemas.Usage { return schemas.Usage{Tokens: int64(number(tb, d, of, 0))} }
		if s.agents.day = nil; len(d.CmdArgs) > 0 {
			short := schemas.Shortage{Agent: text(d, "agent", ""), Limit: tokens("limit"), Taken: tokens("taken"), Need: tokens("need")}
			short.Offer = short.Taken.Plus(short.Need).Less(short.Limit)
			s.agents.day = &short
		}
		return ""
	case "state":
		return s.describe()
	case "told":
		return s.foretold(schemas.ETA(text(d, "eta", string(schemas.ETACriticalPath))))
	case "schedule":
		return s.schedule()
	}
	tb.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	return ""
}

// taken is an event as its adapter has taken it at another time than now, if the story says so.
func (s *story) taken(tb testing.TB, d *datadriven.TestData, event schemas.Event) schemas.Event {
	tb.Helper()
	after, err := time.ParseDuration(text(d, "taken", "0s"))
	if err != nil {
		tb.Fatalf("%s: %v", d.Pos, err)
	}
	event.Time = event.Time.Add(after)
	return event
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
	if d.Input != "" {
		if err := json.Unmarshal(fromYAML(tb, d.Input), &profile, json.RejectUnknownMembers(true)); err != nil {
			tb.Fatalf("%s: %v", d.Pos, err)
		}
	}
	return profile
}

func fromYAML(tb testing.TB, text string) jsontext.Value {
	tb.Helper()
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// limit says how much room agents have, or how their circuit breakers stand.
func (s *story) limit(tb testing.TB, d *datadriven.TestData) {
	tb.Helper()
	for _, arg := range d.CmdArgs {
		room, err := strconv.Atoi(arg.Vals[0])
		switch {
		case d.Cmd == "breaker":
			if !slices.Contains([]breaker{breakerOpen, breakerClosed, breakerProbe}, breaker(arg.Vals[0])) {
				tb.Fatalf("%s: a breaker is not %s", d.Pos, arg.Vals[0])
			}
			s.agents.gates = set(s.agents.gates, arg.Key, breaker(arg.Vals[0]))
		case arg.Vals[0] == "free":
			delete(s.agents.room, arg.Key)
		case err != nil:
			tb.Fatalf("%s: %v", d.Pos, err)
		default:
			s.agents.room = set(s.agents.room, arg.Key, room)
		}
	}
}

func set[V any](values map[string]V, key string, value V) map[string]V {
	if values == nil {
		values = map[string]V{}
	}
	values[key] = value
	return values
}

// identify makes a UUID of a name that a person can read.
func identify(name string) string { return schemas.EffectID("story", name) }

// upstream is the request of another supervisor or of a planner.
func (s *story) upstream(tb testing.TB, d *datadriven.TestData) schemas.Event {
	tb.Helper()
	id, to := text(d, "id", ""), text(d, "to", "podium")
	said := "payload: {}"
	if strings.Contains(d.Input, "tasks:") {
		said = d.Input
	}
	var payload schemas.RequestPayload
	if err := schemas.Unmarshal(fromYAML(tb, said), &payload); err != nil {
		tb.Fatalf("%s: %v", d.Pos, err)
	}
	if len(payload.Tasks) == 0 {
		payload.Tasks = []schemas.Task{{TaskID: "whole", Description: words(d), AssignedTo: to}}
	}
	payload.PlanID, payload.RequestID = identify("plan of "+id), id
	event := s.event(tb, identify(id), schemas.TypeExecutionRequest, schemas.ExecutionRequest{
		Envelope: schemas.Envelope{
			MessageID: identify(id), From: text(d, "from", "planner"), To: to, Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: s.now,
		},
		Payload: payload,
	})
	event.ReplyTo, event.Attempt, event.EffectID = "podium.agent."+to+".response.1", number(tb, d, "attempt", 1), text(d, "effect", "")
	if span := text(d, "expires", ""); span != "" {
		wait, err := time.ParseDuration(span)
		if err != nil {
			tb.Fatal(err)
		}
		event.Expires = s.now.Add(wait)
	}
	s.events[id] = event
	s.names = set(s.names, identify(id), id)
	s.names = set(s.names, payload.PlanID, "the plan of "+id)
	return event
}

// stop is a person's word, or that of the supervisor that made a request.
func (s *story) stop(tb testing.TB, d *datadriven.TestData) schemas.Event {
	tb.Helper()
	if request := text(d, "request", ""); request != "" {
		return s.event(tb, text(d, "id", ""), schemas.TypeControl, schemas.Control{Action: schemas.ControlCancel, Request: identify(request), By: "planner"})
	}
	return s.cancel(tb, text(d, "id", ""), number(tb, d, "run", 1))
}

func (s *story) mail(d *datadriven.TestData) schemas.EmailReceived {
	mail := schemas.EmailReceived{
		Account: text(d, "account", "support"), Mailbox: "INBOX", MessageID: text(d, "id", "") + "@example.org",
		Subject: text(d, "subject", ""),
		Text:    words(d), Language: text(d, "language", ""), Class: schemas.MailClass(text(d, "class", string(schemas.MailHuman))),
		Parse: schemas.ParseOK, Received: s.now, UIDValidity: 1, UID: 1,
		Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1},
	}
	if from := text(d, "from", ""); from != "" {
		mail.From = []schemas.Address{{Address: from}}
	}
	if wanted := text(d, "wants", ""); wanted != "" {
		mail.ReplyTo = []schemas.Address{{Address: wanted}}
	}
	mail.Origin = schemas.MailOrigin(text(d, "origin", string(schemas.OriginUnchecked)))
	mail.AnswerTo.Address = text(d, "answer-to", text(d, "from", ""))
	for _, file := range files(d) {
		mail.Attachments = append(mail.Attachments, schemas.MailAttachment{Attachment: file})
	}
	if answer := text(d, "calendar", ""); answer != "" { // a reply to an invitation, which mail has as an attachment too
		mail.Calendar = []schemas.CalendarEntry{{Method: "REPLY", UID: "visit@example.org", Answer: answer}}
		mail.Attachments = append(mail.Attachments, schemas.MailAttachment{Attachment: schemas.Attachment{
			Name: "invite.ics", MediaType: "text/calendar", Artifact: schemas.Artifact{SHA256: strings.Repeat("1", 64), Size: 1},
		}})
	}
	mail.Quoted = text(d, "quoted", "")
	if quoted := s.letterNamed(text(d, "quotes", "")); quoted != nil { // the email that asks an inquiry
		mail.Quoted = "Code: " + schemas.InquiryCode(quoted.Run, quoted.Inquiry)
	}
	if name := text(d, "name", ""); name != "" {
		mail.From[0].Name = name
	}
	mail.To, mail.Cc, mail.Suppress = addresses(d, "to"), addresses(d, "cc"), d.HasArg("suppress")
	if of := text(d, "bounce-of", ""); of != "" {
		sent := schemas.EffectID(schemas.RunID(s.state.Session, 0), "reply")
		if number, err := strconv.Atoi(of); err == nil {
			sent = schemas.EffectID(schemas.RunID(s.state.Session, number), text(d, "notice", schemas.DeliveryTask))
		}
		if d.HasArg("signed") { // as a relay may write it
			sent = strings.ToUpper(sent + "." + schemas.RunID(s.state.Session, 1) + ".mac")
		}
		mail.Class = schemas.MailBounce
		mail.Bounce = &schemas.Bounce{MessageID: sent + "@support.example", RecipientStatus: schemas.RecipientStatus{
			Recipient: text(d, "recipient", ""), Action: text(d, "action", ""), Status: text(d, "status", ""),
		}}
	}
	mail.Answers = s.letterNamed(text(d, "answers", ""))
	if earlier := text(d, "reply-to", ""); earlier != "" {
		mail.InReplyTo = earlier + "@example.org"
		mail.References = []string{mail.InReplyTo}
	}
	return mail
}

// files is the one file of a message, if it has one.
func files(d *datadriven.TestData) []schemas.Attachment {
	name := text(d, "file", "")
	if name == "" {
		return nil
	}
	return []schemas.Attachment{{Name: name + ".txt", MediaType: "text/plain", Artifact: schemas.Artifact{SHA256: strings.Repeat(name, 64), Size: 1}}}
}

func addresses(d *datadriven.TestData, key string) []schemas.Address {
	var list []schemas.Address
	if arg, ok := d.Arg(key); ok {
		for _, address := range arg.Vals {
			list = append(list, schemas.Address{Address: strings.TrimSpace(address)})
		}
	}
	return list
}

func (s *story) answer(tb testing.TB, d *datadriven.TestData) (event schemas.Event, agent string) {
	tb.Helper()
	run, task := number(tb, d, "run", 1), text(d, "task", "")
	payload := schemas.ResponsePayload{Status: schemas.ResponseStatus(text(d, "status", "completed"))}
	switch said := words(d); {
	case said == "":
	case d.HasArg("payload"):
		if err := json.Unmarshal(fromYAML(tb, said), &payload, json.RejectUnknownMembers(true)); err != nil {
			tb.Fatalf("%s: %v", d.Pos, err)
		}
	case d.HasArg("data"):
		payload.Result = &schemas.Result{Data: fromYAML(tb, said)}
	default:
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
		payload.IssuesEncountered = []schemas.Issue{{
			Severity: "high", Description: issue, Resolution: resolution, Category: schemas.FailureCategory(text(d, "category", "")),
			EffectUnknown: d.HasArg("unknown"),
		}}
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
	var until time.Time
	if waits := text(d, "waits", ""); waits != "" {
		span, err := time.ParseDuration(waits)
		if err != nil {
			tb.Fatalf("%s: %v", d.Pos, err)
		}
		until = s.now.Add(span)
	}
	event = s.progressOf(tb, agent, run, task, number(tb, d, "attempt", 1), number(tb, d, "percentage", 0), text(d, "message", ""), until)
	if d.HasArg("bare") {
		event = s.bareProgress(tb, event, agent, task)
	}
	return event, agent
}

// bareProgress is an update that names nothing but its plan and the task.
func (s *story) bareProgress(tb testing.TB, event schemas.Event, agent, task string) schemas.Event {
	tb.Helper()
	progress, err := schemas.DecodeProgressUpdate(event.Data)
	if err != nil {
		tb.Fatal(err)
	}
	progress.InReplyTo, event.Subject, event.CausationID, event.Attempt = "", "", "", 0
	if task != "" {
		progress.Payload.TasksInProgress = []schemas.TaskInProgress{{TaskID: task, Agent: agent, StartedAt: s.now}}
	}
	event.Data = canonical(tb, progress)
	return event
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
