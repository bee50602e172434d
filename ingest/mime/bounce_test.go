package mime_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"podium/ingest/mime"
	"podium/schemas"
)

// failed is the record of a bounce of a mail to nora@shop.example that is no report for programs.
func failed(status, diagnostic string) schemas.Bounce {
	return schemas.Bounce{
		RecipientStatus: schemas.RecipientStatus{
			Recipient: "nora@shop.example", Action: "failed", Status: status,
			Diagnostic: diagnostic,
		},
		MessageID: "q1@desk.example",
	}
}

// withoutID is a bounce that does not name the mail that it reports on.
func withoutID(bounce schemas.Bounce) schemas.Bounce {
	bounce.MessageID = ""
	return bounce
}

// returnedHeader is the header of the mail that the bounces of these tests return.
var returnedHeader = crlf("Received: from desk.example by mx.shop.example;", "\tMon, 5 Jan 2026 09:00:00 +0000",
	"From: Desk <desk@desk.example>", "To: Nora <nora@shop.example>",
	"Subject: Angebot 17", "Message-Id: <q1@desk.example>")

// bounceOf makes a mail to the desk with that header and text, or with parts, which bring their own header.
func bounceOf(head []string, lines ...string) string {
	head = append([]string{
		"To: desk@desk.example", "Message-ID: <b1@mx.example>",
		"Date: Mon, 05 Jan 2026 09:00:00 +0000",
	}, head...)
	if !strings.HasPrefix(lines[0], "Content-Type: ") {
		head = append(head, "")
	}
	return crlf(append(head, lines...)...)
}

// page makes a page of what is said and the header of the mail that comes back.
func page(said ...string) string {
	header := strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(returnedHeader)
	return crlf("Content-Type: text/html; charset=utf-8", "", "<html><body>"+strings.Join(said, ""),
		"<p>Original message headers:</p><pre>"+header+"</pre></body></html>")
}

