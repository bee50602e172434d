package mail_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	gomessage "github.com/emersion/go-message/mail"
	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
	"podium/bus/agent"
	"podium/schemas"
)

const effect = "0f6d3f5e-6a1c-5c55-9a3c-4f7b1c9f0a11"

func startSink(t *testing.T, config smtpsink.Config) *smtpsink.Server {
	t.Helper()
	sink, err := smtpsink.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sink.Close(); err != nil {
			t.Error(err)
		}
	})
	return sink
}

// newAgent returns an agent whose account "support" sends to the sink.
func newAgent(t *testing.T, sink *smtpsink.Server, change ...func(*mail.Account)) *mail.Agent {
	t.Helper()
	account := mail.Account{
		Host: sink.Host(), Port: sink.Port(), TLS: mail.TLSNone,
		From: "Praxis Grün <support@praxis.example>", Timeout: 10 * time.Second, Settle: time.Millisecond,
	}
	for _, apply := range change {
		apply(&account)
	}
	agent, err := mail.New(mail.Config{
		Accounts: map[string]mail.Account{"support": account},
		Now:      func() time.Time { return time.Date(2026, 9, 21, 14, 13, 20, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

// An answer is the arguments of a request.
type answer = schemas.DeliveryArguments

func newAnswer() answer {
	return answer{
		Reply: schemas.Reply{
			Agent: "mail", Account: "support",
			To:         []schemas.Address{{Name: "Jörg Müller", Address: "joerg@example.org"}},
			Subject:    "Frage zur Größe",
			InReplyTo:  "<parent@example.org>",
			References: []string{"root@example.org", "parent@example.org"},
		},
		Text: "Grüße,\n\n.\nIhre Praxis = gut\n",
	}
}

func requestWith(t *testing.T, given any) *agent.Request {
	t.Helper()
	arguments, err := schemas.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	task := schemas.Task{TaskID: "reply", Context: schemas.TaskContext{
		Arguments:   arguments,
		Constraints: jsontext.Value(`{"language":"de-AT"}`),
	}}
	return &agent.Request{
		ExecutionRequest: schemas.ExecutionRequest{Payload: schemas.RequestPayload{
			PlanID: "plan", Tasks: []schemas.Task{task},
		}},
		EffectID: effect, Run: "run-1", Attempt: 1, Deliveries: 1,
	}
}

func ignore(int, string) {}

func asFailure(t *testing.T, err error) *agent.Failure {
	t.Helper()
	var failure *agent.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want a *agent.Failure", err)
	}
	for _, private := range []string{"joerg", "example.org", "Müller"} {
		if failure.Err == nil || strings.Contains(failure.Error(), private) {
			t.Errorf("the error for the log holds %q: %s", private, failure.Error())
		}
	}
	return failure
}

// send sends one answer and returns what the sink received.
func send(t *testing.T, given answer) smtpsink.Message {
	t.Helper()
	sink := startSink(t, smtpsink.Config{})
	result, err := newAgent(t, sink).Handle(t.Context(), requestWith(t, given), ignore)
	if err != nil {
		t.Fatal(err)
	}
	var receipt mail.Receipt
	if err := schemas.Unmarshal(result.Data, &receipt); err != nil {
		t.Fatal(err)
	}
	if want := effect + "@praxis.example"; receipt.MessageID != want || receipt.Sent != "" || receipt.Resolved != "" || result.Text != "" {
		t.Errorf("result %q %s, want %s", result.Text, result.Data, want)
	}
	received := sink.Messages()
	if len(received) != 1 {
		t.Fatalf("%d messages were received, want 1", len(received))
	}
	return received[0]
}

// parse reads a message with the parser of the mail adapter.
func parse(t *testing.T, message smtpsink.Message) (header gomessage.Header, contentType, text string) {
	t.Helper()
	reader, err := gomessage.CreateReader(strings.NewReader(string(message.Data)))
	if err != nil {
		t.Fatal(err)
	}
	part, err := reader.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(part.Body)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := reader.NextPart(); err != nil || !strings.HasPrefix(second.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the second part is not HTML: %v", err)
	}
	if _, err := reader.NextPart(); !errors.Is(err, io.EOF) {
		t.Errorf("there are more than two parts: %v", err)
	}
	return reader.Header, part.Header.Get("Content-Type"), string(body)
}

func TestThreadedReplyRoundTrip(t *testing.T) {
	t.Parallel()
	message := send(t, newAnswer())
	if message.From != "support@praxis.example" || !slices.Equal(message.To, []string{"joerg@example.org"}) {
		t.Errorf("envelope from %q to %q", message.From, message.To)
	}
	header, contentType, text := parse(t, message)
	if want := "Grüße,\r\n\r\n.\r\nIhre Praxis = gut\r\n"; text != want {
		t.Errorf("text %q, want %q", text, want)
	}
	if !strings.HasPrefix(contentType, "text/plain") || !strings.Contains(strings.ToLower(contentType), "utf-8") {
		t.Errorf("content type %q", contentType)
	}
	subject, err := header.Subject()
	if err != nil || subject != "Re: Frage zur Größe" {
		t.Errorf("subject %q, %v", subject, err)
	}
	for name, want := range map[string]string{
		"Message-Id":     "<" + effect + "@praxis.example>",
		"In-Reply-To":    "<parent@example.org>",
		"References":     "<root@example.org> <parent@example.org>",
		"Auto-Submitted": "auto-replied",
		"Date":           "Mon, 21 Sep 2026 14:13:20 +0000",
		"X-Mailer":       "",
		"User-Agent":     "",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	from, err := header.AddressList("From")
	if err != nil || len(from) != 1 || from[0].Name != "Praxis Grün" || from[0].Address != "support@praxis.example" {
		t.Errorf("from %v, %v", from, err)
	}
	to, err := header.AddressList("To")
	if err != nil || len(to) != 1 || to[0].Name != "Jörg Müller" || to[0].Address != "joerg@example.org" {
		t.Errorf("to %v, %v", to, err)
	}
	for line := range strings.SplitSeq(string(message.Data), "\r\n") {
		if len(line) > 998 || strings.ContainsFunc(line, func(r rune) bool { return r >= 0x80 }) {
			t.Errorf("a line is too long or not ASCII: %q", line)
		}
	}
}

// TestNothingCanBeInjected sends line breaks in every field that a stranger
// fills in, and compares the names of the header fields with those of a plain
// answer.
func TestNothingCanBeInjected(t *testing.T) {
	t.Parallel()
	const evil = "\r\nBcc: victim@example.net\r\nX-Evil: 1\r\n\r\nowned"
	names := func(message smtpsink.Message) []string {
		header, _, _ := parse(t, message)
		var found []string
		for fields := header.Fields(); fields.Next(); {
			found = append(found, fields.Key())
		}
		slices.Sort(found)
		return found
	}
	plain := names(send(t, newAnswer()))
	tests := map[string]func(*answer){
		"subject":          func(a *answer) { a.Subject += evil },
		"subject, newline": func(a *answer) { a.Subject += "\nBcc: victim@example.net" },
		"subject, encoded": func(a *answer) { a.Subject = "=?utf-8?q?x=0D=0ABcc:_victim@example.net?=" },
		"name":             func(a *answer) { a.To[0].Name += evil },
		"name with quote":  func(a *answer) { a.To[0].Name = `x" <victim@example.net>, "y` },
		"in-reply-to added": func(a *answer) {
			a.InReplyTo = "<parent@example.org>"
			a.References = []string{"a@b" + evil, "root@example.org"}
		},
		"text":            func(a *answer) { a.Text = evil + "\r\n.\r\nMAIL FROM:<x@y>\r\n" },
		"subject, NUL":    func(a *answer) { a.Subject += "\x00Bcc: victim@example.net\x00" },
		"name, NUL":       func(a *answer) { a.To[0].Name += "\x00\r\nBcc: victim@example.net" },
		"name, encoded":   func(a *answer) { a.To[0].Name = "=?utf-8?q?=0D=0ABcc:_victim@example.net?=" },
		"text, NUL":       func(a *answer) { a.Text += "\x00\x01\x7f\u0085" },
		"references, NUL": func(a *answer) { a.References = append(a.References, "a\x00@b", "a@b\r\n Bcc: c@d") },
		"copies": func(a *answer) {
			a.Cc = []schemas.Address{{Name: evil, Address: "x@y.example" + evil}, {Address: "victim@example.net"}}
		},
		"unicode breaks": func(a *answer) { a.Subject = "x\u2028Bcc: victim@example.net\u0085X-Evil: 1" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := newAnswer()
			change(&given)
			message := send(t, given)
			if got := names(message); !slices.Equal(got, plain) {
				t.Errorf("header fields %q, want %q", got, plain)
			}
			if !slices.Equal(message.To, []string{"joerg@example.org"}) {
				t.Errorf("recipients %q", message.To)
			}
			header, _, _ := parse(t, message)
			if to, err := header.AddressList("To"); err != nil || len(to) != 1 || to[0].Address != "joerg@example.org" {
				t.Errorf("to %v, %v", to, err)
			}
		})
	}
}

func TestInReplyToThatIsNoIDIsLeftOut(t *testing.T) {
	t.Parallel()
	given := newAnswer()
	given.InReplyTo = "a@b\r\nBcc: victim@example.net"
	header, _, _ := parse(t, send(t, given))
	if header.Get("In-Reply-To") != "" || header.Get("Bcc") != "" {
		t.Errorf("In-Reply-To %q, Bcc %q", header.Get("In-Reply-To"), header.Get("Bcc"))
	}
	if want := "<root@example.org> <parent@example.org>"; header.Get("References") != want {
		t.Errorf("References %q, want %q", header.Get("References"), want)
	}
}

func TestUnusableArgumentsArePermanent(t *testing.T) {
	t.Parallel()
	many := make([]schemas.Address, mail.MaxRecipients+1)
	for i := range many {
		many[i].Address = "x@example.net"
	}
	tests := map[string]any{
		"no object":       []int{1},
		"unknown account": answer{Reply: schemas.Reply{Account: "other", To: many[:1]}, Text: "x"},
		"no recipient":    answer{Reply: schemas.Reply{Account: "support"}, Text: "x"},
		"too many":        answer{Reply: schemas.Reply{Account: "support", To: many}, Text: "x"},
		"no text":         answer{Reply: schemas.Reply{Account: "support", To: many[:1]}, Text: " \n"},
	}
	for _, address := range []string{
		"", "joerg", "joerg@example.org\r\nBcc: x@example.net", "joerg@example.org\n", "a@example.org, b@example.org",
		"Jörg <joerg@example.org>", "joerg@example.org (comment)", "joerg@example.org>\r\nRCPT TO:<x@example.net",
		strings.Repeat("x", 300) + "@example.org",
	} {
		tests["address "+address] = answer{Reply: schemas.Reply{
			Account: "support", To: []schemas.Address{{Address: address}},
		}, Text: "x"}
	}
	sink := startSink(t, smtpsink.Config{OnMessage: func(*smtpsink.Message) error {
		t.Error("a mail was sent")
		return nil
	}})
	agent := newAgent(t, sink)
	for name, given := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := agent.Handle(t.Context(), requestWith(t, given), ignore)
			failure := asFailure(t, err)
			if !failure.Permanent || !strings.HasPrefix(failure.Message, "Die Antwort lässt sich nicht senden") {
				t.Errorf("permanent %v, message %q", failure.Permanent, failure.Message)
			}
		})
	}
}

func TestRepeatedRecipientsGetOneMail(t *testing.T) {
	t.Parallel()
	given := newAnswer()
	given.To = append(given.To, schemas.Address{Address: "JOERG@example.org"}, schemas.Address{Address: "b@example.org"})
	if message := send(t, given); !slices.Equal(message.To, []string{"joerg@example.org", "b@example.org"}) {
		t.Errorf("recipients %q", message.To)
	}
}

func TestConfigErrorsNameTheAccount(t *testing.T) {
	t.Parallel()
	valid := mail.Account{Host: "mail.example.org", From: "a@example.org"}
	tests := map[string]func(*mail.Account){
		"no host":           func(a *mail.Account) { a.Host = "" },
		"host with a space": func(a *mail.Account) { a.Host = "mail example" },
		"no from":           func(a *mail.Account) { a.From = "" },
		"two from":          func(a *mail.Account) { a.From = "a@example.org, b@example.org" },
		"domain not ASCII":  func(a *mail.Account) { a.From = "a@grün.example" },
		"unknown TLS mode":  func(a *mail.Account) { a.TLS = "maybe" },
		"port":              func(a *mail.Account) { a.Port = 70000 },
		"timeout":           func(a *mail.Account) { a.Timeout = -1 },
		"password in clear": func(a *mail.Account) { a.TLS, a.Username, a.Password = mail.TLSNone, "u", "p" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			account := valid
			change(&account)
			_, err := mail.New(mail.Config{Accounts: map[string]mail.Account{"support": account}})
			if err == nil || !strings.Contains(err.Error(), `"support"`) {
				t.Errorf("got %v, want an error that names the account", err)
			}
		})
	}
	if _, err := mail.New(mail.Config{Accounts: map[string]mail.Account{"support": valid}}); err != nil {
		t.Errorf("the valid account is refused: %v", err)
	}
}
