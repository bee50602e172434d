package mime_test

import (
	"strings"
	"testing"

	"podium/ingest/mime"
	"podium/ingest/mime/trust"
	"podium/schemas"
)

// TestOrigin_I23: what the receiving server says of a mail comes to one of four words.
func TestOrigin_I23(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		results string // "" is none of ours
		from    string
		want    schemas.MailOrigin
	}{
		"dmarc":              {"dmarc=pass header.from=example.com", "ana@example.com", schemas.OriginProven},
		"spf of the domain":  {"spf=pass smtp.mailfrom=ana@example.com", "ana@example.com", schemas.OriginProven},
		"dmarc failed":       {"dmarc=fail header.from=example.com", "ana@example.com", schemas.OriginRefuted},
		"failed and signed":  {"dkim=pass header.d=example.com; dmarc=fail header.from=example.com", "ana@example.com", schemas.OriginRefuted},
		"spf failed":         {"spf=softfail smtp.mailfrom=ana@example.com", "ana@example.com", schemas.OriginUnproven}, // as of any mail that is forwarded
		"of somebody else":   {"dkim=pass header.d=esp.example", "ana@example.com", schemas.OriginUnproven},
		"dmarc of another":   {"dmarc=fail header.from=evil.example", "ana@example.com", schemas.OriginUnproven},
		"nothing to say":     {"dmarc=none header.from=example.com", "ana@example.com", schemas.OriginUnproven},
		"nothing said":       {"", "ana@example.com", schemas.OriginUnproven},
		"two authors":        {"dmarc=pass header.from=example.com", "ana@example.com, eva@evil.example", schemas.OriginUnproven},
		"two in one domain":  {"dmarc=pass header.from=example.com", "ana@example.com, eva@example.com", schemas.OriginUnproven},
		"an author too many": {"dmarc=pass header.from=example.com", "ana@example.com\r\nFrom: eva@example.com", schemas.OriginUnproven},
		"nobody":             {"dmarc=pass header.from=example.com", "", schemas.OriginUnproven},
	} {
		lines := []string{"From: " + test.from, "", "text"}
		if test.results != "" {
			lines = append([]string{"Authentication-Results: " + ours + "; " + test.results}, lines...)
		}
		mail := parseWith(t, crlf(lines...), mime.Options{AuthServIDs: []string{ours}})
		trust.Vouch(&mail, true, nil)
		if mail.Origin != test.want {
			t.Errorf("%s: %s of %+v", name, mail.Origin, mail.Auth)
		}
		mail = parseWith(t, crlf(lines...), mime.Options{})
		trust.Vouch(&mail, false, nil)
		if mail.Origin != schemas.OriginUnchecked {
			t.Errorf("%s: %s where nobody is believed", name, mail.Origin)
		}
	}
}

// TestWhomAnAnswerGoesTo_I23_I24: Reply-To counts within the organization of an author who
// is proved, unless anybody has a mailbox there, and of the forms that are configured.
func TestWhomAnAnswerGoesTo_I23_I24(t *testing.T) {
	t.Parallel()
	forms := []string{"form@shop.example.net", "@forms.example"}
	for name, test := range map[string]struct {
		from, replyTo string
		failed        bool
		want          string
	}{
		"nowhere else":            {from: "ana@example.com", want: "ana@example.com"},
		"a colleague":             {from: "ana@example.com", replyTo: "desk@example.com", want: "desk@example.com"},
		"a house of theirs":       {from: "ana@mail.example.com", replyTo: "desk@support.example.com", want: "desk@support.example.com"},
		"somewhere else":          {from: "ana@example.com", replyTo: "victim@example.net", want: "ana@example.com"},
		"anybody at gmail.com":    {from: "eva@gmail.com", replyTo: "victim@gmail.com", want: "eva@gmail.com"},
		"in another case":         {from: "eva@Gmail.COM", replyTo: "victim@GMAIL.com", want: "eva@Gmail.COM"},
		"a subdomain":             {from: "eva@mail.gmx.net", replyTo: "victim@gmx.net", want: "eva@mail.gmx.net"},
		"of our own list":         {from: "eva@mailbox.org", replyTo: "victim@mailbox.org", want: "eva@mailbox.org"},
		"not proved":              {from: "ana@example.com", replyTo: "desk@example.com", failed: true, want: "ana@example.com"},
		"below a public suffix":   {from: "eva@a.github.io", replyTo: "victim@b.github.io", want: "eva@a.github.io"},
		"a form":                  {from: "form@shop.example.net", replyTo: "customer@gmail.com", want: "customer@gmail.com"},
		"any form of a domain":    {from: "any@forms.example", replyTo: "customer@gmail.com", want: "customer@gmail.com"},
		"a form that is forged":   {from: "form@shop.example.net", replyTo: "victim@gmail.com", failed: true, want: "form@shop.example.net"},
		"another of their domain": {from: "eva@shop.example.net", replyTo: "victim@gmail.com", want: "eva@shop.example.net"},
	} {
		domain := test.from[strings.IndexByte(test.from, '@')+1:]
		result := "pass"
		if test.failed {
			result = "fail"
		}
		lines := []string{"Authentication-Results: " + ours + "; dmarc=" + result + " header.from=" + domain, "From: " + test.from}
		if test.replyTo != "" {
			lines = append(lines, "Reply-To: "+test.replyTo)
		}
		mail := parseWith(t, crlf(append(lines, "", "text")...), mime.Options{AuthServIDs: []string{ours}})
		trust.Vouch(&mail, true, forms)
		if mail.AnswerTo.Address != test.want {
			t.Errorf("%s: %s (%s)", name, mail.AnswerTo.Address, mail.Origin)
		}
	}
	nobody := schemas.EmailReceived{Auth: schemas.MailAuth{Verdict: schemas.AuthNone}, ReplyTo: []schemas.Address{{Address: "victim@example.net"}}}
	if trust.Vouch(&nobody, true, nil); nobody.AnswerTo.Address != "" {
		t.Errorf("a mail of nobody is answered to %s", nobody.AnswerTo.Address)
	}
}
