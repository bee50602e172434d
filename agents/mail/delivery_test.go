package mail_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
	"podium/schemas"
)

func TestRefusalsAreTemporaryOrPermanentByTheirCode(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		recipient, message error
		permanent          bool
		code               string
	}{
		"mailbox unknown":  {recipient: &smtpsink.Refusal{Code: 550, Text: "no joerg@example.org here"}, permanent: true, code: "550"},
		"greylisted":       {recipient: &smtpsink.Refusal{Code: 451, Text: "later"}, code: "451"},
		"content refused":  {message: &smtpsink.Refusal{Code: 554, Text: "spam"}, permanent: true, code: "554"},
		"no space":         {message: &smtpsink.Refusal{Code: 452, Text: "full"}, code: "452"},
		"failing receiver": {message: errors.New("joerg@example.org"), permanent: true, code: "554"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := startSink(t, smtpsink.Config{
				OnRecipient: func(string) error { return test.recipient },
				OnMessage:   func(*smtpsink.Message) error { return test.message },
			})
			_, err := newAgent(t, sink).Handle(t.Context(), requestWith(t, newAnswer()), ignore)
			failure := asFailure(t, err)
			if failure.Permanent != test.permanent || !strings.Contains(failure.Message, test.code) {
				t.Errorf("permanent %v, message %q", failure.Permanent, failure.Message)
			}
			if later := failure.Category == schemas.CategoryResource; later == test.permanent {
				t.Errorf("category %q", failure.Category)
			}
			if len(sink.Messages()) != 0 {
				t.Error("a refused message was kept")
			}
		})
	}
}

// What the server says is for the record: on one line, bounded, and in nothing that is
// logged, since it may say whom the letter was for.
func TestServersSentenceIsForTheRecord(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain":    "no joerg@example.org here",
		"controls": "no\tjoerg@example.org\x1b[31m \x07here",
		"long":     strings.Repeat("no joerg@example.org here ", 40),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := startSink(t, smtpsink.Config{OnRecipient: func(string) error { return &smtpsink.Refusal{Code: 550, Text: text} }})
			_, err := newAgent(t, sink).Handle(t.Context(), requestWith(t, newAnswer()), ignore)
			failure := asFailure(t, err)
			if !strings.Contains(failure.Message, "joerg@example.org") || strings.ContainsAny(failure.Message, "\x1b\x07\t\n") || len(failure.Message) > 700 {
				t.Errorf("the record gets %q", failure.Message)
			}
			if logged := failure.Err.Error(); strings.Contains(logged, "joerg") || !strings.Contains(logged, "550") {
				t.Errorf("the log gets %q", logged)
			}
		})
	}
}

func TestSecondAttemptAfterATemporaryRefusal(t *testing.T) {
	t.Parallel()
	var tried atomic.Int32
	sink := startSink(t, smtpsink.Config{OnMessage: func(*smtpsink.Message) error {
		if tried.Add(1) == 1 {
			return &smtpsink.Refusal{Code: 451, Text: "later"}
		}
		return nil
	}})
	agent := newAgent(t, sink)
	request := requestWith(t, newAnswer())
	if _, err := agent.Handle(t.Context(), request, ignore); asFailure(t, err).Permanent {
		t.Fatal("451 is said to be permanent")
	}
	request.Attempt = 2
	if _, err := agent.Handle(t.Context(), request, ignore); err != nil {
		t.Fatal(err)
	}
	if got := len(sink.Messages()); got != 1 {
		t.Errorf("%d messages were kept, want 1", got)
	}
}

// A connection that breaks after the last dot leaves the sender in doubt: the
// repeat must be recognizable as the same mail.
func TestCutAfterTheLastDotIsRepeatedUnderTheSameMessageID(t *testing.T) {
	t.Parallel()
	var tried atomic.Int32
	sink := startSink(t, smtpsink.Config{OnMessage: func(*smtpsink.Message) error {
		if tried.Add(1) == 1 {
			return smtpsink.ErrKeepAndCut
		}
		return nil
	}})
	agent := newAgent(t, sink)
	request := requestWith(t, newAnswer())
	_, err := agent.Handle(t.Context(), request, ignore)
	if failure := asFailure(t, err); failure.Permanent || !strings.Contains(failure.Message, "nicht bestätigt") {
		t.Fatalf("permanent %v, message %q", failure.Permanent, failure.Message)
	}
	request.Attempt = 2
	if _, err := agent.Handle(t.Context(), request, ignore); err != nil {
		t.Fatal(err)
	}
	kept := sink.Messages()
	if len(kept) != 2 {
		t.Fatalf("%d messages were kept, want 2", len(kept))
	}
	first, second := kept[0].Header().Get("Message-ID"), kept[1].Header().Get("Message-ID")
	if first == "" || first != second {
		t.Errorf("message ids %q and %q", first, second)
	}
}

