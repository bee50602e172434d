package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"podium/agents/mail/smtpsink"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
	"podium/schemas/workflow"
)

// deskByMail has the profile desk answer a mailbox, by the ports of IMAP and SMTP.
const deskByMail = `
mail:
  accounts:
    - name: support
      profile: desk
      since: all
      imap: {host: 127.0.0.1, port: %[1]d, tls: none, username: agent, password: secret, poll: 1s, authserv_ids: [mx.practice.example]}
      smtp: {host: 127.0.0.1, port: %[2]d, tls: none, from: support@practice.example, sent: none}
`

// approvalConfig has an agent that orders something, once for whoever has a day to decide, and once for whoever has two seconds.
const approvalConfig = deskByMail + `
people: {anna: {mail: anna@practice.example}, ben: {mail: ben@practice.example}}
agents:
  orders: {kind: exec, command: [sh, -c, 'cat >/dev/null; mkdir "$ORDERED/$PODIUM_EFFECT" && echo Bestellt.'], env: ["ORDERED=%[3]s"], side_effects: external}
  hasty: {kind: exec, command: [sh, -c, 'cat >/dev/null; mkdir "$ORDERED/$PODIUM_EFFECT" && echo Bestellt.'], env: ["ORDERED=%[3]s"], side_effects: external}
  echo: {kind: echo}
profiles:
  desk:
    language: de
    agents: [orders, hasty, echo]
    routers:
      - kind: keywords
        groups: [{agent: orders, keywords: ["bestell*"]}, {agent: hasty, keywords: [eilig]}]
      - {kind: default, agent: echo}
    conversation: {replies_per_hour: 20}
    approval:
      - {agents: [orders], tainted: true, people: [anna, ben], expires: 24h}
      - {agents: [hasty], tainted: true, people: [anna], expires: 2s}
`

// Approvers are a practice that has people who agree by mail.
type approvers struct {
	t       *testing.T
	service *deployment
	mailbox *dovecot.Server
	sink    *smtpsink.Server
	ordered string
	mails   int
}

func openPractice(t *testing.T) *approvers {
	t.Helper()
	return openPracticeWith(t, approvalConfig)
}

// openPracticeWith has a configuration of its own: the ports of IMAP and SMTP and the folder of orders stand in it.
func openPracticeWith(t *testing.T, config string) *approvers {
	t.Helper()
	o := practiceOf(t, config, smtpsink.Config{})
	o.service.up()
	return o
}

// practiceOf is a practice that is closed, with a mail server of its own.
func practiceOf(t *testing.T, config string, outbox smtpsink.Config) *approvers {
	t.Helper()
	sink, err := smtpsink.Start(context.WithoutCancel(t.Context()), outbox)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	o := &approvers{t: t, mailbox: dovecot.Start(t, dovecot.Options{}), sink: sink, ordered: t.TempDir()}
	o.service = install(t, fmt.Sprintf(config, o.mailbox.Port, sink.Port(), o.ordered), "ledger: {shards: 2, durability: fsync}")
	return o
}

// write delivers a mail with some lines of its own in the header. Vouched is that the server says whom it is from.
func (o *approvers) write(from, answers, words string, vouched bool, lines ...string) {
	o.t.Helper()
	o.mails++
	_, domain, _ := strings.Cut(from, "@")
	if vouched {
		lines = append([]string{"Authentication-Results: mx.practice.example; dmarc=pass header.from=" + domain}, lines...)
	}
	if answers != "" {
		lines = append(lines, "In-Reply-To: <"+answers+">")
	}
	lines = append(lines, "From: "+from, "To: support@practice.example", "Subject: Anliegen", fmt.Sprintf("Message-ID: <m%d@%s>", o.mails, domain),
		"Date: Tue, 24 Nov 2026 10:00:00 +0000", "Content-Type: text/plain; charset=utf-8")
	o.mailbox.Deliver(o.t, []byte(strings.Join(lines, "\r\n")+"\r\n\r\n"+words+"\r\n"))
}

// letters are those that somebody has got, oldest first.
func (o *approvers) letters(to string) []smtpsink.Message {
	var got []smtpsink.Message
	for _, message := range o.sink.Messages() {
		for _, recipient := range message.To {
			if recipient == to {
				got = append(got, message)
			}
		}
	}
	return got
}

