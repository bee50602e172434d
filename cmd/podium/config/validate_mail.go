package config

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	agent "podium/agents/mail"
	"podium/cleartext"
	"podium/schemas"
)

func (v *validator) mail() {
	seen := map[string]bool{}
	for i := range v.config.Mail.Accounts {
		account := &v.config.Mail.Accounts[i]
		path := fmt.Sprintf("mail.accounts[%d]", i)
		v.name(path+".name", account.Name)
		if seen[account.Name] {
			v.problem(path+".name", "there are two accounts %q", account.Name)
		}
		seen[account.Name] = true
		v.profileExists(path+".profile", account.Profile)
		v.encryption(path+".imap", account.IMAP.TLS, account.IMAP.Cleartext, account.IMAP.Host)
		v.imap(path+".imap", &account.IMAP)
		token := account.IMAP.OAuth != nil && account.SMTP.Password == ""
		if !token && (account.SMTP.Username == "") != (account.SMTP.Password == "") {
			v.problem(path+".smtp", "username and password go together")
		}
		v.smtp(path+".smtp", &account.SMTP)
		v.readOnce(path+".imap", i)
	}
}

// readOnce refuses a mailbox that an account before this one reads: each of its
// mails would be worked on and answered twice.
func (v *validator) readOnce(path string, at int) {
	own := &v.config.Mail.Accounts[at].IMAP
	for i := range v.config.Mail.Accounts[:at] {
		other := &v.config.Mail.Accounts[i]
		if !sameHost(own.Host, other.IMAP.Host) || own.Username != other.IMAP.Username {
			continue
		}
		for _, name := range own.watched() {
			if slices.ContainsFunc(other.IMAP.watched(), func(read string) bool { return sameMailbox(read, name) }) {
				v.problem(path, "account %q reads the mailbox %q already: each mail would be answered twice", other.Name, name)
			}
		}
	}
}

func sameHost(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}

// encryption refuses what would send mail and password readable to where the file does not
// say so. A name is not resolved here: the address is judged at each connection.
func (v *validator) encryption(path string, encryption Encryption, reach Cleartext, host string) {
	address, err := netip.ParseAddr(host)
	literal := err == nil
	switch {
	case encryption != EncryptionNone && reach != "":
		v.problem(path+".cleartext", "it goes with tls: none; without that everything is encrypted")
	case encryption != EncryptionNone || cleartext.Here(host):
	case reach == "":
		v.problem(path+".tls", "none would send mail and password readable over the network; it is for a server on this machine only, and with cleartext: private for a test server at a private address")
	case literal && !reach.Allows(address):
		v.problem(path+".host", "it is no private address: nothing goes there without TLS, whatever cleartext says; write tls: implicit or tls: starttls")
	}
}

func (v *validator) imap(path string, imap *IMAP) {
	switch {
	case imap.Password == "" && imap.OAuth == nil:
		v.problem(path, "it needs a password or oauth")
	case imap.Password != "" && imap.OAuth != nil:
		v.problem(path+".oauth", "there is a password already; leave one of them out")
	case imap.OAuth != nil:
		v.oauth(path+".oauth", imap.OAuth)
	}
	watched := imap.watched()
	for i, name := range imap.Mailboxes {
		at := fmt.Sprintf("%s.mailboxes[%d]", path, i)
		if name == "" {
			v.problem(at, "the name of a mailbox is empty")
		}
		if slices.ContainsFunc(imap.Mailboxes[:i], func(other string) bool { return sameMailbox(other, name) }) {
			v.problem(at, "%q is named twice", name)
		}
	}
	folder := ""
	if imap.After.Processed == ProcessingMove {
		folder = cmp.Or(imap.After.Folder, defaultFolder)
	} else if imap.After.Folder != "" {
		v.problem(path+".after.folder", "mail goes there only with processed: move")
	}
	for key, name := range map[string]string{"folder": folder, "failed": imap.After.Failed} {
		if name != "" && slices.ContainsFunc(watched, func(other string) bool { return sameMailbox(other, name) }) {
			v.problem(path+".after."+key, "mail that is moved to %q would come in again from there: it is one of the mailboxes that are read", name)
		}
	}
	for i, name := range imap.AuthServIDs {
		if strings.ContainsAny(name, "; =\"\t\r\n()") {
			v.problem(fmt.Sprintf("%s.authserv_ids[%d]", path, i), "%q is not the name of a server: it is what stands before the first semicolon of its Authentication-Results, or empty when nothing does", name)
		}
	}
	for i, entry := range imap.ReplyToFrom {
		if err := agent.CheckCopy(entry); err != nil {
			v.problem(fmt.Sprintf("%s.reply_to_from[%d]", path, i), "%v", err)
		}
	}
	if len(imap.ReplyToFrom) > 0 && len(imap.AuthServIDs) == 0 && !imap.DKIM {
		v.problem(path+".reply_to_from", "nobody is believed about who wrote a mail, so that nobody counts as one of them: name your server in authserv_ids")
	}
	if imap.Canary != nil && imap.Canary.Every <= imap.Canary.withDefaults().Within {
		v.problem(path+".canary.every", "the next would be sent before the one before it has to be back; it is to be longer than within")
	}
}

// sameMailbox compares names: only that of INBOX is the same in any case (RFC 9051).
func sameMailbox(a, b string) bool {
	return a == b || strings.EqualFold(a, defaultMailbox) && strings.EqualFold(b, defaultMailbox)
}

func (v *validator) oauth(path string, oauth *OAuth) {
	switch oauth.Provider {
	case OAuthMicrosoft:
		if oauth.Tenant == "" || strings.ContainsAny(oauth.Tenant, "/?# ") {
			v.problem(path, "microsoft needs the tenant: the directory's id or its domain")
		}
	case OAuthGoogle:
		if oauth.RefreshToken == "" {
			v.problem(path, "google needs a refresh_token: mailboxes there have no access by the application alone")
		}
	case OAuthCustom:
		if !isURL(oauth.TokenURL, "https") && !isLoopbackURL(oauth.TokenURL) {
			v.problem(path, "custom needs a token_url such as https://example.org/token")
		}
	}
	if oauth.Provider != OAuthCustom && oauth.TokenURL != "" {
		v.problem(path+".token_url", "only provider custom has it")
	}
	if oauth.RefreshToken == "" && oauth.ClientSecret == "" {
		v.problem(path, "it needs a refresh_token, or a client_secret for the application's own access")
	}
}

func isLoopbackURL(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && parsed.Scheme == "http" && cleartext.Here(parsed.Hostname())
}

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
	return slices.Concat(cautions, c.hastyCallbacks(), c.readablePasswords(), c.unsaidTaint(), c.looseReplans(), c.narrowBudgets(), c.shortTiers(), c.powerlessApprovers(), c.unreachedApprovers())
}

// answersStrangers reports whether nobody is believed about who writes to an account, and
// nobody has said that this is meant.
func (c *Config) answersStrangers(account *Account) bool {
	profile := c.Profiles[account.Profile]
	return len(account.IMAP.AuthServIDs) == 0 && !account.IMAP.DKIM && profile.Conversation.Answer != schemas.AnswerEverybody
}