func TestCutThatLosesTheMailIsTemporary(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{OnMessage: func(*smtpsink.Message) error { return smtpsink.ErrCut }})
	_, err := newAgent(t, sink).Handle(t.Context(), requestWith(t, newAnswer()), ignore)
	if asFailure(t, err).Permanent || len(sink.Messages()) != 0 {
		t.Errorf("permanent, or kept %d messages", len(sink.Messages()))
	}
}

func TestAuthenticationAndEncryption(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(nil) // for its certificate of 127.0.0.1
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	certificate := &tls.Config{Certificates: server.TLS.Certificates, MinVersion: tls.VersionTLS12}

	tests := map[string]struct {
		sink    smtpsink.Config
		account func(*mail.Account)
		refused string // what the failure says; empty when it must succeed
		user    string
		tls     bool
	}{
		"password on this machine": {
			sink:    smtpsink.Config{Username: "u", Password: "p"},
			account: func(a *mail.Account) { a.Username, a.Password = "u", "p" },
			user:    "u",
		},
		"wrong password": {
			sink:    smtpsink.Config{Username: "u", Password: "p"},
			account: func(a *mail.Account) { a.Username, a.Password = "u", "wrong" },
			refused: "535",
		},
		"no password": {
			sink:    smtpsink.Config{Username: "u", Password: "p"},
			account: func(*mail.Account) {},
			refused: "502",
		},
		"STARTTLS": {
			sink:    smtpsink.Config{Username: "u", Password: "p", TLS: certificate},
			account: func(a *mail.Account) { a.TLS, a.Roots, a.Username, a.Password = mail.TLSStart, roots, "u", "p" },
			user:    "u", tls: true,
		},
		"implicit TLS": {
			sink:    smtpsink.Config{Username: "u", Password: "p", TLS: certificate, Implicit: true},
			account: func(a *mail.Account) { a.TLS, a.Roots, a.Username, a.Password = mail.TLSImplicit, roots, "u", "p" },
			user:    "u", tls: true,
		},
		"STARTTLS not offered": {
			account: func(a *mail.Account) { a.TLS = "" },
			refused: "keine brauchbare Verbindung",
		},
		"unknown certificate": {
			sink:    smtpsink.Config{TLS: certificate},
			account: func(a *mail.Account) { a.TLS, a.Roots = mail.TLSStart, x509.NewCertPool() },
			refused: "keine brauchbare Verbindung",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := startSink(t, test.sink)
			_, err := newAgent(t, sink, test.account).Handle(t.Context(), requestWith(t, newAnswer()), ignore)
			kept := sink.Messages()
			if test.refused != "" {
				if failure := asFailure(t, err); !strings.Contains(failure.Message, test.refused) {
					t.Errorf("message %q, want %q in it", failure.Message, test.refused)
				}
				if len(kept) != 0 {
					t.Error("the mail was sent all the same")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(kept) != 1 || kept[0].User != test.user || kept[0].TLS != test.tls {
				t.Errorf("kept %+v", kept)
			}
		})
	}
}

// TestTroubleIsToldAsItIs: people read what became of the letter, with what the server, the resolver or the network says, and whether it was an answer or a question; that a server has confirmed
// nothing is said of a letter that it has got, and of no other.
func TestTroubleIsToldAsItIs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sink    smtpsink.Config
		account func(*mail.Account)
		closed  bool
		want    string // about an answer
	}{
		"connection refused": {closed: true, want: "Der Mail-Server ist nicht erreichbar: er weist die Verbindung ab (connect: dial tcp 127.0.0.1:"},
		"no such name": {
			account: func(a *mail.Account) { a.Host, a.Cleartext = "no..such", func(netip.Addr) bool { return true } },
			want:    "Der Mail-Server ist nicht zu finden: seinen Namen gibt es nicht (connect: dial tcp: lookup no..such",
		},
		"no STARTTLS": {
			account: func(a *mail.Account) { a.TLS = mail.TLSStart },
			want:    "Zum Mail-Server besteht keine brauchbare Verbindung (connect: STARTTLS mode set to: \"TLSMandatory\", but target host does not support STARTTLS). Die Antwort ging nicht hinaus.",
		},
		"wrong password": {
			sink: smtpsink.Config{Username: "u", Password: "p"}, account: func(a *mail.Account) { a.Username, a.Password = "u", "wrong" },
			want: "Der Mail-Server lässt das Konto nicht senden (SMTP 535: ",
		},
		"recipient refused": {
			sink: smtpsink.Config{OnRecipient: func(string) error { return &smtpsink.Refusal{Code: 550, Text: "nobody here"} }},
			want: "Der Mail-Server nimmt für einen Empfänger der Antwort keine Mail an (SMTP 550: 5.0.0 nobody here).",
		},
		"recipient later": {
			sink: smtpsink.Config{OnRecipient: func(string) error { return &smtpsink.Refusal{Code: 451, Text: "later"} }},
			want: "Der Mail-Server nimmt die Antwort gerade nicht an (SMTP 451: 4.0.0 later).",
		},
		"letter refused": {
			sink: smtpsink.Config{OnMessage: func(*smtpsink.Message) error { return &smtpsink.Refusal{Code: 554, Text: "spam"} }},
			want: "Der Mail-Server hat die Antwort abgelehnt (SMTP 554: 5.0.0 spam).",
		},
		"no word after the letter": {
			sink: smtpsink.Config{OnMessage: func(*smtpsink.Message) error { return smtpsink.ErrCut }},
			want: "Der Mail-Server hat die Annahme der Antwort nicht bestätigt (end of data: failed without an answer); sie kann trotzdem angekommen sein.",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink, err := smtpsink.Start(t.Context(), test.sink)
			if err != nil {
				t.Fatal(err)
			}
			var change []func(*mail.Account)
			if test.account != nil {
				change = append(change, test.account)
			}
			agent := newAgent(t, sink, change...)
			if !test.closed {
				defer func() { _ = sink.Close() }()
			} else if err = sink.Close(); err != nil {
				t.Fatal(err)
			}
			_, err = agent.Handle(t.Context(), requestWith(t, newAnswer()), ignore)
			if told := asFailure(t, err).Message; !strings.HasPrefix(told, test.want) {
				t.Errorf("of an answer: %q, want %q", told, test.want)
			}
			question := newAnswer()
			question.Inquiry = 1
			_, err = agent.Handle(t.Context(), requestWith(t, question), ignore)
			if told, want := asFailure(t, err).Message, strings.ReplaceAll(test.want, "Antwort", "Frage"); !strings.HasPrefix(told, want) {
				t.Errorf("of a question: %q, want %q", told, want)
			}
		})
	}
}

