package service_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podium/agents/mail/smtpsink"
	"podium/bus"
	"podium/bus/binding"
	"podium/cmd/podium/messageid"
	"podium/ingest/cloudevents"
	"podium/ingest/mime"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/verify"
)

// answering is a mail of somebody with whatever fields name what it answers.
func answering(id, text string, fields ...string) []byte {
	header := "From: Ada Example <ada@example.org>\r\nTo: support@praxis.example\r\nSubject: Question\r\n" +
		"Date: Mon, 21 Sep 2026 14:13:20 +0000\r\nMessage-ID: <" + id + "@example.org>\r\n"
	return []byte(header + strings.Join(append(fields, ""), "\r\n") + "\r\n" + text + "\r\n")
}

// verified decides everything again, which comes to the same.
func (p *post) verified() {
	p.Helper()
	for shard := range p.service.Ledger.Core.Shards() {
		verified, err := verify.Shard(p.Context(), p.service.Ledger.Core, p.service.Profiles, shard, "")
		if err != nil || len(verified.Faults) > 0 {
			p.Errorf("deciding again: %+v, %v", verified.Faults, err)
		}
	}
}

// signed is the id of a letter of a run, as the installation makes it.
func (p *post) signed(run string) string {
	p.Helper()
	letters := messageid.New(func() ([]byte, error) { return os.ReadFile(filepath.Join(p.data, "credentials", "reply.key")) })
	left, err := letters.Sign(messageid.Source{Account: "support", Profile: "desk"}, schemas.EffectID(run, "reply"), schemas.Letter{Run: run})
	if err != nil {
		p.Fatal(err)
	}
	return left + "@praxis.example"
}

// events are the mails on the ledger, once there are so many.
func (p *post) events(count int) []schemas.Event {
	p.Helper()
	core := p.service.Ledger.Core
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); ; <-ticker.C {
		var found []schemas.Event
		for shard := range core.Shards() {
			for message, err := range core.Scan(p.Context(), bus.ShardStream(shard), 1, bus.InSubject("email", shard)) {
				if err != nil {
					p.Fatal(err)
				}
				event, err := binding.Decode(message)
				if err != nil {
					p.Fatal(err)
				}
				found = append(found, event)
			}
		}
		if len(found) >= count {
			return found
		}
		if time.Now().After(deadline) {
			p.Fatalf("%d mails of %d", len(found), count)
		}
	}
}

// An answer to a letter of ours belongs to its conversation by the letter's Message-ID
// alone, however little of the thread a mail program has kept (I22).
func TestAnswerToALetterFindsItsConversation_I22(t *testing.T) {
	t.Parallel()
	p := openPost(t, smtpsink.Config{}, "sent: none")
	p.mailbox.Deliver(t, letter("m1", "", "what is it?"))
	first := p.await("the answer", ended(1)).Runs[0].Replied
	p.mailbox.Deliver(t, answering("m2", "and this?", "In-Reply-To: <"+first+">"))
	second := p.await("the answer to an answer", ended(2)).Runs[1].Replied
	p.mailbox.Deliver(t, answering("m3", "and that?", "References: <"+strings.ToUpper(second)+">"))
	folded := p.await("the answer to the newest letter", ended(3))
	for i := range folded.Runs {
		if run := &folded.Runs[i]; run.Status != schemas.RunCompleted || run.Replied == "" {
			t.Errorf("run %d is %s, answered as %q", i+1, run.Status, run.Replied)
		}
	}
	kept := p.sink.Messages()
	if len(kept) != 3 {
		t.Fatalf("%d letters", len(kept))
	}
	for i, want := range []string{"m1@example.org", "m2@example.org", "m3@example.org"} {
		if got := kept[i].Header().Get("In-Reply-To"); got != "<"+want+">" {
			t.Errorf("letter %d answers %s", i+1, got)
		}
	}
	p.verified()
}

// What only looks like a letter of ours leads nowhere: the thread decides, as it does of
// every mail, and the conversation is another one (I22).
func TestForgedLettersLeadNowhere_I22(t *testing.T) {
	t.Parallel()
	p := openPost(t, smtpsink.Config{}, "sent: none")
	p.mailbox.Deliver(t, letter("m1", "", "what is it?"))
	folded := p.await("the answer", ended(1))
	id := folded.Runs[0].Replied
	left, domain, _ := strings.Cut(id, "@")
	parts := strings.Split(left, ".")
	if len(parts) != 3 || parts[0] != schemas.EffectID(parts[1], "reply") || parts[1] != schemas.RunID(folded.Session, 1) {
		t.Fatalf("the letter is %s", id)
	}
	forged := []string{
		parts[0] + "." + parts[1] + "." + strings.Repeat("a", len(parts[2])) + "@" + domain,
		strings.Replace(id, parts[1], schemas.RunID(folded.Session, 2), 1),
		strings.Replace(id, parts[1], schemas.RunID(schemas.SessionID("desk", "another"), 1), 1),
		left[:len(left)-1] + "@" + domain,
		parts[0] + "@" + domain,
		folded.Session,
		"session/" + folded.Session,
	}
	for i, made := range forged {
		p.mailbox.Deliver(t, answering(fmt.Sprint("f", i), "let me in", "In-Reply-To: <"+made+">", "References: <"+made+">"))
	}
	for _, event := range p.events(1 + len(forged)) {
		var mail schemas.EmailReceived
		if err := schemas.Unmarshal(event.Data, &mail); err != nil {
			t.Fatal(err)
		}
		first := mail.MessageID == "m1@example.org"
		if event.SessionID != "" || (event.Session() == folded.Session) != first || event.PartitionKey != mime.PartitionKey(&mail) {
			t.Errorf("%s goes to %s by %q and %q", mail.InReplyTo, event.Session(), event.SessionID, event.PartitionKey)
		}
	}
	if again := p.conversation(); len(again.Messages) != 1 {
		t.Errorf("the conversation has %d messages", len(again.Messages))
	}
}

