package schemas

import (
	"strings"

	"golang.org/x/net/idna"
)

// Mailbox returns what all spellings of the address of one mailbox have in common: no upper case, no quotes around the local part, nothing from
// a plus on (RFC 5233 calls it the detail), the domain as the DNS writes it, and no marks where the provider ignores them. One person can write
// from any number of such addresses.
func Mailbox(address string) string {
	address = strings.ToLower(strings.TrimSpace(address))
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	local, domain := strings.Trim(address[:at], `"`), strings.TrimRight(address[at+1:], ".")
	if plus := strings.IndexByte(local, '+'); plus > 0 {
		local = local[:plus]
	}
	if ascii, err := idna.Punycode.ToASCII(domain); err == nil {
		domain = ascii
	}
	switch domain {
	case "gmail.com", "googlemail.com":
		local, domain = strings.ReplaceAll(local, ".", ""), "gmail.com"
	case "proton.me", "protonmail.com", "pm.me":
		local, domain = strings.NewReplacer(".", "", "-", "", "_", "").Replace(local), "proton.me"
	}
	return local + "@" + domain
}

// IsSamePerson reports whether two addresses may be those of one person: their mailboxes are the same, or differ only by sub-domains of one
// organization. It is for keeping a person from deciding about their own request, and proves nobody's identity.
func IsSamePerson(one, other string) bool {
	one, other = Mailbox(one), Mailbox(other)
	if one == other {
		return one != ""
	}
	name, domain, is := strings.Cut(one, "@")
	otherName, otherDomain, isToo := strings.Cut(other, "@")
	return is && isToo && name != "" && name == otherName && inOneOrganization(domain, otherDomain)
}

// registries are second-level domains below which organizations register in the domains of countries, such as co.uk. The list of public
// suffixes changes over time, and a decision must not.
var registries = map[string]bool{
	"ac": true, "co": true, "com": true, "edu": true, "gob": true, "gouv": true, "gov": true, "go": true, "gv": true, "ltd": true, "mil": true,
	"ne": true, "net": true, "nhs": true, "nom": true, "or": true, "org": true, "plc": true, "sch": true,
}

// inOneOrganization reports whether one domain is a sub-domain of the other, or both are sub-domains of one that an organization registers.
func inOneOrganization(one, other string) bool {
	if strings.HasSuffix(one, "."+other) || strings.HasSuffix(other, "."+one) {
		return true
	}
	labels, others := strings.Split(one, "."), strings.Split(other, ".")
	common := 0
	for common < min(len(labels), len(others)) && labels[len(labels)-1-common] == others[len(others)-1-common] {
		common++
	}
	if common < 2 {
		return false
	}
	country := len(labels[len(labels)-1]) == 2
	return common > 2 || !country || !registries[labels[len(labels)-2]]
}
