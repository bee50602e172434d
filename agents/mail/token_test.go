package mail_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
)

// tokens hands out "t1", "t2" and so on.
func tokens(asked *atomic.Int32) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return fmt.Sprint("t", asked.Add(1)), nil }
}

func TestTokens_I14(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		takes   string
		asked   int32
		refused bool
	}{
		"taken at once":            {takes: "t1", asked: 1},
		"a fresh one is asked for": {takes: "t2", asked: 2},
		"but only once":            {takes: "t3", asked: 2, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			var discarded []string
			sink := startSink(t, smtpsink.Config{Username: "u", Token: func(token string) bool { return token == test.takes }})
			agent := newAgent(t, sink, func(a *mail.Account) {
				a.Username, a.Token = "u", tokens(&asked)
				a.Discard = func(token string) { discarded = append(discarded, token) }
			})
			_, err := agent.Handle(t.Context(), requestWith(t, newAnswer()), ignore)
			if test.refused {
				if failure := asFailure(t, err); failure.Permanent || !strings.Contains(failure.Message, "535") {
					t.Errorf("permanent %v, %q", failure.Permanent, failure.Message)
				}
			} else if kept := sink.Messages(); err != nil || len(kept) != 1 || kept[0].User != "u" {
				t.Errorf("%d letters, %v", len(kept), err)
			}
			if want := test.asked == 2; want != slices.Equal(discarded, []string{"t1"}) || !want && discarded != nil {
				t.Errorf("discarded %q", discarded)
			}
			if asked.Load() != test.asked {
				t.Errorf("a token was asked for %d times, want %d", asked.Load(), test.asked)
			}
		})
	}
}

func TestNoTokenIsAFailureForNow(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{Username: "u", Token: func(string) bool { return true }})
	agent := newAgent(t, sink, func(a *mail.Account) {
		a.Username, a.Token = "u", func(context.Context) (string, error) { return "", errors.New("the token server is down") }
	})
	_, err := agent.Handle(t.Context(), requestWith(t, newAnswer()), ignore)
	if failure := asFailure(t, err); failure.Permanent || len(sink.Messages()) != 0 {
		t.Errorf("permanent %v, %d letters", failure.Permanent, len(sink.Messages()))
	}
}

// Whatever goes wrong before the last dot, nothing is in doubt; what is said with
// 4xx may be tried again, and with 5xx not.
func TestEveryStageFailsInItsWay(t *testing.T) {
	t.Parallel()
	refuse := func(code int) error { return &smtpsink.Refusal{Code: code, Text: "joerg@example.org"} }
	for stage, config := range map[string]func(int) smtpsink.Config{
		"sender": func(code int) smtpsink.Config {
			return smtpsink.Config{OnSender: func(string) error { return refuse(code) }}
		},
		"recipient": func(code int) smtpsink.Config {
			return smtpsink.Config{OnRecipient: func(string) error { return refuse(code) }}
		},
		"end of data": func(code int) smtpsink.Config {
			return smtpsink.Config{OnMessage: func(*smtpsink.Message) error { return refuse(code) }}
		},
	} {
		for _, code := range []int{421, 450, 452, 500, 550, 554} {
			t.Run(fmt.Sprint(stage, " ", code), func(t *testing.T) {
				t.Parallel()
				sink := startSink(t, config(code))
				_, err := newAgent(t, sink).Handle(t.Context(), requestWith(t, newAnswer()), ignore)
				failure := asFailure(t, err)
				if failure.Permanent != (code >= 500) || failure.Unknown || !strings.Contains(failure.Error(), stage) {
					t.Errorf("permanent %v, unknown %v: %v", failure.Permanent, failure.Unknown, err)
				}
			})
		}
	}
}

// A server that takes too long for its answer to the last dot leaves a doubt.
func TestASlowServerLeavesADoubt(t *testing.T) {
	t.Parallel()
	waiting := make(chan struct{})
	var sent atomic.Bool
	sink := startSink(t, smtpsink.Config{OnMessage: func(*smtpsink.Message) error {
		sent.Store(true)
		<-waiting
		return nil
	}})
	t.Cleanup(func() { close(waiting) })
	var err error
	for timeout := time.Second; !sent.Load(); timeout *= 2 { // a busy machine needs longer for the message
		agent := newAgent(t, sink, func(a *mail.Account) { a.Timeout = timeout })
		_, err = agent.Handle(t.Context(), requestWith(t, newAnswer()), ignore)
	}
	if failure := asFailure(t, err); failure.Permanent || !failure.Unknown {
		t.Errorf("permanent %v, unknown %v", failure.Permanent, failure.Unknown)
	}
}

// Without the encryption that the account asks for, no name, password or word is said.
func TestEncryptionThatBreaksSaysNothing(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(nil)
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	certificate := &tls.Config{Certificates: server.TLS.Certificates, MinVersion: tls.VersionTLS12}
	broken := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return nil, errors.New("no certificate")
	}}
	for name, test := range map[string]struct {
		sink smtpsink.Config
		mode mail.TLSMode
		host string
	}{
		"STARTTLS not offered":      {mode: mail.TLSStart},
		"broken STARTTLS":           {sink: smtpsink.Config{TLS: broken}, mode: mail.TLSStart},
		"broken TLS":                {sink: smtpsink.Config{TLS: broken, Implicit: true}, mode: mail.TLSImplicit},
		"TLS to a server without":   {mode: mail.TLSImplicit},
		"certificate of another":    {sink: smtpsink.Config{TLS: certificate}, mode: mail.TLSStart, host: "localhost"},
		"certificate of another, 2": {sink: smtpsink.Config{TLS: certificate, Implicit: true}, mode: mail.TLSImplicit, host: "localhost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := false
			test.sink.Username, test.sink.Password = "u", "p"
			test.sink.OnSender = func(string) error { said = true; return nil }
			sink := startSink(t, test.sink)
			agent := newAgent(t, sink, func(a *mail.Account) {
				a.TLS, a.Roots, a.Username, a.Password, a.Timeout = test.mode, roots, "u", "p", 2*time.Second
				if test.host != "" {
					a.Host = test.host
				}
			})
			_, err := agent.Handle(t.Context(), requestWith(t, newAnswer()), ignore)
			if failure := asFailure(t, err); failure.Permanent || failure.Unknown || said || len(sink.Messages()) != 0 {
				t.Errorf("permanent %v, unknown %v, said %v", failure.Permanent, failure.Unknown, said)
			}
		})
	}
}
