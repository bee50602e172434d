package egress

import (
	"encoding"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ErrEgress reports that a policy does not lead where somebody wants to go. Trying again
// is in vain until the policy, or what a name is resolved to, is another one.
var ErrEgress = errors.New("egress does not lead there")

// A Policy is where a client may go: wherever one of its destinations leads. The zero
// value leads nowhere.
type Policy []Destination

// A Destination is an entry of a policy:
//
//   - local leads to loopback and private addresses (RFC 1918, RFC 4193);
//   - public leads to every address of the public internet;
//   - a name with its port leads to what the name is resolved to, as long as that is
//     public or private;
//   - an address with its port leads there when the URL has that very address. Only so a
//     list leads to loopback, and anything to 100.64.0.0/10: carriers and the likes of
//     Tailscale share that range, and it is neither of this network nor public.
//
// The zero value leads nowhere.
type Destination struct {
	word     string // local, public, or "" for an endpoint
	endpoint endpoint
}

const (
	wordLocal  = "local"
	wordPublic = "public"
)

var _ encoding.TextUnmarshaler = (*Destination)(nil)

// Parse returns the policy of some entries.
func Parse(entries ...string) (Policy, error) {
	policy := make(Policy, len(entries))
	for i, entry := range entries {
		if err := policy[i].UnmarshalText([]byte(entry)); err != nil {
			return nil, err
		}
	}
	return policy, nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Destination) UnmarshalText(text []byte) error {
	switch string(text) {
	case wordLocal, wordPublic:
		*d = Destination{word: string(text)}
		return nil
	}
	const form = "neither local, nor public, nor a host with its port such as erp.example:443"
	if strings.ContainsAny(string(text), "/@?#") { // it may be a URL with a password
		return errors.New("the entry is " + form + ": leave out what a URL has around them")
	}
	to, err := parseEndpoint(string(text))
	if err != nil {
		return fmt.Errorf("%.100q is %s: %w", text, form, err)
	}
	if to.localhost() {
		return fmt.Errorf("%s is resolved by whoever is asked: write the address, such as 127.0.0.1:%d, here and in the URL", to.host, to.port)
	}
	if of, is := classify(to.addr); to.literal() && of == reserved {
		return fmt.Errorf("%s is %s, where no egress leads", to.host, is)
	}
	*d = Destination{endpoint: to}
	return nil
}

// String returns the entry as it is written.
func (d Destination) String() string {
	if d.word != "" {
		return d.word
	}
	return d.endpoint.String()
}

// leads reports whether the destination leads to an address that somebody reaches by an
// endpoint, which is a name or the address itself.
func (d Destination) leads(by endpoint, of class) bool {
	switch d.word {
	case wordLocal:
		return of == loopback || of == private
	case wordPublic:
		return of == public
	}
	return d.endpoint == by && (by.literal() && of != reserved || of == private || of == public)
}

// String returns the policy as it is written in podium.yaml.
func (p Policy) String() string {
	if len(p) == 1 && p[0].word != "" {
		return p[0].word
	}
	entries := make([]string, len(p))
	for i, d := range p {
		entries[i] = d.String()
		if d.word == "" {
			entries[i] = strconv.Quote(entries[i])
		}
	}
	return "[" + strings.Join(entries, ", ") + "]"
}

// Local reports whether the policy leads to this machine and private networks alone, whatever names are resolved
// to. One that leads nowhere says nothing about it.
func (p Policy) Local() bool {
	return len(p) > 0 && !slices.ContainsFunc(p, func(d Destination) bool {
		of, _ := classify(d.endpoint.addr)
		return d.word != wordLocal && (!d.endpoint.literal() || of != loopback && of != private)
	})
}

// judge says why the policy does not lead to an address that somebody reaches by an
// endpoint, or nil. In the clear means without TLS.
func (p Policy) judge(by endpoint, at netip.Addr, inTheClear bool) error {
	of, is := classify(at)
	where := by.String() + " is " + is
	if !by.literal() {
		where = fmt.Sprintf("%s is %s now, %s", by, at, is)
	}
	switch {
	case of == reserved:
		return fmt.Errorf("%w: %s, and no egress leads to one", ErrEgress, where)
	case !slices.ContainsFunc(p, func(d Destination) bool { return d.leads(by, of) }):
		return fmt.Errorf("%w: %s, and egress is %s; %s", ErrEgress, where, p, remedy(by, netip.AddrPortFrom(at, by.port), of))
	case of == public && inTheClear:
		return fmt.Errorf("%w: %s, and plain HTTP does not go to one; write https in the URL", ErrEgress, where)
	}
	return nil
}

// remedy says what to write in podium.yaml, if it is meant.
func remedy(by endpoint, at netip.AddrPort, of class) string {
	const needs = "if it is meant, egress in podium.yaml needs "
	switch {
	case of == private:
		return fmt.Sprintf("%slocal or %q", needs, by)
	case of == public:
		return fmt.Sprintf("%spublic or %q", needs, by)
	case of == loopback && by.literal():
		return fmt.Sprintf("%slocal or %q", needs, by)
	case of == loopback:
		return fmt.Sprintf("%slocal, or %q with this address in the URL too", needs, at)
	}
	return fmt.Sprintf("%s%q, with this address in the URL too", needs, at)
}

// names says why a policy leads to nothing that a name may be resolved to, or nil. It
// says nothing about an address: that is judged.
func (p Policy) names(by endpoint) error {
	word := func(word string) bool {
		return slices.ContainsFunc(p, func(d Destination) bool { return d.word == word })
	}
	switch {
	case by.literal() || word(wordLocal):
		return nil
	case by.localhost():
		return fmt.Errorf("%w: %s is this machine, and egress is %s; %s",
			ErrEgress, by, p, remedy(by, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), by.port), loopback))
	case word(wordPublic) || slices.Contains(p, Destination{endpoint: by}):
		return nil
	}
	return fmt.Errorf("%w: %s is not in egress, which is %s; if it is meant, add %q there in podium.yaml", ErrEgress, by, p, by)
}

// onlyPublic reports whether the policy leads to public addresses alone by a name.
func (p Policy) onlyPublic(by endpoint) bool {
	return !slices.ContainsFunc(p, func(d Destination) bool { return d.leads(by, private) })
}

// An endpoint is a host with a port. Two are the same if they are equal.
type endpoint struct {
	host string     // lower case, ASCII, without the dot at the end of a name
	addr netip.Addr // of a host that is an address
	port uint16
}

func (e endpoint) literal() bool { return e.addr.IsValid() }

func (e endpoint) localhost() bool {
	return e.host == "localhost" || strings.HasSuffix(e.host, ".localhost")
}

func (e endpoint) String() string { return net.JoinHostPort(e.host, strconv.Itoa(int(e.port))) }

func parseEndpoint(text string) (endpoint, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		if _, bare := netip.ParseAddr(text); bare == nil && strings.Contains(text, ":") {
			return endpoint{}, fmt.Errorf("an IPv6 address needs brackets and a port, such as [%s]:443", text)
		}
		return endpoint{}, errors.New("the port is missing or is not behind a single colon")
	}
	return newEndpoint(host, port)
}

func newEndpoint(host, port string) (endpoint, error) {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return endpoint{}, fmt.Errorf("%.20q is not a port from 1 to 65535", port)
	}
	name, addr, err := parseHost(host)
	return endpoint{host: name, addr: addr, port: uint16(number)}, err
}
