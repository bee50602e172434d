package mime_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"podium/ingest/mime"
	"podium/schemas"
)

// certified are the fields of a mail that a provider of Italian certified mail writes.
func certified(from, subject string, others ...string) []string {
	return append([]string{"From: " + from, "Subject: " + subject}, others...)
}

// TestBouncesWithoutEnvelope_I21: bounces of which no server says that their envelope has no sender, each with its record.
func TestBouncesWithoutEnvelope_I21(t *testing.T) {
	t.Parallel()
	const exchange = "#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##"
	tests := map[string]struct {
		raw  string
		want schemas.Bounce
	}{
		"GroupWise": {bounceOf([]string{"From: <postmaster@gw.shop.example>", "Subject: Message status - undeliverable"},
			"The message that you sent was undeliverable to the following:", "\tnora@shop.example (recipient unknown)", "",
			"Possibly truncated original message follows:", "", returnedHeader, "", "Hallo"), failed("", "")},
		"Mimecast": {
			bounceOf([]string{"From: postmaster@shop.example", "Subject: [Postmaster] Email Delivery Failure"},
				"This is a delivery failure notification message.", "",
				"An email addressed to nora@shop.example with subject Angebot 17 could not be delivered.",
				"The problem appears to be :", "-- Recipient email address is possibly incorrect", "",
				"Additional information follows :", "-- 5.1.1 User unknown", "",
				"This condition occurred after 1 attempt(s) to deliver over a period of 0 hour(s)."),
			withoutID(failed("5.1.1", "5.1.1 User unknown")),
		},
		"QQ": {
			bounceOf([]string{"From: PostMaster@qq.example", "Subject: 来自qq.com的退信"},
				"抱歉，您的邮件被退回来了……", "原邮件信息：", "主题 Angebot 17", "收件人 nora@shop.example",
				"退信原因： 收件人邮件地址（nora@shop.example）不存在，邮件无法送达。",
				"host mx.shop.example said: 550 5.1.1 User unknown (in reply to RCPT TO command)"),
			withoutID(failed("5.1.1", "550 5.1.1 User unknown (in reply to RCPT TO command)")),
		},
		"MDaemon": {bounceOf([]string{
			"From: MDaemon at mx.shop.example <MDaemon@mx.shop.example>",
			"Subject: Permanent Delivery Failure", "Auto-Submitted: auto-replied",
		},
			"The attached message had PERMANENT fatal delivery errors!", "", "Failed address: nora@shop.example", "",
			"--- Session Transcript ---", " Mon 2026-01-05 10:00:00: <-- 550 5.1.1 <nora@shop.example> User unknown",
			"--- End Transcript ---"), withoutID(failed("5.1.1", "550 5.1.1 <nora@shop.example> User unknown"))},
		"Barracuda": {bounceOf([]string{
			"From: <postmaster@shop.example>", "Return-Path: <>",
			"Subject: **Message you sent blocked by our bulk email filter**",
		},
			"Your message to: nora@shop.example",
			"was blocked by our Spam Firewall. The email you sent with the following subject has NOT BEEN DELIVERED:", "",
			"Subject: Angebot 17"), withoutID(failed("", ""))},
		"Barracuda, without an envelope": {bounceOf([]string{
			"From: <postmaster@shop.example>",
			"Subject: **Message you sent blocked by our bulk email filter**",
		},
			"Your message to: nora@shop.example", "was blocked by our Spam Firewall."), withoutID(failed("", ""))},
		"Kerio": {
			bounceOf([]string{`From: "Mail Administrator" <Postmaster@shop.example>`, "Subject: Mail System Error - Returned Mail"},
				"This Message was undeliverable due to the following reason:", "", "    Recipient: <nora@shop.example>",
				"    Reason:    5.1.1 <nora@shop.example>... User unknown"),
			withoutID(failed("5.1.1", "5.1.1 <nora@shop.example>... User unknown")),
		},
		"Sophos, with an id in its sentence": {
			bounceOf([]string{
				`From: "Sophos" <mailer-daemon@fw.shop.example>`,
				"Subject: Delivery failure (nora@shop.example)",
			},
				"Your message (Message-ID <q1@desk.example>) to nora@shop.example could not be delivered: 550 5.1.1 unknown"),
			failed("5.1.1", "550 5.1.1 unknown"),
		},
		"Exim, late": {
			bounceOf([]string{
				"From: Mail Delivery System <Mailer-Daemon@mx.example>",
				"Subject: Warning: message 1abc-0000-XY delayed 24 hours", "Auto-Submitted: auto-replied",
			},
				"The address to which the message has not yet been delivered is:", "", "  nora@shop.example",
				"    Delay reason: SMTP error from remote mail server after RCPT TO:<nora@shop.example>:",
				"    451 4.7.1 Greylisting in action"),
			withoutID(withStatus(failed("4.7.1", "451 4.7.1 Greylisting in action"), "delayed")),
		},
		"late, without an answer": {bounceOf([]string{"From: MAILER-DAEMON@mx.example", "Subject: Delivery delayed: Angebot 17"},
			"nora@shop.example"), withoutID(withStatus(failed("", ""), "delayed"))},
		"of a mail about a delay": {bounceOf([]string{"From: MAILER-DAEMON@mx.example", "Subject: Undeliverable: delay of order 17"},
			"nora@shop.example"), withoutID(failed("", ""))},
		"certified mail": {bounceOf(certified("postmaster@pec.example.it", "AVVISO DI MANCATA CONSEGNA: Angebot 17"),
			"Avviso di mancata consegna", "",
			"Il giorno 05/01/2026 alle ore 10:00:00 (+0100) nel messaggio \"Angebot 17\" proveniente da \"desk@desk.example\""+
				" e rivolto all'utente \"nora@shop.example\" è stato rilevato un errore 5.1.1 - indirizzo non valido.",
			"Il messaggio è stato rifiutato dal sistema."), withoutID(failed("5.1.1",
			"Il giorno 05/01/2026 alle ore 10:00:00 (+0100) nel messaggio \"Angebot 17\" proveniente da \"desk@desk.example\""+
				" e rivolto all'utente \"nora@shop.example\" è stato rilevato un errore 5.1.1 - indirizzo non valido."))},
		"certified mail, by its fields": {bounceOf(certified("posta-certificata@pec.example.it",
			"AVVISO DI MANCATA CONSEGNA PER SUP. TEMPO MASSIMO: Angebot 17", "X-Ricevuta: errore-consegna",
			"X-Riferimento-Message-ID: <q1@desk.example>"),
			"Il messaggio rivolto all'utente \"nora@shop.example\" non è stato consegnato."), failed("", "")},
		"certified mail, not taken": {bounceOf(certified("posta-certificata@pec.example.it",
			"AVVISO DI NON ACCETTAZIONE PER VIRUS: Angebot 17"),
			"Il messaggio rivolto a nora@shop.example è stato rifiutato."), withoutID(failed("", ""))},
		"a bounce in the envelope of certified mail": {bounceOf(certified(
			`"Per conto di: MAILER-DAEMON@mx.shop.example" <posta-certificata@pec.example.it>`,
			"ANOMALIA MESSAGGIO: Undelivered Mail Returned to Sender", "X-Trasporto: errore"),
			"Anomalia nel messaggio", "", "<nora@shop.example>: 550 5.1.1 unknown"), withoutID(failed("5.1.1", "550 5.1.1 unknown"))},
	}
	for subject, from := range map[string]string{
		"Nedoručitelné: Angebot 17": "cz", "Kézbesíthetetlen: Angebot 17": "hu", "Teslim Edilemedi: Angebot 17": "tr",
		"Viestiä ei voi toimittaa: Angebot 17": "fi", "Nelivrabil: Angebot 17": "ro", "Μη παραδοτέο: Angebot 17": "gr",
		"배달되지 않음: Angebot 17": "kr",
	} {
		raw := []string{"From: postmaster@shop." + from, "Subject: " + subject}
		bare := withoutID(failed("5.1.1", strings.TrimPrefix(exchange, "#")))
		tests["Exchange, "+from] = struct {
			raw  string
			want schemas.Bounce
		}{bounceOf(raw, "nora@shop.example", exchange), bare}
		tests["Exchange, in full, "+from] = struct {
			raw  string
			want schemas.Bounce
		}{bounceOf(raw, "Ez az üzenet nem volt kézbesíthető a következő címzetteknek:", "", "nora@shop.example",
			"A megadott cím nem található.", "", "Diagnosztikai információk:", "", "Kiszolgáló: mx.shop.example", "",
			"nora@shop.example", exchange), bare}
		tests["Exchange, in one line, "+from] = struct {
			raw  string
			want schemas.Bounce
		}{bounceOf(raw, "Ez nem ment:", "", "<nora@shop.example>: "+exchange), bare}
		tests["Exchange, wrapped, "+from] = struct {
			raw  string
			want schemas.Bounce
		}{
			bounceOf(raw, "nora@shop.example", "#550 5.1.1 RESOLVER.ADR.RecipNotFound;", "not found ##", "", "Fejlécek:"),
			withoutID(failed("5.1.1", "550 5.1.1 RESOLVER.ADR.RecipNotFound;")),
		}
		tests["Exchange 2003, "+from] = struct {
			raw  string
			want schemas.Bounce
		}{bounceOf(raw, "Ez nem ment:", "", "      nora@shop.example 2026.01.05. 10:00", "            Nincs ilyen.",
			"            <mx.shop.example #5.1.1>"), withoutID(failed("5.1.1", "<mx.shop.example #5.1.1>"))}
		tests["Exchange, a page, "+from] = struct {
			raw  string
			want schemas.Bounce
		}{
			bounceOf(raw, "Content-Type: text/html; charset=utf-8", "", "<html><body><h2>Ez nem ment</h2>"+
				"<p><a href=\"mailto:nora@shop.example\">nora@shop.example</a><br>Remote Server returned '550 5.1.1 unknown'</p></body></html>"),
			withoutID(failed("5.1.1", "550 5.1.1 unknown")),
		}
	}
	for name, test := range tests {
		mail := parseWith(t, test.raw, mime.Options{})
		if mail.Class != schemas.MailBounce || mail.Bounce == nil || !reflect.DeepEqual(*mail.Bounce, test.want) {
			t.Errorf("%s: %s by %q, %+v, want %+v", name, mail.Class, mail.Signals, mail.Bounce, test.want)
		}
	}
}

