package imap

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/ingest/imap/mailbox"
	"podium/schemas"
)

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
	core, prefix := s.adapter.dependencies.Core, mailbox.EventPrefix(s.config.Account, s.config.Mailbox)
	for shard := range core.Shards() {
		for message, err := range core.Scan(ctx, bus.ShardStream(shard), 1, bus.InSubject(mailbox.AdapterName, shard)) {
			if err != nil {
				return nil, fmt.Errorf("%w: read the events of the mailbox: %w", errLedger, err)
			}
			event, err := binding.Decode(message)
			if err != nil {
				continue // none of an adapter
			}
			validity, uid, ours := mailbox.ParseEventID(prefix, event.ID)
			if !ours || !wanted(validity, uid) {
				continue
			}
			if event, err = artifact.DecodeWhole(ctx, core.Artifacts(), message); err != nil {
				return nil, fmt.Errorf("%w: read the event of a mail: %w", errLedger, err)
			}
			var mail schemas.EmailReceived
			if err := schemas.Unmarshal(event.Data, &mail); err != nil {
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

// recoverPublished remembers the mail of the UIDVALIDITY that ends here whose event stands
// on the event ledger and whose note does not: whoever published it was killed, or
// could not write, before it was noted. No other record ties its bytes to an event.
func (s *session) recoverPublished(ctx context.Context) error {
	mails, err := s.published(ctx, func(uidValidity, uid uint32) bool {
		return uidValidity == s.ledger.Cursor.UIDValidity && s.ledger.Dispositions.Of(uid) != mailbox.DispositionPublished
	})
	for i := range mails {
		s.ledger.Remember(mails[i].sha256)
	}
	return err
}

// every is all mails.
func every(uint32, uint32) bool { return true }
