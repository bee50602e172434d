package egress

import "net/netip"

// class is what an address is, as far as going there is concerned.
type class int

const (
	reserved class = iota // nobody goes there
	loopback              // this machine
	private               // RFC 1918, RFC 4193
	shared                // RFC 6598: carriers, and networks laid over others
	public
)

// closed are the ranges where no policy leads, by the IANA's registries of special
// purposes and by what the clouds document. IPv6 ranges outside of 2000::/3 need no
// line unless they are private.
var closed = [...]struct { //nolint:gochecknoglobals // never written
	prefix netip.Prefix
	is     string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "no address of a host"},
	{netip.MustParsePrefix("100.100.100.200/32"), metadata}, // Alibaba
	{netip.MustParsePrefix("168.63.129.16/32"), metadata},   // Azure
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address, where metadata services are"},
	{netip.MustParsePrefix("192.0.0.0/24"), "an address of protocols"}, // and the metadata of Oracle
	{netip.MustParsePrefix("192.0.2.0/24"), documentation},
	{netip.MustParsePrefix("192.88.99.0/24"), "a relay of 6to4"},
	{netip.MustParsePrefix("198.18.0.0/15"), "an address of benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), documentation},
	{netip.MustParsePrefix("203.0.113.0/24"), documentation},
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast address"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved or broadcast address"},

	{netip.MustParsePrefix("2001::/23"), "an address of protocols, such as Teredo"},
	{netip.MustParsePrefix("2001:db8::/32"), documentation},
	{netip.MustParsePrefix("2002::/16"), "an IPv4 address in one of 6to4"},
	{netip.MustParsePrefix("3fff::/20"), documentation},
	{netip.MustParsePrefix("fd00:42::42/128"), metadata},        // Scaleway
	{netip.MustParsePrefix("fd00:100::100:200/128"), metadata},  // Alibaba
	{netip.MustParsePrefix("fd00:a9fe:a9fe::1/128"), metadata},  // Akamai
	{netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"), metadata}, // Oracle
	{netip.MustParsePrefix("fd00:ec2::/32"), metadata},          // AWS
	{netip.MustParsePrefix("fd20:ce::254/128"), metadata},       // Google
}

const (
	documentation = "an address for documentation"
	metadata      = "the address of a cloud's metadata service"
)

var (
	sharedSpace   = netip.MustParsePrefix("100.64.0.0/10") //nolint:gochecknoglobals // never written
	globalUnicast = netip.MustParsePrefix("2000::/3")      //nolint:gochecknoglobals // never written
)

// classify says what an address is, in words too. Prefixes hold no address with a zone:
// those are none of anybody's.
func classify(addr netip.Addr) (of class, is string) {
	switch {
	case !addr.IsValid():
		return reserved, "no address"
	case addr.Is4In6():
		return reserved, "an IPv4 address in the guise of IPv6"
	case addr.Zone() != "":
		return reserved, "an address of one network interface"
	}
	for _, c := range closed {
		if c.prefix.Contains(addr) {
			return reserved, c.is
		}
	}
	switch {
	case addr.IsLoopback():
		return loopback, "a loopback address"
	case addr.IsPrivate():
		return private, "a private address"
	case sharedSpace.Contains(addr):
		return shared, "an address of the shared range 100.64.0.0/10"
	case addr.Is6() && !globalUnicast.Contains(addr):
		return reserved, "an IPv6 address that no host on the internet has"
	}
	return public, "a public address"
}
