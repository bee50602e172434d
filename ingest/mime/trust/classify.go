package trust

import (
	"slices"
	"strings"

	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/ingest/mime/text"
	"podium/schemas"
)

// SignalNoHeader marks a mail without a header, which nobody has sent.
const SignalNoHeader = "no-header"

// An Evidence is what a mail is classed by.
type Evidence struct {
	Header       header.Header
	ReportType   string             // kind of multipart/report; "" is none
	OwnMessageID bool               // its Message-ID is one of ours
	Author       header.AddressList // of From
	Subject      string             // normalized, see text.Normalize
	Languages    *text.Languages

	from            string // local part of the first author, lower case
	nullReversePath bool   // nobody may answer it
}

// hasNullReversePath tells whether nobody may answer the mail (RFC 3834, section 2). Not
// every server writes Return-Path.
func hasNullReversePath(h header.Header) bool {
	return slices.ContainsFunc([]string{"return-path", "x-envelope-from", "x-envelope-sender"}, func(name string) bool {
		return strings.Join(strings.Fields(header.StripComments(h.First(name))), "") == "<>"
	})
}

// says tells whether a field stands there with anything but a no.
func (e *Evidence) says(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if !e.Header.Has(name) {
			return false
		}
		switch strings.ToLower(e.Header.First(name)) {
		case "no", "false", "0":
			return false
		}
		return true
	})
}

// words returns the words of every field of a name, in lower case, without comments.
func (e *Evidence) words(name string) []string {
	var all []string
	for i := range e.Header {
		if e.Header[i].Name == name {
			value := strings.ToLower(header.StripComments(e.Header[i].Value))
			all = append(all, strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == '\t' })...)
		}
	}
	return all
}

func (e *Evidence) has(name string, words ...string) bool {
	return slices.ContainsFunc(e.words(name), func(word string) bool { return slices.Contains(words, word) })
}

// mailerDaemon tells whether a mail system is the author. People write as postmaster too.
func (e *Evidence) mailerDaemon() bool {
	return e.from == "mailer-daemon" || e.from == "mailerdaemon" || e.nullReversePath && e.postmaster()
}

func (e *Evidence) postmaster() bool { return e.from == "postmaster" || e.from == "mail-daemon" }

// bounceSubject tells whether the subject is that of a bounce, of a mail that a person
// would hardly have written: what a person writes as postmaster begins with other
// words, or goes on after these.
func (e *Evidence) bounceSubject() bool {
	begins, alone := e.Languages.BounceSubject(e.Subject)
	return begins && (e.nullReversePath || e.mailerDaemon()) || alone && e.postmaster()
}

// fromList tells whether the software of a list has sent the mail (RFC 3834, section 2).
func (e *Evidence) fromList() bool {
	left := 10
	sender := header.ParseAddresses(e.Header, "sender", &left, &defect.List{})
	return slices.ContainsFunc(sender.Mailboxes, func(one schemas.Address) bool {
		local := strings.ToLower(one.Address[:strings.IndexAny(one.Address, "+@")])
		return strings.HasPrefix(local, "owner-") || strings.HasSuffix(local, "-owner") || strings.HasSuffix(local, "-bounces")
	})
}

// A signal is one sign of who wrote a mail. One whose class is MailHuman decides
// nothing and is only reported.
type signal struct {
	code  string
	class schemas.MailClass
	found func(*Evidence) bool
}