// TestPeopleBesideBounces_I21: what people write, as postmaster and through certified mail too, is no bounce, even where
// it holds what bounces hold.
func TestPeopleBesideBounces_I21(t *testing.T) {
	t.Parallel()
	const exchange = "#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##"
	postmaster := func(subject string) []string { return []string{"From: postmaster@shop.example", "Subject: " + subject} }
	person := func(subject string) []string {
		return []string{"From: Nora <nora@shop.example>", "Subject: " + subject}
	}
	for name, raw := range map[string]string{
		"passes on": bounceOf(person("Fwd: Nedoručitelné: Angebot 17"), "ana@shop.example", exchange),
		"pastes":    bounceOf(person("Nedoručitelné: Angebot 17"), "ana@shop.example", exchange),
		"postmaster signs": bounceOf(postmaster("Zpráva: Angebot 17"), "Tohle mi přišlo zpět:", "",
			"ana@shop.example", exchange, "", "Nora"),
		"postmaster signs in parentheses": bounceOf(postmaster("Zpráva: Angebot 17"), "Tohle mi přišlo zpět:", "",
			"ana@shop.example", "550 5.1.1 unknown", "(Nora)"),
		"postmaster says more": bounceOf(postmaster("Zpráva: Angebot 17"), "ana@shop.example: "+exchange, "",
			"Prosím o kontrolu."),
		"postmaster greets in Chinese": bounceOf(postmaster("问题: Angebot 17"), "您好，", "ana@shop.example", exchange),
		"a mail administrator": bounceOf([]string{`From: "Mail Administrator" <nora@shop.example>`, "Subject: Angebot: 17"},
			"We can take 550 5.1.1 to ana@shop.example", "Nora"),
		"an acceptance by postmaster": bounceOf(postmaster("Accettazione: offerta 17"), "Accettiamo la vostra offerta."),
		"passes a receipt on":         bounceOf(postmaster("I: CONSEGNA: Angebot 17"), "Ricevuta di avvenuta consegna"),
		"postmaster greets": bounceOf(postmaster("Zpráva: Angebot 17"), "Dobrý den,", "", "tohle mi přišlo zpět:", "",
			"ana@shop.example", exchange),
		"postmaster tells of the desk": bounceOf(postmaster("Problem: Angebot 17"), "I get this since Monday:", "",
			"desk@desk.example", exchange),
		"postmaster tells of another desk": bounceOf(postmaster("Problem: Angebot 17"), "I get this since Monday:", "",
			"orders@desk.example", exchange),
		"postmaster asks":             bounceOf(postmaster("Problem: Angebot 17"), "What is this?", "", "ana@shop.example", exchange),
		"postmaster, another subject": bounceOf(postmaster("Angebot 17"), "Das kam zurück", "", "ana@shop.example", exchange),
		"postmaster answers":          bounceOf(postmaster("Re: Angebot 17"), "ana@shop.example", exchange),
		"postmaster passes on":        bounceOf(postmaster("TR: Non remis: Angebot 17"), "ana@shop.example", exchange),
		"postmaster, within a sentence": bounceOf(postmaster("Info: Angebot 17"), "ana@shop.example",
			"We refuse her mail with 550 5.1.1 since Monday."),
		"Mimecast is meant": bounceOf(person("[Postmaster] Email Delivery Failure"), "An email to ana@shop.example failed.",
			"-- 5.1.1 User unknown"),
		"Barracuda is meant": bounceOf(person("Message you sent blocked by our bulk email filter"), "Why is that so?"),
		"MDaemon is meant":   bounceOf(person("Permanent Delivery Failure"), "<-- 550 5.1.1 unknown"),
		"QQ is meant":        bounceOf(person("来自qq.com的退信"), "请看一下。550 5.1.1 User unknown"),
		"goods that did not come": bounceOf(person("Avviso di mancata consegna: ordine 17"),
			"La merce non è arrivata. Errore 5.1.1 sul sito."),
		"through certified mail": bounceOf(certified(`"Per conto di: nora@pec.shop.example" <posta-certificata@pec.example.it>`,
			"POSTA CERTIFICATA: Mancata consegna: ordine 17", "X-Trasporto: posta-certificata"), "La merce non è arrivata."),
		"to certified mail": bounceOf(certified(`"Per conto di: nora@shop.example" <posta-certificata@pec.example.it>`,
			"ANOMALIA MESSAGGIO: Mancato recapito: pacco 17", "X-Trasporto: errore"), "Il pacco non è arrivato."),
		"a delivery of goods": bounceOf(person("CONSEGNA: ordine 17"), "Quando arriva la merce."),
		"an acceptance":       bounceOf(person("ACCETTAZIONE: offerta 17"), "Accettiamo la vostra offerta."),
		"a shop": bounceOf([]string{"From: Shop <noreply@shop.example>", "Subject: Order: 17"},
			"nora@shop.example", "Reason: 550 pieces of 5.1.1"),
	} {
		if mail := parseWith(t, raw, mime.Options{}); mail.Class != schemas.MailHuman || mail.Bounce != nil {
			t.Errorf("%s: %s by %q, %+v", name, mail.Class, mail.Signals, mail.Bounce)
		}
	}
}