// asked waits for the n-th letter to anna and returns its Message-ID and text.
func (o *approvers) asked(n int) (id, text string) {
	o.t.Helper()
	return o.told("anna@practice.example", n)
}

// told waits for the n-th letter to somebody and returns its Message-ID and text.
func (o *approvers) told(who string, n int) (id, text string) {
	o.t.Helper()
	within(o.t, patience, who+" is written to", func() bool { return len(o.letters(who)) >= n })
	message := o.letters(who)[n-1]
	text, _ = partsOf(&message)
	return strings.Trim(message.Header().Get("Message-ID"), "<>"), text
}

func (o *approvers) effects() int {
	o.t.Helper()
	made, err := os.ReadDir(o.ordered)
	if err != nil {
		o.t.Fatal(err)
	}
	return len(made)
}

// recorded counts how often something stands in the ledger.
func (o *approvers) recorded(what string) int {
	o.t.Helper()
	said := o.service.podium("replay", "-o", "json")
	said.succeeds(o.t)
	return strings.Count(said.stdout, what)
}

// await waits until so many words were refused for a reason.
func (o *approvers) await(what string, reason schemas.Rejection, n int) {
	o.t.Helper()
	within(o.t, patience, what, func() bool { return o.recorded(`"reason":"`+string(reason)+`"`) == n })
	if done := o.effects(); done > 1 {
		o.t.Fatalf("%s: %d orders", what, done)
	}
}

// first is the oldest run, once there is one.
func (o *approvers) first() workflow.RunHistory {
	o.t.Helper()
	var runs []workflow.RunHistory
	within(o.t, patience, "a run begins", func() bool {
		runs = o.service.runs()
		return len(runs) > 0
	})
	return o.service.run(runs[len(runs)-1].ID)
}

