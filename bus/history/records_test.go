package history_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/history"
	"podium/bus/memory"
	"podium/schemas"
)

func appendRecord(t *testing.T, ledger bus.Core, session string, number uint64, filler int) uint64 {
	t.Helper()
	record := schemas.Record{Session: session, Number: number, Transitions: []schemas.Transition{{Cause: schemas.Cause{ID: strings.Repeat("x", filler)}}}}
	body, err := schemas.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	e := schemas.Event{ID: session, Source: "/podium/supervisor", Type: schemas.TypeRecord, DataContentType: schemas.MediaTypeJSON, Data: body}
	if err := artifact.Offload(t.Context(), ledger.Artifacts(), &e); err != nil {
		t.Fatal(err)
	}
	m, err := binding.Encode(bus.SessionSubject(session, ledger.Shards()), &e)
	if err != nil {
		t.Fatal(err)
	}
	ack, err := bus.Append(t.Context(), ledger, m, bus.Expect{})
	if err != nil {
		t.Fatal(err)
	}
	return ack.Sequence
}

func TestLoadSession(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	session, other := schemas.SessionID("p", "1"), schemas.SessionID("p", "2")
	var want []uint64
	for n := range 20 {
		appendRecord(t, ledger, other, uint64(n+1), 0)
		want = append(want, appendRecord(t, ledger, session, uint64(n+1), n%3*(200<<10))) // some in the object store
	}
	n := 0
	for record, err := range history.LoadSession(t.Context(), ledger, session) {
		if err != nil {
			t.Fatal(err)
		}
		if record.Session != session || record.Number != uint64(n+1) || record.Sequence != want[n] || record.Recorded.IsZero() || len(record.First().Cause.ID) != n%3*(200<<10) {
			t.Errorf("record %d: number %d at %d", n, record.Number, record.Sequence)
		}
		n++
	}
	if n != 20 {
		t.Errorf("%d of 20 records", n)
	}
	for _, err := range history.LoadSession(t.Context(), ledger, schemas.SessionID("p", "none")) {
		t.Errorf("a record of a session that never was: %v", err)
	}
}

func TestLoadSessionNamesTheBadRecord(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	session := schemas.SessionID("p", "1")
	appendRecord(t, ledger, session, 1, 0)
	m := bus.Message{Subject: bus.SessionSubject(session, 1), Body: []byte("not a record")}
	if _, err := bus.Append(t.Context(), ledger, m, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	appendRecord(t, ledger, session, 2, 0)
	seen := 0
	var last error
	for _, err := range history.LoadSession(t.Context(), ledger, session) {
		seen++
		last = err
	}
	if seen != 2 || !isMalformed(last) || !strings.Contains(last.Error(), "record 2 of PODIUM_0") {
		t.Errorf("%d records, then %v", seen, last)
	}
}

func isMalformed(err error) bool {
	var malformed *bus.MalformedError
	return errors.As(err, &malformed) && malformed.Detail != ""
}

// losing is a ledger whose readers lose their place after three messages.
type losing struct {
	*memory.Ledger
	lost int
}

func (l *losing) Read(ctx context.Context, stream string, from uint64, subjects ...string) (bus.Reader, error) {
	r, err := l.Ledger.Read(ctx, stream, from, subjects...)
	return &losingReader{Reader: r, ledger: l}, err
}

type losingReader struct {
	bus.Reader
	ledger *losing
	given  int
}

func (r *losingReader) Next() (bus.Message, bool, error) {
	if r.given == 3 {
		r.ledger.lost++
		return bus.Message{}, false, errors.New("the consumer is gone")
	}
	m, ok, err := r.Reader.Next()
	if ok {
		r.given++
	}
	return m, ok, err
}

func TestFollowSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := &losing{Ledger: memory.New(1)}
		session := schemas.SessionID("p", "1")
		first := appendRecord(t, ledger, session, 1, 0)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		written := make(chan struct{})
		go func() {
			defer close(written)
			for n := range 9 {
				time.Sleep(time.Minute)
				appendRecord(t, ledger, session, uint64(n+2), 0)
			}
		}()
		next := uint64(2)
		var ended error
		for record, err := range history.FollowSession(ctx, ledger, session, first+1) {
			if err != nil {
				ended = err
				continue
			}
			if record.Number != next {
				t.Errorf("record %d, want %d", record.Number, next)
			}
			if next++; next == 11 {
				cancel()
			}
		}
		<-written
		if !errors.Is(ended, context.Canceled) || next != 11 || ledger.lost < 2 {
			t.Errorf("ended at record %d after %d losses: %v", next, ledger.lost, ended)
		}
	})
}
