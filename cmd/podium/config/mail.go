package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/mail"
	"net/netip"
	"slices"
	"strings"
	"time"

	agent "podium/agents/mail"
	"podium/schemas"
)

// Mail holds the mail accounts.
type Mail struct {
	Accounts  []Account `yaml:"accounts" doc:"Mailboxes, each with the server that sends its answers."`
	Languages string    `yaml:"languages" doc:"Folder with a file TAG.json for each language in which quotations are known besides those of Podium, or instead of the one with the same tag. Relative to this file; it is read at the start. docs/mail-reading.md, Languages, describes the files."`
}

// An Account is one mailbox and the server that sends its answers.
type Account struct {
	Name    string `yaml:"name" required:"true" doc:"Short name: a-z, 0-9, _ and -, at most 63."`
	Profile string `yaml:"profile" required:"true" doc:"The profile that handles its mail."`
	IMAP    IMAP   `yaml:"imap" required:"true" doc:"Where mail comes in."`
	SMTP    SMTP   `yaml:"smtp" required:"true" doc:"Where answers go out."`
	Since   Since  `yaml:"since" default:"now" doc:"What of an existing mailbox is answered: now (only mail that arrives after the first login to it), all, or a date such as 2026-01-31, which begins in UTC."`
}

// Encryption says how a connection to a mail server is protected.
type Encryption string

// The encryptions (RFC 8314 prefers implicit).
const (
	EncryptionImplicit Encryption = "implicit" // TLS from the first byte
	EncryptionStartTLS Encryption = "starttls" // TLS after a greeting; refused when the server does not offer it
	EncryptionNone     Encryption = "none"     // only to this machine, or to where Cleartext allows it
)

// Cleartext says how far mail and password may go without TLS. The zero value is this machine.
type Cleartext string

// CleartextPrivate is this machine and private networks: RFC 1918, RFC 4193, and link-local.
const CleartextPrivate Cleartext = "private"

// Allows reports whether they may go to an address.
func (c Cleartext) Allows(address netip.Addr) bool {
	address = address.Unmap()
	return address.IsLoopback() || c == CleartextPrivate && (address.IsPrivate() || address.IsLinkLocalUnicast())
}

// IMAP is where mail comes in.
type IMAP struct {
	Host      string     `yaml:"host" required:"true" doc:"Name or address of the server."`
	Port      int        `yaml:"port" min:"1" max:"65535" doc:"The port of the server. Default: 993 with implicit TLS, else 143."`
	TLS       Encryption `yaml:"tls" enum:"implicit starttls none" default:"implicit" doc:"implicit: TLS from the first byte. starttls: TLS after the greeting, and nothing when the server does not offer it. none: no TLS, for a server on this machine, or with cleartext: private for a test server at a private address."`
	Cleartext Cleartext  `yaml:"cleartext" enum:"private" doc:"With tls: none. private: mail and password may go readable over a private network (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7, 169.254.0.0/16, fe80::/10) to a test server. The address is checked at each connection, so that nothing goes to a public one. Absent: they stay on this machine."`
	Username  string     `yaml:"username" required:"true" doc:"The name by which the mailbox is opened, often its address."`
	Password  Secret     `yaml:"password" doc:"Either this or oauth."`
	OAuth     *OAuth     `yaml:"oauth" doc:"OAuth 2 instead of a password. Answers are sent with it too, unless smtp has a password."`
	Mailbox   string     `yaml:"mailbox" default:"INBOX" doc:"The mailbox that is read first, and the only one unless there are mailboxes."`
	// Mailboxes are read besides Mailbox; after WithDefaults they are all that are read.
	Mailboxes []string         `yaml:"mailboxes" min:"1" doc:"The mailboxes that are read, such as [INBOX, Orders]; mailbox is one more."`
	Poll      schemas.Duration `yaml:"poll" default:"1m" doc:"Between looks at the mailbox, as long as its announcements of new mail have not proved trustworthy."`
	After     After            `yaml:"after" doc:"What is done with mail that was dealt with."`
	// AuthServIDs and DKIM say whose word counts for where a mail comes from.
	AuthServIDs []string         `yaml:"authserv_ids" min:"1" doc:"The names by which this server signs its Authentication-Results, such as [mx.example.org]. An empty one is a server that writes them without a name, as Microsoft 365 does: then the topmost one of a mail counts. Absent: nobody's are believed."`
	DKIM        bool             `yaml:"dkim" doc:"true: signatures of mail (DKIM) are also verified here, which asks the DNS."`
	ReplyToFrom []string         `yaml:"reply_to_from" min:"1" doc:"Senders that write for others, such as contact forms: addresses, or domains such as @forms.example. When one is vouched for, an answer goes wherever its Reply-To says. Of anybody else Reply-To counts only within the writer's own organization."`
	Alarm       schemas.Duration `yaml:"alarm" default:"15m" doc:"Without a successful look for so long, the health page, the status and the log say so."`
	Canary      *Canary          `yaml:"canary" doc:"A mail to the account itself now and then, which proves the whole path."`
}