// TestReceiptsOfCertifiedMail_I20: what providers of Italian certified mail confirm is written by no person.
func TestReceiptsOfCertifiedMail_I20(t *testing.T) {
	t.Parallel()
	for _, head := range [][]string{
		certified("posta-certificata@pec.example.it", "ACCETTAZIONE: Angebot 17"),
		certified("posta-certificata@pec.example.it", "CONSEGNA: Angebot 17"),
		certified("posta-certificata@pec.example.it", "PRESA IN CARICO: Angebot 17"),
		certified("posta-certificata@pec.example.it", "POSTA CERTIFICATA: AVVENUTA CONSEGNA: Angebot 17"),
		certified("postmaster@pec.example.it", "CONSEGNA: Angebot 17"),
		certified("pec@gestore.example.it", "CONSEGNA: Angebot 17", "X-Ricevuta: avvenuta-consegna"),
		certified("pec@gestore.example.it", "ACCETTAZIONE: Angebot 17", "X-Ricevuta: accettazione"),
	} {
		mail := parseWith(t, bounceOf(head, "Ricevuta di avvenuta consegna", "", "Il messaggio è stato consegnato a nora@shop.example."), mime.Options{})
		if mail.Class != schemas.MailAutoReply || !slices.Contains(mail.Signals, "certified-receipt") {
			t.Errorf("%q: %s by %q", head, mail.Class, mail.Signals)
		}
	}
}
