package session

import (
	"slices"
	"strings"

	"podium/schemas"
)

// recipientOf returns whom an answer goes to: the writer, or where they want it if that is
// believed; else a stranger could have answers sent to somebody who never wrote. The adapter
// has decided it, by lists that change.
//
// Mails of before do not say it. There it is believed when the mail is proved to be theirs,
// or when that is in the same domain, one above it or one below it.
func recipientOf(mail *schemas.EmailReceived) (schemas.Address, bool) {
	if len(mail.From) == 0 {
		return schemas.Address{}, false
	}
	chosen := mail.From[0]
	if mail.Origin != "" {
		chosen = mail.AnswerTo
	} else if len(mail.ReplyTo) > 0 && (vouched(mail) || related(domainOf(chosen.Address), domainOf(mail.ReplyTo[0].Address))) {
		chosen = mail.ReplyTo[0]
	}
	if chosen.Address == "" || len(chosen.Address) > maxLine {
		return schemas.Address{}, false
	}
	return schemas.Address{Name: cut(chosen.Name, maxLine), Address: chosen.Address}, true
}

// vouched reports whether the receiving server has proved that From is who wrote.
func vouched(mail *schemas.EmailReceived) bool {
	return mail.Auth.Verdict == schemas.AuthPass && mail.Auth.Aligned && len(mail.From) == 1
}

func domainOf(address string) string {
	return strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
}

func related(a, b string) bool {
	return a != "" && b != "" && (a == b || strings.HasSuffix(a, "."+b) || strings.HasSuffix(b, "."+a))
}

// fromProgram reports an address that only mail systems write from (RFC 3834,
// section 2).
func fromProgram(address string) bool {
	local, _, _ := strings.Cut(strings.ToLower(address), "@")
	return local == "mailer-daemon"
}

// maxOthers bounds the other recipients of a mail that a record keeps.
const maxOthers = 20

// others are the recipients of a mail besides whoever gets the answer. Which of
// them get a copy is for the account to say.
func others(mail *schemas.EmailReceived, recipient string) []schemas.Address {
	var found []schemas.Address
	for _, address := range slices.Concat(mail.To, mail.Cc) {
		known := strings.EqualFold(address.Address, recipient) || slices.ContainsFunc(found, func(other schemas.Address) bool {
			return strings.EqualFold(other.Address, address.Address)
		})
		if known || len(address.Address) > maxLine || len(found) == maxOthers {
			continue
		}
		found = append(found, schemas.Address{Name: cut(address.Name, maxLine), Address: address.Address})
	}
	return found
}
