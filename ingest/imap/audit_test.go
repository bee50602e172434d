package imap_test

import (
	"fmt"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/ingest/imap"
	"podium/ingest/imap/audit"
	"podium/ingest/imap/connection"
	"podium/schemas"
)

// session writes what a session decides about messages: the sessions themselves
// belong to another layer.
func (f *fixture) session(tb testing.TB, e schemas.Event, fact schemas.MessageReceived) {
	tb.Helper()
	name := schemas.SessionID(e.Profile, e.PartitionKey)
	fact.ID = e.ID
	body, err := schemas.Marshal(schemas.Record{Session: name, Number: 1, Transitions: []schemas.Transition{{Cause: schemas.Cause{ID: e.ID, Time: time.Now().UTC()}, Facts: []schemas.Fact{&fact}}}})
	if err != nil {
		tb.Fatal(err)
	}
	f.append(tb, bus.SessionSubject(name, f.core.Shards()), schemas.TypeRecord, body)
}

func (f *fixture) append(tb testing.TB, subject, kind string, body []byte) {
	tb.Helper()
	message, err := binding.Encode(subject, &schemas.Event{
		ID: "test", Source: "/podium/test", Type: kind, Time: time.Now().UTC(), DataContentType: schemas.MediaTypeJSON, Data: body,
	})
	if err == nil {
		_, err = bus.Append(tb.Context(), f.core, message, bus.Expect{})
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// quarantine puts away the event of a message.
func (f *fixture) quarantine(tb testing.TB, e schemas.Event) {
	tb.Helper()
	for shard := range f.core.Shards() {
		for message, err := range f.core.Scan(tb.Context(), bus.ShardStream(shard), 1, bus.InSubject("email", shard)) {
			if err != nil {
				tb.Fatal(err)
			}
			if found, err := binding.Decode(message); err != nil || found.ID != e.ID {
				continue
			}
			body, err := schemas.Marshal(schemas.Quarantined{
				Reason: schemas.QuarantineUnroutable, Detail: "test", Subject: message.Subject, Stream: message.Stream,
				Sequence: message.Sequence, Received: time.Now().UTC(),
			})
			if err != nil {
				tb.Fatal(err)
			}
			f.append(tb, bus.QuarantineSubject(schemas.QuarantineUnroutable, shard), schemas.TypeQuarantined, body)
			return
		}
	}
	tb.Fatalf("event %s is not on the ledger", e.ID)
}

func (f *fixture) audit(tb testing.TB, config imap.Config, source connection.MailSource) *audit.Report {
	tb.Helper()
	report, err := audit.Reconcile(tb.Context(), config.Config, f.core, source)
	if err != nil {
		tb.Fatal(err)
	}
	return report
}

func outcomes(report *audit.Report) string {
	return fmt.Sprintf("run %d ignored %d quarantined %d failed %d pending %d, of %d", report.Count(audit.OutcomeRun),
		report.Count(audit.OutcomeIgnored), report.Count(audit.OutcomeQuarantined), report.Count(audit.OutcomeFailed),
		report.Count(audit.OutcomePending), report.Messages)
}

// TestAuditAccountsForEveryMessageOnce_I13: whatever becomes of a mail, it stands
// in the audit once, and with its reason.
func TestAuditAccountsForEveryMessageOnce_I13(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	settings := config("localhost", 1)
	settings.Since = time.Date(2026, 1, 5, 9, 0, 3, 0, time.UTC) // the first two are older
	for number := range 9 {
		s.deliver(message(number + 1))
	}
	s.refuse[8], s.vanish[9] = true, true
	adapter, stop := f.run(t, settings, s.dial)
	events := map[uint32]schemas.Event{}
	for range 5 {
		e, mail := f.next(t)
		events[mail.UID] = e
	}
	eventually(t, "the eighth is passed over", func() bool { return adapter.Status().Failed == 1 })
	stop()
	for uid, fact := range map[uint32]schemas.MessageReceived{
		3: {Disposition: schemas.DispositionStarted, Run: 1},
		4: {Disposition: schemas.DispositionIgnored, Reason: "autoreply"},
		5: {Disposition: schemas.DispositionMerged, Run: 1},
	} {
		f.session(t, events[uid], fact)
	}
	f.quarantine(t, events[6])
	s.locked(func() { delete(s.mail, 3) }) // a person tidies up
	s.deliver(message(10))                 // while nobody looks

	source, _ := s.dial(t.Context())
	report := f.audit(t, settings, source)
	if got := outcomes(report); got != "run 2 ignored 4 quarantined 1 failed 1 pending 2, of 10" || !report.Clean() || report.Present != 8 {
		t.Errorf("%s; %+v", got, report)
	}
	reasons := map[string]uint64{}
	for _, tally := range report.Tallies {
		reasons[string(tally.Outcome)+": "+tally.Reason] = tally.Messages
	}
	for reason, want := range map[string]uint64{
		"ignored: older than was asked for": 2, "ignored: autoreply": 1, "ignored: removed by someone before it could be had": 1,
		"pending: not taken yet": 1, "pending: its event waits for its session": 1, "quarantined: unroutable": 1,
		"run: started": 1, "run: merged": 1,
	} {
		if reasons[reason] != want {
			t.Errorf("%s: %d, want %d", reason, reasons[reason], want)
		}
	}
	if offline := f.audit(t, settings, nil); outcomes(offline) != "run 2 ignored 4 quarantined 1 failed 1 pending 1, of 9" || offline.Present != -1 || !offline.Clean() {
		t.Errorf("without the server: %s; %+v", outcomes(offline), offline)
	}
}

// TestAuditFindsWhatIsMissing_I13 loses something in each of the three places.
func TestAuditFindsWhatIsMissing_I13(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	for number := range 6 {
		s.deliver(message(number + 1))
	}
	s.vanish[5] = true
	s.locked(func() { s.unlisted[2] = true })
	adapter, stop := f.run(t, config("localhost", 1), s.dial)
	for range 4 {
		f.next(t)
	}
	connected(t, adapter)
	stop()
	s.locked(func() { s.unlisted[2], s.vanish[5], s.mail[5] = false, false, message(5) })
	source, _ := s.dial(t.Context())
	report := f.audit(t, config("localhost", 1), source)
	want := []audit.Gap{{Kind: audit.GapUnknown, First: 2, Last: 2}, {Kind: audit.GapReturned, First: 5, Last: 5}}
	if len(report.Gaps) != 2 {
		t.Fatalf("gaps %+v", report.Gaps)
	}
	for i, gap := range report.Gaps {
		if gap.Kind != want[i].Kind || gap.First != want[i].First || gap.Last != want[i].Last || gap.Advice == "" {
			t.Errorf("gap %+v, want %+v", gap, want[i])
		}
	}

	// The events are lost: a ledger that was set back.
	lost := newFixture()
	entry, _, err := f.store.Get(t.Context(), f.keys(t)[0])
	if err == nil {
		_, err = lost.store.Put(t.Context(), f.keys(t)[0], entry)
	}
	if err != nil {
		t.Fatal(err)
	}
	report = lost.audit(t, config("localhost", 1), nil)
	if len(report.Gaps) != 3 || report.Gaps[0].Kind != audit.GapEventMissing || report.Gaps[1].First != 3 || report.Gaps[1].Last != 4 {
		t.Errorf("gaps %+v", report.Gaps)
	}
}

func (f *fixture) keys(tb testing.TB) []string {
	tb.Helper()
	keys, err := f.store.Keys(tb.Context())
	if err != nil || len(keys) == 0 {
		tb.Fatalf("%d keys (%v)", len(keys), err)
	}
	return keys
}

// TestAuditAfterAnEventWhoseNoteIsLost_I02: the event counts, and no gap is made of it.
func TestAuditAfterAnEventWhoseNoteIsLost_I02(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	adapter, stop := f.run(t, config("localhost", 1), s.dial)
	connected(t, adapter)
	f.store.setLosing(true)
	s.deliver(message(1))
	f.next(t)
	stop()
	source, _ := s.dial(t.Context())
	if report := f.audit(t, config("localhost", 1), source); !report.Clean() || outcomes(report) != "run 0 ignored 0 quarantined 0 failed 0 pending 1, of 1" {
		t.Errorf("%s; %+v", outcomes(report), report)
	}
}

func TestAuditOfAMailboxThatWasNeverRead_I13(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	s.deliver(message(1))
	source, _ := s.dial(t.Context())
	if report := f.audit(t, config("localhost", 1), source); !report.Clean() || report.Count(audit.OutcomePending) != 1 {
		t.Errorf("%+v", report)
	}
	if report := f.audit(t, config("localhost", 1), nil); !report.Clean() || report.Messages != 0 {
		t.Errorf("%+v", report)
	}
}

// TestAuditAfterUIDValidityChanged_I04: the old numbers stay accounted for, the
// new ones wait until an adapter has read the mailbox again.
func TestAuditAfterUIDValidityChanged_I04(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	for number := range 5 {
		s.deliver(message(number + 1))
	}
	adapter, stop := f.run(t, config("localhost", 1), s.dial)
	for range 5 {
		f.next(t)
	}
	connected(t, adapter)
	stop()
	s.locked(func() { s.validity = 8 })
	source, _ := s.dial(t.Context())
	if report := f.audit(t, config("localhost", 1), source); !report.Clean() || report.Count(audit.OutcomePending) != 10 || report.UIDValidity != 7 {
		t.Errorf("%s; %+v", outcomes(report), report)
	}
	adapter, stop = f.run(t, config("localhost", 1), s.dial)
	connected(t, adapter)
	stop()
	f.none(t)
	report := f.audit(t, config("localhost", 1), source)
	if !report.Clean() || report.Count(audit.OutcomeIgnored) != 5 || report.Messages != 5 || report.Earlier != 5 || report.UIDValidity != 8 {
		t.Errorf("%s; %+v", outcomes(report), report)
	}
}

// TestGapsAreFoundAndClosed_I13: a server that lists a message late, below what
// was dealt with already, costs that message nothing but time.
func TestGapsAreFoundAndClosed_I13(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	for number := range 5 {
		s.deliver(message(number + 1))
	}
	s.unlisted[2] = true
	adapter, stop := f.run(t, config("localhost", 1), s.dial)
	for range 4 {
		f.next(t)
	}
	connected(t, adapter)
	s.locked(func() { s.unlisted[2] = false })
	if _, mail := f.next(t); mail.UID != 2 {
		t.Errorf("UID %d", mail.UID)
	}
	eventually(t, "the gap is closed", func() bool {
		return adapter.Status().Recovered == 1 && adapter.Status().Gaps == 0 && adapter.Status().Healthy()
	})
	stop()
	f.none(t)
	source, _ := s.dial(t.Context())
	if report := f.audit(t, config("localhost", 1), source); !report.Clean() || report.Messages != 5 {
		t.Errorf("%+v", report)
	}
}

// TestRegressingUIDIsNewMail_I05: a number below what was there at first contact
// is new, when it was not there.
func TestRegressingUIDIsNewMail_I05(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	for number := range 5 {
		s.deliver(message(number + 1))
	}
	s.locked(func() { delete(s.mail, 3) })
	settings := config("localhost", 1)
	settings.Since = time.Time{}
	adapter, _ := f.run(t, settings, s.dial)
	connected(t, adapter)
	s.locked(func() { s.mail[3], s.received[3] = message(33), time.Now().Add(time.Minute) })
	if _, mail := f.next(t); mail.UID != 3 || mail.Subject != "Mail 33" {
		t.Errorf("mail %+v", mail)
	}
	f.none(t)
}
