package session_test

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podium/schemas"
	"podium/supervisor/session"
)

// A script is bytes read as things that happen to a conversation. Every byte
// sequence is one.
type script struct {
	*stage
	bytes []byte
}

func (s *script) next() int {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b)
}

func (s *script) pick(choices ...string) string { return choices[s.next()%len(choices)] }

// run plays a script to its end; the stage checks every law at every step.
func run(tb judge, bytes []byte) *stage {
	tb.Helper()
	profile := storyProfile()
	s := &script{stage: newStage(tb, profile), bytes: bytes}
	if s.next()%2 == 0 {
		profile.Execution = schemas.Execution{Mode: schemas.ExecutionSequence, MaxSteps: 3}
		s.adopt(tb, profile)
	}
	for len(s.bytes) > 0 {
		s.happen(tb)
	}
	return s.stage
}

func (s *script) happen(tb judge) {
	tb.Helper()
	switch s.next() % 12 {
	case 0, 1:
		s.message(tb)
	case 2, 3, 4:
		s.answer(tb)
	case 5:
		agent := s.pick("calculator", "summary", "clerk", "mail", "chat")
		event := s.progressOf(tb, agent, s.number(), s.task(), s.attempt(), s.next()%101, s.pick("", "half", "more"))
		s.put(tb, s.blurred(event), agent)
	case 6:
		s.put(tb, s.cancel(tb, "x"+s.pick("1", "2", "3", "4", "5"), 1+s.next()%4), "")
	case 7:
		s.expire(tb, schemas.Deadline{
			Run: s.number(), Task: s.task(), Attempt: s.attempt(), At: s.now.Add(-time.Second),
			Kind: schemas.DeadlineKind(s.pick("queue", "work", "retry", "")),
		})
	case 8, 9:
		s.ring(tb)
	case 10:
		s.garbage(tb)
	case 11: // another profile for new runs
		profile := storyProfile()
		profile.Retry.Attempts = 1 + s.next()%4
		profile.Language = s.pick("user", "de", "en")
		s.adopt(tb, profile)
	}
}

func (s *script) put(tb judge, event schemas.Event, agent string) {
	tb.Helper()
	if _, err := s.take(tb, event, agent); err != nil && event.Subject != "garbage" {
		tb.Fatalf("the script itself: %v", err)
	}
}

// number is mostly that of the newest run.
func (s *script) number() int {
	if n := s.next() % 8; n < 3 {
		return n + 1
	}
	return max(len(s.conversation.Runs), 1)
}

func (s *script) task() string { return s.pick("t1", "t1", "t2", "t3", "reply", "reply", "t9", "") }

func (s *script) attempt() int { return 1 + s.next()%4 }

func (s *script) message(tb judge) {
	tb.Helper()
	said := s.pick("please calculate", "bitte berechnen und dann", "calculate this, then summarize that, then write ä letter",
		"nothing at all", "", "calculate, then juggle, then write", strings.Repeat("calculate großes, then write ", 300))
	id := "m" + s.pick("1", "2", "3", "4", "5", "6", "7", "8")
	if s.next()%3 == 0 {
		s.put(tb, s.event(tb, id, schemas.TypeChatReceived, schemas.ChatReceived{Provider: "p", Channel: "c", MessageID: id, Text: said}), "")
		return
	}
	mail := schemas.EmailReceived{
		Account: "a", Mailbox: "m", MessageID: id, Text: said, Class: schemas.MailHuman, Received: s.now,
		Parse: schemas.ParseOK, UIDValidity: 1, UID: 1, Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1},
	}
	switch s.next() % 4 {
	case 0:
		mail.Class = schemas.MailAutoReply
	case 1: // nobody to answer
	default:
		mail.From = []schemas.Address{{Address: "ana@example.org"}}
	}
	s.put(tb, s.event(tb, id, schemas.TypeEmailReceived, mail), "")
}

// answer is mostly one that somebody waits for.
func (s *script) answer(tb judge) {
	tb.Helper()
	payload := schemas.ResponsePayload{Status: schemas.ResponseStatus(s.pick("completed", "partial", "failed", "blocked"))}
	if size := s.next() % 4; size > 0 {
		payload.Result = &schemas.Result{Text: strings.Repeat("ü", 1<<(6*size-6))}
	}
	if s.next()%3 == 0 {
		payload.Result = &schemas.Result{Data: []byte(s.pick(`{"message_id":"r"}`, `{"reply_id":"c"}`, `[1, 2]`, `"x"`, `{"message_id":7}`))}
	}
	if s.next()%4 == 0 {
		payload.IssuesEncountered = []schemas.Issue{{
			Severity: "low", Description: s.pick("", "no {task} {detail}"), Resolution: schemas.Resolution(s.pick("deferred", "escalated")),
		}}
	}
	if waits := s.state.Deadlines(); len(waits) > 0 && s.next()%4 > 0 {
		wait := waits[0]
		agent := s.state.Active.Task(wait.Task).Agent
		s.put(tb, s.answerTo(tb, agent, wait.Run, wait.Task, wait.Attempt, payload), agent)
		return
	}
	agent := s.pick("calculator", "summary", "clerk", "mail", "chat")
	s.put(tb, s.blurred(s.answerTo(tb, agent, s.number(), s.task(), s.attempt(), payload)), agent)
}