// Processing is what is done with a mail that was dealt with.
type Processing string

// The kinds of processing.
const (
	ProcessingFlag Processing = "flag" // a keyword of ours, or \Seen where the server keeps none
	ProcessingSeen Processing = "seen"
	ProcessingMove Processing = "move"
)

// After says what is done with mail that was dealt with.
type After struct {
	Processed Processing `yaml:"processed" enum:"flag seen move" default:"flag" doc:"flag: the keyword $PodiumIngested. seen: as if a person had read it. move: into folder. Nothing is decided by any of them."`
	Folder    string     `yaml:"folder" default:"Processed" doc:"The mailbox that move puts it into; it is made if need be."`
	Failed    string     `yaml:"failed" doc:"The mailbox for mail that could not be had in three tries, such as Failed. Absent: it stays."`
}

// Canary is a mail that an account sends to itself.
type Canary struct {
	Every  schemas.Duration `yaml:"every" required:"true" doc:"How often, such as 1h."`
	Within schemas.Duration `yaml:"within" default:"5m" doc:"When it has to be back."`
}

// OAuthProvider is whose OAuth 2 it is.
type OAuthProvider string

// The providers.
const (
	OAuthMicrosoft OAuthProvider = "microsoft" // Microsoft 365
	OAuthGoogle    OAuthProvider = "google"    // Gmail and Google Workspace
	OAuthCustom    OAuthProvider = "custom"
)

// OAuth says where access tokens come from. With a refresh token they are those
// of a person who has agreed; without one, of the application itself.
type OAuth struct {
	Provider     OAuthProvider `yaml:"provider" required:"true" enum:"microsoft google custom" doc:"Who gives access tokens. microsoft: Microsoft 365. google: Gmail and Google Workspace. custom: whoever answers at token_url."`
	Tenant       string        `yaml:"tenant" doc:"microsoft: the directory, by its id or domain."`
	ClientID     string        `yaml:"client_id" required:"true" doc:"The application's id, as the provider shows it where it was registered."`
	ClientSecret Secret        `yaml:"client_secret" doc:"The application's secret, where the provider has given one."`
	RefreshToken Secret        `yaml:"refresh_token" doc:"The first one. Those that the provider gives in its place are kept in the directory of the ledger. Absent: the application's own access (client_credentials)."`
	TokenURL     string        `yaml:"token_url" doc:"custom: where tokens are asked for."`
	Scopes       []string      `yaml:"scopes" min:"1" doc:"What access is asked for. Default: what mail needs with this provider."`
}

// SMTP is where answers go out.
type SMTP struct {
	Host      string     `yaml:"host" required:"true" doc:"Name or address of the server."`
	Port      int        `yaml:"port" min:"1" max:"65535" doc:"The port of the server. Default: 465 with implicit TLS, 587 with starttls, else 25."`
	TLS       Encryption `yaml:"tls" enum:"implicit starttls none" default:"implicit" doc:"implicit: TLS from the first byte. starttls: TLS after the greeting, and nothing when the server does not offer it. none: no TLS, for a server on this machine, or with cleartext: private for a test server at a private address."`
	Cleartext Cleartext  `yaml:"cleartext" enum:"private" doc:"With tls: none: as imap.cleartext."`
	Username  string     `yaml:"username" doc:"Absent: the server asks for none."`
	Password  Secret     `yaml:"password" doc:"Goes with username. Absent with imap.oauth: its token is used."`
	From      string     `yaml:"from" required:"true" doc:"The address that answers come from, such as: Support <support@example.org>."`
	Copies    []string   `yaml:"copies" min:"1" doc:"Who may get a copy of an answer when the mail that is answered named them too: addresses, or domains such as @example.org. Absent: nobody but its sender."`
	HTML      *bool      `yaml:"html" default:"true" doc:"Whether answers have an HTML form beside the plain text. It loads nothing."`
	// Templates stand around answers.
	Templates       map[string]MailTemplate `yaml:"templates" doc:"What stands around an answer, by its language, such as de; default is for all others."`
	AttachmentLimit int                     `yaml:"attachment_limit" min:"1" max:"104857600" default:"10485760" doc:"Bytes that are attached to one answer at most; what is beyond is named in it."`
	Limits          MailLimits              `yaml:"limits" doc:"What is sent at most."`
	Sent            SentMail                `yaml:"sent" enum:"append server none" doc:"How an answer comes into the folder of sent mail. append: it is put there by IMAP. server: the server does it by itself; then the folder can tell that an answer was sent whose confirmation was lost. Default: server for Gmail and Microsoft 365, else append."`
	SentFolder      string                  `yaml:"sent_folder" doc:"The folder of sent mail; it is made when it is missing. Default: the one that the server marks as such."`
}

