package imap

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/cloudevents"
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

// A publishedMail is a mail whose event stands on the event ledger.
type publishedMail struct {
	validity, uid uint32
	received      time.Time // as the server said
	recorded      time.Time // when the event was stored
	sha256        string    // of its bytes, in hex
}

// published returns the mails of the mailbox that have an event and are wanted, each once,
// by UIDVALIDITY and UID. It takes about 150 bytes a mail.
func (s *session) published(ctx context.Context, wanted func(uidValidity, uid uint32) bool) ([]publishedMail, error) {
	var mails []publishedMail
	core, prefix := s.door.dependencies.Core, eventPrefix(s.config.Account, s.config.Mailbox)
	for shard := range core.Shards() {
		for message, err := range core.Scan(ctx, bus.ShardStream(shard), 1, bus.InSubject(doorName, shard)) {
			if err != nil {
				return nil, fmt.Errorf("%w: read the events of the mailbox: %w", errLedger, err)
			}
			event, err := cloudevents.Decode(message)
			if err != nil {
				continue // none of a door
			}
			validity, uid, ours := parseEventID(prefix, event.ID)
			if !ours || !wanted(validity, uid) {
				continue
			}
			var mail schemas.EmailReceived
			if err := readBody(ctx, core, message, &mail); err != nil {
				return nil, fmt.Errorf("%w: read the event of a mail: %w", errLedger, err)
			}
			mails = append(mails, publishedMail{
				validity: validity, uid: uid, received: mail.Received, recorded: message.Recorded, sha256: mail.Raw.SHA256,
			})
		}
	}
	slices.SortStableFunc(mails, func(a, b publishedMail) int {
		return cmp.Or(cmp.Compare(a.validity, b.validity), cmp.Compare(a.uid, b.uid))
	})
	return slices.CompactFunc(mails, func(a, b publishedMail) bool { return a.validity == b.validity && a.uid == b.uid }), nil
}

// recall remembers the mail of the UIDVALIDITY that ends here whose event stands
// on the event ledger and whose note does not: whoever published it was killed, or
// could not write, before it was noted. No other record ties its bytes to an event.
func (s *session) recall(ctx context.Context) error {
	mails, err := s.published(ctx, func(uidValidity, uid uint32) bool {
		return uidValidity == s.ledger.position.UIDValidity && s.ledger.fates.of(uid) != fatePublished
	})
	for i := range mails {
		s.ledger.remember(mails[i].sha256)
	}
	return err
}

// every is all mails.
func every(uint32, uint32) bool { return true }
