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

// A replyError is an answer of the server that refuses. It does not hold the
// server's words, which may repeat addresses.
type replyError struct {
	code  int // 400–599
	stage string
}

func (e *replyError) Error() string {
	return fmt.Sprintf("%s: the server answered %d", e.stage, e.code)
}

// send delivers one letter. A nil error means that the server has confirmed it;
// a *replyError that it has refused it. After any other error it may have it or not.
func (s *sender) send(ctx context.Context, letter letter) error {
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
		return classify("connect", err)
	}
	message := letter.message()
	err = client.SendWithSMTPClient(session, message)
	if message.IsDelivered() {
		_ = session.Quit()
		return nil
	}
	return classify("send", err)
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
	if sending, ok := errors.AsType[*gomail.SendError](err); ok {
		if code := sending.ErrorCode(); code >= 400 && code <= 599 {
			return &replyError{code: code, stage: sending.Reason.String()}
		}
		return errors.New(stage + ": " + sending.Reason.String() + " failed without an answer")
	}
	var answered *textproto.Error
	if errors.As(err, &answered) && answered.Code >= 400 && answered.Code <= 599 {
		return &replyError{code: answered.Code, stage: stage}
	}
	return fmt.Errorf("%s: %w", stage, err)
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