// An id leads to a session that this ledger does not know, as after it was begun anew
// with the same key: then the mail begins it.
func TestLetterOfAForgottenConversation_I22(t *testing.T) {
	t.Parallel()
	p := openPost(t, smtpsink.Config{}, "sent: none")
	forgotten := schemas.SessionID("desk", "of another ledger")
	id := p.signed(schemas.RunID(forgotten, 3))
	p.mailbox.Deliver(t, answering("m1", "are you there?", "In-Reply-To: <"+id+">"))
	event := p.events(1)[0]
	if event.SessionID != forgotten || event.Session() != forgotten {
		t.Fatalf("it goes to %s", event.Session())
	}
	p.awaitSession(forgotten, "its answer", ended(1))
	p.verified()
}

// No other adapter reaches a conversation by its name (I22).
func TestOtherAdaptersNameNoSession_I22(t *testing.T) {
	t.Parallel()
	running, _ := startReception(t)
	const body = `{"specversion":"1.0","id":"7","source":"https://tickets.example.com","type":"com.example.ticket.created",%s"data":{"ticket":%q,"words":"Calculate 12 + 13"}}`
	_, answer := offer(t, running, fmt.Sprintf(body, "", "T-1"), signedStructured(fmt.Sprintf(body, "", "T-1")))
	first := acceptedIn(t, answer)
	session := first.Session
	for name, attributes := range map[string]string{
		"the attribute":     `"sessionid":"` + session + `",`,
		"the partition key": `"partitionkey":"` + session + `",`,
	} {
		given := strings.Replace(fmt.Sprintf(body, attributes, session), `"id":"7"`, fmt.Sprintf(`"id":%q`, name), 1)
		status, answer := offer(t, running, given, signedStructured(given))
		other := acceptedIn(t, answer)
		if status != http.StatusAccepted || other.Session == session {
			t.Errorf("%s: status %d: %s", name, status, answer)
		}
		settled(t, running, other.Run)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, running.Address()+"/v1/events/tickets", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{
		"Authorization": {"Bearer token-of-the-tickets"}, "Content-Type": {"application/json"}, "Ce-Specversion": {"1.0"}, "Ce-Id": {"8"},
		"Ce-Source": {"https://tickets.example.com"}, "Ce-Type": {schemas.TypeEmailReceived}, "Ce-Sessionid": {session},
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // it was only read
	if said, err := io.ReadAll(reply.Body); err != nil || reply.StatusCode < 400 {
		t.Errorf("a mail from somewhere else: status %d: %s", reply.StatusCode, said)
	}
	settled(t, running, first.Run)
	if got := runsOf(t, running, session); got != 1 {
		t.Errorf("%d runs", got)
	}
}

func acceptedIn(t *testing.T, answer []byte) cloudevents.Accepted {
	t.Helper()
	var accepted cloudevents.Accepted
	if err := schemas.Unmarshal(answer, &accepted); err != nil || accepted.Session == "" {
		t.Fatalf("%s: %v", answer, err)
	}
	return accepted
}

// A report leads to the letter that it reports on by that letter's id alone (I21, I22).
func TestReportByTheIDAlone_I21_I22(t *testing.T) {
	t.Parallel()
	p := openPost(t, smtpsink.Config{}, "sent: none")
	p.mailbox.Deliver(t, letter("m1", "", "what is it?"))
	p.await("the answer", ended(1))
	id := p.sink.Messages()[0].Header().Get("Message-ID")
	p.mailbox.Deliver(t, report([]byte("Subject: Re: Question\r\nMessage-ID: "+id+"\r\n\r\n")))
	folded := p.await("the report", func(c *workflow.SessionHistory) bool { return len(c.Messages) == 2 })
	if run := folded.Runs[0]; len(run.Bounces) != 1 || !run.Bounces[0].Failed || run.Delivery.State != workflow.TaskFailed {
		t.Errorf("%+v, delivery %s", run.Bounces, run.Delivery.State)
	}
}
