package session

import (
	"slices"
	"strings"

	"podium/schemas"
)

// sameRecipients reports whether two answers go to the same people. Anybody can
// name a thread of mails (RFC 5322, section 3.6.4): what one person has said there
// is joined with, replaced by or handed on to nothing that another is answered to.
// In a chat everybody reads the thread, and nobody is named.
func sameRecipients(a, b []schemas.Address) bool { return within(a, b) && within(b, a) }

func recipients(reply *schemas.Reply) []schemas.Address {
	if reply == nil {
		return nil
	}
	return reply.To
}

func within(some, all []schemas.Address) bool {
	for _, one := range some {
		if !slices.ContainsFunc(all, func(other schemas.Address) bool { return strings.EqualFold(one.Address, other.Address) }) {
			return false
		}
	}
	return true
}

// recipientOf returns whom an answer goes to, as the adapter has decided: the writer, or
// where they want it if that is believed; else a stranger could have answers sent to
// somebody who never wrote.
func recipientOf(mail *schemas.EmailReceived) (schemas.Address, bool) {
	chosen := mail.AnswerTo
	if chosen.Address == "" || len(chosen.Address) > maxLine {
		return schemas.Address{}, false
	}
	return schemas.Address{Name: cut(chosen.Name, maxLine), Address: chosen.Address}, true
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
