package mail_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
	"podium/schemas"
)

// A program that answers every answer, in any thread, gets ten an hour. The agent says when the next one may go out.
func TestBudgetOfAPeerSlowsALoop_I20(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 21, 14, 0, 0, 0, time.UTC)
	sink := startSink(t, smtpsink.Config{OnRecipient: func(address string) error {
		if strings.HasPrefix(address, "later") {
			return &smtpsink.Refusal{Code: 451, Text: "later"}
		}
		return nil
	}})
	agent, err := mail.New(mail.Config{Now: func() time.Time { return now }, Accounts: map[string]mail.Account{
		"support": {Host: sink.Host(), Port: sink.Port(), TLS: mail.TLSNone, From: "a@praxis.example"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(address string) error {
		now = now.Add(time.Minute)
		given := newAnswer()
		given.To = []schemas.Address{{Address: address}}
		_, err := agent.Handle(t.Context(), requestWith(t, given), ignore)
		return err
	}
	for range mail.DefaultPeerPerHour {
		if err := answer("joerg@example.org"); err != nil {
			t.Fatal(err)
		}
		if err := answer("later@example.org"); asFailure(t, err).Permanent {
			t.Fatal("what was refused for now counts")
		}
	}
	failure := asFailure(t, answer("JOERG@example.org"))
	const first = time.Hour - 20*time.Minute // since the first answer, of 20 that were tried after it, each a minute apart
	if failure.Permanent || failure.Unknown || failure.Category != schemas.CategoryResource || failure.RetryAfter != first || !strings.Contains(failure.Message, "in der letzten Stunde") {
		t.Errorf("permanent %v, unknown %v, %q, again after %v, %q", failure.Permanent, failure.Unknown, failure.Category, failure.RetryAfter, failure.Message)
	}
	if err := answer("else@example.org"); err != nil {
		t.Error(err)
	}
	now = now.Add(time.Hour)
	if err := answer("joerg@example.org"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// TestFloodOfQuestionsDelaysNoOtherRequester_I20: a flood of messages that each ask the doctor leaves the questions
// of other requesters their turns, and the answers to the doctor too. No letter tells the key of its requester.
func TestFloodOfQuestionsDelaysNoOtherRequester_I20(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{})
	agent := newAgent(t, sink)
	send := func(requester string, inquiry int) error {
		given := newAnswer()
		given.To, given.Inquiry, given.Requester = []schemas.Address{{Address: "doctor@praxis.example"}}, inquiry, requester
		_, err := agent.Handle(t.Context(), requestWith(t, given), ignore)
		return err
	}
	waiting := 0
	for n := range 150 {
		if err := send("0f1e2d3c4b5a69788796a5b4c3d2e1f0", n+1); err != nil {
			failure := asFailure(t, err)
			if failure.Category != schemas.CategoryResource || failure.RetryAfter <= 0 || failure.Permanent || failure.Unknown {
				t.Fatalf("a question of the flood fails: %v", err)
			}
			waiting++
		}
	}
	if waiting != 150-mail.DefaultPeerPerHour {
		t.Errorf("%d questions of the flood wait", waiting)
	}
	for n := range mail.DefaultPeerPerHour {
		if err := send("ffeeddccbbaa99887766554433221100", n+1); err != nil {
			t.Errorf("question %d of another requester: %v", n+1, err)
		}
		if err := send("", 0); err != nil {
			t.Errorf("answer %d: %v", n+1, err)
		}
	}
	for _, message := range sink.Messages() {
		if strings.Contains(string(message.Data), "0f1e2d3c") || strings.Contains(string(message.Data), "ffeeddcc") {
			t.Errorf("a letter tells the key of its requester:\n%s", message.Data)
		}
	}
}

// TestBudgetIsOfTheMailbox_I20: addresses of one mailbox share its budget, whatever stands
// behind a plus, and at Google also whatever dots there are.
func TestBudgetIsOfTheMailbox_I20(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(n int) string{
		"behind a plus": func(n int) string { return fmt.Sprintf("user+%d@example.org", n) },
		"in any case":   func(n int) string { return strings.ToUpper("user"[:n%5]) + "user"[n%5:] + "@Example.org" },
		"dots and names of Google": func(n int) string {
			local := "us" + strings.Repeat(".", n%2) + "er+" + strconv.Itoa(n)
			return local + []string{"@gmail.com", "@googlemail.com"}[n%2]
		},
	} {
		sink := startSink(t, smtpsink.Config{})
		agent := newAgent(t, sink)
		sent := 0
		for n := 1; n <= 15; n++ {
			given := newAnswer()
			given.To = []schemas.Address{{Address: address(n)}}
			_, err := agent.Handle(t.Context(), requestWith(t, given), ignore)
			if err == nil {
				sent++
			} else if failure := asFailure(t, err); failure.Permanent || failure.Unknown || failure.RetryAfter <= 0 {
				t.Errorf("%s: permanent %v, unknown %v: %v", name, failure.Permanent, failure.Unknown, err)
			}
		}
		if sent != mail.DefaultPeerPerHour || len(sink.Messages()) != sent {
			t.Errorf("%s: %d letters of 15 went out", name, len(sink.Messages()))
		}
		for _, other := range []string{"us.er@example.org", "+1@example.org", "+2@example.org", "user@example.com"} {
			given := newAnswer()
			given.To = []schemas.Address{{Address: other}}
			if _, err := agent.Handle(t.Context(), requestWith(t, given), ignore); err != nil {
				t.Errorf("%s: %s: %v", name, other, err)
			}
		}
	}
}

// TestRateOfAnAccountSaysNothingAgainstTheAgent: a letter whose turn comes too late
// for its request is for another time, and no failure that a breaker counts (M-28).
func TestRateOfAnAccountSaysNothingAgainstTheAgent(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{})
	agent := newAgent(t, sink, func(a *mail.Account) { a.Limits.PerMinute = 1 })
	request := requestWith(t, newAnswer())
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := agent.Handle(ctx, request, ignore); err != nil {
		t.Fatal(err)
	}
	_, err := agent.Handle(ctx, request, ignore)
	failure := asFailure(t, err)
	if failure.Permanent || failure.Unknown || failure.Category != schemas.CategoryResource || !strings.Contains(failure.Message, "in 60 Sekunden") {
		t.Errorf("permanent %v, unknown %v, %q, %q", failure.Permanent, failure.Unknown, failure.Category, failure.Message)
	}
}
