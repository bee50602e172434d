package audit

import (
	"cmp"
	"context"
	"slices"

	"podium/bus"
	"podium/ingest/imap/connection"
	"podium/ingest/imap/mailbox"
)

// Outcome is what became of a message, as an audit accounts for it. Each message
// has exactly one.
type Outcome string

// The outcomes.
const (
	OutcomeRun         Outcome = "run"         // it began a run, or belongs to one
	OutcomeIgnored     Outcome = "ignored"     // nothing came of it, for a reason that is on record
	OutcomeQuarantined Outcome = "quarantined" // its event could not be used
	OutcomeFailed      Outcome = "failed"      // it could not be had
	OutcomePending     Outcome = "pending"     // it waits
)

// An Report accounts for every message of one mailbox.
type Report struct {
	Account     string `json:"account"`
	Mailbox     string `json:"mailbox"`
	UIDValidity uint32 `json:"uid_validity"`
	// Messages is how many are accounted for, gone ones included; Present is how
	// many the server has now, -1 when it was not asked.
	Messages uint64  `json:"messages"`
	Present  int     `json:"present"`
	Tallies  []Tally `json:"outcomes"`
	Gaps     []Gap   `json:"gaps"`
	// Earlier is how many events stand on the ledger from before UIDVALIDITY changed.
	Earlier uint64 `json:"earlier_events,omitzero"`
}

// A Tally counts messages with the same outcome for the same reason.
type Tally struct {
	Outcome  Outcome `json:"outcome"`
	Reason   string  `json:"reason,omitzero"`
	Messages uint64  `json:"messages"`
}

// GapKind says what is not accounted for.
type GapKind string

// The kinds of gap.
const (
	GapUnknown      GapKind = "unknown"       // the server has it, and the mailbox ledger says nothing of it
	GapReturned     GapKind = "returned"      // it had vanished, and the server has it again
	GapEventMissing GapKind = "event_missing" // the mailbox ledger says that its event was stored, and it is not there
	// The mailbox was read, since events of it are stored, and its ledger is gone. A
	// adapter makes it again.
	GapLedgerMissing GapKind = "ledger_missing"
)

// A Gap is messages with adjacent UIDs that nothing accounts for.
type Gap struct {
	Kind   GapKind `json:"kind"`
	First  uint32  `json:"first_uid"`
	Last   uint32  `json:"last_uid"`
	Advice string  `json:"advice"` // what to do, in English
}

// Messages is how many it is.
func (g Gap) Messages() uint64 { return uint64(g.Last-g.First) + 1 }

// Clean reports that every message is accounted for.
func (a *Report) Clean() bool { return len(a.Gaps) == 0 }

// Count returns how many messages have an outcome.
func (a *Report) Count(outcome Outcome) uint64 {
	sum := uint64(0)
	for _, tally := range a.Tallies {
		if tally.Outcome == outcome {
			sum += tally.Messages
		}
	}
	return sum
}

// Reconcile compares what a server has with the mailbox ledger, and that with the
// events and the sessions' records. It writes nothing, and may run while an adapter
// takes mail. Without a source the server is left out. The mailbox is the one of
// the configuration's Account and Mailbox; of the rest nothing is used.
//
// The parts are read against the order in which an adapter writes them, so that mail
// which comes in meanwhile is pending, and never a gap.
func Reconcile(ctx context.Context, config connection.Config, core bus.Core, source connection.MailSource) (*Report, error) {
	config = config.WithDefaults()
	a := &auditor{report: Report{Account: config.Account, Mailbox: config.Mailbox, Present: -1, Gaps: []Gap{}}, tallies: map[Tally]uint64{}}
	if err := a.readServer(ctx, source); err != nil {
		return nil, err
	}
	err := a.readLedger(ctx, config, core)
	if err == nil && a.lost() { // an adapter may have made it meanwhile
		err = a.readLedger(ctx, config, core)
	}
	if err != nil {
		return nil, err
	}
	a.accountForLedger()
	if err := a.accountForServer(ctx, source); err != nil {
		return nil, err
	}
	return a.finish(), nil
}