func TestUnreachableServerIsTemporary(t *testing.T) {
	t.Parallel()
	sink, err := smtpsink.Start(t.Context(), smtpsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	agent := newAgent(t, sink)
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = agent.Handle(t.Context(), requestWith(t, newAnswer()), ignore)
	mustBeForLater(t, err)
}

// mustBeForLater: the letter was surely not sent, and its answer is not lost by a
// server that is away for hours.
func mustBeForLater(t *testing.T, err error) {
	t.Helper()
	if failure := asFailure(t, err); failure.Permanent || failure.Unknown || failure.Category != schemas.CategoryResource {
		t.Errorf("permanent %v, unknown %v, category %q", failure.Permanent, failure.Unknown, failure.Category)
	}
}

// listenSilently accepts connections and says nothing, as a half-open server does.
func listenSilently(t *testing.T, accepted chan<- struct{}) *net.TCPAddr {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			defer connection.Close() //nolint:errcheck // it carried nothing
			accepted <- struct{}{}
		}
	}()
	return listener.Addr().(*net.TCPAddr)
}

func silentAgent(t *testing.T, address *net.TCPAddr, timeout time.Duration) *mail.Agent {
	t.Helper()
	agent, err := mail.New(mail.Config{Accounts: map[string]mail.Account{"support": {
		Host: address.IP.String(), Port: address.Port, TLS: mail.TLSNone, From: "a@example.com", Timeout: timeout,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

func TestSilentServerEndsAtTheTimeout(t *testing.T) {
	t.Parallel()
	agent := silentAgent(t, listenSilently(t, make(chan struct{}, 1)), 50*time.Millisecond)
	_, err := agent.Handle(t.Context(), requestWith(t, newAnswer()), ignore)
	mustBeForLater(t, err)
}

func TestCancelInterruptsASilentServer(t *testing.T) {
	t.Parallel()
	accepted := make(chan struct{}, 1)
	agent := silentAgent(t, listenSilently(t, accepted), time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-accepted
		cancel()
	}()
	_, err := agent.Handle(ctx, requestWith(t, newAnswer()), ignore)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
