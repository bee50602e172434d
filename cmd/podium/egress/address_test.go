package egress_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"podium/cmd/podium/egress"
)

// TestClasses: where local, public and a name in a list lead, for an address of every
// range that has a purpose of its own, and for its neighbors.
func TestClasses(t *testing.T) {
	t.Parallel()
	const name = "service.example"
	local, public, listed := policy(t, "local"), policy(t, "public"), policy(t, name+":443")
	for class, addrs := range map[string]string{
		"local": "127.0.0.1 127.255.255.254 ::1",
		"local listed": "10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.254 192.168.0.1 192.168.255.254 fc00::1 fd12:3456::1 " +
			"fd00:ec1::1 fd00:ec3::1 fd20:ce::253 fd00:42::41",
		"public listed": "1.0.0.1 9.255.255.255 11.0.0.1 93.184.216.34 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 168.63.129.17 " +
			"169.253.255.255 169.255.0.1 172.15.255.255 172.32.0.1 192.0.1.1 192.0.3.1 192.167.255.255 192.169.0.1 198.17.255.255 " +
			"198.20.0.1 198.51.99.1 203.0.114.1 223.255.255.255 2001:200::1 2001:db7::1 2001:db9::1 2003::1 2606:4700::1111 3ffe::1",
		"": "0.0.0.0 0.0.0.1 0.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 168.63.129.16 169.254.0.1 169.254.169.254 " +
			"169.254.170.2 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 " +
			"239.255.255.255 240.0.0.1 255.255.255.255 :: ::2 ::127.0.0.1 ::8.8.8.8 ::ffff:8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 " +
			"::ffff:0:8.8.8.8 64:ff9b::8.8.8.8 64:ff9b::7f00:1 64:ff9b:1::a00:1 100::1 100:0:0:1::1 2001::1 2001:0:7f00:1:: 2001:2::1 " +
			"2001:10::1 2001:20::1 2001:1ff::1 2001:db8::1 2002::1 2002:7f00:1:: 2002:5db8:d822::1 3fff::1 3fff:fff::1 4000::1 5f00::1 " +
			"fbff::1 fe00::1 fe80::1 fe80::1%eth0 ::1%lo fd12::1%eth0 2606:4700::1111%eth0 febf::1 fec0::1 ff00::1 ff02::1 " +
			"fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42 fd00:c1::a9fe:a9fe fd00:100::100:200 fd00:a9fe:a9fe::1",
	} {
		for addr := range strings.FieldsSeq(addrs) {
			at := netip.AddrPortFrom(netip.MustParseAddr(addr), 443)
			for word, policy := range map[string]egress.Policy{"local": local, "public": public, "listed": listed} {
				want := strings.Contains(class, word)
				err := policy.Leads(name, at)
				if (err == nil) != want || err != nil && !errors.Is(err, egress.ErrEgress) {
					t.Errorf("%s to %s: want %t: %v", word, addr, want, err)
				}
			}
		}
	}
}

// TestSharedRangeByAddressOnly: 100.64.0.0/10 is reached by who writes the address.
func TestSharedRangeByAddressOnly(t *testing.T) {
	t.Parallel()
	p := policy(t, "local", "public", "100.101.102.103:11434", "box.example:11434")
	if err := p.Check(target(t, "http://100.101.102.103:11434/v1")); err != nil {
		t.Error(err)
	}
	for _, other := range []string{"http://100.101.102.103/v1", "http://100.101.102.104:11434/v1", "https://100.100.100.200:11434"} {
		if err := p.Check(target(t, other)); !errors.Is(err, egress.ErrEgress) {
			t.Errorf("%s: %v", other, err)
		}
	}
	if err := p.Leads("box.example", netip.MustParseAddrPort("100.101.102.103:11434")); !errors.Is(err, egress.ErrEgress) {
		t.Errorf("by a name: %v", err)
	}
}

// FuzzAddress: public leads to no address that netip knows as another one, once that is
// unmapped; local only to loopback and private ones; and no address is both.
func FuzzAddress(f *testing.F) {
	for _, addr := range []string{"127.0.0.1", "10.0.0.1", "8.8.8.8", "0.0.0.0", "224.0.0.1", "::1", "::ffff:127.0.0.1", "fe80::1", "fd00::1", "2606:4700::1111", "64:ff9b::7f00:1"} {
		f.Add(netip.MustParseAddr(addr).AsSlice(), "")
	}
	f.Add(netip.MustParseAddr("::1").AsSlice(), "lo")
	local, _ := egress.Parse("local")
	public, _ := egress.Parse("public")
	f.Fuzz(func(t *testing.T, bytes []byte, zone string) {
		addr, ok := netip.AddrFromSlice(bytes)
		if !ok {
			return
		}
		addr = addr.WithZone(zone)
		toPublic := public.Leads("service.example", netip.AddrPortFrom(addr, 443)) == nil
		toLocal := local.Leads("service.example", netip.AddrPortFrom(addr, 443)) == nil
		plain := addr.Unmap()
		special := plain.IsLoopback() || plain.IsPrivate() || plain.IsLinkLocalUnicast() || plain.IsMulticast() || plain.IsUnspecified() ||
			plain.IsInterfaceLocalMulticast() || plain.IsLinkLocalMulticast()
		if toPublic && (special || !plain.IsGlobalUnicast()) {
			t.Errorf("public leads to %s", addr)
		}
		if toLocal && !plain.IsLoopback() && !plain.IsPrivate() {
			t.Errorf("local leads to %s", addr)
		}
		if toLocal && toPublic {
			t.Errorf("%s is local and public", addr)
		}
		if (toPublic || toLocal) && (addr.Is4In6() || addr.Zone() != "") {
			t.Errorf("something leads to %s", addr)
		}
	})
}