// The defaults of mail in.
const (
	defaultMailbox      = "INBOX"
	defaultFolder       = "Processed"
	defaultAlarm        = schemas.Duration(15 * time.Minute)
	defaultCanaryWithin = schemas.Duration(5 * time.Minute)
)

// watched lists the mailboxes that are read, each once. The one of Mailbox is the
// first; without any name it is INBOX.
func (i *IMAP) watched() []string {
	var names []string
	for _, name := range append([]string{i.Mailbox}, i.Mailboxes...) {
		if name != "" && !slices.ContainsFunc(names, func(other string) bool { return sameMailbox(other, name) }) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		names = []string{defaultMailbox}
	}
	return names
}

func (c Canary) withDefaults() Canary {
	c.Within = cmp.Or(c.Within, defaultCanaryWithin)
	return c
}

// A MailTemplate stands around answers in one language.
type MailTemplate struct {
	Before string `yaml:"before" doc:"Greeting. {name} is the name of whoever asked, {subject} the subject, {run} the id of the run."`
	After  string `yaml:"after" doc:"Closing, signature, disclaimer, with the same places."`
}

// MailLimits bound what an account sends, so that a loop ends.
type MailLimits struct {
	PeerPerHour int `yaml:"peer_per_hour" min:"1" max:"10000" default:"10" doc:"Answers to one mailbox in an hour, with anything behind a plus in its address; an answer beyond that waits. Questions to one of the people are bounded apart from answers: so many in an hour for each requester, and six times as many for all."`
	PerMinute   int `yaml:"per_minute" min:"1" max:"100000" doc:"Letters of the account in a minute; what is beyond waits. Absent: no bound."`
}

// SentMail says how an answer comes into the folder of sent mail.
type SentMail string

// The ways.
const (
	SentAppend SentMail = "append"
	SentServer SentMail = "server"
	SentNone   SentMail = "none"
)

// PlainOnly reports whether answers go out without their HTML form.
func (s *SMTP) PlainOnly() bool { return s.HTML != nil && !*s.HTML }

func (s *SMTP) fill() {
	s.TLS = cmp.Or(s.TLS, EncryptionImplicit)
	s.Port = cmp.Or(s.Port, portOf(s.TLS, 465, 587, 25))
	s.AttachmentLimit = cmp.Or(s.AttachmentLimit, agent.DefaultAttachmentLimit)
	s.Limits.PeerPerHour = cmp.Or(s.Limits.PeerPerHour, agent.DefaultPeerPerHour)
	s.Sent = cmp.Or(s.Sent, s.usualSent())
}

// usualSent knows the two services that store what they send by themselves.
func (s *SMTP) usualSent() SentMail {
	host := strings.ToLower(strings.TrimSuffix(s.Host, "."))
	for _, service := range [...]string{"gmail.com", "googlemail.com", "office365.com", "outlook.com"} {
		if host == service || strings.HasSuffix(host, "."+service) {
			return SentServer
		}
	}
	return SentAppend
}

func (v *validator) smtp(path string, smtp *SMTP) {
	v.encryption(path, smtp.TLS, smtp.Cleartext, smtp.Host)
	if _, err := mail.ParseAddress(smtp.From); err != nil {
		v.problem(path+".from", "it is not an address such as Support <support@example.org>")
	}
	for i, entry := range smtp.Copies {
		if err := agent.CheckCopy(entry); err != nil {
			v.problem(fmt.Sprintf("%s.copies[%d]", path, i), "%v", err)
		}
	}
	for _, language := range slices.Sorted(maps.Keys(smtp.Templates)) {
		template, place := smtp.Templates[language], path+".templates."+language
		if language != agent.OtherLanguages && !isLanguage(language) {
			v.problem(place, "%q is neither a language such as de nor %s", language, agent.OtherLanguages)
		}
		for part, words := range map[string]string{"before": template.Before, "after": template.After} {
			if err := agent.CheckTemplate(words); err != nil {
				v.problem(place+"."+part, "%v", err)
			}
		}
	}
	if smtp.SentFolder != "" && (smtp.Sent == SentNone || strings.ContainsAny(smtp.SentFolder, "*%\r\n\x00")) {
		v.problem(path+".sent_folder", "it is no folder, or nothing is kept with sent: none")
	}
}

// isLanguage reports the form of an ISO 639 code.
func isLanguage(tag string) bool {
	return (len(tag) == 2 || len(tag) == 3) && strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") == ""
}
