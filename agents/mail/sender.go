package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// DefaultTimeout bounds each step of sending: to connect, and then to send.
const DefaultTimeout = 30 * time.Second

// TLSMode says how a connection to the server is encrypted.
type TLSMode string

// The TLS modes.
const (
	TLSStart    TLSMode = "starttls" // STARTTLS before anything is said, or nothing is sent (RFC 3207); the default
	TLSImplicit TLSMode = "implicit" // TLS from the first byte (RFC 8314)
	TLSNone     TLSMode = "none"     // no encryption; a password goes to this machine only
)

// An Account is one way to send.
type Account struct {
	Host     string
	Port     int // 0 means 587 for starttls, 465 for implicit and 25 for none
	TLS      TLSMode
	Username string // empty: no authentication
	Password string
	From     string // "Name <address>" or an address; its domain is also that of the Message-IDs
	// Timeout bounds connecting, and then sending; 0 means DefaultTimeout.
	Timeout time.Duration
	// Roots are trusted instead of the system's certificate authorities, unless nil.
	Roots *x509.CertPool
}

// A sender is a checked account.
type sender struct {
	account Account
	from    *mail.Address
	domain  string
}

func newSender(account Account) (*sender, error) {
	if account.Host == "" || strings.ContainsAny(account.Host, " \r\n\t/") {
		return nil, errors.New("smtp host is not a host name")
	}
	from, err := mail.ParseAddress(account.From)
	if err != nil {
		return nil, fmt.Errorf("from is not a mail address: %w", err)
	}
	if _, err := parseAddress(from.Address); err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	domain := from.Address[strings.LastIndexByte(from.Address, '@')+1:]
	if strings.ContainsFunc(domain, func(r rune) bool { return r >= 0x80 }) {
		return nil, errors.New("the domain of from is not ASCII; write its xn-- form")
	}
	if err := account.complete(); err != nil {
		return nil, err
	}
	return &sender{account: account, from: from, domain: domain}, nil
}

// complete fills in what is not said and checks the rest.
func (a *Account) complete() error {
	ports := map[TLSMode]int{TLSStart: 587, TLSImplicit: 465, TLSNone: 25}
	if a.TLS == "" {
		a.TLS = TLSStart
	}
	port, known := ports[a.TLS]
	if !known {
		return fmt.Errorf("tls is %q; it must be starttls, implicit or none", a.TLS)
	}
	if a.Port == 0 {
		a.Port = port
	}
	if a.Port < 1 || a.Port > 65535 {
		return fmt.Errorf("port %d is not between 1 and 65535", a.Port)
	}
	if a.Timeout < 0 {
		return errors.New("the timeout is negative")
	}
	if a.Timeout == 0 {
		a.Timeout = DefaultTimeout
	}
	local := a.Host == "localhost" || a.Host == "127.0.0.1" || a.Host == "::1"
	if a.TLS == TLSNone && a.Username != "" && !local {
		return errors.New("a password without encryption goes to this machine only; set tls to starttls or implicit")
	}
	return nil
}

// connecting is the stage before any address is said.
const connecting = "connect"

// A replyError is an answer of the server that refuses. It does not hold the
// server's words, which may repeat addresses.
type replyError struct {
	code  int // 400–599
	stage string
}

func (e *replyError) Error() string {
	return fmt.Sprintf("%s: the server answered %d", e.stage, e.code)
}

// An unknownError says that a letter is on its way or not: the connection broke
// between its last byte and the server's answer to it.
type unknownError struct{ error }

// Unwrap returns the cause.
func (e *unknownError) Unwrap() error { return e.error }

// send delivers one letter, once it is permitted; it is asked when the server has
// taken sender and recipients. A nil error means that the server has confirmed
// it; a *replyError that it has refused it; an *unknownError that it may have it
// or not. After any other error it has it not. An error of permit is returned as
// it is.
func (s *sender) send(ctx context.Context, letter letter, permit func(context.Context) error) error {
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
	client, err := gomail.NewClient(s.account.Host, append(s.options(letter), gomail.WithDialContextFunc(dial))...)
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return classify(connecting, err)
	}
	if err = s.address(session, letter); err != nil {
		return err
	}
	if err = permit(ctx); err != nil {
		_ = session.Quit()
		return err
	}
	if err = s.transmit(session, letter); err != nil {
		return err
	}
	_ = session.Quit()
	return nil
}

// address names sender and recipients to the server. All of them, or nobody, get
// the letter.
func (s *sender) address(session *smtp.Client, letter letter) error {
	if err := session.UpdateDeadline(s.account.Timeout); err != nil {
		return classify(connecting, err)
	}
	if err := session.Mail("<" + letter.from.Address + ">"); err != nil {
		return classify("sender", err)
	}
	for _, recipient := range letter.to {
		if err := session.Rcpt("<" + recipient.Address + ">"); err != nil {
			return classify("recipient", err)
		}
	}
	return nil
}

// transmit sends the letter itself.
func (s *sender) transmit(session *smtp.Client, letter letter) error {
	if err := session.UpdateDeadline(s.account.Timeout); err != nil {
		return classify(connecting, err)
	}
	data, err := session.Data()
	if err != nil {
		return classify("data", err)
	}
	if _, err = letter.message().WriteTo(data); err != nil {
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
	if s.account.TLS == TLSImplicit {
		dialer := tls.Dialer{Config: s.tlsConfig()}
		return dialer.DialContext(ctx, network, address)
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, address)
}

func (s *sender) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: s.account.Host, RootCAs: s.account.Roots, MinVersion: tls.VersionTLS12}
}

func (s *sender) options(letter letter) []gomail.Option {
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
	if s.account.Username != "" {
		options = append(options,
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin),
			gomail.WithUsername(s.account.Username),
			gomail.WithPassword(s.account.Password))
	}
	if ascii(letter) {
		options = append(options, gomail.WithoutSMTPUTF8())
	}
	return options
}

// classify tells a refusal from everything else, and keeps addresses and the
// server's words out of the error.
func classify(stage string, err error) error {
	if err == nil {
		return nil
	}
	var answered *textproto.Error
	if errors.As(err, &answered) && answered.Code >= 400 && answered.Code <= 599 {
		return &replyError{code: answered.Code, stage: stage}
	}
	if _, network := errors.AsType[net.Error](err); network || stage == connecting {
		return fmt.Errorf("%s: %w", stage, err)
	}
	return errors.New(stage + ": failed without an answer")
}

// ascii reports whether the addresses do without SMTPUTF8 (RFC 6531).
func ascii(letter letter) bool {
	for _, address := range append(slices.Clip(letter.to), letter.from) {
		for i := range len(address.Address) {
			if address.Address[i] >= 0x80 {
				return false
			}
		}
	}
	return true
}
