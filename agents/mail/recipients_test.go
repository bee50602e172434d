package mail_test

import (
	"slices"
	"strings"
	"testing"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
	"podium/bus/agent"
	"podium/schemas"
)

func receiptOf(t *testing.T, outcome agent.Outcome) mail.Receipt {
	t.Helper()
	var receipt mail.Receipt
	if err := schemas.Unmarshal(outcome.Data, &receipt); err != nil {
		t.Fatal(err)
	}
	return receipt
}

func addresses(list ...string) []schemas.Address {
	var made []schemas.Address
	for _, address := range list {
		made = append(made, schemas.Address{Address: address})
	}
	return made
}

// TestOwnMailboxGetsNothing_I20: no spelling of an own address is answered.
func TestOwnMailboxGetsNothing_I20(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{})
	agent := newAgent(t, sink, func(a *mail.Account) { a.Own = []string{"pra.xis@gmail.com"} })
	for _, own := range []string{"support@praxis.example", "Support+again@praxis.example", "praxis+x@googlemail.com"} {
		given := newAnswer()
		given.To = addresses(own)
		_, err := agent.Handle(t.Context(), requestWith(t, given), ignore)
		if failure := asFailure(t, err); !failure.Permanent {
			t.Errorf("%s: %v", own, err)
		}
	}
	if sent := len(sink.Messages()); sent != 0 {
		t.Errorf("%d letters", sent)
	}
}

func TestOnlyAllowedCopiesAreSent_I24(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{OnRecipient: func(address string) error {
		if address == "gone@partner.example" {
			return &smtpsink.Refusal{Code: 550, Text: "unknown"}
		}
		return nil
	}})
	agent := newAgent(t, sink, func(a *mail.Account) {
		a.Copies, a.Own = []string{"Boss@example.org", "@partner.example"}, []string{"praxis@login.example"}
	})
	given := newAnswer()
	given.Cc = addresses("boss@EXAMPLE.org", "ann@partner.example", "victim@example.net", "joerg@example.org",
		"support@praxis.example", "praxis@login.example", "x@sub.partner.example", "gone@partner.example",
		"MAILER-DAEMON@partner.example", "ann@partner.example", "a@partner.example\r\nBcc: b@c.example")
	result, err := agent.Handle(t.Context(), requestWith(t, given), ignore)
	if err != nil {
		t.Fatal(err)
	}
	message, receipt := sink.Messages()[0], receiptOf(t, result)
	if want := []string{"joerg@example.org", "boss@EXAMPLE.org", "ann@partner.example"}; !slices.Equal(message.To, want) {
		t.Errorf("envelope %q, want %q", message.To, want)
	}
	if want := message.To[1:]; !slices.Equal(receipt.Copies, want) {
		t.Errorf("copies %q, want %q", receipt.Copies, want)
	}
	dropped := []string{
		"victim@example.net", "x@sub.partner.example", "MAILER-DAEMON@partner.example",
		"a@partner.example Bcc: b@c.example", "gone@partner.example",
	}
	if !slices.Equal(receipt.Dropped, dropped) {
		t.Errorf("dropped %q, want %q", receipt.Dropped, dropped)
	}
	header, _, _ := parse(t, message)
	copies, err := header.AddressList("Cc")
	if err != nil || len(copies) != 2 || copies[1].Address != "ann@partner.example" || strings.Contains(string(message.Data), "gone@") {
		t.Errorf("Cc %v, %v", copies, err)
	}
}

func TestTooManyCopiesAreDropped(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{})
	given := newAnswer()
	for i := range 30 {
		given.Cc = append(given.Cc, schemas.Address{Address: strings.Repeat("x", i+1) + "@partner.example"})
	}
	agent := newAgent(t, sink, func(a *mail.Account) { a.Copies = []string{"@partner.example"} })
	result, err := agent.Handle(t.Context(), requestWith(t, given), ignore)
	if err != nil {
		t.Fatal(err)
	}
	receipt := receiptOf(t, result)
	if len(receipt.Copies) != mail.MaxRecipients-1 || len(receipt.Dropped) != 30-len(receipt.Copies) {
		t.Errorf("%d copies, %d dropped", len(receipt.Copies), len(receipt.Dropped))
	}
}

func TestNothingGoesToOurselvesOrToPrograms_I20(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{})
	account := mail.Account{Host: sink.Host(), Port: sink.Port(), TLS: mail.TLSNone}
	first, second := account, account
	first.From, second.From, second.Own = "Support@praxis.example", "b@praxis.example", []string{"c@praxis.example"}
	agent, err := mail.New(mail.Config{Accounts: map[string]mail.Account{"support": first, "second": second}})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{
		"support@PRAXIS.example", "b@praxis.example", "c@praxis.example", "MAILER-DAEMON@mx.example", "mailer-daemon@praxis.example",
	} {
		given := newAnswer()
		given.To = addresses(address)
		_, err := agent.Handle(t.Context(), requestWith(t, given), ignore)
		if failure := asFailure(t, err); !failure.Permanent || !strings.Contains(failure.Message, "kein Mensch") {
			t.Errorf("%s: permanent %v, %q", address, failure.Permanent, failure.Message)
		}
	}
	if n := len(sink.Messages()); n != 0 {
		t.Errorf("%d letters were sent", n)
	}
}

func TestCopiesThatCannotBeAllowed(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"", "@", "example.org", "*@example.org ", "a@b, c@d", "@a b", "A <a@b.example>"} {
		_, err := mail.New(mail.Config{Accounts: map[string]mail.Account{
			"support": {Host: "h", From: "a@b.example", Copies: []string{entry}},
		}})
		if err == nil || !strings.Contains(err.Error(), "copies") {
			t.Errorf("%q: %v", entry, err)
		}
	}
}
