package trust

import (
	"slices"
	"strings"

	"podium/ingest/mime/header"
)

// isComplaint tells whether the mail is a report by a mail provider that a person did not want a
// mail: one in the format of RFC 5965 that does not say so, of Hotmail, or by X-ARF. A person who
// passes one on writes a word to it.
func (e *Evidence) isComplaint() bool {
	if e.says("x-arf", "x-xarf") || e.Header.Has("x-spamcop-sourceip") {
		return true
	}
	if e.ReportPart != "feedback-report" && !e.Returned.Has("x-hmxmroriginalrecipient") {
		return false
	}
	return strings.TrimSpace(e.Words) == "" || (e.isOfFeedbackLoop() || e.mayBeOfMailSystem()) && !e.isOfPerson()
}

// isOfFeedbackLoop tells whether the mail is from an address that providers send complaints from,
// or has their subject.
func (e *Evidence) isOfFeedbackLoop() bool {
	switch e.from {
	case "staff", "abuse", "complaints", "complaint", "fbl", "feedback", "feedbackloop", "feedback-loop", "arf",
		"scomp", "spam-report", "spamreport", "noreply", "no-reply":
		return true
	}
	return slices.ContainsFunc([]string{
		"complaint about message from", "email feedback report", "abuse report",
		"spam report", "spam complaint", "feedback report",
	},
		func(words string) bool { return strings.HasPrefix(e.subjectBehindTags(), words) })
}

// subjectBehindTags returns the subject without the tags in brackets that programs put before it,
// such as the number of a ticket.
func (e *Evidence) subjectBehindTags() string {
	subject := e.Subject
	for strings.HasPrefix(subject, "[") {
		_, behind, closed := strings.Cut(subject, "]")
		if !closed {
			break
		}
		subject = strings.TrimLeft(behind, " :-")
	}
	return subject
}

// hasAutoReplySubject tells whether the subject is one that programs give to automatic replies, with
// or without the number of a ticket before it.
func (e *Evidence) hasAutoReplySubject() bool {
	return e.Languages.AutoReplySubject(e.Subject) || e.Languages.AutoReplySubject(e.subjectBehindTags())
}

// isAutoReply tells whether the mail says by its subject or its fields that it answers for a person who is away.
func (e *Evidence) isAutoReply() bool {
	return e.hasAutoReplySubject() || e.hasAutoReplyField() ||
		strings.Contains(strings.ToLower(e.Header.First("auto-submitted")), "vacation")
}

// hasAutoReplyField tells whether a program for automatic replies has added its field.
func (e *Evidence) hasAutoReplyField() bool {
	return e.has("delivered-to", "autoresponder") ||
		e.says("x-autoreply", "x-autorespond", "x-autoresponder", "x-auto-reply", "x-autoreply-from",
			"x-mail-autoreply", "x-vacation", "x-otrs-loop")
}

// isOfTicketSystem tells whether a program for tickets wrote the mail by itself. What people answer
// through one carries its fields too, and does not forbid automatic answers.
func (e *Evidence) isOfTicketSystem() bool {
	return Suppressed(e) && slices.ContainsFunc(e.Header, func(field header.Field) bool {
		return slices.ContainsFunc([]string{
			"rt-ticket", "x-rt-", "x-otrs-", "x-znuny-", "x-zammad-", "x-zendesk-",
			"x-freshdesk-", "x-jira-", "x-redmine-", "x-mantis", "x-bugzilla-", "x-osticket", "x-helpscout-",
			"x-glpi", "x-kayako", "x-servicenow-", "x-ticket",
		},
			func(prefix string) bool { return strings.HasPrefix(field.Name, prefix) })
	})
}
