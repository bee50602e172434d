package config

import (
	"fmt"

	"podium/cleartext"
	"podium/schemas"
)

// Cautions say what is allowed and may not be meant.
func (c *Config) Cautions() []string {
	cautions := []string{} // a list in JSON too
	for i := range c.Mail.Accounts {
		account := &c.Mail.Accounts[i]
		if c.answersStrangers(account) {
			cautions = append(cautions, fmt.Sprintf("mail account %q answers whoever a mail says it is from, forged or not, and an answer may carry words of that mail: "+
				"name the mail server in imap.authserv_ids, or set dkim: true; profiles.%s.conversation.answer: everybody says that it is meant", account.Name, account.Profile))
		}
		for _, server := range [...]struct {
			name, host string
			cleartext  Cleartext
		}{{"imap", account.IMAP.Host, account.IMAP.Cleartext}, {"smtp", account.SMTP.Host, account.SMTP.Cleartext}} {
			if server.cleartext != "" && !cleartext.Here(server.host) {
				cautions = append(cautions, fmt.Sprintf("mail account %q sends mail and password readable over the network (%s.tls: none, cleartext: %s): that is for a test server; "+
					"nothing goes to an address that is not private", account.Name, server.name, server.cleartext))
			}
		}
	}
	return cautions
}

// answersStrangers reports whether nobody is believed about who writes to an account, and
// nobody has said that this is meant.
func (c *Config) answersStrangers(account *Account) bool {
	profile := c.Profiles[account.Profile]
	return len(account.IMAP.AuthServIDs) == 0 && !account.IMAP.DKIM && profile.Conversation.Answer != schemas.AnswerEverybody
}