// TestApprovalByMail_O31: a stranger's mail would have something ordered. The people of the practice are asked by mail, and the word of one of them counts once, if
// the mail server vouches for it, in whatever thread it comes. What anybody else says, a forged From, an automatic answer, a sentence, a second word and one that comes when the
// time is over have nothing ordered.
func TestApprovalByMail_O31(t *testing.T) {
	t.Parallel()
	o := openPractice(t)
	o.write("ada@example.net", "", "Bitte bestellen Sie tausend Drucker.", true)
	question, text := o.asked(1)
	if !strings.Contains(text, "> Bitte bestellen Sie tausend Drucker.") || !strings.Contains(text, "freigeben") || !strings.Contains(text, "Angefragt von ada@example.net (Absender bestätigt), Vorgang "+o.first().ID) {
		t.Errorf("anna is asked %q", text)
	}

	o.write("eve@example.net", question, "freigeben", true)
	o.await("another address", schemas.WordNotAllowed, 1)
	o.write("anna@practice.example", question, "freigeben", false)
	within(t, patience, "a forged From is a message like any other, and is not answered", func() bool { return o.recorded(`"disposition":"queued"`) == 1 })
	o.write("ada@example.net", question, "freigeben", true)
	o.await("who has asked for it", schemas.WordNotAllowed, 2)
	o.write("anna@practice.example", question, "Ja, aber erst morgen freigeben.", true)
	o.await("a sentence", schemas.WordChoice, 1)
	if _, text = o.asked(2); !strings.Contains(text, "nichts entschieden") {
		t.Errorf("anna is told %q", text)
	}
	o.write("anna@practice.example", question, "freigeben", true, "Auto-Submitted: auto-replied")
	o.write("anna@practice.example", "", "freigeben", true) // in a session of its own
	within(t, patience, "what names no question is a message like any other", func() bool { return len(o.service.runs()) == 2 })
	if o.effects() > 0 {
		t.Fatal("something is ordered, and nobody has agreed")
	}

	inbox := o.service.podium("inbox", "-o", "json")
	inbox.succeeds(t)
	if !strings.Contains(inbox.stdout, `"requester":{"address":"ada@example.net","channel":"email","vouched":true`) || !strings.Contains(inbox.stdout, `"kind":"approval"`) || !strings.Contains(inbox.stdout, `"hash":"`) {
		t.Errorf("podium inbox says %s", inbox.stdout)
	}
	id := o.first().ID
	other := schemas.InquiryCode(id, 2)
	if code := schemas.InquiryCode(id, 1); !strings.Contains(text, "Kennung dieser Frage: "+code) {
		t.Errorf("anna is told %q, and not the code %s", text, code)
	}
	o.write("anna@practice.example", question, "Freigeben\r\n\r\n> Kennung dieser Frage: "+other, true)
	o.await("what quotes another question", schemas.WordCode, 1)
	o.write("anna@practice.example", question, "freigeben?", true)
	o.await("a question", schemas.WordChoice, 2)
	if said := o.service.podium("approve", id+".1", "--hash", "0123456789abcdef"); said.code != exitFailed || !strings.Contains(said.stderr, "something else than you have seen") {
		t.Errorf("podium approve: %d %s", said.code, said.stderr)
	}
	if said := o.service.podium("answer", id+".1", "freigeben"); said.code != exitFailed || !strings.Contains(said.stderr, "podium approve") {
		t.Errorf("podium answer: %d %s", said.code, said.stderr)
	}

	o.write("anna@practice.example", question, "Freigeben.\r\n\r\nViele Grüße, Anna\r\n\r\n> Darf orders das tun?", true, "References: <another@thread.example>")
	within(t, patience, "it is ordered", func() bool { return o.effects() == 1 })
	o.write("anna@practice.example", question, "freigeben", true)
	o.await("a second time", schemas.WordClosed, 1)
	o.write("ben@practice.example", question, "ablehnen", true)
	o.await("somebody who is later", schemas.WordClosed, 2)
	if said := o.service.podium("reject", id+".1"); said.code != exitFailed || !strings.Contains(said.stderr, "decided already") || !strings.Contains(said.stderr, "anna") {
		t.Errorf("podium reject: %d %s", said.code, said.stderr)
	}
	within(t, patience, "the run ends", func() bool { return o.first().Status == schemas.RunCompleted })
	if word := o.first().Inquiries[0].Answered; word.Actor != (schemas.Actor{Via: schemas.ViaMail, ID: "anna", Proof: schemas.ProofMail}) {
		t.Errorf("it is the word of %+v", word.Actor)
	}

	o.write("ada@example.net", "", "Es ist eilig.", true)
	question, _ = o.asked(5)    // the third answers her mail
	time.Sleep(4 * time.Second) // servers of mail tell whole seconds
	o.write("anna@practice.example", question, "freigeben", true)
	o.await("after its time", schemas.WordClosed, 3)
	within(t, patience, "all runs end", func() bool {
		return len(lines[workflow.RunHistory](t, o.service.podium("runs", "list", "-o", "json", "--status", "open"))) == 0
	})
	if newest := o.service.run(o.service.runs()[0].ID); newest.Reason != schemas.StopRejected || o.effects() != 1 {
		t.Errorf("%s ends %s (%s), and %d are ordered", newest.ID, newest.Status, newest.Reason, o.effects())
	}
	o.service.stop()
	o.service.verify()
}

// TestApprovedByCommand_O31: the operator of the service agrees, or says no, in the place of whoever was asked.
func TestApprovedByCommand_O31(t *testing.T) {
	t.Parallel()
	o := openPractice(t)
	for n, action := range []string{"approve", "reject"} {
		o.write("ada@example.net", "", "Bitte bestellen Sie tausend Drucker.", true)
		o.asked(n + 1)
		id := o.service.runs()[0].ID + ".1"
		decided := map[string]string{"approve": " is decided, and the run goes on", "reject": " is rejected, and the run "}[action]
		if said := o.service.podium(action, id); said.code != exitOK || !strings.HasPrefix(said.stdout, id+decided) {
			t.Errorf("podium %s: %d %s%s", action, said.code, said.stdout, said.stderr)
		}
		if again := o.service.podium("approve", id); again.code != exitFailed || !strings.Contains(again.stderr, "decided already") {
			t.Errorf("once more: %d %s", again.code, again.stderr)
		}
	}
	within(t, patience, "both have ended", func() bool { return len(o.letters("ada@example.net")) == 2 })
	if newest := o.service.run(o.service.runs()[0].ID); newest.Reason != schemas.StopRejected || o.effects() != 1 {
		t.Errorf("%s ends %s (%s), and %d are ordered", newest.ID, newest.Status, newest.Reason, o.effects())
	}
	o.service.stop()
	o.service.verify()
}