// TestBouncesOfMailSystems_I21: what programs write that send no report, as each of them words it.
func TestBouncesOfMailSystems_I21(t *testing.T) {
	t.Parallel()
	mixed := func(parts ...string) string { return strings.TrimSuffix(multi("mixed", "m", parts...), "\r\n") }
	returned := "Content-Type: message/rfc822\r\n\r\n" + returnedHeader + "\r\n\r\nHallo"
	null := []string{"Return-Path: <>"}
	for name, test := range map[string]struct {
		raw  string
		want schemas.Bounce
	}{
		"DragonFly, without an address": {bounceOf([]string{
			"From: MAILER-DAEMON <>",
			"Subject: Mail delivery failed",
		}, "This is the DragonFly Mail Agent v0.13.", "",
			"There was an error delivering your mail to <nora@shop.example>.", "",
			"mx.shop.example [192.0.2.7] did not like our RCPT TO:",
			"550 5.1.1 <nora@shop.example>: Recipient unknown", "",
			"Message headers follow.", "", returnedHeader), failed("5.1.1",
			"550 5.1.1 <nora@shop.example>: Recipient unknown")},
		"name in quotes, encoded": {bounceOf([]string{
			"From: =?utf-8?Q?MAILER-DAEMON?= <>",
			"Subject: =?utf-8?B?w4ljaGVj?=",
		}, "Bonjour,", "", "nora@shop.example", "550 5.7.1 refus", "",
			returnedHeader), failed("5.7.1", "550 5.7.1 refus")},
		"nothing but brackets": {bounceOf([]string{"From: <>", "Subject: Fehler"},
			"<nora@shop.example>: 550 5.1.1 unbekannt", "", returnedHeader), failed("5.1.1", "550 5.1.1 unbekannt")},
		"two words": {bounceOf([]string{"From: Mail Delivery Subsystem <>", "Subject: Fehler"},
			"<nora@shop.example>: unbekannt", "", returnedHeader), withStatus(failed("", ""), "")},
		"mailer daemon returns, without a type": {
			bounceOf([]string{
				"Return-Path: <MAILER-DAEMON@mx.example>",
				"From: Mail Delivery System <Mail.Delivery.System@mx.example>", "Subject: Delivery status notification",
				"Content-Type: multipart/report; boundary=b",
			},
				"--b", "", "Delivery to the following recipients failed permanently:", "", "   * nora@shop.example", "",
				"SMTP:RCPT host 192.0.2.8: 553 5.3.0 <nora@shop.example>... No such user here", "", "--b", returned,
				"--b--"),
			failed("5.3.0", "553 5.3.0 <nora@shop.example>... No such user here"),
		},
		"mailer daemon returns, no host": {bounceOf([]string{
			"Return-Path: <MAILER-DAEMON>",
			"From: <Postmaster@mx.example>", "Subject: Mail System Error - Returned Mail",
		},
			"Each of the following recipients was rejected by a remote mail server.", "", "<nora@shop.example>",
			"-------------------------------------------------", returnedHeader), failed("", "")},
		"foreign postmaster": {
			bounceOf([]string{
				"Return-Path: <postmaster@shop.example>",
				`From: "Gateway" <postmaster@shop.example>`,
				"Subject: =?utf-8?B?44Oh44OD44K744O844K444KS6YWN5L+h44Gn44GN44G+44Gb44KT44CC?=",
			},
				mixed(part("text/plain", "Sent <<< RCPT TO:<nora@shop.example>",
					"Received >>> 550 5.1.1 <nora@shop.example>... User unknown"), returned)),
			failed("5.1.1", "550 5.1.1 <nora@shop.example>... User unknown"),
		},
		"foreign postmaster, header alone": {bounceOf([]string{
			"From: postmaster@shop.example",
			"Subject: =?utf-8?Q?Kirje_ei_mennyt_perille?=",
		},
			mixed(part("text/plain", "nora@shop.example", "550 5.1.1 tuntematon"),
				"Content-Type: text/rfc822-headers\r\n\r\n"+returnedHeader+"\r\n")), failed("5.1.1",
			"550 5.1.1 tuntematon")},
		"null path, words alone": {
			bounceOf([]string{
				"Return-Path: <>", "From: MAILER-DAEMON <>",
				"Subject: Mail delivery failed",
			}, "There was an error delivering your mail to <nora@shop.example>."),
			withoutID(failed("", "")),
		},
		"qmail": {bounceOf(slices.Concat(null, []string{
			"From: MAILER-DAEMON@mx.example",
			"Subject: failure notice",
		}), "Hi. This is the qmail-send program at mx.example.",
			"I'm afraid I wasn't able to deliver your message to the following addresses.",
			"", "<nora@shop.example>:", "192.0.2.8 does not like recipient.", "Remote host said: 550 No such user",
			"Giving up on 192.0.2.8.", "", "--- Below this line is a copy of the message.", "", returnedHeader,
			"", "Hallo"), failed("", "550 No such user")},
		"qmail, its own code": {bounceOf(slices.Concat(null, []string{
			"From: MAILER-DAEMON@mx.example",
			"Subject: failure notice",
		}), "<nora@shop.example>:", "Sorry, no mailbox here by that name. (#5.1.1)",
			"", "--- Below this line is a copy of the message.", "", returnedHeader), failed("5.1.1",
			"Sorry, no mailbox here by that name. (#5.1.1)")},
		"Exim": {bounceOf(slices.Concat(null, []string{
			"From: Mail Delivery System <Mailer-Daemon@mx.example>",
			"Subject: Mail delivery failed: returning message to sender",
		}),
			"This message was created automatically by mail delivery software.", "",
			"A message that you sent could not be delivered to one or more of its",
			"recipients. This is a permanent error. The following address(es) failed:", "",
			"  nora@shop.example", "    host mx.shop.example [192.0.2.8]",
			"    SMTP error from remote mail server after RCPT TO:<nora@shop.example>:", "    550 User unknown",
			"", "------ This is a copy of the message's headers. ------", "", "Return-path: <desk@desk.example>",
			returnedHeader), failed("", "550 User unknown")},
		"Postfix, no parts": {bounceOf([]string{
			"Return-Path: <>", "From: MAILER-DAEMON (Mail Delivery System)",
			"Subject: Undelivered Mail Returned to Sender",
		}, "This is the mail system at host mx.example.", "",
			"                   The mail system", "",
			"<nora@shop.example>: host mx.shop.example[192.0.2.8] said: 550 5.1.1",
			"    <nora@shop.example>: Recipient address rejected (in reply to RCPT TO command)", "",
			returnedHeader), failed("5.1.1", "550 5.1.1")},
		"Sendmail": {bounceOf([]string{
			"From: Mail Delivery Subsystem <MAILER-DAEMON>",
			"Subject: Returned mail: User unknown",
		},
			"   ----- The following addresses had permanent fatal errors -----", "<nora@shop.example>", "",
			"   ----- Transcript of session follows -----", "... while talking to mx.shop.example.:",
			">>> RCPT To:<nora@shop.example>", "<<< 550 5.1.1 <nora@shop.example>... User unknown", "",
			"   ----- Original message follows -----", "", returnedHeader), failed("5.1.1",
			"550 5.1.1 <nora@shop.example>... User unknown")},
		"Exchange 5.5": {bounceOf(slices.Concat(null, []string{
			"From: System Administrator <postmaster@mx.example>",
			"Subject: Undeliverable: Angebot 17",
		}), "Your message", "", "  To:      nora@shop.example",
			"  Subject: Angebot 17", "  Sent:    Mon, 5 Jan 2026 09:00:00 +0000", "",
			"did not reach the following recipient(s):", "",
			"nora@shop.example on Mon, 5 Jan 2026 09:00:00 +0000", "    The recipient name is not recognized",
			"        The MTS-ID of the original message is: c=de;a= ;p=x;l=MX-1"), withoutID(failed("", ""))},
		"Exchange, a page": {
			bounceOf([]string{
				"From: Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@shop.example>",
				"Subject: Undeliverable: Angebot 17", "X-MS-Exchange-Message-Is-Ndr:",
			},
				page("<p>Your message to <a href=\"mailto:nora@shop.example\">nora@shop.example</a> couldn't be delivered.</p>",
					"<h2>How to Fix It</h2><p>Did you spell it right?</p><p>Generating server: mx.shop.example</p>",
					"<p>nora@shop.example<br>Remote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound'</p>")),
			failed("5.1.10", "550 5.1.10 RESOLVER.ADR.RecipientNotFound"),
		},
		"Exchange, in the language of its users": {
			bounceOf([]string{
				"From: Postmaster <postmaster@shop.example>",
				"Subject: =?utf-8?Q?Nem_k=C3=A9zbes=C3=ADthet=C5=91?=: Angebot 17", "Auto-Submitted: auto-replied",
			},
				page("<p>nora@shop.example<br>#550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found ##</p>")),
			failed("5.1.1", "550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found ##"),
		},
		"Domino": {
			bounceOf(slices.Concat(null, []string{
				"From: Postmaster@mx.example",
				"Subject: DELIVERY FAILURE: User nora (nora@shop.example) not listed in Domino Directory",
			}),
				"Your message", "", "  Subject: Angebot 17", "", "was not delivered to:", "", "  nora@shop.example", "",
				"because:", "", "  User nora (nora@shop.example) not listed in Domino Directory"),
			withoutID(failed("", "")),
		},
		"GMX": {
			bounceOf(slices.Concat(null, []string{
				`From: "GMX Mailer Daemon" <mailer-daemon@gmx.example>`,
				"Subject: Mail delivery failed: returning message to sender",
			}),
				"Diese Nachricht wurde automatisch von einer Mail Delivery Software erstellt.", "",
				"Folgende Adresse hat den Fehler verursacht:", "",
				`"nora@shop.example":`,
				"SMTP error from remote server for RCPT TO command, host: mx.shop.example reason: 550 5.7.1 rejected",
				"", "--- The header of the original message is following. ---", "", returnedHeader),
			failed("5.7.1", "550 5.7.1 rejected"),
		},
		"Yahoo": {
			bounceOf([]string{
				"Return-Path: <>", "From: MAILER-DAEMON@yahoo.example",
				"Subject: Failure Notice",
			}, "Sorry, we were unable to deliver your message to the following address.",
				"", "<nora@shop.example>:",
				"554: delivery error: dd This user doesn't have an account (nora@shop.example) [0] - mta.example", "",
				"--- Below this line is a copy of the message.", "", returnedHeader),
			failed("", "554: delivery error: dd This user doesn't have an account (nora@shop.example) [0] - mta.example"),
		},
		"Gmail, no report": {bounceOf([]string{
			"Return-Path: <>",
			"From: Mail Delivery Subsystem <mailer-daemon@googlemail.example>",
			"Subject: Delivery Status Notification (Failure)",
		}, "** Address not found **", "",
			"Your message wasn't delivered to nora@shop.example because the address couldn't be found.", "",
			"Learn more here: https://support.example/mail/?p=NoSuchUser", "", "The response was:", "",
			"The email account that you tried to reach does not exist. 550-5.1.1 The email account", "",
			"----- Original message -----", "", returnedHeader), failed("5.1.1", "550-5.1.1 The email account")},
		"its header is quoted": {bounceOf([]string{
			"Return-Path: <>", "From: bounce@mx.example",
			"Subject: Ihre Nachricht",
		}, "Die folgende Nachricht kam nicht an:", "",
			"> "+strings.ReplaceAll(returnedHeader, "\r\n", "\r\n> "), "",
			"nora@shop.example: 550 5.1.1 unbekannt"), failed("5.1.1", "550 5.1.1 unbekannt")},
		"forwarded further": {bounceOf(slices.Concat(null, []string{
			"From: MAILER-DAEMON@mx.example",
			"Subject: failure notice",
		}), "<other@home.example>:", "550 5.1.1 unknown", "",
			"(generated from nora@shop.example)", "", returnedHeader), failed("5.1.1", "550 5.1.1 unknown")},
		"it comes late": {
			bounceOf(slices.Concat(null,
				[]string{
					"From: Mail Delivery System <Mailer-Daemon@mx.example>",
					"Subject: Warning: message 1abc-0001 delayed 24 hours",
				}), "  nora@shop.example",
				"    host mx.shop.example [192.0.2.8] said: 451 4.7.1 try again later", "", returnedHeader),
			withStatus(failed("4.7.1", "451 4.7.1 try again later"), "delayed"),
		},
		"returned whole, without an answer of a server": {
			bounceOf([]string{"Return-Path: <>", "From: no-reply@provider.example", "Subject: Mail"},
				mixed(part("text/plain", "Your mail could not be delivered to: <nora@shop.example>", "As their mailbox is full."), returned)),
			withStatus(failed("", ""), ""),
		},
		"to the envelope sender": {
			bounceOf([]string{"From: <MAILER-DAEMON@mx.example>", "Subject: mail failed, returning to sender"},
				"|-------- Failed addresses follow: --------|", " nora@shop.example ... unknown host", "|-------- Message text follows: --------|",
				strings.Replace(returnedHeader, "desk@desk.example", "other@desk.example", 1)),
			failed("", ""),
		},
		"to itself": {
			strings.ReplaceAll(bounceOf([]string{"From: MAILER-DAEMON@mx.example", "Subject: failure notice"},
				"<desk@desk.example>:", "Remote host said: 552 disk quota exceeded", "", returnedHeader), "desk@desk", "nora@shop"),
			failed("", "552 disk quota exceeded"),
		},
		"beside a link": {
			bounceOf([]string{"Return-Path: <>", "From: MAILER-DAEMON@mx.example", "Subject: Delivery status notification: error"},
				"nora@shop.example: 550 5.1.1 http://mail.example/answer.py?a=1@b.example", "", returnedHeader),
			failed("5.1.1", "550 5.1.1 http://mail.example/answer.py?a=1@b.example"),
		},
		"a report by a postmaster": {
			bounceOf([]string{"From: postmaster@mx.example", "Subject: Zprava"},
				mixed(part("text/plain", "Nedoruceno."), part("message/delivery-status", "Reporting-MTA: dns; mx", "",
					"Final-Recipient: rfc822; nora@shop.example", "Action: failed", "Status: 5.1.1"), returned)),
			failed("5.1.1", ""),
		},
	} {
		mail := parseWith(t, test.raw, mime.Options{})
		if mail.Class != schemas.MailBounce || mail.Bounce == nil || !reflect.DeepEqual(*mail.Bounce, test.want) {
			t.Errorf("%s: %s by %q, %+v, want %+v", name, mail.Class, mail.Signals, mail.Bounce, test.want)
		}
		if key := mime.PartitionKey(&mail); test.want.MessageID != "" && key != test.want.MessageID {
			t.Errorf("%s: it belongs to %q", name, key)
		}
	}
}

