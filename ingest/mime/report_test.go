package mime_test

import (
	"reflect"
	"strings"
	"testing"

	"podium/ingest/mime"
	"podium/schemas"
)

// report makes a bounce of parts.
func report(header []string, parts ...string) string {
	lines := append([]string{"From: Mail Delivery <MAILER-DAEMON@mx.example>", "Message-ID: <dsn@mx.example>"}, header...)
	lines = append(lines, "Content-Type: multipart/report; report-type=delivery-status; boundary=b", "", "--b", "", "It failed.")
	for _, part := range parts {
		lines = append(lines, "--b", part)
	}
	return crlf(append(lines, "--b--", "")...)
}

// TestBounces_I21: who did not get which mail, and which conversation it was of.
func TestBounces_I21(t *testing.T) {
	t.Parallel()
	status := crlf("Content-Type: message/delivery-status", "", "Reporting-MTA: dns; mx.example", "Original-Envelope-Id: e1", "",
		"Final-Recipient: rfc822; gone@example.org", "Original-Recipient: rfc822;ana@example.org", "Action: failed", "Status: 5.1.1 (no such user)",
		"Diagnostic-Code: smtp; 550 5.1.1", "  no such user", "",
		"Final-Recipient: rfc822; eva@example.org", "Action: Delayed", "Status: 4.4.1", "")
	returned := crlf("Content-Type: message/rfc822", "", "Message-ID: <reply@podium.example>", "In-Reply-To: <q2@example.org>", "References: <q1@example.org> <q2@example.org>", "Subject: Re: x", "", "our answer")
	headers := strings.Replace(returned, "message/rfc822", "text/rfc822-headers", 1)
	whole := schemas.Bounce{
		RecipientStatus: schemas.RecipientStatus{Recipient: "ana@example.org", Action: "failed", Status: "5.1.1", Diagnostic: "550 5.1.1 no such user"},
		MessageID:       "reply@podium.example", EnvelopeID: "e1",
		Others: []schemas.RecipientStatus{{Recipient: "eva@example.org", Action: "delayed", Status: "4.4.1"}},
	}
	without := func(change func(*schemas.Bounce)) schemas.Bounce {
		changed := whole
		change(&changed)
		return changed
	}
	plain := []string{"Return-Path: <>", "From: MAILER-DAEMON@mx.example", "Subject: failure notice", "Message-ID: <dsn@mx.example>"}
	address := func(address string) (string, bool) {
		return "verp@podium.example", address == "bounce+token@podium.example"
	}
	tests := map[string]struct {
		raw    string
		want   schemas.Bounce
		thread string
	}{
		"with the mail":        {report(nil, status, returned), whole, "q1@example.org"},
		"with its header":      {report(nil, status, headers), whole, "q1@example.org"},
		"internationalized":    {report(nil, strings.Replace(status, "message/delivery-status", "message/global-delivery-status", 1), strings.Replace(headers, "text/rfc822-headers", "message/global-headers", 1)), whole, "q1@example.org"},
		"without either":       {report(nil, status), without(func(b *schemas.Bounce) { b.MessageID = "" }), "dsn@mx.example"},
		"without, but an id":   {report(nil, strings.Replace(status, "Reporting-MTA", "X-Original-Message-ID: <o@podium.example>\r\nReporting-MTA", 1)), without(func(b *schemas.Bounce) { b.MessageID = "o@podium.example" }), "o@podium.example"},
		"without, but a reply": {report([]string{"In-Reply-To: <r@podium.example>"}, status), without(func(b *schemas.Bounce) { b.MessageID = "r@podium.example" }), "r@podium.example"},
		"by its envelope":      {report([]string{"To: <bounce+token@podium.example>"}, status), without(func(b *schemas.Bounce) { b.MessageID = "verp@podium.example" }), "verp@podium.example"},
		"by its delivery":      {report([]string{"Delivered-To: bounce+token@podium.example"}, status), without(func(b *schemas.Bounce) { b.MessageID = "verp@podium.example" }), "verp@podium.example"},
		"nonsense in it":       {report(nil, strings.NewReplacer("5.1.1 (", "9.9.9 (", "Action: failed", "Action: exploded").Replace(status), returned), without(func(b *schemas.Bounce) { b.Action, b.Status = "", "" }), "q1@example.org"},
		"without parts": {
			crlf(append(plain, "", "Hi. This is the mail program.", "", "<ana@example.org>:", "no such user", "", "--- Below this line is a copy of the message.", "", "Return-Path: <x@podium.example>", "Message-ID: <reply@podium.example>", "References: <q1@example.org>", "", "our answer")...),
			schemas.Bounce{
				RecipientStatus: schemas.RecipientStatus{Recipient: "ana@example.org", Action: "failed"}, MessageID: "reply@podium.example",
			},
			"q1@example.org",
		},
		"only the recipient": {crlf(append(plain, "X-Failed-Recipients: ana@example.org, eva@example.org", "", "failed")...), schemas.Bounce{RecipientStatus: schemas.RecipientStatus{Recipient: "ana@example.org", Action: "failed"}}, "dsn@mx.example"},
	}
	for name, test := range tests {
		mail := parseWith(t, test.raw, mime.Options{Address: address})
		if mail.Class != schemas.MailBounce || mail.Bounce == nil || !reflect.DeepEqual(*mail.Bounce, test.want) {
			t.Errorf("%s: %s %+v, want %+v", name, mail.Class, mail.Bounce, test.want)
		}
		if key := mime.PartitionKey(&mail); key != test.thread {
			t.Errorf("%s: it belongs to %q, want %q", name, key, test.thread)
		}
	}
	many := status + strings.Repeat("\r\nFinal-Recipient: rfc822; x@example.org\r\nAction: failed\r\n", 5000)
	if mail := parseWith(t, report(nil, many), mime.Options{}); len(mail.Bounce.Others) != 100 {
		t.Errorf("%d other recipients", len(mail.Bounce.Others))
	}
	if mail := parseWith(t, crlf("From: a@b.c", "", "Message-ID: <x@y>"), mime.Options{}); mail.Bounce != nil {
		t.Errorf("a person's mail is a bounce: %+v", mail.Bounce)
	}
}

