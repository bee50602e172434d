package mail_test

import (
	"strings"
	"testing"
	"time"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
	"podium/schemas"
)

// A program that answers every answer, in whatever thread, gets ten an hour.
func TestBudgetOfAPeerEndsALoop_I20(t *testing.T) {
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
	if !failure.Permanent || failure.Unknown || !strings.Contains(failure.Message, "in der letzten Stunde") {
		t.Errorf("permanent %v, unknown %v, %q", failure.Permanent, failure.Unknown, failure.Message)
	}
	if err := answer("else@example.org"); err != nil {
		t.Error(err)
	}
	now = now.Add(time.Hour)
	if err := answer("joerg@example.org"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

func TestRateOfAnAccountIsAFailureForNow(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{})
	agent := newAgent(t, sink, func(a *mail.Account) { a.Limits.PerMinute = 1 })
	request := requestWith(t, newAnswer())
	if _, err := agent.Handle(t.Context(), request, ignore); err != nil {
		t.Fatal(err)
	}
	_, err := agent.Handle(t.Context(), request, ignore)
	if failure := asFailure(t, err); failure.Permanent || !strings.Contains(failure.Message, "in 61 Sekunden") {
		t.Errorf("permanent %v, %q", failure.Permanent, failure.Message)
	}
}
