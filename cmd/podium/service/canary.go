package service

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/mail"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/google/uuid"

	"podium/cleartext"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/oauth"
	"podium/ingest/imap"
)

func (s *Service) canaryKey() ([]byte, error) {
	if !slices.ContainsFunc(s.settings.Mail.Accounts, func(account config.Account) bool { return account.IMAP.Canary != nil }) {
		return nil, nil
	}
	file := filepath.Join(installation.CredentialsDir(s.settings.Ledger.Data), "canary.key")
	return installation.KeepKey(file, "a canary under way will be taken for a person's mail")
}

// canarySender sends a mail from an account to itself, through the server that
// its answers go out by. The mail says that nobody is to answer it (RFC 3834).
func canarySender(account *config.Account, source *oauth.Source) func(ctx context.Context, mark string) error {
	return func(ctx context.Context, mark string) error {
		from, err := mail.ParseAddress(account.SMTP.From)
		if err != nil {
			return err
		}
		now := time.Now()
		domain := from.Address[strings.LastIndexByte(from.Address, '@')+1:]
		letter := strings.Join([]string{
			"From: <" + from.Address + ">", "To: <" + from.Address + ">", "Subject: Podium canary",
			"Date: " + now.Format(time.RFC1123Z), "Message-ID: <canary-" + uuid.NewString() + "@" + domain + ">",
			"Auto-Submitted: auto-generated", imap.CanaryHeader + ": " + mark, "MIME-Version: 1.0",
			"Content-Type: text/plain; charset=us-ascii", "", "This mail proves that mail comes in. It removes itself.", "",
		}, "\r\n")
		return sendCanary(ctx, account, source, from.Address, letter)
	}
}

func sendCanary(ctx context.Context, account *config.Account, source *oauth.Source, address, letter string) (err error) {
	var dialer net.Dialer
	if account.SMTP.TLS == config.EncryptionNone {
		dialer.Control = cleartext.Control(account.SMTP.Cleartext.Allows)
	}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(account.SMTP.Host, strconv.Itoa(account.SMTP.Port)))
	if err != nil {
		return fmt.Errorf("connect to send the canary: %w", err)
	}
	// The library does not look at the context, and waits for minutes.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	client, err := greetSMTP(conn, &account.SMTP)
	if err != nil {
		return fmt.Errorf("connect to send the canary: %w", err)
	}
	authentication, err := smtpAuthentication(ctx, account, source)
	if err == nil && authentication != nil {
		err = client.Auth(authentication)
	}
	if err == nil {
		err = client.SendMail(address, []string{address}, strings.NewReader(letter))
	}
	if err == nil {
		err = client.Quit()
	}
	if err != nil {
		return fmt.Errorf("send the canary: %w", err)
	}
	return nil
}

func greetSMTP(conn net.Conn, server *config.SMTP) (*smtp.Client, error) {
	protection := &tls.Config{ServerName: server.Host, MinVersion: tls.VersionTLS12}
	switch server.TLS {
	case config.EncryptionImplicit:
		return smtp.NewClient(tls.Client(conn, protection)), nil
	case config.EncryptionStartTLS:
		return smtp.NewClientStartTLS(conn, protection)
	case config.EncryptionNone:
	}
	return smtp.NewClient(conn), nil
}

// smtpAuthentication is how the account proves itself; nil when its server asks for nothing.
func smtpAuthentication(ctx context.Context, account *config.Account, source *oauth.Source) (sasl.Client, error) {
	switch {
	case account.SMTP.Password != "":
		return sasl.NewPlainClient("", account.SMTP.Username, string(account.SMTP.Password)), nil
	case source != nil:
		token, err := source.Token(ctx)
		return oauth.XOAUTH2(cmp.Or(account.SMTP.Username, account.IMAP.Username), token), err
	}
	return nil, nil //nolint:nilnil // there is nothing to say and nothing wrong
}
