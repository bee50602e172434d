package trust

import (
	"regexp"
	"slices"
	"strings"

	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/ingest/mime/text"
	"podium/schemas"
)

// readSender notes who sent the mail, and what it says of a failed delivery where no person may have written it.
func (e *Evidence) readSender() {
	e.from, e.name = e.Author.BareWord, text.Normalize(e.Author.BareWord)
	if len(e.Author.Mailboxes) > 0 {
		e.from, _, _ = strings.Cut(e.Author.Mailboxes[0].Address, "@")
		e.name = text.Normalize(e.Author.Mailboxes[0].Name)
	}
	e.from = strings.ToLower(e.from)
	e.readCertified()
	for _, name := range [...]string{"return-path", "x-envelope-from", "x-envelope-sender"} {
		if path := strings.Join(strings.Fields(header.StripComments(e.Header.First(name))), ""); path != "" {
			e.paths = append(e.paths, strings.ToLower(path))
		}
	}
	e.failure = &text.Failure{}
	if e.isOfMailSystem() || e.mayBeOfMailSystem() || e.ReportPart != "" || len(e.Returned) > 0 {
		*e.failure = text.ReadFailure(e.Words)
	}
	if e.attached = len(e.Returned) > 0; !e.attached {
		e.Returned = header.Parse(e.failure.Returned)
	}
}

// certifiedSender is who writes what providers of Italian certified mail send (DM of 2 Nov 2005, technical rules).
const certifiedSender = "posta-certificata"

// readCertified notes whose mail certified mail carries, and its own subject: its provider names the author in its
// own name, "Per conto di: nora@shop.example".
func (e *Evidence) readCertified() {
	behalf, found := strings.CutPrefix(e.name, "per conto di:")
	if e.from != certifiedSender || !found {
		return
	}
	e.from, _, _ = strings.Cut(strings.TrimSpace(behalf), "@")
	e.name = e.from
	for _, prefix := range [...]string{"posta certificata:", "anomalia messaggio:"} {
		if rest, found := strings.CutPrefix(e.Subject, prefix); found {
			e.Subject = strings.TrimSpace(rest)
		}
	}
}

// isCertifiedReceipt tells whether a provider of certified mail wrote the mail by itself: that it took or delivered one.
func (e *Evidence) isCertifiedReceipt() bool {
	return e.from == certifiedSender || e.Header.Has("x-ricevuta") ||
		e.isPostmaster() && certifiedReceipt.MatchString(e.Words) && !e.isOfPerson()
}

// certifiedReceipt is how the words of a receipt begin.
var certifiedReceipt = regexp.MustCompile(`(?i)^\s*ricevuta di (?:accettazione|(?:avvenuta )?consegna|presa in carico)\b`)

// isCertifiedFailure tells whether it says that the mail is not delivered.
func (e *Evidence) isCertifiedFailure() bool {
	return e.has("x-ricevuta", "non-accettazione", "errore-consegna", "preavviso-errore-consegna")
}

// hasNullReversePath tells whether the mail may not be answered (RFC 3834, section 2). Not
// every server writes Return-Path.
func (e *Evidence) hasNullReversePath() bool { return slices.Contains(e.paths, "<>") }

// hasReversePathOfMailerDaemon tells whether a server has written MAILER-DAEMON for no sender.
func (e *Evidence) hasReversePathOfMailerDaemon() bool {
	return slices.ContainsFunc(e.paths, func(path string) bool {
		local, _, _ := strings.Cut(strings.Trim(path, "<>"), "@")
		return isMailerDaemon(local)
	})
}

func isMailerDaemon(local string) bool {
	return local == "mailer-daemon" || local == "mailerdaemon" || strings.HasPrefix(local,
		"microsoftexchange329e71ec88ae4615bbc36ab6ce41109e")
}

// isOfMailerDaemon tells whether a mail system is the author. People write as postmaster too.
func (e *Evidence) isOfMailerDaemon() bool {
	return isMailerDaemon(e.from) || e.hasReversePathOfMailerDaemon() || e.isPostmaster() && e.hasNullReversePath()
}

func (e *Evidence) isPostmaster() bool {
	return e.from == "postmaster" || e.from == "mail-daemon" || e.from == certifiedSender
}

// isAutoSubmitted tells whether the mail says that no person sent it (RFC 3834, section 5).
func (e *Evidence) isAutoSubmitted() bool {
	words := e.words("auto-submitted")
	return len(words) > 0 && words[0] != "no"
}

// isOfMailSystem tells whether no person can have sent the mail: its envelope has no sender, or its
// author is a mail system, or is left empty with the name of one, or Exchange says that it is a report.
func (e *Evidence) isOfMailSystem() bool {
	return e.hasNullReversePath() || e.isOfMailerDaemon() || e.Header.Has("x-ms-exchange-message-is-ndr") ||
		e.Author.IsNull && len(e.Author.Mailboxes) == 0 && (e.name == "" || isNameOfMailSystem(e.name))
}

