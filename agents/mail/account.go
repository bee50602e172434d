package mail

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"podium/cleartext"
	"podium/schemas"
)

// DefaultTimeout bounds each step of sending: to connect, and then to send.
const DefaultTimeout = 30 * time.Second

// TLSMode says how a connection to the server is encrypted.
type TLSMode string

// The TLS modes.
const (
	TLSStart    TLSMode = "starttls" // STARTTLS before anything is said, or nothing is sent (RFC 3207); the default
	TLSImplicit TLSMode = "implicit" // TLS from the first byte (RFC 8314)
	TLSNone     TLSMode = "none"     // no encryption; only to where Account.Cleartext allows it
)

// An Account is one way to send.
type Account struct {
	Host string
	Port int // 0 means 587 for starttls, 465 for implicit and 25 for none
	TLS  TLSMode
	// Cleartext reports to which addresses TLSNone may go, password included. It is asked
	// for the one that is connected to, whatever its name was resolved to before. Nil
	// means those of this machine.
	Cleartext func(netip.Addr) bool
	// Control, unless nil, has the last word on every address that is about to be connected to, as that of a net.Dialer.
	Control  func(network, address string, conn syscall.RawConn) error
	Username string // empty: no authentication
	Password string // for SCRAM-SHA-256, PLAIN or LOGIN
	// Token, unless nil, returns the token for XOAUTH2 instead of a password. It is
	// called once for each connection. When the server refuses what it gave, Discard,
	// unless nil, is told so, and it is called once more.
	Token   func(ctx context.Context) (string, error)
	Discard func(token string)
	From    string   // "Name <address>" or an address; its domain is also that of the Message-IDs
	Own     []string // addresses besides From that mail to this account has: nothing is sent there
	// Sign, unless nil, returns what stands before the "@" of the Message-ID of a letter:
	// it begins with the effect id and ".". Without it, or for a run that it does not
	// take, the effect id alone stands there.
	Sign func(effect string, letter schemas.Letter) (string, error)
	// Copies are who may get a copy of an answer, besides the sender of the letter
	// that is answered, when that letter named them: addresses, or domains such as
	// @example.org.
	Copies []string
	// Plain leaves the HTML beside the plain text away.
	Plain bool
	// Templates stand around every answer, by language (an ISO 639 code) or
	// OtherLanguages.
	Templates map[string]Template
	// AttachmentLimit bounds the attachments of one letter, in bytes; 0 means
	// DefaultAttachmentLimit, and less than 0 that nothing is attached.
	AttachmentLimit int64
	Limits          Limits
	// Outbox is the folder of sent mail; nil when there is none.
	Outbox Outbox
	Sent   Sent
	// Settle is how long a server with SentServer is given to store what it has taken,
	// before a letter counts as uncertain; 0 means DefaultSettle.
	Settle time.Duration
	// Timeout bounds connecting, and then sending; 0 means DefaultTimeout.
	Timeout time.Duration
	// Roots are trusted instead of the system's certificate authorities, unless nil.
	Roots *x509.CertPool
}

// A sender is a checked account.
type sender struct {
	name    string
	account Account
	from    *mail.Address
	domain  string
	copies  []string // in lower case
	rate    *window  // nil: there is no bound
	peers   *window  // of answers, by mailbox
	// Questions to people of the configuration have windows of their own: requesters, by mailbox and requester,
	// and people, by mailbox.
	requesters, people *window
}

func newSender(name string, account Account) (*sender, error) {
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
	made := &sender{
		name: name, account: account, from: from, domain: domain,
		peers:      newWindow(time.Hour, account.Limits.PeerPerHour),
		requesters: newWindow(time.Hour, account.Limits.PeerPerHour),
		people:     newWindow(time.Hour, askedFactor*account.Limits.PeerPerHour),
	}
	if account.Limits.PerMinute > 0 {
		made.rate = newWindow(time.Minute, account.Limits.PerMinute)
	}
	for _, entry := range account.Copies {
		made.copies = append(made.copies, strings.ToLower(entry))
	}
	return made, nil
}

// complete fills in what is not said and checks the rest.
func (a *Account) complete() error {
	ports := map[TLSMode]int{TLSStart: 587, TLSImplicit: 465, TLSNone: 25}
	a.TLS = cmp.Or(a.TLS, TLSStart)
	port, known := ports[a.TLS]
	if !known {
		return fmt.Errorf("tls is %q; it must be starttls, implicit or none", a.TLS)
	}
	if a.Port = cmp.Or(a.Port, port); a.Port < 1 || a.Port > 65535 {
		return fmt.Errorf("port %d is not between 1 and 65535", a.Port)
	}
	if a.Timeout = cmp.Or(a.Timeout, DefaultTimeout); a.Timeout < 0 {
		return errors.New("the timeout is negative")
	}
	if a.TLS == TLSNone && a.Cleartext == nil && a.Username != "" && !cleartext.Here(a.Host) {
		return errors.New("a password without encryption goes to this machine only; set tls to starttls or implicit")
	}
	if a.Token != nil && a.Username == "" {
		return errors.New("a token needs a username")
	}
	return a.completeDelivery()
}

// completeDelivery fills in and checks what is no matter of the connection.
func (a *Account) completeDelivery() error {
	for _, entry := range a.Copies {
		if err := CheckCopy(entry); err != nil {
			return fmt.Errorf("copies: %w", err)
		}
	}
	if a.Limits.PeerPerHour < 0 || a.Limits.PerMinute < 0 || a.Settle < 0 {
		return errors.New("a limit is negative")
	}
	a.Limits.PeerPerHour = cmp.Or(a.Limits.PeerPerHour, DefaultPeerPerHour)
	a.AttachmentLimit = cmp.Or(a.AttachmentLimit, DefaultAttachmentLimit)
	a.Settle = cmp.Or(a.Settle, DefaultSettle)
	switch {
	case a.Sent == "" && a.Outbox == nil:
		a.Sent = SentNone
	case a.Sent == "":
		a.Sent = SentAppend
	case a.Sent == SentAppend && a.Outbox == nil:
		return errors.New("there is no folder that sent mail could be put into")
	case a.Sent != SentAppend && a.Sent != SentServer && a.Sent != SentNone:
		return fmt.Errorf("sent is %q; it must be append, server or none", a.Sent)
	}
	return checkTemplates(a.Templates)
}
