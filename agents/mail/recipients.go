package mail

import (
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"

	"podium/schemas"
)

// recipientsOf parses the addresses before anything else sees them, so that
// none can hold a line break, a second address or a comment. Repeated addresses
// count once.
func recipientsOf(addresses []schemas.Address) ([]*mail.Address, error) {
	var recipients []*mail.Address
	seen := make(map[string]bool, len(addresses))
	for _, given := range addresses {
		parsed, err := parseAddress(given.Address)
		if err != nil {
			return nil, err
		}
		key := strings.ToLower(parsed.Address)
		if seen[key] {
			continue
		}
		seen[key] = true
		parsed.Name = oneLine(given.Name, nameLimit)
		recipients = append(recipients, parsed)
	}
	return recipients, nil
}

// parseAddress accepts "local@domain" (RFC 5321, section 4.1.2) and nothing around it.
func parseAddress(text string) (*mail.Address, error) {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Name != "" || parsed.Address != text || len(text) > 254 || strings.ContainsFunc(text, isUnsafe) {
		return nil, errors.New("not the address of one mailbox")
	}
	return parsed, nil
}

// isRobot reports an address that only programs write from (RFC 5321, section
// 4.5.5; RFC 3834, section 2).
func isRobot(address string) bool {
	local, _, _ := strings.Cut(strings.ToLower(address), "@")
	return local == "mailer-daemon"
}

// copiesOf tells apart the copies that the account allows and those that are
// dropped. Its own addresses and the recipients are neither.
func (a *Agent) copiesOf(account *sender, wanted []schemas.Address, recipients []*mail.Address) (copies []*mail.Address, dropped []string) {
	taken := map[string]bool{}
	for _, recipient := range recipients {
		taken[strings.ToLower(recipient.Address)] = true
	}
	for _, given := range wanted {
		key := strings.ToLower(given.Address)
		if taken[key] || a.own[schemas.Mailbox(key)] {
			continue
		}
		taken[key] = true
		parsed, err := parseAddress(given.Address)
		if err != nil || isRobot(given.Address) || !account.copiesTo(key) || len(recipients)+len(copies) >= MaxRecipients {
			dropped = append(dropped, oneLine(given.Address, idLimit))
			continue
		}
		parsed.Name = oneLine(given.Name, nameLimit)
		copies = append(copies, parsed)
	}
	return copies, dropped
}

// copiesTo reports whether the account allows copies to an address, in lower case.
func (s *sender) copiesTo(address string) bool {
	at := strings.LastIndexByte(address, '@')
	return at >= 0 && (slices.Contains(s.copies, address) || slices.Contains(s.copies, address[at:]))
}

// CheckCopy says what is wrong with an entry of Account.Copies.
func CheckCopy(entry string) error {
	address := entry
	if strings.HasPrefix(entry, "@") {
		address = "x" + entry
	}
	if _, err := parseAddress(address); err != nil {
		return fmt.Errorf("%q is neither an address nor a domain such as @example.org", entry)
	}
	return nil
}
