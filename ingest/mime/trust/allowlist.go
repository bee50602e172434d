package trust

import (
	"slices"
	"strings"

	"podium/schemas"
)

// Allowed reports whether an allow list names the author of a mail. Entries are
// addresses, or "@domain" for everybody there; letter case does not matter. Only
// a mail whose single From address was authenticated and aligned, and can be read
// in one way only, is ever allowed: anybody can write any From.
func Allowed(mail *schemas.EmailReceived, entries []string) bool {
	if mail.Auth.Verdict != schemas.AuthPass || !mail.Auth.Aligned || len(mail.From) != 1 ||
		slices.Contains(mail.Suspicious, suspiciousFrom) || slices.Contains(mail.Suspicious, suspiciousMalformed) {
		return false
	}
	address := mail.From[0].Address
	domain := domainOf(address)
	return domain != "" && slices.ContainsFunc(entries, func(entry string) bool {
		if everybody, ok := strings.CutPrefix(entry, "@"); ok {
			return asciiDomain(everybody) == domain
		}
		local, _, _ := strings.Cut(entry, "@")
		own := address[:strings.LastIndexByte(address, '@')]
		return strings.EqualFold(local, own) && domainOf(entry) == domain
	})
}