const multipartReport = "Content-Type: multipart/report; boundary=b; report-type="

// TestMarks_I20: every mark of RFC 3834 and of those who do not follow it, the
// class that it makes and the code by which it is reported.
func TestMarks_I20(t *testing.T) {
	t.Parallel()
	tests := []struct {
		header  string
		class   schemas.MailClass
		signals []string
	}{
		{"X-Auto-Response-Suppress: OOF", schemas.MailHuman, []string{"auto-response-suppress"}},
		{"Auto-Submitted: no", schemas.MailHuman, nil},
		{"Auto-Submitted: (really) No; x=y", schemas.MailHuman, nil},
		{"Auto-Submitted: auto-generated", schemas.MailAutoReply, []string{"auto-submitted"}},
		{"Auto-Submitted: auto-notified; owner-email=x", schemas.MailAutoReply, []string{"auto-submitted"}},
		{"Return-Path: < >", schemas.MailAutoReply, []string{"null-return-path"}},
		{"Precedence: auto_reply", schemas.MailAutoReply, []string{"precedence-auto-reply"}},
		{"Precedence: Junk", schemas.MailList, []string{"precedence-bulk"}},
		{"Precedence: first-class", schemas.MailHuman, nil},
		{"X-Autoreply: yes", schemas.MailAutoReply, []string{"x-autoreply"}},
		{"X-Autoreply: no", schemas.MailHuman, nil},
		{"X-Autorespond:", schemas.MailAutoReply, []string{"x-autoreply"}},
		{"X-MS-Exchange-Inbox-Rules-Loop: a@b.c", schemas.MailAutoReply, []string{"x-autogenerated"}},
		{"X-Loop: a@b.c", schemas.MailList, []string{"x-loop"}},
		{"List-Id: <x.y>", schemas.MailList, []string{"list-id"}},
		{"List-Unsubscribe: <mailto:x@y>", schemas.MailList, []string{"list-fields"}},
		{"X-Mailing-List: x", schemas.MailList, []string{"list-program"}},
		{"Subject: Automatic reply: holidays", schemas.MailAutoReply, []string{"autoreply-subject"}},
		{"Subject: =?utf-8?Q?R=C3=A9ponse_automatique=C2=A0:?= absent", schemas.MailAutoReply, []string{"autoreply-subject"}},
		{"Subject: Abwesenheitsnotiz: Urlaub", schemas.MailAutoReply, []string{"autoreply-subject"}},
		{"Subject: Re: Automatic reply: holidays", schemas.MailHuman, nil},
		{"Subject: Undeliverable goods", schemas.MailHuman, nil},
		{"Subject: Undeliverable: goods\r\nReturn-Path: <>", schemas.MailBounce, []string{"bounce-subject", "null-return-path"}},
		{"Subject: Unzustellbar: x\r\nReturn-Path: <>", schemas.MailBounce, []string{"bounce-subject", "null-return-path"}},
		{"Subject: Undeliverable: goods\r\nX-Envelope-From: <>", schemas.MailBounce, []string{"bounce-subject", "null-return-path"}},
		{"Sender: owner-talk@x.y", schemas.MailList, []string{"list-sender"}},
		{"X-Failed-Recipients: a@b.c", schemas.MailHuman, nil},
		{"X-Failed-Recipients: a@b.c\r\nReturn-Path: <>", schemas.MailBounce, []string{"failed-recipients", "null-return-path"}},
		{"Message-ID: <1@podium.example>", schemas.MailAutoReply, []string{"own-message-id"}},
		{"List-Id: <x.y>\r\nAuto-Submitted: auto-replied\r\nReturn-Path: <list@x.y>", schemas.MailAutoReply, []string{"auto-submitted", "list-id"}},
		{multipartReport + "disposition-notification", schemas.MailAutoReply, []string{"report"}},
		{multipartReport + "feedback-report", schemas.MailAutoReply, []string{"report"}},
		{multipartReport + "delivery-status", schemas.MailBounce, []string{"delivery-report"}},
	}
	own := func(id string) bool { return strings.HasSuffix(id, "@podium.example") }
	for _, test := range tests {
		mail := parseWith(t, crlf("From: ana@example.org", test.header, "", "text"), mime.Options{Own: own})
		if mail.Class != test.class || !reflect.DeepEqual(mail.Signals, test.signals) {
			t.Errorf("%q: got %s by %q, want %s by %q", test.header, mail.Class, mail.Signals, test.class, test.signals)
		}
	}
	for from, want := range map[string]schemas.MailClass{
		"MAILER-DAEMON@x.y": schemas.MailAutoReply, "postmaster@x.y": schemas.MailHuman, "No-Reply@x.y": schemas.MailHuman,
	} {
		if mail := parseWith(t, crlf("From: "+from, "", "text"), mime.Options{}); mail.Class != want {
			t.Errorf("from %s: %s by %q", from, mail.Class, mail.Signals)
		}
	}
}

