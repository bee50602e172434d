package trust

import (
	"cmp"

	"podium/ingest/mime/header"
	"podium/schemas"
)

// Authenticate says whether to believe who a mail is from: by the results of the
// receiving server, known by its names, and by the signatures that were verified here.
// from is the address of the only author; "" is none, and then nothing is aligned.
func Authenticate(h header.Header, servers []string, outcomes []Signature, from string) (verdict schemas.MailAuth, disagrees bool) {
	results, _ := authResults(h, servers)
	domain := domainOf(from)
	return addVerified(judge(results, domain), outcomes, domain)
}

// judge makes the verdict on a mail from the results of the receiving server.
// from is the domain of its only author; "" is none, and then nothing is aligned.
func judge(results []methodResult, from string) schemas.MailAuth {
	verdict := schemas.MailAuth{Verdict: schemas.AuthNone}
	for i := range results {
		one := results[i].auth(from)
		if one.Method == "dmarc" && one.Verdict != schemas.AuthNone {
			return one // its domain owner's policy has the last word
		}
		if rank(one) > rank(verdict) {
			verdict = one
		}
	}
	return verdict
}

// rank orders verdicts by how much they say: an aligned pass most.
func rank(auth schemas.MailAuth) int {
	switch {
	case auth.Verdict == schemas.AuthPass && auth.Aligned:
		return 3
	case auth.Verdict == schemas.AuthPass:
		return 2
	case auth.Verdict == schemas.AuthFail:
		return 1
	}
	return 0
}

// auth says what one result means for a mail from a domain.
func (r *methodResult) auth(from string) schemas.MailAuth {
	none := schemas.MailAuth{Verdict: schemas.AuthNone}
	domain := ""
	switch r.method {
	case "dmarc":
		domain = cmp.Or(r.properties["header.from"], from)
	case "dkim":
		domain = cmp.Or(r.properties["header.d"], domainOf(r.properties["header.i"]))
	case "spf":
		domain = cmp.Or(domainOf(r.properties["smtp.mailfrom"]), r.properties["smtp.mailfrom"])
	}
	domain = asciiDomain(domain)
	if domain == "" {
		return none
	}
	found := schemas.MailAuth{Domain: domain, Method: r.method, Aligned: aligned(domain, from)}
	switch r.result {
	case "pass":
		found.Verdict = schemas.AuthPass
	case "fail", "hardfail", "softfail", "permerror", "policy":
		found.Verdict = schemas.AuthFail
	default:
		return none
	}
	if r.method == "dmarc" && !found.Aligned && (from != "" || found.Verdict != schemas.AuthFail) {
		return none // about another From than the one that is shown
	}
	return found
}

// addVerified adds what was verified here. It decides only where the receiving
// server said nothing; where it contradicts the server, the mail is suspicious.
func addVerified(auth schemas.MailAuth, outcomes []Signature, from string) (verdict schemas.MailAuth, disagrees bool) {
	own := schemas.MailAuth{Verdict: schemas.AuthNone}
	for _, one := range outcomes {
		found := schemas.MailAuth{Verdict: schemas.AuthFail, Domain: one.domain, Method: "dkim", Aligned: aligned(one.domain, from), Local: true}
		if one.valid {
			found.Verdict = schemas.AuthPass
		}
		if rank(found) > rank(own) {
			own = found
		}
		disagrees = disagrees || auth.Method == "dkim" && auth.Domain == one.domain && auth.Verdict == schemas.AuthPass && !one.valid
	}
	if auth.Verdict == schemas.AuthNone {
		return own, false
	}
	return auth, disagrees
}