// blurred is an event whose attributes say less, or something else.
func (s *script) blurred(event schemas.Event) schemas.Event {
	switch s.next() % 6 {
	case 0:
		event.Subject, event.Attempt, event.CausationID = "", 0, ""
	case 1:
		event.Subject = s.pick("/", "x/t1", schemas.RunID(conversationID(), 2)+"/t1", schemas.RunID(conversationID(), 1))
	case 2:
		event.Attempt = s.next() % 5
	}
	return event
}

// ring lets time pass to the next deadline, or not quite.
func (s *script) ring(tb judge) {
	tb.Helper()
	deadline, ok := s.due(s.now.Add(24 * time.Hour))
	if !ok {
		s.now = s.now.Add(time.Duration(s.next()) * time.Hour)
		return
	}
	if deadline.At.After(s.now) {
		s.now = deadline.At.Add(-time.Duration(s.next()%2) * time.Nanosecond)
	}
	s.expire(tb, deadline)
}

// garbage is what a machine must survive though no door lets it through.
func (s *script) garbage(tb judge) {
	tb.Helper()
	s.sequence++
	input := session.Input{Now: s.now, Sequence: s.sequence, Agent: s.pick("", "calculator", "nobody")}
	switch s.next() % 6 {
	case 0:
	case 1:
		input.Response = &schemas.ExecutionResponse{}
	case 2:
		input.Progress = &schemas.ProgressUpdate{Payload: schemas.ProgressPayload{
			TasksInProgress: []schemas.TaskInProgress{{TaskID: s.task()}}, ProgressPercentage: s.next() % 101,
		}}
	case 3:
		input.Control = &schemas.Control{Action: schemas.ControlAction(s.pick("cancel", "dance", "")), Run: s.pick("", "x", conversationID()+"-0", conversationID()+"-1")}
	case 4:
		input.Deadline = &schemas.Deadline{}
	case 5: // one that was decided already
		input.Sequence = s.sequence / 2
		s.sequence--
		input.Message = &session.Message{Words: "calculate"}
	}
	s.step(tb, input)
}

// settle lets everybody answer until nobody waits: whatever happened before,
// every run ends.
func (s *stage) settle(tb judge) {
	tb.Helper()
	for range 200 {
		waits := s.state.Deadlines()
		if len(waits) == 0 {
			break
		}
		s.now = waits[0].At
		s.expire(tb, waits[0])
	}
	if !s.state.Idle() {
		tb.Fatalf("it never comes to rest: %s", canonical(tb, s.state))
	}
	if len(s.conversation.Runs) != s.state.Runs {
		tb.Fatalf("%d runs of %d began", len(s.conversation.Runs), s.state.Runs)
	}
	for i := range s.conversation.Runs {
		if run := &s.conversation.Runs[i]; run.State != schemas.RunStateEnded || run.Status == "" || run.Reason == "" {
			tb.Fatalf("run %d is %s, %q, %q", run.Number, run.State, run.Status, run.Reason)
		}
	}
}

// FuzzStep plays any script: no input makes the machine panic or break a law
// (X-03, X-07, G-33), and afterwards every run comes to its end.
func FuzzStep(f *testing.F) {
	for _, seed := range []string{
		"", "\x00\x00\x00\x00\x01\x02", "\x01\x00\x02\x05\x01\x03\x02\x02\x01\x01\x01\x01\x01\x01\x08\x08\x08\x08",
		"\x00\x01\x02\x01\x01\x02\x06\x01\x01\x02\x00\x01\x01\x01\x08\x01\x07\x00\x00\x00\x0a\x02\x01",
		strings.Repeat("\x00\x02\x03\x01\x02\x02\x00\x00\x01\x01\x01\x08\x00", 8),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if len(bytes) > 1<<10 {
			bytes = bytes[:1<<10]
		}
		run(t, bytes).settle(t)
	})
}

// drawn spreads what rapid draws, which is mostly small, over all that can happen.
func drawn(words []uint64) []byte {
	var bytes []byte
	for _, word := range words {
		mixed := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, word))
		bytes = append(bytes, mixed[:10]...)
	}
	return bytes
}

// TestStepLaws is the same with scripts that are drawn.
func TestStepLaws(t *testing.T) {
	t.Parallel()
	reached := map[schemas.RunStatus]int{}
	late, queued := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		stage := run(t, drawn(rapid.SliceOfN(rapid.Uint64(), 4, 60).Draw(t, "script")))
		for i := range stage.conversation.Messages {
			if stage.conversation.Messages[i].Disposition == schemas.DispositionQueued {
				queued++
			}
		}
		stage.settle(t)
		for i := range stage.conversation.Runs {
			reached[stage.conversation.Runs[i].Status]++
			late += stage.conversation.Runs[i].Late
		}
	})
	for _, status := range []schemas.RunStatus{schemas.RunCompleted, schemas.RunFailed, schemas.RunCancelled} {
		if reached[status] == 0 {
			t.Errorf("no script ended a run as %s: %v", status, reached)
		}
	}
	if late == 0 || queued == 0 {
		t.Errorf("no script had a late answer (%d) or a queue (%d)", late, queued)
	}
}