// withStatus is a bounce with another action.
func withStatus(bounce schemas.Bounce, action string) schemas.Bounce {
	bounce.Action = action
	return bounce
}

// TestPeopleWhoWriteOfBounces_I21: a person who passes a report on, asks about one, or writes from an
// address that mail systems take, is a person.
func TestPeopleWhoWriteOfBounces_I21(t *testing.T) {
	t.Parallel()
	mixed := func(parts ...string) string { return multi("mixed", "m", parts...) }
	words := part("text/plain", "Hello, I got this back from you. What is wrong with my address?", "", "Nora")
	status := part("message/delivery-status", "Reporting-MTA: dns; mx.shop.example", "",
		"Final-Recipient: rfc822; nora@shop.example", "Action: failed", "Status: 5.2.2")
	headers, whole := "Content-Type: text/rfc822-headers\r\n\r\n"+returnedHeader,
		"Content-Type: message/rfc822\r\n\r\n"+returnedHeader+"\r\n\r\nHallo"
	dsn := strings.Replace(multi("report", "r", part("text/plain", "It failed."), status, headers),
		"multipart/report;", "multipart/report; report-type=delivery-status;", 1)
	for name, raw := range map[string]string{
		"a report among parts": bounceOf([]string{
			"Return-Path: <nora@shop.example>",
			"From: Nora <nora@shop.example>", "Subject: Fwd: your mail came back",
		}, mixed(words, status)),
		"no words about it": bounceOf([]string{"From: nora@shop.example", "Subject: the report"},
			mixed(status)),
		"a header among parts": bounceOf([]string{
			"From: nora@shop.example",
			"Subject: Undeliverable: Angebot 17",
		}, mixed(words, headers)),
		"a receipt among parts": bounceOf([]string{"From: nora@shop.example", "Subject: a receipt"},
			mixed(words, part("message/disposition-notification", "Final-Recipient: rfc822; nora@shop.example",
				"Disposition: manual-action/MDN-sent-manually; displayed"))),
		"a complaint among parts": bounceOf([]string{"From: nora@shop.example", "Subject: what is this"},
			mixed(words, part("message/feedback-report", "Feedback-Type: abuse", "Version: 1"), whole)),
		"the whole report": bounceOf([]string{
			"From: nora@shop.example",
			"Subject: Fwd: Undelivered Mail Returned to Sender",
		}, mixed(words, dsn)),
		"the whole report, attached": bounceOf([]string{
			"From: nora@shop.example",
			"Subject: Undelivered Mail Returned to Sender",
		}, mixed(words,
			"Content-Type: message/rfc822\r\n\r\nFrom: MAILER-DAEMON@mx.example\r\nReturn-Path: <>\r\n"+dsn)),
		"in words": bounceOf([]string{
			"From: nora@shop.example",
			"Subject: Mail delivery failed",
		}, "<nora@shop.example>: host mx said: 550 5.1.1 unknown", "",
			returnedHeader),
		"in words, passed on": bounceOf([]string{
			"From: nora@shop.example",
			"Subject: Fwd: failure notice",
		}, "Look:", "", "-------- Forwarded Message --------",
			"From: MAILER-DAEMON@mx.example", "To: nora@shop.example", "Subject: failure notice", "",
			"<x@y.example>: 550 5.1.1"),
		"as postmaster, answers": bounceOf([]string{
			"From: postmaster@shop.example",
			"Subject: Re: Angebot 17",
		}, mixed(part("text/plain", "nora@shop.example",
			"550 5.1.1 unknown: she has left."), whole)),
		"as postmaster, asks": bounceOf([]string{
			"From: Postmaster <postmaster@shop.example>",
			"Subject: Angebot 17",
		}, mixed(part("text/plain", "We refused this with 550 5.7.1. Is it from you?"),
			whole)),
		"as postmaster, of another's mail": bounceOf([]string{
			"From: postmaster@shop.example",
			"Subject: Angebot 17",
		}, "550 5.1.1 is what we get.", "", strings.Replace(returnedHeader,
			"desk@desk.example", "ana@shop.example", 1)),
		"as postmaster, words alone": bounceOf([]string{
			"From: postmaster@shop.example",
			"Subject: Our server",
		}, "It says 550 5.1.1 for nora@shop.example since Monday."),
		"as postmaster, passes a report": bounceOf([]string{
			"From: postmaster@shop.example",
			"Subject: WG: Unzustellbar: Angebot 17",
		}, mixed(part("text/plain", "Siehe unten."), status, whole)),
		"with the name of a mail system": bounceOf([]string{
			"From: Mail Delivery System <nora@shop.example>",
			"Subject: Angebot 17",
		}, "Room 550 is free. 5.1.1 was the number."),
		"a street": bounceOf([]string{"From: mailer@shop.example", "Subject: Angebot 17"},
			"We host it at", "550 Main Street", "nora@shop.example", "", returnedHeader),
		"an empty author": bounceOf([]string{"From: Nora <>", "Subject: Angebot 17"},
			"nora@shop.example", "550 5.1.1 unknown", "", returnedHeader),
		"another return path": bounceOf([]string{
			"Return-Path: <mailer-daemon-friend@shop.example>",
			"From: nora@shop.example", "Subject: Angebot 17",
		}, "Hello"),
	} {
		if mail := parseWith(t, raw, mime.Options{}); mail.Class != schemas.MailHuman || mail.Bounce != nil {
			t.Errorf("%s: %s by %q, %+v", name, mail.Class, mail.Signals, mail.Bounce)
		}
	}
}

