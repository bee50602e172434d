package supervisor_test

import (
	"fmt"
	"strings"
	"testing"

	"podium/bus"
	"podium/schemas"
)

// mail puts a mail into the thread on shard 0, as anybody can who knows its first
// Message-ID.
func (d *desk) mail(n int, from, text string) {
	d.tb.Helper()
	body, err := schemas.Marshal(schemas.EmailReceived{
		Account: "a", Mailbox: "INBOX", UIDValidity: 1, UID: uint32(n), From: []schemas.Address{{Address: from}}, AnswerTo: schemas.Address{Address: from}, Subject: "s", Received: d.now,
		Text: text, Class: schemas.MailHuman, Parse: schemas.ParseOK, References: []string{"root"}, MessageID: fmt.Sprint("id", n),
		Raw: schemas.Artifact{SHA256: strings.Repeat("a", 64), Size: 1, MediaType: "message/rfc822"},
	})
	d.must(err)
	d.put(bus.InSubject("mail", 0), &schemas.Event{
		ID: fmt.Sprint("mail", n), Source: "/imap", Type: schemas.TypeEmailReceived, Time: d.now, Profile: "desk",
		PartitionKey: "thread", DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

// Messages that wait become one run only when one answer reaches whoever wrote them:
// a stranger who names somebody's thread does not get what is answered to them.
func TestAStrangerDoesNotTakeAnothersAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(func(p *schemas.Profile) { p.Conversation.WhileRunning = schemas.WhileRunningMerge })
	o := d.open("one", d.ledger, 0)
	d.mail(1, "ana@example.org", "hello")
	d.mail(2, "ana@example.org", "what are my results?")
	d.mail(3, "mallory@example.net", "me too")
	d.deliverAll(o, "worker", "mail")
	answered := map[string]bool{}
	for _, request := range d.requests("mail") {
		decoded, err := schemas.DecodeExecutionRequest(request.Data)
		d.must(err)
		var delivery schemas.DeliveryArguments
		d.must(schemas.Unmarshal(decoded.Payload.Tasks[0].Context.Arguments, &delivery))
		for _, to := range append(delivery.Reply.To, delivery.Reply.Cc...) {
			answered[delivery.Reply.InReplyTo+" to "+to.Address] = true
		}
	}
	for _, request := range d.askedOf("thread") {
		decoded, _ := schemas.DecodeExecutionRequest(request.Data)
		if words := decoded.Payload.Tasks[0].Context.Request; strings.Contains(words, "my results") && strings.Contains(words, "me too") {
			t.Errorf("one run for both: %q; answers: %v", words, answered)
		}
	}
	if !answered["id2 to ana@example.org"] {
		t.Errorf("ana's second mail was answered to somebody else: %v", answered)
	}
}

// A stranger who names somebody's thread ends no run in it, where the newest message
// takes the place of the one before.
func TestAStrangerEndsNobodysRun(t *testing.T) {
	t.Parallel()
	for from, ended := range map[string]bool{"ANA@example.org": true, "mallory@example.net": false} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			d.use(func(p *schemas.Profile) { p.Conversation.WhileRunning = schemas.WhileRunningSupersede })
			o := d.open("one", d.ledger, 0)
			d.mail(1, "ana@example.org", "hello")
			d.must(d.work(o))
			d.mail(2, from, "never mind")
			d.must(d.work(o))
			run := d.sessionHistory("thread").Run(1)
			if got := run.Reason == schemas.StopSuperseded; got != ended {
				t.Errorf("the first run is %s (%s)", run.Phase, run.Reason)
			}
		})
	}
}

// What a session with one person is about is handed on to no work that somebody
// else asks for in the same thread.
func TestAStrangerDoesNotGetAnothersEntity(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{"Ana@example.org": "4711", "mallory@example.net": ""} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			d.use(func(p *schemas.Profile) {
				p.Conversation.Entities = []schemas.Entity{{Name: "customer", Pattern: `K-(\d+)`}}
			})
			o := d.open("one", d.ledger, 0)
			d.mail(1, "ana@example.org", "I am K-4711, hello")
			d.deliverAll(o, "worker", "mail")
			d.mail(2, from, "what do I owe you?")
			d.deliverAll(o, "worker", "mail")
			asked := d.askedOf("thread")
			decoded, err := schemas.DecodeExecutionRequest(asked[len(asked)-1].Data)
			d.must(err)
			told := decoded.Payload.Tasks[0].Context
			if told.Entities["customer"] != want {
				t.Errorf("the work that %s asks for is about customer %q", from, told.Entities["customer"])
			}
			if known := told.Conversation != nil && len(told.Conversation.Recent) > 0; known != (want != "") {
				t.Errorf("it is told of earlier work: %+v", told.Conversation)
			}
		})
	}
}
