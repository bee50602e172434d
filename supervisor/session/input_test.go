package session_test

import (
	"reflect"
	"strings"
	"testing"

	"podium/schemas"
	"podium/supervisor/session"
)

func read(tb testing.TB, eventType string, body any) (session.Input, error) {
	tb.Helper()
	data, ok := body.([]byte)
	if !ok {
		data = canonical(tb, body)
	}
	return session.ParseInput(schemas.Event{ID: "e", Source: "/test", Type: eventType, Data: data}, session.Publisher{Agent: "worker"}, 7)
}

// TestReadMail_G02: what a mail says, and who gets the answer.
func TestReadMail_G02(t *testing.T) {
	t.Parallel()
	ana, office := schemas.Address{Name: "Ana", Address: "ana@example.org"}, schemas.Address{Address: "office@example.org"}
	for name, test := range map[string]struct {
		change func(*schemas.EmailReceived)
		words  string
		ignore string
		reply  schemas.Reply
	}{
		"one that begins a conversation": {
			func(*schemas.EmailReceived) {}, "Dose\n\nhow much?", "",
			schemas.Reply{Agent: "mail", Account: "support", To: []schemas.Address{ana}, Subject: "Dose", InReplyTo: "m1", References: []string{"m1"}},
		},
		"one that goes on": {
			func(m *schemas.EmailReceived) { m.InReplyTo, m.References = "m0", []string{"r", "m0"} }, "how much?", "",
			schemas.Reply{Agent: "mail", Account: "support", To: []schemas.Address{ana}, Subject: "Dose", InReplyTo: "m1", References: []string{"r", "m0", "m1"}},
		},
		"only a subject": {
			func(m *schemas.EmailReceived) { m.InReplyTo, m.Text = "m0", " \n" }, "Dose", "",
			schemas.Reply{Agent: "mail", Account: "support", To: []schemas.Address{ana}, Subject: "Dose", InReplyTo: "m1", References: []string{"m0", "m1"}},
		},
		"one whose conversation a signed address names": {
			func(m *schemas.EmailReceived) { m.Thread = "r" }, "Dose\n\nhow much?", "",
			schemas.Reply{Agent: "mail", Account: "support", To: []schemas.Address{ana}, Subject: "Dose", InReplyTo: "m1", References: []string{"r", "m1"}},
		},
		"one that wants no automatic answer": {
			func(m *schemas.EmailReceived) { m.Suppress = true }, "Dose\n\nhow much?", "", schemas.Reply{},
		},
		"no subject": {
			func(m *schemas.EmailReceived) { m.Subject = "" }, "how much?", "",
			schemas.Reply{Agent: "mail", Account: "support", To: []schemas.Address{ana}, InReplyTo: "m1", References: []string{"m1"}},
		},
		"an address to answer to": {
			func(m *schemas.EmailReceived) { m.AnswerTo = office }, "Dose\n\nhow much?", "",
			schemas.Reply{Agent: "mail", Account: "support", To: []schemas.Address{office}, Subject: "Dose", InReplyTo: "m1", References: []string{"m1"}},
		},
		"no sender": {
			func(m *schemas.EmailReceived) { m.From, m.AnswerTo = nil, schemas.Address{} }, "Dose\n\nhow much?", "", schemas.Reply{},
		},
		"no id": {
			func(m *schemas.EmailReceived) { m.MessageID = "" }, "Dose\n\nhow much?", "",
			schemas.Reply{Agent: "mail", Account: "support", To: []schemas.Address{ana}, Subject: "Dose"},
		},
		"a machine's": {
			func(m *schemas.EmailReceived) { m.Class = schemas.MailBounce }, "Dose\n\nhow much?", "bounce",
			schemas.Reply{Agent: "mail", Account: "support", To: []schemas.Address{ana}, Subject: "Dose", InReplyTo: "m1", References: []string{"m1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mail := schemas.EmailReceived{
				Account: "support", Mailbox: "INBOX", MessageID: "m1", From: []schemas.Address{ana}, AnswerTo: ana, Subject: "Dose",
				Text: "how much?", Class: schemas.MailHuman, Parse: schemas.ParseOK, Received: start(),
				UIDValidity: 1, UID: 1, Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1},
			}
			test.change(&mail)
			input, err := read(t, schemas.TypeEmailReceived, mail)
			if err != nil {
				t.Fatal(err)
			}
			got := input.Message
			if got.Text != test.words || got.Ignore != test.ignore || !reflect.DeepEqual(got.Reply, test.reply) {
				t.Errorf("words %q, ignored %q, reply %+v", got.Text, got.Ignore, got.Reply)
			}
			if input.Sequence != 7 || input.Content().Text != test.words {
				t.Errorf("input %d holds %q", input.Sequence, input.Content().Text)
			}
		})
	}
}

// TestReadChat_G02: the answer goes to where the message came from.
func TestReadChat_G02(t *testing.T) {
	t.Parallel()
	input, err := read(t, schemas.TypeChatReceived, schemas.ChatReceived{
		Provider: "p", Tenant: "t", Channel: "c", Thread: "th", MessageID: "id", Text: "  hello \n", Language: "de",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := session.Message{
		Channel: schemas.ChannelChat, Text: "hello", Language: "de",
		Reply: schemas.Reply{Agent: session.ChatAgent, Provider: "p", Tenant: "t", Channel: "c", Thread: "th", InReplyTo: "id"},
	}
	if !reflect.DeepEqual(*input.Message, want) {
		t.Errorf("got %+v", *input.Message)
	}
}

// TestReadRefuses_X06: what does not validate is no input.
func TestReadRefuses_X06(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ eventType, body string }{
		"an unknown type":            {"podium.unknown.v1", `{}`},
		"an empty request":           {schemas.TypeExecutionRequest, `{}`},
		"half a mail":                {schemas.TypeEmailReceived, `{"text":`},
		"half a chat message":        {schemas.TypeChatReceived, `{"text":`},
		"half a control word":        {schemas.TypeControl, `{`},
		"an answer to nothing":       {schemas.TypeExecutionResponse, `{"message_id":"x"}`},
		"a status in capitals":       {schemas.TypeExecutionResponse, `{"payload":{"STATUS":"completed"}}`},
		"progress without anything":  {schemas.TypeProgressUpdate, `{}`},
		"a name that is there twice": {schemas.TypeChatReceived, `{"text":"a","text":"b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := read(t, test.eventType, []byte(test.body)); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

// FuzzRead: no body makes reading panic, and what is read can be decided.
func FuzzRead(f *testing.F) {
	for _, body := range []string{`{}`, `{"text":"hello","provider":"p","channel":"c","message_id":"m"}`, `{"action":"cancel","run":"x"}`} {
		for kind := range 5 {
			f.Add(kind, []byte(body))
		}
	}
	types := []string{
		schemas.TypeEmailReceived, schemas.TypeChatReceived, schemas.TypeExecutionResponse,
		schemas.TypeProgressUpdate, schemas.TypeControl,
	}
	f.Fuzz(func(t *testing.T, kind int, body []byte) {
		s := newStage(t, storyProfile())
		_, err := s.take(t, schemas.Event{
			ID: "e", Source: "/fuzz", Type: types[uint(kind)%uint(len(types))], Data: body,
		}, "calculator")
		if err == nil {
			s.settle(t)
		}
	})
}