// isNamedAsMailSystem tells whether the author has an address or a name that mail systems take.
// People take them as well.
func (e *Evidence) isNamedAsMailSystem() bool {
	switch e.from {
	case "postmaster", "mail-daemon", "maildaemon", "mailer", "mailsystem", "mail-system", "mail.delivery.system",
		"mail-delivery-system", "mail.delivery.subsystem",
		"maildelivery", "mail-delivery", "bounce", "bounces", "mdaemon", "daemon", "noreply", "no-reply", "no_reply":
		return true
	}
	return isNameOfMailSystem(e.name)
}

// mayBeOfMailSystem tells whether the author is named as mail systems are, or a program says that it wrote the mail.
func (e *Evidence) mayBeOfMailSystem() bool { return e.isNamedAsMailSystem() || e.isAutoSubmitted() }

func isNameOfMailSystem(name string) bool {
	switch name {
	case "mailer-daemon", "mailer daemon", "mail daemon", "mail delivery system", "mail delivery subsystem",
		"mail delivery service", "mail delivery", "mail system",
		"mail administrator", "mail system administrator", "system administrator", "systemadministrator",
		"internet mail delivery", "microsoft outlook", "microsoft exchange", "postmaster":
		return true
	}
	return false
}

// isDeliveryReport tells whether the mail is a report on a delivery. A person may send one as a part of a mail.
func (e *Evidence) isDeliveryReport() bool {
	return e.ReportType == "delivery-status" ||
		e.ReportPart == "delivery-status" && (e.isOfMailSystem() || e.mayBeOfMailSystem() && !e.isOfPerson())
}

// hasBounceSubject tells whether the subject is that of a bounce, of a mail that a person
// would hardly have written: what a person writes as postmaster begins with other
// words, or goes on after these.
func (e *Evidence) hasBounceSubject() bool {
	begins, alone := e.Languages.BounceSubject(e.Subject)
	return begins && (e.isOfMailSystem() || e.mayBeOfMailSystem() && (e.failure.Reply != "" || e.returnsMail()) &&
		!e.isOfPerson()) ||
		alone && e.isPostmaster()
}

// tellsOfFailure tells whether the words of a mail that is no report are those of a mail system about a
// delivery, whatever their language is: the answer of a server that refused a mail, or that mail itself.
func (e *Evidence) tellsOfFailure() bool {
	replied := e.failure.Reply != ""
	switch {
	case e.ReportType != "", e.isAutoReply():
		return false
	case e.isCertifiedFailure():
		return true
	case e.isOfMailerDaemon(), e.isOfMailSystem() && e.isNamedAsMailSystem():
		return replied || len(e.Returned) > 0
	case e.isOfMailSystem():
		return (replied || e.attached && e.returnsMail()) && !e.isAnswer()
	}
	return (replied && e.returnsMail() || e.endsInRefusal()) && e.mayBeOfMailSystem() && !e.isOfPerson()
}

// endsInRefusal tells whether the words end as a report of Exchange, in any language: with an address that is none of
// where the mail goes, and the final answer of a server. The subject is that of the mail behind a word and a colon.
func (e *Evidence) endsInRefusal() bool {
	_, refused, _ := strings.Cut(e.failure.Closing, "@")
	return refused != "" && strings.Contains(e.Subject, ":") && len(e.Recipients) > 0 &&
		!slices.ContainsFunc(e.Recipients, func(to schemas.Address) bool {
			_, domain, _ := strings.Cut(to.Address, "@")
			return strings.EqualFold(domain, refused)
		})
}

// isAnswer tells whether the subject is that of a mail that answers another one or passes it on.
func (e *Evidence) isAnswer() bool {
	about := e.Languages.PurposeOf(e.Subject, false, "")
	return about.Forward || about.Reply
}

// isOfPerson tells whether a mail reads as one of a person: it answers another one or passes it on, or asks.
func (e *Evidence) isOfPerson() bool { return e.failure.Asks || e.isAnswer() }

// returnsMail tells whether a mail of one of the recipients is in it, attached or in its words. One that is
// attached may have no author.
func (e *Evidence) returnsMail() bool {
	left := 10
	var senders []schemas.Address
	for _, field := range [...]string{"from", "sender", "return-path"} {
		senders = append(senders, header.ParseAddresses(e.Returned, field, &left, &defect.List{}).Mailboxes...)
	}
	return e.attached && len(senders) == 0 || slices.ContainsFunc(e.Recipients, func(to schemas.Address) bool {
		return slices.ContainsFunc(senders, func(sender schemas.Address) bool {
			return schemas.Mailbox(to.Address) == schemas.Mailbox(sender.Address)
		})
	})
}
