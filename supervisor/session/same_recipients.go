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