// TestSuppress_I20: the field stops answers and says nothing about who wrote.
func TestSuppress_I20(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"All": true, "DR, AutoReply": true, "OOF": false, "DR, RN, NRN": false, "": false, "None": false} {
		mail := parseWith(t, crlf("From: ana@example.org", "X-Auto-Response-Suppress: "+value, "", "text"), mime.Options{})
		if mail.Suppress != want || mail.Class != schemas.MailHuman {
			t.Errorf("%q: suppressed %t, %s", value, mail.Suppress, mail.Class)
		}
	}
}

// TestThreadRoot_I22: the oldest of References, In-Reply-To, a signed address of
// ours, the mail's own id.
func TestThreadRoot_I22(t *testing.T) {
	t.Parallel()
	options := mime.Options{Address: func(address string) (string, bool) {
		return "signed@podium.example", address == "agent+good@podium.example"
	}}
	tests := map[string]struct {
		header []string
		want   string
	}{
		"references":          {[]string{"References: <1@x> <2@x>", "In-Reply-To: <2@x>", "To: agent+good@podium.example"}, "1@x"},
		"in reply to":         {[]string{"In-Reply-To: <2@x>", "To: agent+good@podium.example"}, "2@x"},
		"signed address":      {[]string{"To: office@x.y", "Cc: Agent <agent+good@podium.example>"}, "signed@podium.example"},
		"signed, forwarded":   {[]string{"To: office@x.y", "Delivered-To: agent+good@podium.example"}, "signed@podium.example"},
		"forged address":      {[]string{"To: agent+bad@podium.example"}, "3@x"},
		"too far down":        {[]string{"To: " + strings.Repeat("x@y.z, ", 60) + "agent+good@podium.example"}, "3@x"},
		"nothing but its own": {nil, "3@x"},
	}
	for name, test := range tests {
		mail := parseWith(t, crlf(append(test.header, "From: a@b.c", "Message-ID: <3@x>", "", "x")...), options)
		if got := mime.PartitionKey(&mail); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestBouncesWithoutAReport_I21: mail systems that write no report are known by
// their address, their subject and an envelope without a sender; people who write
// about bounces, or as postmaster, are not taken for them.
func TestBouncesWithoutAReport_I21(t *testing.T) {
	t.Parallel()
	const human, bounce, autoreply = schemas.MailHuman, schemas.MailBounce, schemas.MailAutoReply
	tests := []struct {
		from, field, subject string
		want                 schemas.MailClass
	}{
		{"postmaster@x.example", "", "Undeliverable: Your order", bounce},
		{"Postmaster <postmaster@x.example>", "", "Undeliverable", bounce},
		{"postmaster@x.example", "", "Returned Mail", bounce},
		{"postmaster@x.example", "", "Returned mail: see transcript for details", bounce},
		{"postmaster@x.example", "", "Undelivered Mail Returned to Sender", bounce},
		{"postmaster@x.example", "", "Mail delivery failed: returning message to sender", bounce},
		{"postmaster@x.example", "", "Delivery Status Notification (Failure)", bounce},
		{"postmaster@x.example", "", "DELIVERY FAILURE: User ana not listed in Domino Directory", bounce},
		{"postmaster@x.example", "", "failure notice", bounce},
		{"postmaster@x.example", "", "Mail System Error - Returned Mail", bounce},
		{"postmaster@x.example", "", "Delivery Notification: Delivery has failed", bounce},
		{"postmaster@x.example", "", "Unzustellbar: Ihre Bestellung", bounce},
		{"postmaster@x.example", "", "=?utf-8?Q?Non_remis=C2=A0:_Votre_commande?=", bounce},
		{"postmaster@x.example", "X-Envelope-From: <>", "Undeliverable goods", bounce},
		{"postmaster@x.example", "X-Envelope-From: < > (the envelope)", "A note", autoreply},
		{"ana@x.example", "X-Envelope-From: <>", "Returned Mail", bounce},
		{"ana@x.example", "X-Envelope-Sender: <>", "Mail Delivery Failed: x", bounce},
		{"ana@x.example", "X-Envelope-From: <>", "Hello", autoreply},
		{"MAILER-DAEMON", "", "Returned mail: User unknown", bounce},
		{"Mail Delivery System <MAILER-DAEMON>", "", "Undelivered Mail Returned to Sender", bounce},
		{"MAILER-DAEMON (Mail Delivery System)", "", "Undelivered Mail Returned to Sender", bounce},
		{"mailer-daemon@x.example", "", "Mail delivery failed", bounce},
		{"mailer-daemon@x.example", "", "Something else", autoreply},

		{"postmaster@x.example", "", "Undeliverable goods", human},
		{"postmaster@x.example", "", "Returned mailings of last week", human},
		{"postmaster@x.example", "", "Returned mail for your customers", human},
		{"postmaster@x.example", "", "Re: Undeliverable: Your order", human},
		{"postmaster@x.example", "", "Fwd: Returned Mail", human},
		{"postmaster@x.example", "", "Your mailbox is nearly full", human},
		{"postmaster@x.example", "", "Delivery error on Monday?", human},
		{"postmaster@x.example", "X-Envelope-From: <postmaster@x.example>", "A question", human},
		{"ana@x.example", "", "Undeliverable: Your order", human},
		{"ana@x.example", "", "Returned Mail", human},
		{"ana@x.example", "", "Failure notice", human},
		{"ana@x.example", "X-Envelope-From: <ana@x.example>", "Mail delivery failed", human},
		{"ana@x.example", "X-Envelope-From:", "Mail delivery failed", human},
		{"Postmaster <ana@x.example>", "", "Undeliverable: Your order", human},
		{"postmaster.ana@x.example", "", "Undeliverable: Your order", human},
		{"", "", "Returned Mail", human},
	}
	for _, test := range tests {
		lines := []string{"From: " + test.from, "Subject: " + test.subject}
		if test.field != "" {
			lines = append(lines, test.field)
		}
		mail := parseWith(t, crlf(append(lines, "", "text")...), mime.Options{})
		if mail.Class != test.want || (mail.Bounce != nil) != (test.want == bounce) {
			t.Errorf("%q, %q, %q: %s by %q", test.from, test.field, test.subject, mail.Class, mail.Signals)
		}
	}
}

// TestListsByTheirSender_I20: the software of a list sends for its authors.
func TestListsByTheirSender_I20(t *testing.T) {
	t.Parallel()
	for sender, want := range map[string]schemas.MailClass{
		"owner-talk@lists.example": schemas.MailList, "Talk <Owner-Talk@lists.example>": schemas.MailList, "talk-owner@lists.example": schemas.MailList,
		"talk-bounces@lists.example": schemas.MailList, "talk-bounces+ana=x.example@lists.example": schemas.MailList,
		"ana@x.example": schemas.MailHuman, "owner@x.example": schemas.MailHuman, "homeowner-talk@x.example": schemas.MailHuman, "bounces@x.example": schemas.MailHuman,
		"owner- talk@lists.example": schemas.MailHuman, "\"owner-talk\" <ana@x.example>": schemas.MailHuman, "": schemas.MailHuman,
	} {
		mail := parseWith(t, crlf("From: ana@x.example", "Sender: "+sender, "", "text"), mime.Options{})
		if mail.Class != want {
			t.Errorf("%q: %s by %q", sender, mail.Class, mail.Signals)
		}
	}
}
