package service_test

import (
	"slices"
	"strings"
	"testing"

	"podium/agents/mail/smtpsink"
	"podium/schemas"
)

// guardedDesk believes its mail server about who wrote a mail.
func guardedDesk() string {
	return strings.Replace(desk, "poll: 1s", `poll: 1s, authserv_ids: [mx.praxis.example], reply_to_from: ["@forms.example"]`, 1)
}

// judged is a mail about which the mail server has said something.
func judged(id, from, results string, fields ...string) []byte {
	header := "Authentication-Results: mx.praxis.example; " + results + "\r\nFrom: " + from + "\r\nTo: support@praxis.example\r\n" +
		"Subject: Cheap pills\r\nDate: Mon, 21 Sep 2026 14:13:20 +0000\r\nMessage-ID: <" + id + "@example.org>\r\n"
	return []byte(header + strings.Join(append(fields, ""), "\r\n") + "\r\nBuy them at once.\r\n")
}

// alone is the conversation of a mail that answers nothing.
func alone(id string) string { return schemas.SessionID("desk", id+"@example.org") }

// Nobody gets words that a stranger has written in his name: of forged mail nothing comes,
// what nobody vouches for is worked on and not answered, and the run says why (X-06, I23).
func TestNobodyGetsAStrangersWords_I23(t *testing.T) {
	t.Parallel()
	p := openDesk(t, guardedDesk(), smtpsink.Config{}, "sent: none")
	for _, mail := range [][]byte{
		judged("forged", "victim@bank.example", "dmarc=fail header.from=bank.example"),
		judged("spf", "victim@bank.example", "spf=fail smtp.mailfrom=victim@bank.example; dmarc=none header.from=bank.example"),
		judged("unsigned", "victim@bank.example", "dmarc=none header.from=bank.example"),
		judged("elsewhere", "victim@bank.example", "dkim=pass header.d=evil.example; spf=pass smtp.mailfrom=eva@evil.example"),
		judged("gmail", "eva@gmail.com", "dmarc=pass header.from=gmail.com", "Reply-To: victim@gmail.com"),
		judged("another", "eva@evil.example", "dmarc=pass header.from=evil.example", "Reply-To: victim@bank.example"),
		judged("colleague", "ana@example.org", "dmarc=pass header.from=example.org", "Reply-To: desk@example.org"),
		judged("form", "shop@forms.example", "dmarc=pass header.from=forms.example", "Reply-To: customer@gmail.com"),
	} {
		p.mailbox.Deliver(t, mail)
	}
	for id, want := range map[string]struct {
		reason   schemas.StopReason
		withheld schemas.WithheldReason
		worked   bool
	}{
		"forged":    {schemas.StopRefuted, schemas.WithheldRefuted, false},
		"spf":       {schemas.StopCompleted, schemas.WithheldUnproven, true},
		"unsigned":  {schemas.StopCompleted, schemas.WithheldUnproven, true},
		"elsewhere": {schemas.StopCompleted, schemas.WithheldUnproven, true},
		"gmail":     {schemas.StopCompleted, "", true},
		"another":   {schemas.StopCompleted, "", true},
		"colleague": {schemas.StopCompleted, "", true},
		"form":      {schemas.StopCompleted, "", true},
	} {
		run := p.awaitSession(alone(id), "the run of "+id, ended(1)).Runs[0]
		var withheld schemas.WithheldReason
		if run.Withheld != nil {
			withheld = run.Withheld.Reason
		}
		if run.Reason != want.reason || withheld != want.withheld || (len(run.Tasks) > 0) != want.worked || (run.Delivery != nil) != (withheld == "") {
			t.Errorf("%s: the run is %s (%s), withheld %q, tasks %d", id, run.Status, run.Reason, withheld, len(run.Tasks))
		}
	}
	var recipients []string
	for _, letter := range p.sink.Messages() {
		recipients = append(recipients, letter.To...)
	}
	slices.Sort(recipients)
	if want := []string{"customer@gmail.com", "desk@example.org", "eva@evil.example", "eva@gmail.com"}; !slices.Equal(recipients, want) {
		t.Errorf("letters went to %q", recipients)
	}
	p.verified()
}

// A profile may answer everybody; then forged mail is worked on and answered as before.
func TestAProfileMayAnswerEverybody(t *testing.T) {
	t.Parallel()
	open := strings.Replace(guardedDesk(), "delivery: {attempts", "conversation: {answer: everybody}, delivery: {attempts", 1)
	p := openDesk(t, open, smtpsink.Config{}, "sent: none")
	p.mailbox.Deliver(t, judged("forged", "ana@example.org", "dmarc=fail header.from=example.org", "Reply-To: eva@example.org"))
	run := p.awaitSession(alone("forged"), "its run", ended(1)).Runs[0]
	kept := p.sink.Messages()
	if run.Reason != schemas.StopCompleted || run.Withheld != nil || len(kept) != 1 || !slices.Equal(kept[0].To, []string{"ana@example.org"}) {
		t.Errorf("the run is %s (%s), withheld %+v, %d letters", run.Status, run.Reason, run.Withheld, len(kept))
	}
	p.verified()
}
