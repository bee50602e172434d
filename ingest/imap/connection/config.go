package connection

import (
	"cmp"
	"context"
	"crypto/tls"
	"net/netip"
	"syscall"
	"time"
)

// Security says how a connection is protected.
type Security string

// The kinds of protection.
const (
	SecurityTLS      Security = "implicit" // from the first byte (RFC 8314)
	SecurityStartTLS Security = "starttls" // STARTTLS before the credentials
	SecurityNone     Security = "none"     // on loopback, or where Cleartext allows it
)

// A Config says how one mailbox is reached. The zero value of a field means its
// default.
type Config struct {
	Account string // the name of the account in the configuration; it stands in event ids

	Host     string
	Port     int      // default 993, or 143 without SecurityTLS
	Security Security // default SecurityTLS
	// Cleartext reports to which addresses SecurityNone may go, credentials included. It is
	// asked for the one that is connected to, whatever its name was resolved to before.
	// Default: those of this machine.
	Cleartext func(netip.Addr) bool
	TLS       *tls.Config // default: the system's certificates
	// Control, unless nil, has a say on every address that is about to be connected to, as that of a net.Dialer.
	Control func(network, address string, conn syscall.RawConn) error

	Username string
	Password func(ctx context.Context) (string, error) // asked at every connection
	// Token, when it is set, stands in for Password: an access token of OAuth 2 and
	// when it ends, before which the connection is replaced; zero is never. An error
	// that is ErrAuthentication is the refusal to give one.
	Token func(ctx context.Context) (token string, expires time.Time, err error)
	// Discard is told a token that the server has refused; nil is nobody.
	Discard func(token string)
	Mailbox string // default INBOX
	// ReadOnly opens the mailbox so that nothing can be changed in it (EXAMINE).
	// An adapter needs it open for writing only to flag and to move.
	ReadOnly bool

	Heartbeat       time.Duration // between signs of life that are asked for while waiting; default 25 s
	AnswerDeadline  time.Duration // without a byte while an answer is due; default 30 s
	CommandDeadline time.Duration // for one command as a whole; default 10 min
	Clock           func() time.Time
}

// WithDefaults returns a copy without zero values.
func (c Config) WithDefaults() Config {
	c.Security = cmp.Or(c.Security, SecurityTLS)
	standard := 143
	if c.Security == SecurityTLS {
		standard = 993
	}
	c.Port = cmp.Or(c.Port, standard)
	c.Mailbox = cmp.Or(c.Mailbox, "INBOX")
	c.Heartbeat = cmp.Or(c.Heartbeat, 25*time.Second)
	c.AnswerDeadline = cmp.Or(c.AnswerDeadline, 30*time.Second)
	c.CommandDeadline = cmp.Or(c.CommandDeadline, 10*time.Minute)
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c
}
