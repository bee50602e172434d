package service

import (
	"net/mail"
	"os"
	"path/filepath"
	"strings"

	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/messageid"
)

// replyKeyFile holds the key of what leads answers home: where a chat waits for one, and
// which session a person's answer to a letter belongs to.
func replyKeyFile(data string) string {
	return filepath.Join(installation.CredentialsDir(data), "reply.key")
}

// replyKey reads that key, and makes it the first time.
func replyKey(settings *config.Config) func() ([]byte, error) {
	return func() ([]byte, error) {
		return installation.KeepKey(replyKeyFile(settings.Ledger.Data), "messages that came before will not be answered in their chat any more, "+
			"and answers to letters that were sent find their conversation only by the thread that the mail program makes")
	}
}

// lettersAt knows the letters of an installation again, for whoever looks on: it makes no
// key, and without one knows none.
func lettersAt(data string) *messageid.Signer {
	return messageid.New(func() ([]byte, error) { return os.ReadFile(replyKeyFile(data)) })
}

// letterSource is whose letters an account sends and knows again. Another profile is
// another conversation, so that it is another source.
func letterSource(account *config.Account) messageid.Source {
	return messageid.Source{Account: account.Name, Profile: account.Profile}
}

// ownMail recognizes the Message-IDs that the mail agent gives, at the domain of an
// account. The form of a UUID alone is no sign of ours: people's programs in the same
// domain make such ids too, at random, in upper case or without hyphens. The key is not
// asked: a letter that comes back is ours after the key was renewed, too.
func ownMail(settings *config.Config) func(messageID string) bool {
	domains := map[string]bool{}
	for i := range settings.Mail.Accounts {
		from := settings.Mail.Accounts[i].SMTP.From
		if at := strings.LastIndexByte(from, '@'); at >= 0 {
			domains[strings.ToLower(strings.TrimRight(from[at+1:], "> "))] = true
		}
	}
	return func(messageID string) bool {
		left, domain, found := strings.Cut(strings.Trim(messageID, "<>"), "@")
		return found && domains[strings.ToLower(domain)] && messageid.Made(left)
	}
}

// ownMailboxes returns the addresses of all accounts: those that they send from, and names that are addresses.
func ownMailboxes(settings *config.Config) []string {
	var addresses []string
	for i := range settings.Mail.Accounts {
		account := &settings.Mail.Accounts[i]
		if from, err := mail.ParseAddress(account.SMTP.From); err == nil {
			addresses = append(addresses, from.Address)
		}
		if strings.Contains(account.IMAP.Username, "@") {
			addresses = append(addresses, account.IMAP.Username)
		}
	}
	return addresses
}
