package connection

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	goimap "github.com/emersion/go-imap/v2"
)

// renewBefore is how long before its token ends a connection is replaced; of a
// token that lives shortly, a tenth of what is left to it.
const renewBefore = 2 * time.Minute

// ErrToken reports that whoever gives tokens could not be asked.
var ErrToken = errors.New("no access token is to be had: its provider does not answer as it should")

// The mechanisms of OAuth 2. Microsoft 365 has only the older one.
const (
	mechanismBearer  = "OAUTHBEARER" // RFC 7628
	mechanismXOAUTH2 = "XOAUTH2"
)

func (c *client) login(ctx context.Context) error {
	if c.imap.State() != goimap.ConnStateNotAuthenticated {
		return nil
	}
	authenticate, refuse, err := c.credentials(ctx)
	if err != nil {
		return fmt.Errorf("credentials of account %q: %w", c.config.Account, err)
	}
	err = c.run(ctx, "LOGIN", func() error {
		if err := authenticate(); err != nil {
			return err
		}
		c.announces = c.imap.Caps().Has(goimap.CapIdle)
		return nil
	})
	inTrouble := refusedWith(err, goimap.ResponseCodeUnavailable, goimap.ResponseCodeLimit,
		goimap.ResponseCodeInUse, goimap.ResponseCodeServerBug)
	if Refused(err) && !inTrouble { // RFC 5530
		refuse()
		return fmt.Errorf("%w: %w", ErrAuthentication, err)
	}
	return err
}

// credentials returns how to log in with what the configuration has, and what to
// do when the server refuses it.
func (c *client) credentials(ctx context.Context) (authenticate func() error, refuse func(), err error) {
	refuse = func() {}
	if c.config.Token == nil {
		password, err := c.config.Password(ctx)
		return func() error { return c.imap.Login(c.config.Username, password).Wait() }, refuse, err
	}
	token, expires, err := c.config.Token(ctx)
	if err != nil && !errors.Is(err, ErrAuthentication) {
		err = fmt.Errorf("%w: %w", ErrToken, err)
	}
	if err != nil {
		return nil, nil, err
	}
	if c.config.Discard != nil {
		refuse = func() { c.config.Discard(token) }
	}
	if !expires.IsZero() {
		c.renew = expires.Add(-min(renewBefore, max(0, expires.Sub(c.config.Clock()))/10))
	}
	authenticate = func() error {
		bearer := &tokenClient{mechanism: mechanismXOAUTH2, username: c.config.Username, token: token}
		if c.imap.Caps().Has(goimap.AuthCap(mechanismBearer)) {
			bearer.mechanism = mechanismBearer
		}
		err := c.imap.Authenticate(bearer)
		if err != nil && bearer.refused {
			err = &goimap.Error{Type: goimap.StatusResponseTypeNo, Code: goimap.ResponseCodeAuthenticationFailed}
		}
		return err
	}
	return authenticate, refuse, nil
}

// Renew implements MailSource.
func (c *client) Renew() time.Time { return c.renew }

// tokenClient is the client of OAUTHBEARER (RFC 7628) and of XOAUTH2, as Google and
// Microsoft describe it. The library's own takes a refusal for a broken protocol.
type tokenClient struct {
	mechanism, username, token string
	refused                    bool // the server has said why it refuses
}

// Start implements sasl.Client.
func (t *tokenClient) Start() (mechanism string, initial []byte, err error) {
	text := "user=" + t.username + "\x01auth=Bearer " + t.token + "\x01\x01"
	if t.mechanism == mechanismBearer {
		name := strings.NewReplacer("=", "=3D", ",", "=2C").Replace(t.username)
		text = "n,a=" + name + ",\x01auth=Bearer " + t.token + "\x01\x01"
	}
	return t.mechanism, []byte(text), nil
}

// Next implements sasl.Client. Only a refusal asks for more, and a byte without
// meaning lets the server go on to its tagged answer.
func (t *tokenClient) Next([]byte) ([]byte, error) {
	t.refused = true
	return []byte{1}, nil
}
