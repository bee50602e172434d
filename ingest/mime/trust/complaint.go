package trust

import (
	"regexp"
	"slices"
	"strings"

	"podium/ingest/mime/header"
	"podium/ingest/mime/text"
)

// isComplaint tells whether the mail is a report by a mail provider that a person did not want a
// mail: one in the format of RFC 5965 that does not say so, of Hotmail, or by X-ARF. Its subject is often that of
// the mail with "FW:". A person who passes one on writes a word to it.
func (e *Evidence) isComplaint() bool {
	if e.says("x-arf", "x-xarf") || e.Header.Has("x-spamcop-sourceip") {
		return true
	}
	isReport := e.ReportPart == "feedback-report"
	switch {
	case (isReport || e.attached && e.ReportType == "") && isStandardComplaint(e.Words):
		return true
	case !isReport && !e.Returned.Has("x-hmxmroriginalrecipient"):
		return false
	case strings.TrimSpace(e.Words) == "":
		return true
	}
	return isReport && e.isFeedbackLoop() && !e.failure.Asks ||
		(e.mayBeOfFeedbackLoop() || e.mayBeOfMailSystem()) && !e.isOfPerson()
}

// How the words of a report of RFC 5965 begin, and what may follow: where to read of the format, and fields.
var (
	complaintSentence = regexp.MustCompile(
		`(?i)^this is an? (?:automated |automatic )?(?:e-?mail |spam |junk )*(?:abuse |spam |feedback |complaint )report\b`)
	complaintFurther = regexp.MustCompile(`(?i)^(?:for [a-z ]*information\b|https?://|[a-z][a-z-]*: )`)
)

// isStandardComplaint tells whether words are those of a report of RFC 5965 and nothing else.
func isStandardComplaint(words string) bool {
	first := true
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(words), "\r\n", "\n"), "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		switch {
		case first && !complaintSentence.MatchString(paragraph):
			return false
		case !first && paragraph != "" && !complaintFurther.MatchString(paragraph):
			return false
		}
		first = false
	}
	return true
}

// isFeedbackLoop tells whether the mail is from an address that only programs of providers send complaints from.
func (e *Evidence) isFeedbackLoop() bool {
	switch e.from {
	case "fbl", "feedbackloop", "feedback-loop", "arf", "scomp", "spam-report", "spamreport":
		return true
	}
	return false
}

// mayBeOfFeedbackLoop tells whether the mail is from an address that providers send complaints from, and people as
// well, or has the subject of a complaint.
func (e *Evidence) mayBeOfFeedbackLoop() bool {
	switch e.from {
	case "staff", "abuse", "abusedesk", "abuse-desk", "abuse-report", "abuse-reports", "abuse-noreply",
		"complaints", "complaint", "feedback", "noreply", "no-reply":
		return true
	}
	return e.isFeedbackLoop() || slices.ContainsFunc([]string{
		"complaint about message from", "email feedback report", "abuse report",
		"spam report", "spam complaint", "feedback report",
	},
		func(words string) bool { return strings.HasPrefix(text.BehindTags(e.Subject), words) })
}

// hasAutoReplySubject tells whether the subject is one that programs give to automatic replies, with
// or without the number of a ticket before it.
func (e *Evidence) hasAutoReplySubject() bool {
	return e.Languages.AutoReplySubject(e.Subject) || e.Languages.AutoReplySubject(text.BehindTags(e.Subject))
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
