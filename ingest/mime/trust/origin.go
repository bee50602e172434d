package trust

import (
	_ "embed"
	"slices"
	"strings"

	"podium/schemas"
)

// freemailDomains are domains in which anybody has a mailbox for the asking, one a line: those
// of the npm package free-email-domains 1.12.6 (MIT, LICENSE-domains.md), and more of our own.
//
//go:embed freemail/domains.txt
var freemailDomains string

//go:embed freemail/more.txt
var moreFreemail string

// Vouch fills in what follows from who vouches for a mail: its origin, and whom an answer
// goes to. Checked says that somebody is believed about it: a server by its name, or
// signatures that are verified here. Forwarders are entries as those of Allowed: senders
// that write on behalf of others, such as contact forms.
func Vouch(mail *schemas.EmailReceived, checked bool, forwarders []string) {
	switch {
	case mail.Auth.Verdict == schemas.AuthFail && mail.Auth.Method == "dmarc":
		mail.Origin = schemas.OriginRefuted // the owner of the domain has said how to know its mail, and this is none
	case mail.Auth.Verdict == schemas.AuthPass && mail.Auth.Aligned && len(mail.From) == 1 && !slices.Contains(mail.Suspicious, suspiciousFrom):
		mail.Origin = schemas.OriginProven
	case checked, mail.Auth.Verdict == schemas.AuthFail:
		mail.Origin = schemas.OriginUnproven
	default:
		mail.Origin = schemas.OriginUnchecked
	}
	mail.AnswerTo = schemas.Address{}
	switch {
	case len(mail.From) == 0:
	case len(mail.ReplyTo) > 0 && mail.Origin == schemas.OriginProven && (Allowed(mail, forwarders) || sameOrganization(mail.From[0], mail.ReplyTo[0])):
		mail.AnswerTo = mail.ReplyTo[0]
	default:
		mail.AnswerTo = mail.From[0]
	}
}

// sameOrganization reports whether two mailboxes belong to one organization, so that one of them
// may have answers sent to the other. Where anybody has a mailbox the domain says nothing.
func sameOrganization(a, b schemas.Address) bool {
	from, to := domainOf(a.Address), domainOf(b.Address)
	return aligned(to, from) && !isFreemail(from) && !isFreemail(to)
}

// isFreemail reports whether anybody has a mailbox in a domain for the asking.
func isFreemail(domain string) bool {
	for name := domain; name != ""; _, name, _ = strings.Cut(name, ".") {
		line := "\n" + name + "\n"
		if strings.Contains("\n"+freemailDomains, line) || strings.Contains("\n"+moreFreemail, line) {
			return true
		}
	}
	return false
}
