package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"reflect"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/intake"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/messageid"
	"podium/cmd/podium/oauth"
	"podium/ingest/imap"
	"podium/ingest/imap/connection"
	"podium/ingest/mime"
	"podium/schemas"
)

// mailAdapter is the mail adapter's token in subjects.
const mailAdapter = "email"

// openAdapters makes one adapter for each mailbox of each account. Adapters to one server
// share how it fares.
func (s *Service) openAdapters() error {
	intake := intake.NewIntake(s.Ledger.Core)
	hosts := map[string]*imap.Host{}
	for _, caution := range s.settings.Cautions() {
		s.log.Warn().Msg(caution)
	}
	key, err := s.canaryKey()
	if err == nil && len(s.settings.Mail.Accounts) > 0 {
		err = s.letters.Check()
	}
	if err != nil {
		return err
	}
	for i := range s.settings.Mail.Accounts {
		account := &s.settings.Mail.Accounts[i]
		address := fmt.Sprintf("%s:%d", account.IMAP.Host, account.IMAP.Port)
		if hosts[address] == nil {
			hosts[address] = imap.NewHost()
		}
		source, err := s.source(account)
		if err != nil {
			return err
		}
		for n, mailbox := range account.IMAP.Mailboxes {
			settings := mailboxConfig(s.settings, account, mailbox, source, s.letters)
			dependencies := imap.Dependencies{
				Intake: intake, Core: s.Ledger.Core, Store: s.Ledger.Core.KeyValue(bus.MailboxBucket),
				Host: hosts[address], Report: s.reportMail, Log: s.log, Pseudonym: s.Pseudonym,
			}
			if canary := account.IMAP.Canary; canary != nil && n == 0 {
				settings.CanaryEvery, settings.CanaryWithin, settings.CanaryKey = time.Duration(canary.Every), time.Duration(canary.Within), key
				dependencies.SendCanary = canarySender(account, source)
			}
			adapter, err := imap.New(settings, dependencies)
			if err != nil {
				return err
			}
			s.adapters = append(s.adapters, adapter)
		}
	}
	return nil
}

// MailboxConfig describes a mailbox as `podium up` reads it, for whoever looks at
// it besides. The directory holds the tokens of OAuth 2.
func MailboxConfig(settings *config.Config, data string, account *config.Account, mailbox string) (imap.Config, error) {
	source, err := tokenSource(settings, data, account)
	if err != nil {
		return imap.Config{}, err
	}
	return mailboxConfig(settings, account, mailbox, source, lettersAt(data)), nil
}

func mailboxConfig(settings *config.Config, account *config.Account, mailbox string, source *oauth.Source, letters *messageid.Signer) imap.Config {
	made := imap.Config{
		Config: connection.Config{
			Account: account.Name, Host: account.IMAP.Host, Port: account.IMAP.Port,
			Security: connection.Security(account.IMAP.TLS), Cleartext: account.IMAP.Cleartext.Allows,
			Username: account.IMAP.Username, Mailbox: mailbox,
			Password: func(context.Context) (string, error) { return string(account.IMAP.Password), nil },
		},
		Profile: account.Profile,
		Since:   since(account.Since), PollInterval: time.Duration(account.IMAP.Poll),
		AlarmAfter: time.Duration(account.IMAP.Alarm),
		After: imap.After{
			Processed: imap.Processing(account.IMAP.After.Processed),
			Folder:    account.IMAP.After.Folder, Failed: account.IMAP.After.Failed,
		},
		Options: mime.Options{
			Own: ownMail(settings), Mailboxes: ownMailboxes(settings), AuthServIDs: account.IMAP.AuthServIDs,
			Languages: settings.MailLanguages(),
		},
		ReplyToFrom: account.IMAP.ReplyToFrom,
		Letter:      func(id string) (schemas.Letter, bool) { return letters.Letter(letterSource(account), id) },
	}
	if _, held := settings.LocalAccounts()[account.Name]; held {
		made.Control = localGuard().Control // it gets a copy of what is sent
	}
	if account.IMAP.DKIM {
		made.DKIM.LookupTXT = net.DefaultResolver.LookupTXT
	}
	if source != nil {
		made.Discard = source.Discard
		made.Token = func(ctx context.Context) (string, time.Time, error) {
			token, expires, err := source.Expiring(ctx)
			if errors.Is(err, oauth.ErrRefused) {
				err = fmt.Errorf("%w: %w", connection.ErrAuthentication, err)
			}
			return token, expires, err
		}
	}
	return made
}

