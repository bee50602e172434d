package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"podium/cleartext"
)

// The stages of sending that matter for what a refusal means.
const (
	connecting = "connect"   // before any address is said
	naming     = "recipient" // of those that the letter is for
)

// A replyError is an answer of the server that refuses. As an error it does not tell
// the server's words, which may repeat addresses.
type replyError struct {
	code  int // 400–599
	stage string
	said  string // what the server says, on one line: for the record and whoever reads that
	token bool   // it refuses a token, which may have lapsed
}

// final reports whether no other attempt can help. What is refused before anybody is
// named says nothing of the letter: a password can be mended.
func (e *replyError) final() bool { return e.code >= 500 && e.stage != connecting }

func (e *replyError) Error() string {
	return fmt.Sprintf("%s: the server answered %d", e.stage, e.code)
}

// An unknownError says that a letter is on its way or not: the connection broke
// between its last byte and the server's answer to it.
type unknownError struct{ error }

// Unwrap returns the cause.
func (e *unknownError) Unwrap() error { return e.error }

// send delivers one letter, once it is permitted, and returns it as it was sent; it
// is asked when the server has taken sender and recipients. A nil error means that
// the server has confirmed it; a *replyError that it has refused it; an
// *unknownError that it may have it or not. After any other error it has it not. An
// error of permit is returned as it is.
//
// A token that the server refuses is asked for once more, before anybody is named.
func (s *sender) send(ctx context.Context, letter *letter, permit func(context.Context) error) (raw []byte, err error) {
	raw, err = s.sendOnce(ctx, letter, permit)
	if refused, ok := errors.AsType[*replyError](err); ok && refused.token {
		if s.account.Discard != nil {
			s.account.Discard(letter.token)
		}
		return s.sendOnce(ctx, letter, permit)
	}
	return raw, err
}

// authenticationRefused is the answer to wrong credentials (RFC 4954, section 6).
const authenticationRefused = 535

func (s *sender) sendOnce(ctx context.Context, letter *letter, permit func(context.Context) error) ([]byte, error) {
	options, err := s.options(ctx, letter)
	if err != nil {
		return nil, err
	}
	// The library closes the connection of a failed greeting no more than it
	// looks at the context once connected: that is done here.
	var connection net.Conn
	unblock := func() bool { return true }
	defer func() {
		unblock()
		if connection != nil {
			_ = connection.Close()
		}
	}()
	dial := func(dialing context.Context, network, _ string) (net.Conn, error) {
		opened, err := s.dial(dialing, network)
		if err == nil {
			connection = opened
			unblock = context.AfterFunc(ctx, func() { _ = opened.Close() })
		}
		return opened, err
	}
	client, err := gomail.NewClient(s.account.Host, append(options, gomail.WithDialContextFunc(dial))...)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		err = classify(connecting, err)
		if refused, ok := errors.AsType[*replyError](err); ok {
			refused.token = s.account.Token != nil && refused.code == authenticationRefused
		}
		return nil, err
	}
	if err = s.address(session, letter); err != nil {
		return nil, err
	}
	raw, err := letter.write()
	if err != nil {
		return nil, err
	}
	if err = permit(ctx); err != nil {
		_ = session.Quit()
		return nil, err
	}
	if err = s.transmit(session, raw); err != nil {
		return nil, err
	}
	_ = session.Quit()
	return raw, nil
}

// address names sender and recipients to the server. All of those that the letter
// is for, or nobody, get it; a copy that is refused is left out.
func (s *sender) address(session *smtp.Client, letter *letter) error {
	if err := session.UpdateDeadline(s.account.Timeout); err != nil {
		return classify(connecting, err)
	}
	if err := session.Mail("<" + letter.from.Address + ">"); err != nil {
		return classify("sender", err)
	}
	for _, recipient := range letter.to {
		if err := session.Rcpt("<" + recipient.Address + ">"); err != nil {
			return classify(naming, err)
		}
	}
	var taken []*mail.Address
	for _, recipient := range letter.cc {
		err := classify("copy", session.Rcpt("<"+recipient.Address+">"))
		if _, refused := errors.AsType[*replyError](err); err != nil && !refused {
			return err
		}
		if err == nil {
			taken = append(taken, recipient)
		} else {
			letter.refused = append(letter.refused, recipient.Address)
		}
	}
	letter.cc = taken
	return nil
}

