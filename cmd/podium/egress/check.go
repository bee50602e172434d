package egress

import (
	"fmt"
	"net/url"
)

// Check says what is wrong with a URL before anything is resolved: everything that the
// guard would refuse whatever the name servers say. A URL that passes may still lead to
// an address that the policy does not allow, or to Podium itself; only the dial knows.
// Its errors are ErrEgress, and hold no more of the URL than scheme, host and port.
func (p Policy) Check(target *url.URL) error {
	if target.Scheme != "http" && target.Scheme != "https" {
		return fmt.Errorf("%w: the URL begins with %.20q, and agents speak http:// and https://", ErrEgress, target.Scheme)
	}
	if target.User != nil {
		return fmt.Errorf("%w: the URL has a user or a password before its host; give them by keys of their own, since URLs are shown", ErrEgress)
	}
	port := target.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[target.Scheme]
	}
	by, err := newEndpoint(target.Hostname(), port)
	if err != nil {
		return fmt.Errorf("%w: the URL's host: %w", ErrEgress, err)
	}
	inTheClear := target.Scheme == "http"
	if by.literal() {
		return p.judge(by, by.addr, inTheClear)
	}
	if err := p.names(by); err != nil {
		return err
	}
	if inTheClear && p.onlyPublic(by) {
		return fmt.Errorf("%w: to public addresses, and egress is %s, plain HTTP does not go; write https://%s", ErrEgress, p, by.host)
	}
	return nil
}
