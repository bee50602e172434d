package service

import (
	"cmp"
	"strings"

	"github.com/rs/zerolog"

	"podium/agents/mail"
	"podium/cmd/podium/config"
	"podium/cmd/podium/messageid"
	"podium/cmd/podium/oauth"
	"podium/ingest/imap/connection"
	"podium/schemas"
)

// source returns where the access tokens of an account come from: one for its adapters
// and its sender, and for every account with the same OAuth 2, so that they are asked
// for once. Nil when it has a password.
func (s *Service) source(account *config.Account) (*oauth.Source, error) {
	owner := tokenOwner(s.settings, account)
	if known, made := s.sources[owner]; made {
		return known, nil
	}
	source, err := tokenSource(s.settings, s.settings.Ledger.Data, account)
	if err == nil {
		s.sources[owner] = source
	}
	return source, err
}

func mailAgent(settings *config.Config, source func(*config.Account) (*oauth.Source, error), letters *messageid.Signer, log zerolog.Logger) (*mail.Agent, error) {
	accounts := make(map[string]mail.Account, len(settings.Mail.Accounts))
	for i := range settings.Mail.Accounts {
		account := &settings.Mail.Accounts[i]
		tokens, err := source(account)
		if err != nil {
			return nil, err
		}
		accounts[account.Name] = mailAccount(settings, account, tokens, letters)
	}
	return mail.New(mail.Config{Accounts: accounts, Log: log.With().Str("agent", config.MailAgent).Logger()})
}

func mailAccount(settings *config.Config, account *config.Account, tokens *oauth.Source, letters *messageid.Signer) mail.Account {
	smtp := &account.SMTP
	made := mail.Account{
		Host: smtp.Host, Port: smtp.Port, TLS: mail.TLSMode(smtp.TLS), Cleartext: smtp.Cleartext.Allows,
		Username: smtp.Username, Password: string(smtp.Password), From: smtp.From,
		Copies: smtp.Copies, Plain: smtp.PlainOnly(), AttachmentLimit: int64(smtp.AttachmentLimit),
		Limits: mail.Limits(smtp.Limits), Sent: mail.Sent(smtp.Sent),
		Templates: make(map[string]mail.Template, len(smtp.Templates)),
		Sign: func(effect string, letter schemas.Letter) (string, error) {
			return letters.Sign(letterSource(account), effect, letter)
		},
	}
	if _, held := settings.LocalAccounts()[account.Name]; held {
		made.Control = localGuard().Control
	}
	for language, template := range smtp.Templates {
		made.Templates[language] = mail.Template(template)
	}
	if strings.Contains(account.IMAP.Username, "@") {
		made.Own = []string{account.IMAP.Username}
	}
	if tokens != nil && smtp.Password == "" {
		made.Username = cmp.Or(smtp.Username, account.IMAP.Username)
		made.Token, made.Discard = tokens.Token, tokens.Discard
	}
	if smtp.Sent != config.SentNone {
		made.Outbox = connection.NewSentFolder(mailboxConfig(settings, account, account.IMAP.Mailbox, tokens, letters).Config, smtp.SentFolder)
	}
	return made
}