// auditor is one audit under way.
type auditor struct {
	report   Report
	ledger   *mailbox.Ledger
	found    bool // the ledger is one that an adapter has written
	events   *eventIndex
	server   []uint32 // UIDs that it has, ascending
	validity uint32   // of the server; 0 when it was not asked
	tallies  map[Tally]uint64
}

// readServer lists the messages of the mailbox, a window at a time.
func (a *auditor) readServer(ctx context.Context, source connection.MailSource) error {
	if source == nil {
		return nil
	}
	mailbox, err := source.Select(ctx)
	if err != nil {
		return err
	}
	a.validity = mailbox.UIDValidity
	for w := connection.NewWindow(1, uint64(mailbox.UIDNext), connection.SearchWindow); w.Left() > 0; {
		uids, _, err := w.Search(ctx, source)
		if err != nil {
			return err
		}
		a.server = append(a.server, uids...)
	}
	rest, err := source.Search(ctx, max(mailbox.UIDNext, 1), 0)
	if err != nil {
		return err
	}
	a.server = append(a.server, rest...)
	a.report.Present = len(a.server)
	return nil
}

// readLedger reads the mailbox ledger, then the events.
func (a *auditor) readLedger(ctx context.Context, config connection.Config, core bus.Core) (err error) {
	a.ledger, a.found, err = mailbox.Open(ctx, core.KeyValue(bus.MailboxBucket), config.Account, config.Mailbox)
	if err != nil {
		return err
	}
	if !a.found {
		a.ledger.Cursor.UIDValidity = a.validity
	}
	a.report.UIDValidity = a.ledger.Cursor.UIDValidity
	if a.events, err = indexEvents(ctx, core, config.Account, config.Mailbox, a.report.UIDValidity); err != nil {
		return err
	}
	a.report.Earlier = a.events.earlier
	return nil
}

// lost tells whether there was a mailbox ledger that is gone.
func (a *auditor) lost() bool { return !a.found && len(a.events.all)+int(a.events.earlier) > 0 } //nolint:gosec // far below

func (a *auditor) tally(outcome Outcome, reason string, messages uint64) {
	a.tallies[Tally{Outcome: outcome, Reason: reason}] += messages
	a.report.Messages += messages
}

// accountForLedger goes through what the mailbox ledger and the events say.
func (a *auditor) accountForLedger() {
	p := &a.ledger.Cursor
	for _, s := range a.ledger.Dispositions {
		a.accountForSpan(s)
	}
	for _, one := range p.Open {
		if len(a.tallyBetween(one.UID, one.UID)) == 0 {
			a.tally(OutcomePending, "it could not be had yet", 1)
		}
	}
	for i := range a.events.all {
		// An adapter that ended between storing the event and noting it left these:
		// it offers them again, under the same id.
		e := &a.events.all[i]
		if a.ledger.Dispositions.Of(e.uid) == mailbox.DispositionNone && !p.IsOpen(e.uid) {
			a.tallyEvent(e)
		}
	}
}

// accountForSpan accounts for messages of one disposition. What an event says goes before it.
func (a *auditor) accountForSpan(s mailbox.Span) {
	events := a.tallyBetween(s.First, s.Last)
	others := uint64(s.Last-s.First) + 1 - uint64(len(events))
	switch {
	case others == 0:
	case s.Disposition == mailbox.DispositionPublished:
		next := s.First
		for i := range events {
			a.gap(GapEventMissing, next, events[i].uid)
			next = events[i].uid + 1
		}
		a.gap(GapEventMissing, next, s.Last+1)
	case s.Disposition == mailbox.DispositionFailed:
		a.tally(OutcomeFailed, "it could not be had in several tries", others)
	default:
		a.tally(OutcomeIgnored, reason(s.Disposition), others)
	}
}

