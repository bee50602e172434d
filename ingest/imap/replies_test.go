package imap_test

import (
	"strings"
	"testing"

	"podium/schemas"
)

// TestInReplyToAloneNamesAQuestion: a mail is a reply to what its In-Reply-To names. What References name leads to the session of that email, and answers
// nothing: whoever has written to the approver before chooses what stands there.
func TestInReplyToAloneNamesAQuestion(t *testing.T) {
	t.Parallel()
	const asks = "asks.mac@podium.test"
	run := schemas.RunID(schemas.SessionID("desk", "question"), 1)
	session, _, err := schemas.ParseRunID(run)
	if err != nil {
		t.Fatal(err)
	}
	s, f := newScript(), newFixture()
	settings := config("localhost", 1)
	settings.Letter = func(id string) (schemas.Letter, bool) { return schemas.Letter{Run: run, Inquiry: 1}, id == asks }
	f.run(t, settings, s.dial)
	for _, test := range []struct {
		name, header    string
		routes, answers bool
	}{
		{"a reply", "In-Reply-To: <" + asks + ">\nReferences: <root@x.test> <" + asks + ">\n", true, true},
		{"a reply without References", "In-Reply-To: <" + asks + ">\n", true, true},
		{"References of a mail to the approver", "In-Reply-To: <lunch@evil.test>\nReferences: <" + asks + "> <lunch@evil.test>\n", true, false},
		{"References alone", "References: <" + asks + ">\n", true, false},
		{"the newest of References", "In-Reply-To: <lunch@evil.test>\nReferences: <lunch@evil.test> <" + asks + ">\n", true, false},
		{"another one first", "In-Reply-To: <lunch@evil.test> <" + asks + ">\n", false, false},
		{"neither", "", false, false},
	} {
		raw := "From: anna@practice.example\nSubject: Re: Lunch\nMessage-ID: <" + strings.ReplaceAll(test.name, " ", "-") + "@x.test>\n" + test.header + "\nYes\n"
		s.deliver([]byte(strings.ReplaceAll(raw, "\n", "\r\n")))
		event, mail := f.next(t)
		if routes := event.SessionID == session; routes != test.routes {
			t.Errorf("%s: it goes to session %q", test.name, event.SessionID)
		}
		if answers := mail.Answers != nil && *mail.Answers == (schemas.Letter{Run: run, Inquiry: 1}); answers != test.answers || mail.Answers != nil != test.answers {
			t.Errorf("%s: it answers %+v", test.name, mail.Answers)
		}
	}
}
