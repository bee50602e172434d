package supervisor_test

import (
	"fmt"
	"strings"
	"testing"

	"podium/bus"
	"podium/schemas"
)

// Messages that wait become one run only when one answer reaches whoever wrote them:
// a stranger who names somebody's thread does not get what is answered to them.
func TestAStrangerDoesNotTakeAnothersAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(func(p *schemas.Profile) { p.Conversation.WhileRunning = schemas.WhileRunningMerge })
	o := d.open("one", d.ledger, 0)
	mail := func(n int, from, text string) {
		body, err := schemas.Marshal(schemas.EmailReceived{
			Account: "a", Mailbox: "INBOX", UIDValidity: 1, UID: uint32(n), From: []schemas.Address{{Address: from}}, Subject: "s", Received: d.now,
			Text: text, Class: schemas.MailHuman, Parse: schemas.ParseOK, References: []string{"root"}, MessageID: fmt.Sprint("id", n),
			Raw: schemas.Artifact{SHA256: strings.Repeat("a", 64), Size: 1, MediaType: "message/rfc822"},
		})
		d.must(err)
		d.put(bus.InSubject("mail", 0), &schemas.Event{
			ID: fmt.Sprint("mail", n), Source: "/imap", Type: schemas.TypeEmailReceived, Time: d.now, Profile: "desk",
			PartitionKey: "thread", DataContentType: schemas.MediaTypeJSON, Data: body,
		})
	}
	mail(1, "ana@example.org", "hello")
	mail(2, "ana@example.org", "what are my results?")
	mail(3, "mallory@example.net", "me too")
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