// transmit sends the letter itself.
func (s *sender) transmit(session *smtp.Client, raw []byte) error {
	if err := session.UpdateDeadline(s.account.Timeout); err != nil {
		return classify(connecting, err)
	}
	data, err := session.Data()
	if err != nil {
		return classify("data", err)
	}
	if _, err = data.Write(raw); err != nil {
		return classify("data", err) // without its end no server takes it
	}
	err = classify("end of data", data.Close())
	if _, refused := errors.AsType[*replyError](err); err != nil && !refused {
		return &unknownError{err}
	}
	return err
}

// dial connects, with TLS from the first byte when the account says so.
func (s *sender) dial(ctx context.Context, network string) (net.Conn, error) {
	address := net.JoinHostPort(s.account.Host, strconv.Itoa(s.account.Port))
	dialer := net.Dialer{Control: s.account.Control}
	if s.account.TLS == TLSImplicit {
		secure := tls.Dialer{NetDialer: &dialer, Config: s.tlsConfig()}
		return secure.DialContext(ctx, network, address)
	}
	if s.account.TLS == TLSNone {
		readable := cleartext.Control(s.account.Cleartext)
		dialer.Control = func(network, address string, conn syscall.RawConn) error {
			if s.account.Control != nil {
				if err := s.account.Control(network, address, conn); err != nil {
					return err
				}
			}
			return readable(network, address, conn)
		}
	}
	return dialer.DialContext(ctx, network, address)
}

func (s *sender) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: s.account.Host, RootCAs: s.account.Roots, MinVersion: tls.VersionTLS12}
}

func (s *sender) options(ctx context.Context, letter *letter) ([]gomail.Option, error) {
	options := []gomail.Option{
		gomail.WithPort(s.account.Port),
		gomail.WithTimeout(s.account.Timeout),
		gomail.WithTLSConfig(s.tlsConfig()),
		gomail.WithoutNoop(),
	}
	switch s.account.TLS {
	case TLSImplicit:
		options = append(options, gomail.WithSSL())
	case TLSNone:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	case TLSStart:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	switch {
	case s.account.Token != nil:
		token, err := s.account.Token(ctx)
		if err != nil {
			return nil, fmt.Errorf("get a token: %w", err)
		}
		letter.token = token
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthXOAUTH2),
			gomail.WithUsername(s.account.Username), gomail.WithPassword(token))
	case s.account.Username != "":
		options = append(options,
			gomail.WithOpportunisticSMTPAuth(s.account.TLS.mechanisms()...),
			gomail.WithUsername(s.account.Username),
			gomail.WithPassword(s.account.Password))
	}
	if ascii(letter) {
		options = append(options, gomail.WithoutSMTPUTF8())
	}
	return options, nil
}

// mechanisms are those by which a password is said, the best first. Without TLS the library
// says it in clear to localhost alone; here it was asked for the address before.
func (m TLSMode) mechanisms() []gomail.SMTPAuthType {
	if m == TLSNone {
		return []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc}
	}
	return []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin}
}

// classify tells a refusal from everything else, and keeps addresses and the
// server's words out of the error.
func classify(stage string, err error) error {
	if err == nil {
		return nil
	}
	if answered, ok := errors.AsType[*textproto.Error](err); ok && answered.Code >= 400 && answered.Code <= 599 {
		return &replyError{code: answered.Code, stage: stage, said: sentence(answered.Msg)}
	}
	if _, network := errors.AsType[net.Error](err); network || stage == connecting {
		return fmt.Errorf("%s: %w", stage, err)
	}
	return errors.New(stage + ": failed without an answer")
}

// maxSentence bounds what is kept of a server's answer, in characters: a line of one
// has at most 512 octets (RFC 5321, section 4.5.3.1.5).
const maxSentence = 512

// sentence puts what a server says on one line, without control characters.
func sentence(said string) string {
	said = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(said, "\uFFFD"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(said); len(runes) > maxSentence {
		return string(runes[:maxSentence-1]) + "…"
	}
	return said
}

// ascii reports whether the addresses do without SMTPUTF8 (RFC 6531).
func ascii(letter *letter) bool {
	return !slices.ContainsFunc(slices.Concat(letter.to, letter.cc, []*mail.Address{letter.from}), func(one *mail.Address) bool {
		return strings.ContainsFunc(one.Address, func(r rune) bool { return r >= 0x80 })
	})
}