// signals are all signs, in the order in which they are reported. Where several
// apply, a bounce comes before an automatic mail, and that before a list.
func signals() []signal {
	return []signal{
		{"delivery-report", schemas.MailBounce, func(e *Evidence) bool { return e.ReportType == "delivery-status" }},
		{"failed-recipients", schemas.MailBounce, func(e *Evidence) bool {
			return (e.nullReversePath || e.mailerDaemon()) && e.Header.Has("x-failed-recipients")
		}},
		{"bounce-subject", schemas.MailBounce, (*Evidence).bounceSubject},
		{"own-message-id", schemas.MailAutoReply, func(e *Evidence) bool { return e.OwnMessageID }},
		{"report", schemas.MailAutoReply, func(e *Evidence) bool {
			return e.ReportType == "disposition-notification" || e.ReportType == "feedback-report"
		}},
		{"auto-submitted", schemas.MailAutoReply, func(e *Evidence) bool { // RFC 3834, section 5
			words := e.words("auto-submitted")
			return len(words) > 0 && words[0] != "no"
		}},
		{"null-return-path", schemas.MailAutoReply, func(e *Evidence) bool { return e.nullReversePath }},
		{"mailer-daemon", schemas.MailAutoReply, (*Evidence).mailerDaemon},
		{"precedence-auto-reply", schemas.MailAutoReply, func(e *Evidence) bool { return e.has("precedence", "auto_reply", "auto-reply") }},
		{"x-autoreply", schemas.MailAutoReply, func(e *Evidence) bool {
			return e.says("x-autoreply", "x-autorespond", "x-autoresponder", "x-auto-reply", "x-autoreply-from", "x-mail-autoreply", "x-vacation")
		}},
		{"x-autogenerated", schemas.MailAutoReply, func(e *Evidence) bool {
			return e.says("x-autogenerated", "x-auto-generated", "x-fc-machinegenerated", "x-ms-exchange-inbox-rules-loop", "x-cron-env")
		}},
		{"autoreply-subject", schemas.MailAutoReply, func(e *Evidence) bool { return e.Languages.AutoReplySubject(e.Subject) }},
		{"list-id", schemas.MailList, func(e *Evidence) bool { return e.Header.Has("list-id") }}, // RFC 2919
		{"list-fields", schemas.MailList, func(e *Evidence) bool { // RFC 2369
			return slices.ContainsFunc([]string{"list-post", "list-unsubscribe", "list-help", "list-subscribe", "list-owner", "list-archive"}, e.Header.Has)
		}},
		{"list-program", schemas.MailList, func(e *Evidence) bool {
			return e.says("x-mailing-list", "x-beenthere", "x-mailman-version", "mailing-list")
		}},
		{"list-sender", schemas.MailList, (*Evidence).fromList},
		{"precedence-bulk", schemas.MailList, func(e *Evidence) bool { return e.has("precedence", "list", "bulk", "junk") }},
		{"x-loop", schemas.MailList, func(e *Evidence) bool { return e.Header.Has("x-loop") }},
		{"auto-response-suppress", schemas.MailHuman, func(e *Evidence) bool { return e.Header.Has("x-auto-response-suppress") }},
		{"no-reply-address", schemas.MailHuman, func(e *Evidence) bool {
			return slices.Contains([]string{"noreply", "no-reply", "no_reply", "donotreply", "do-not-reply", "do_not_reply"}, e.from)
		}},
	}
}

// Classify says who wrote a mail, and by which signs.
func Classify(e *Evidence) (schemas.MailClass, []string) {
	e.nullReversePath, e.from = hasNullReversePath(e.Header), e.Author.BareWord
	if len(e.Author.Mailboxes) > 0 {
		e.from, _, _ = strings.Cut(e.Author.Mailboxes[0].Address, "@")
	}
	e.from = strings.ToLower(e.from)
	class := schemas.MailHuman
	var codes []string
	for _, one := range signals() {
		if one.found(e) {
			codes = append(codes, one.code)
			if weight(one.class) > weight(class) {
				class = one.class
			}
		}
	}
	return class, codes
}

func weight(class schemas.MailClass) int {
	return slices.Index([]schemas.MailClass{schemas.MailHuman, schemas.MailList, schemas.MailAutoReply, schemas.MailBounce}, class)
}

// Suppressed tells whether the sender wants no automatic answer. It says nothing
// about who wrote the mail: that of people carries the field too.
func Suppressed(e *Evidence) bool {
	return e.has("x-auto-response-suppress", "all", "autoreply")
}
