package mime_test

import (
	"testing"

	"podium/ingest/mime"
	"podium/schemas"
)

// TestComplaintsAndTickets_I20: complaints of mail providers and what programs for tickets write by
// themselves are no mail of people; what people write through such a program is.
func TestComplaintsAndTickets_I20(t *testing.T) {
	t.Parallel()
	whole := "Content-Type: message/rfc822\r\n\r\nX-HmXmrOriginalRecipient: nora@shop.example\r\n" +
		returnedHeader + "\r\n\r\nHallo"
	feedback := part("message/feedback-report", "Feedback-Type: abuse", "User-Agent: x/1", "Version: 1")
	words := part("text/plain", "This is an email abuse report for an email message received from IP 192.0.2.1.")
	for name, test := range map[string]struct {
		raw   string
		class schemas.MailClass
	}{
		"Hotmail": {bounceOf([]string{
			"Return-Path: <nora@shop.example>",
			"From: staff@hotmail.example", "Subject: complaint about message from 192.0.2.222",
		}, multi("mixed", "m",
			whole)), schemas.MailAutoReply},
		"Hotmail, from elsewhere": {bounceOf([]string{"From: x@hotmail.example", "Subject: Angebot 17"},
			multi("mixed", "m", whole)), schemas.MailAutoReply},
		"feedback without a type": {bounceOf([]string{
			"From: fbl@shop.example",
			"Subject: FW: Angebot 17",
		}, multi("report", "m", words, feedback, whole)), schemas.MailAutoReply},
		"feedback among parts": {bounceOf([]string{
			"From: FeedbackLoop@shop.example",
			"Subject: Angebot 17",
		}, multi("mixed", "m", words, feedback, whole)), schemas.MailAutoReply},
		"feedback, by its subject": {
			bounceOf([]string{
				"From: x@shop.example",
				"Subject: [17] Email Feedback Report for IP 192.0.2.1",
			}, multi("mixed", "m", words, feedback)),
			schemas.MailAutoReply,
		},
		"feedback alone": {bounceOf([]string{"From: x@shop.example", "Subject: Angebot 17"},
			feedback), schemas.MailAutoReply},
		"feedback with the subject of the mail": {bounceOf([]string{
			"From: <abusedesk@isp.example>",
			"Subject: FW: Angebot 17",
		}, multi("mixed", "m", words, feedback, whole)), schemas.MailAutoReply},
		"feedback, from any address": {bounceOf([]string{
			"From: x@isp.example",
			"Subject: Re: Angebot 17",
		}, multi("mixed", "m", part("text/plain", "This is an email abuse report for an email message",
			"received from IP 192.0.2.1 on Mon, 5 Jan 2026.", "For more information about this format please see", "http://arf.example/.",
			"", "For information about this service please see: https://isp.example/"), feedback, whole)), schemas.MailAutoReply},
		"feedback, by a page": {bounceOf([]string{
			"From: <abusedesk@isp.example>", "Subject: FW: Angebot 17",
		}, multi("mixed", "m", part("text/html", "<p>This is a spam report for a message received from 192.0.2.1.</p>"),
			feedback, whole)), schemas.MailAutoReply},
		"feedback in other words": {bounceOf([]string{
			"From: abusedesk@isp.example",
			"Subject: Angebot 17",
		}, multi("mixed", "m", part("text/plain", "A user marked this mail as spam."), feedback, whole)), schemas.MailAutoReply},
		"feedback in other words, with the subject": {bounceOf([]string{
			"From: fbl@isp.example",
			"Subject: FW: Angebot 17",
		}, multi("mixed", "m", part("text/plain", "A user marked this mail as spam."), feedback, whole)), schemas.MailAutoReply},
		"feedback as text": {
			bounceOf([]string{
				"From: x@isp.example",
				"Subject: FW: Angebot 17",
			}, multi("mixed", "m", words, part("text/plain; name=report.txt", "Feedback-Type: abuse", "Version: 1"), whole)),
			schemas.MailAutoReply,
		},
		"a person answers below the sentence": {bounceOf([]string{
			"From: abusedesk@shop.example",
			"Subject: FW: Angebot 17",
		}, multi("mixed", "m", part("text/plain", "This is an email abuse report for an email message", "received from IP 192.0.2.1.",
			"", "Please take our customer off your list.", "", "Nora"), feedback, whole)), schemas.MailHuman},
		"a person quotes the sentence": {bounceOf([]string{
			"From: nora@shop.example",
			"Subject: FW: Email Feedback Report for IP 192.0.2.1",
		}, multi("mixed", "m", part("text/plain", "Please look at this.", "", "This is an email abuse report for an email message."),
			feedback, whole)), schemas.MailHuman},
		"a person asks from such an address": {bounceOf([]string{
			"From: abusedesk@shop.example",
			"Subject: Angebot 17",
		}, multi("mixed", "m", part("text/plain", "Is that yours?"), feedback, whole)), schemas.MailHuman},
		"a person writes the sentence alone": {bounceOf([]string{"From: nora@shop.example", "Subject: A form"},
			"This is an email abuse report."), schemas.MailHuman},
		"X-ARF": {bounceOf([]string{
			"From: x@shop.example", "X-XARF: PLAIN",
			"Subject: abuse report",
		}, multi("mixed", "m", words, part("text/plain; charset=utf-8; name=report.txt",
			"Reported-From: x@shop.example"))), schemas.MailAutoReply},
		"a person passes one on": {bounceOf([]string{
			"From: abuse@shop.example",
			"Subject: Fwd: complaint about message from 192.0.2.222",
		}, multi("mixed", "m", part("text/plain",
			"Please stop that."), feedback, whole)), schemas.MailHuman},
		"a person asks about one": {bounceOf([]string{"From: nora@shop.example", "Subject: Angebot 17"},
			multi("mixed", "m", part("text/plain", "Is that yours?"), whole)), schemas.MailHuman},
		"a person attaches a mail": {
			bounceOf([]string{
				"From: nora@shop.example",
				"Subject: complaint about message from you",
			}, multi("mixed", "m", part("text/plain",
				"I did not want it."), "Content-Type: message/rfc822\r\n\r\n"+returnedHeader+"\r\n\r\nHallo")),
			schemas.MailHuman,
		},
		"a ticket, by its subject": {bounceOf([]string{
			"From: help@shop.example",
			"Subject: [shop.example #17] AutoReply: Angebot",
		}, "We have it."), schemas.MailAutoReply},
		"a ticket, by two tags": {bounceOf([]string{
			"From: help@shop.example",
			"Subject: [Ext] [Ticket#17] Automatische Antwort: Angebot",
		}, "We have it."), schemas.MailAutoReply},
		"a ticket, in its tag": {
			bounceOf([]string{"From: help@shop.example", "Subject: [Request received] Angebot"}, "We have it."),
			schemas.MailAutoReply,
		},
		"OTRS": {bounceOf([]string{
			"From: help@shop.example", "X-OTRS-Loop: True",
			"Subject: [Ticket#17] RE: Angebot",
		}, "We have it."), schemas.MailAutoReply},
		"RT": {bounceOf([]string{
			"From: help@shop.example",
			"RT-Ticket: shop.example #17", "X-Auto-Response-Suppress: All", "Subject: [shop.example #17] Angebot",
		},
			"We have it."), schemas.MailAutoReply},
		"Zendesk": {bounceOf([]string{
			"From: help@shop.example",
			"X-Zendesk-From-Account-Id: 1", "X-Auto-Response-Suppress: DR, AutoReply",
			"Subject: Request received: Angebot",
		}, "We have it."), schemas.MailAutoReply},
		"cPanel": {bounceOf([]string{
			"From: help@shop.example",
			"X-Precedence: auto_reply", "Subject: Angebot",
		}, "We have it."), schemas.MailAutoReply},
		"a responder": {bounceOf([]string{
			"From: help@shop.example",
			"Delivered-To: Autoresponder", "Subject: Angebot",
		}, "We have it."), schemas.MailAutoReply},
		"a person through RT": {
			bounceOf([]string{
				"From: help@shop.example",
				"RT-Ticket: shop.example #17", "Subject: [shop.example #17] Re: Angebot",
			}, "It is 17 euros."),
			schemas.MailHuman,
		},
		"a person with a tag": {bounceOf([]string{
			"From: nora@shop.example",
			"Subject: [Ext] Automatic replies do not work",
		}, "Hello"), schemas.MailHuman},
		"a person answers an automatic mail": {bounceOf([]string{
			"From: nora@shop.example",
			"Subject: [shop #17] Re: Automatic reply: Angebot",
		}, "Hello"), schemas.MailHuman},
	} {
		if mail := parseWith(t, test.raw, mime.Options{}); mail.Class != test.class || mail.Bounce != nil {
			t.Errorf("%s: %s by %q", name, mail.Class, mail.Signals)
		}
	}
}
