package supervisor_test

import (
	"fmt"
	"strings"
	"testing"

	"podium/bus"
	"podium/schemas"
)

// What a conversation with one person is about is not handed on to work that a
// stranger asks for by naming the thread (its Message-ID is all that it takes).
func TestAStrangerDoesNotGetAnothersEntity_G30(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(func(p *schemas.Profile) {
		p.Conversation.Entities = []schemas.Entity{{Name: "customer", Pattern: `K-(\d+)`}}
	})
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
		d.deliverAll(o, "worker", "mail")
	}
	mail(1, "ana@example.org", "I am K-4711, hello")
	mail(2, "mallory@example.net", "what do I owe you?")
	asked := d.askedOf("thread")
	decoded, err := schemas.DecodeExecutionRequest(asked[len(asked)-1].Data)
	d.must(err)
	if entities := decoded.Payload.Tasks[0].Context.Entities; entities["customer"] != "" {
		t.Errorf("the work that mallory asked for, and is answered, is about customer %s", entities["customer"])
	}
}