// reason says why a disposition means that nothing came of a message.
func reason(f mailbox.Disposition) string {
	switch f {
	case mailbox.DispositionOld:
		return "older than was asked for"
	case mailbox.DispositionKnown:
		return "known from before UIDVALIDITY changed"
	case mailbox.DispositionVanished:
		return "removed by someone before it could be had"
	case mailbox.DispositionCanary:
		return "canary"
	case mailbox.DispositionNone, mailbox.DispositionPublished, mailbox.DispositionFailed:
	}
	return ""
}

// tallyBetween accounts for what became of the messages between two UIDs, both included,
// that have an event.
func (a *auditor) tallyBetween(first, last uint32) []indexedEvent {
	events := a.events.between(first, last)
	for i := range events {
		a.tallyEvent(&events[i])
	}
	return events
}

func (a *auditor) tallyEvent(e *indexedEvent) {
	became := e.became.Value()
	a.tally(became.outcome, became.reason, 1)
}

// accountForServer goes through what the server has and nothing has spoken of.
// What has vanished is looked for again: somebody may have removed it after the
// first look.
func (a *auditor) accountForServer(ctx context.Context, source connection.MailSource) error {
	p := &a.ledger.Cursor
	if a.validity != p.UIDValidity {
		a.tally(OutcomePending, "UIDVALIDITY has changed; the mailbox will be read again", uint64(len(a.server)))
		return nil
	}
	for _, uid := range a.server {
		kind := a.ledger.Dispositions.Of(uid)
		switch {
		case kind == mailbox.DispositionVanished && len(a.events.between(uid, uid)) == 0:
			still, err := source.Search(ctx, uid, uid)
			if err != nil {
				return err
			}
			if slices.Contains(still, uid) {
				a.gap(GapReturned, uid, uid+1)
			}
		case kind != mailbox.DispositionNone, p.IsOpen(uid), len(a.events.between(uid, uid)) > 0:
		case a.lost():
			a.gap(GapLedgerMissing, uid, uid+1)
		case !a.found:
			a.tally(OutcomePending, "the mailbox was never read", 1)
		case uid > p.LowWater:
			a.tally(OutcomePending, "not taken yet", 1)
		default:
			a.gap(GapUnknown, uid, uid+1)
		}
	}
	return nil
}

// gap notes messages from one on and before another.
func (a *auditor) gap(kind GapKind, first, end uint32) {
	if first == end {
		return
	}
	if n := len(a.report.Gaps); n > 0 {
		if last := &a.report.Gaps[n-1]; last.Kind == kind && last.Last+1 == first {
			last.Last = end - 1
			return
		}
	}
	a.report.Gaps = append(a.report.Gaps, Gap{Kind: kind, First: first, Last: end - 1, Advice: kind.advice()})
}

func (k GapKind) advice() string {
	switch k {
	case GapUnknown, GapReturned:
		return "A running adapter takes it at its next look: run the audit again. If it stays, read the log of the account."
	case GapLedgerMissing:
		return "A running adapter makes the ledger of the mailbox again from the events at its next look, and takes what has none: run the audit again. If it stays, start podium, or read the log of the account."
	case GapEventMissing:
		return "The ledger has lost its event: restore the ledger. Without a copy, move the message out of the mailbox and back, so that it comes in as new mail."
	}
	return ""
}

func (a *auditor) finish() *Report {
	a.report.Tallies = []Tally{}
	for tally, messages := range a.tallies {
		if tally.Messages = messages; messages > 0 {
			a.report.Tallies = append(a.report.Tallies, tally)
		}
	}
	slices.SortFunc(a.report.Tallies, func(x, y Tally) int {
		return cmp.Or(cmp.Compare(x.Outcome, y.Outcome), cmp.Compare(x.Reason, y.Reason))
	})
	return &a.report
}
