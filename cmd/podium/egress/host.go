package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxName is how long a name may be (RFC 1035, section 2.3.4).
const maxName = 253

// parseHost returns a host in the one form in which hosts are compared, and its address
// if it is one. Names that only differ in case, in a dot at the end or in how their
// letters are encoded are the same. Numbers in any form but the plain one are refused:
// the resolvers of some systems take them for addresses.
func parseHost(text string) (host string, addr netip.Addr, err error) {
	name := text
	if strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if name, err = idna.Lookup.ToASCII(text); err != nil {
			return "", netip.Addr{}, fmt.Errorf("%.100q is not a name: %w", text, err)
		}
	}
	name = strings.ToLower(name)
	if addr, err := netip.ParseAddr(name); err == nil {
		if addr.Is4In6() {
			return "", netip.Addr{}, fmt.Errorf("%.100q is an IPv4 address in the guise of IPv6: write %s", text, addr.Unmap())
		}
		return addr.String(), addr, nil
	}
	name = strings.TrimSuffix(name, ".")
	if err := nameFault(name); err != nil {
		return "", netip.Addr{}, fmt.Errorf("%.100q %w", text, err)
	}
	return name, netip.Addr{}, nil
}

func nameFault(name string) error {
	if name == "" {
		return errors.New("is no host")
	}
	if len(name) > maxName {
		return fmt.Errorf("has more than %d characters", maxName)
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return errors.New("has an empty part, or one of more than 63 characters, between its dots")
		}
		if strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
		}) {
			return errors.New("has a character that no name of a host has")
		}
	}
	if numeric(labels[len(labels)-1]) {
		return errors.New("ends in a number: an address is written as 192.168.0.5 or [fd12::5], without a dot behind it")
	}
	return nil
}

// numeric tells, as browsers do, whether the last part of a host makes all of it an address:
// decimal, octal or hexadecimal (WHATWG, URL, "ends in a number").
func numeric(label string) bool {
	digits, isHex := strings.CutPrefix(label, "0x")
	return !strings.ContainsFunc(digits, func(r rune) bool {
		return (r < '0' || r > '9') && (!isHex || r < 'a' || r > 'f')
	})
}
