package trust

import (
	"net"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// aligned tells whether two domains belong to the same organization, as the
// public suffix list says (RFC 7489, section 3.1, relaxed mode).
func aligned(domain, from string) bool {
	return domain != "" && from != "" && (domain == from || organizationalDomain(domain) == organizationalDomain(from))
}

// organizationalDomain returns the organizational domain, or the domain itself when it
// has none.
func organizationalDomain(domain string) string {
	if net.ParseIP(strings.Trim(domain, "[]")) != nil {
		return domain
	}
	found, err := publicsuffix.EffectiveTLDPlusOne(domain)
	if err != nil {
		return domain
	}
	return found
}

// domainOf returns what stands behind the last "@", as the DNS writes it, or "".
func domainOf(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return ""
	}
	return asciiDomain(address[at+1:])
}

// asciiDomain returns a domain in lower case and in ASCII, or "" for what is none.
func asciiDomain(domain string) string {
	domain = strings.ToLower(strings.Trim(domain, " <>.\t"))
	if domain == "" || len(domain) > 253 || strings.ContainsAny(domain, "@ \t\"()<>,;:\\/") {
		return ""
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	if err != nil {
		for i := range len(domain) {
			if domain[i] <= ' ' || domain[i] > 0x7e {
				return ""
			}
		}
		return domain // an underscore or the like; it is compared, not looked up
	}
	return ascii
}