// tokenOwner returns the first account with the same OAuth 2 as one: they share a
// refresh token, which some providers let nobody use twice.
func tokenOwner(settings *config.Config, account *config.Account) string {
	for i := range settings.Mail.Accounts {
		other := &settings.Mail.Accounts[i]
		if other.IMAP.OAuth != nil && reflect.DeepEqual(other.IMAP.OAuth, account.IMAP.OAuth) {
			return other.Name
		}
	}
	return account.Name
}

// tokenSource returns where the access tokens of an account come from, for
// reading and for sending; nil when it has a password.
func tokenSource(all *config.Config, data string, account *config.Account) (*oauth.Source, error) {
	settings := account.IMAP.OAuth
	if settings == nil {
		return nil, nil //nolint:nilnil // there is nothing to make and nothing wrong
	}
	made := oauth.Config{
		TokenURL: settings.TokenURL, Scopes: settings.Scopes,
		ClientID: settings.ClientID, ClientSecret: string(settings.ClientSecret), RefreshToken: string(settings.RefreshToken),
		File: filepath.Join(installation.CredentialsDir(data), "mail-"+tokenOwner(all, account)+".token.json"),
	}
	var scopes []string
	switch settings.Provider {
	case config.OAuthMicrosoft:
		made.TokenURL = "https://login.microsoftonline.com/" + settings.Tenant + "/oauth2/v2.0/token"
		scopes = []string{"https://outlook.office365.com/.default"}
		if settings.RefreshToken != "" {
			scopes = []string{"https://outlook.office.com/IMAP.AccessAsUser.All", "https://outlook.office.com/SMTP.Send", "offline_access"}
		}
	case config.OAuthGoogle:
		made.TokenURL = "https://oauth2.googleapis.com/token"
	case config.OAuthCustom:
	}
	if len(made.Scopes) == 0 {
		made.Scopes = scopes
	}
	source, err := oauth.New(made)
	if err != nil {
		return nil, fmt.Errorf("account %q: %w", account.Name, err)
	}
	return source, nil
}

// since is the INTERNALDATE from which on mail is taken at first contact.
func since(s config.Since) time.Time {
	if s.All {
		return time.Unix(0, 0)
	}
	return s.Date
}

// reportMail tells whoever listens how a mailbox is.
func (s *Service) reportMail(status imap.Status) {
	report := schemas.SourceStatus{
		Adapter: mailAdapter, Account: status.Account, Mailbox: status.Mailbox, Started: status.Started,
		Healthy: status.Healthy(), Connected: status.Connected, LastSuccess: status.LastSuccess, Silent: status.Silent,
		Lag: status.Lag, Gaps: status.Gaps, Failed: status.Failed, Published: status.Published,
		Trust: schemas.SourceTrust(status.Trust), Problem: status.Problem,
	}
	if canary := status.Canary; !canary.Sent.IsZero() || !canary.Received.IsZero() || canary.Overdue {
		report.Canary = &schemas.CanaryStatus{
			Sent: canary.Sent, Received: canary.Received, RoundTrip: schemas.Duration(canary.RoundTrip), Overdue: canary.Overdue,
		}
	}
	body, err := schemas.Marshal(report)
	if err == nil {
		body, err = binding.MarshalStructured(&schemas.Event{
			ID: uuid.NewString(), Source: "/podium/" + mailAdapter, Type: schemas.TypeSourceStatus, Subject: status.Account,
			Time: time.Now().UTC(), DataContentType: schemas.MediaTypeJSON, DataSchema: schemas.SchemaID("source_status"), Data: body,
		})
	}
	if err == nil {
		err = s.Ledger.Core.Signal(bus.SourceSubject(mailAdapter), body)
	}
	if err != nil {
		s.log.Debug().Err(err).Msg("the status of a mailbox was not heard")
	}
}
