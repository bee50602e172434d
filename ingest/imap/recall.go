package imap

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"podium/bus"
	"podium/schemas"
)

// eventPrefix is how the ids of all events of a mailbox begin.
func eventPrefix(account, mailbox string) string {
	return strings.TrimSuffix(eventID(account, mailbox, 0, 0), "0:0")
}

// parseEventID takes the id of an event of the mailbox with that prefix apart.
func parseEventID(prefix, id string) (uidValidity, uid uint32, ok bool) {
	rest, ours := strings.CutPrefix(id, prefix)
	first, second, cut := strings.Cut(rest, ":")
	if !ours || !cut {
		return 0, 0, false
	}
	validity, err := strconv.ParseUint(first, 10, 32)
	if err != nil {
		return 0, 0, false
	}
	number, err := strconv.ParseUint(second, 10, 32)
	return uint32(validity), uint32(number), err == nil
}

// recall remembers the mail of the UIDVALIDITY that ends here whose event stands
// on the event ledger and whose note does not: whoever published it was killed, or
// could not write, before it was noted. No other record ties its bytes to an event.
func (s *session) recall(ctx context.Context) error {
	core, prefix := s.door.dependencies.Core, eventPrefix(s.config.Account, s.config.Mailbox)
	for shard := range core.Shards() {
		for message, err := range core.Scan(ctx, bus.ShardStream(shard), 1, bus.InSubject(doorName, shard)) {
			if err != nil {
				return fmt.Errorf("%w: read the events of the mailbox: %w", errLedger, err)
			}
			event, err := bus.Decode(message)
			if err != nil {
				continue // none of a door
			}
			validity, uid, ours := parseEventID(prefix, event.ID)
			if !ours || validity != s.ledger.position.UIDValidity || s.ledger.fates.of(uid) == fatePublished {
				continue
			}
			var mail schemas.EmailReceived
			if err := readBody(ctx, core, message, &mail); err != nil {
				return fmt.Errorf("%w: read the event of a mail: %w", errLedger, err)
			}
			s.ledger.remember(mail.Raw.SHA256)
		}
	}
	return nil
}