// TestAutomaticMailIsNoBounce_I21: what programs send without an envelope sender, or as a reply, fails no delivery.
func TestAutomaticMailIsNoBounce_I21(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"away": bounceOf([]string{
			"Return-Path: <>", "From: nora@shop.example",
			"Subject: Automatic reply: Angebot 17",
		}, "I left. nora@shop.example", "550 5.1.1 is what you will get.",
			"", returnedHeader),
		"away, with a ticket": bounceOf([]string{
			"Return-Path: <>", "From: nora@shop.example",
			"Subject: [shop #17] AutoReply: Angebot",
		}, "550 5.1.1 is what you will get."),
		"away, in its field": bounceOf([]string{
			"Return-Path: <>", "From: nora@shop.example",
			"Auto-Submitted: auto-replied (vacation)", "Subject: Angebot",
		}, "550 5.1.1 is what you will get."),
		"an answer": bounceOf([]string{
			"Return-Path: <>", "From: nora@shop.example",
			"Subject: Re: your mail server",
		}, "Thank you for your mail.", "",
			"> mx.example said: 550 5.1.1 unknown", "Our host says 550 5.1.1 too."),
		"a parcel with its sender": bounceOf([]string{
			"From: parcels@shop.example", "Auto-Submitted: auto-generated", "Subject: Delivery failed: parcel 17",
		}, "From: Shop", "To: Desk", "Subject: parcel"),
		"a parcel": bounceOf([]string{
			"From: parcels@shop.example",
			"Auto-Submitted: auto-generated", "Subject: Delivery failed: parcel 17",
		}, "Room 550, Main Street 5.1.1"),
		"versions of a program": bounceOf([]string{
			"Return-Path: <>", "From: releases@shop.example",
			"Subject: Angebot",
		}, "-- 5.9.1 is out", "Reason: 5.10.2 had a fault", "Version 5.1.1 is old."),
		"a street": bounceOf([]string{
			"Return-Path: <>", "From: nora@shop.example",
			"Subject: Angebot",
		}, "Our host is", "550-123 Main Street", "nora@shop.example"),
		"a receipt": bounceOf([]string{"From: nora@shop.example", "Subject: Read: Angebot"},
			strings.Replace(multi("report", "r", part("text/plain", "Read."),
				part("message/disposition-notification", "Disposition: x; displayed")), "multipart/report;",
				"multipart/report; report-type=disposition-notification;", 1)),
		"a receipt without its type": bounceOf([]string{"From: nora@shop.example", "Subject: Read: Angebot"},
			multi("report", "r", part("text/plain", "Read."), part("message/disposition-notification",
				"Disposition: x; displayed"))),
	} {
		if mail := parseWith(t, raw, mime.Options{}); mail.Class != schemas.MailAutoReply || mail.Bounce != nil {
			t.Errorf("%s: %s by %q, %+v", name, mail.Class, mail.Signals, mail.Bounce)
		}
	}
}
