package imap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"podium/ingest/imap"
	"podium/ingest/imap/connection"
	"podium/schemas"
)

const (
	batchSize  = 128 // messages that an adapter fetches at once
	aheadMails = 300 // more than two batches
)

func scriptOf(mails int) *script {
	s := newScript()
	for number := range mails {
		s.deliver(message(number + 1))
	}
	return s
}

// inOrder takes as many events and fails unless their UIDs ascend from the first by one.
func (f *fixture) inOrder(t *testing.T, first, last uint32) {
	t.Helper()
	for want := first; want <= last; want++ {
		if _, mail := f.next(t); mail.UID != want {
			t.Fatalf("UID %d in place of %d", mail.UID, want)
		}
	}
}

// TestConnectionEndsWhileLookingAhead_I02: when the connection ends while the next
// batch is fetched, the batch before is published and noted, nobody is blamed, and
// the rest comes once.
func TestConnectionEndsWhileLookingAhead_I02(t *testing.T) {
	t.Parallel()
	s, f := scriptOf(aheadMails), newFixture()
	ended := make(chan struct{})
	f.intake.meet(func([]schemas.Event) { <-ended }, nil)
	once := sync.OnceFunc(func() { close(ended) })
	adapter, stop := f.run(t, config("localhost", 1), func(ctx context.Context) (connection.MailSource, error) {
		source, err := s.dial(ctx)
		return &changed{MailSource: source, describe: func(ctx context.Context, uids []uint32) ([]connection.Summary, error) {
			select {
			case <-ended:
			default:
				if uids[0] > batchSize {
					once()
					return nil, errBroken
				}
			}
			return source.Describe(ctx, uids)
		}}, err
	})
	f.inOrder(t, 1, aheadMails)
	eventually(t, "the ledger has it", func() bool { return f.position(t).LowWater == aheadMails })
	connected(t, adapter)
	stop()
	f.none(t)
	if position := f.position(t); position.Counts.Published != aheadMails || len(position.Open)+len(position.Failed) != 0 || s.dials() != 2 {
		t.Errorf("after %d connections: %+v", s.dials(), position)
	}
	for uid, times := range s.fetched {
		if uid <= batchSize && times != 1 {
			t.Errorf("message %d of the batch before was fetched %d times", uid, times)
		}
	}
}

// TestLedgerDownWhileLookingAhead_I02: when the ledger takes no mail, what is fetched
// ahead is given up at once; the problem is the ledger's, nobody is blamed, and when
// the ledger is well again everything comes once.
func TestLedgerDownWhileLookingAhead_I02(t *testing.T) {
	t.Parallel()
	s, f := scriptOf(aheadMails), newFixture()
	f.intake.setError(errLost)
	well, ahead := make(chan struct{}), make(chan struct{}, 1_000)
	var abandoned atomic.Int32
	f.intake.meet(func([]schemas.Event) {
		select {
		case <-ahead: // the next batch is on its way
		case <-well:
		}
	}, nil)
	adapter, _ := f.run(t, config("localhost", 1), func(ctx context.Context) (connection.MailSource, error) {
		source, err := s.dial(ctx)
		return &changed{MailSource: source, describe: func(ctx context.Context, uids []uint32) ([]connection.Summary, error) {
			if len(uids) == 1 {
				t.Errorf("message %d was asked for alone", uids[0])
			}
			if uids[0] <= batchSize {
				return source.Describe(ctx, uids)
			}
			ahead <- struct{}{}
			select {
			case <-ctx.Done(): // a server that is slow to answer
				abandoned.Add(1)
				return nil, fmt.Errorf("fetch: %w", ctx.Err())
			case <-well:
				return source.Describe(ctx, uids)
			}
		}}, err
	})
	eventually(t, "the ledger was tried several times", func() bool { return abandoned.Load() >= 3 })
	// Between two tries it is connected, and there is none.
	eventually(t, "the status says it", func() bool { return strings.Contains(adapter.Status().Problem, "ledger") })
	if position := f.position(t); position.LowWater != 0 || len(position.Open) != 0 {
		t.Errorf("it was noted: %+v", position)
	}
	f.none(t)
	f.intake.setError(nil)
	close(well)
	f.inOrder(t, 1, aheadMails)
	connected(t, adapter)
	f.none(t)
}

// TestAdapterEndsWhileLookingAhead_I02: an adapter that is stopped while it looks ahead ends
// with its fetching; the batch before is noted and does not come again.
func TestAdapterEndsWhileLookingAhead_I02(t *testing.T) {
	t.Parallel()
	s, f := scriptOf(aheadMails), newFixture()
	var waiting atomic.Int32
	_, stop := f.run(t, config("localhost", 1), func(ctx context.Context) (connection.MailSource, error) {
		source, err := s.dial(ctx)
		return &changed{MailSource: source, describe: func(ctx context.Context, uids []uint32) ([]connection.Summary, error) {
			if uids[0] > batchSize {
				waiting.Add(1)
				defer waiting.Add(-1)
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return source.Describe(ctx, uids)
		}}, err
	})
	f.inOrder(t, 1, batchSize)
	eventually(t, "the first batch is noted while the next is fetched", func() bool {
		return f.position(t).LowWater == batchSize && waiting.Load() == 1
	})
	stop()
	if left := waiting.Load(); left != 0 {
		t.Errorf("the adapter ended before its fetching")
	}
	adapter, _ := f.run(t, config("localhost", 1), s.dial)
	f.inOrder(t, batchSize+1, aheadMails)
	connected(t, adapter)
	f.none(t)
}

// TestMailRemovedWhileLookingAhead_I06: a message that is removed after it was
// described, while the batch before is published, has vanished; one that is removed
// after it was fetched comes.
func TestMailRemovedWhileLookingAhead_I06(t *testing.T) {
	t.Parallel()
	const vanished, late = 200, 5
	s, f := scriptOf(aheadMails), newFixture()
	described := make(chan struct{})
	removed := make(chan struct{})
	f.intake.meet(func(events []schemas.Event) {
		if strings.HasSuffix(events[0].ID, ":1") {
			<-described
			s.locked(func() {
				delete(s.mail, vanished)
				delete(s.mail, late)
			})
			close(removed)
		}
	}, nil)
	adapter, stop := f.run(t, config("localhost", 1), func(ctx context.Context) (connection.MailSource, error) {
		source, err := s.dial(ctx)
		return &changed{MailSource: source, fetch: func(ctx context.Context, uids []uint32, receive func(uint32, io.Reader) error) error {
			if slices.Contains(uids, vanished) {
				close(described)
				<-removed
			}
			there := slices.DeleteFunc(slices.Clone(uids), func(uid uint32) (gone bool) {
				s.locked(func() { gone = s.mail[uid] == nil })
				return gone
			})
			return source.Fetch(ctx, there, receive)
		}}, err
	})
	f.inOrder(t, 1, vanished-1)
	f.inOrder(t, vanished+1, aheadMails)
	connected(t, adapter)
	stop()
	f.none(t)
	if position := f.position(t); position.Counts.Vanished != 1 || position.Counts.Published != aheadMails-1 || position.LowWater != aheadMails || len(position.Open) != 0 {
		t.Errorf("ledger %+v", position)
	}
}

// TestLookingAheadBlamesTheRightMessage_I15: a message at which the connection ends,
// and which was fetched ahead, is the only one that is passed over.
func TestLookingAheadBlamesTheRightMessage_I15(t *testing.T) {
	t.Parallel()
	const poison = 200
	s, f := scriptOf(aheadMails), newFixture()
	s.breaks[poison] = true
	adapter, _ := f.run(t, config("localhost", 1), s.dial)
	f.inOrder(t, 1, poison-1)
	f.inOrder(t, poison+1, aheadMails)
	eventually(t, "it is passed over", func() bool { return adapter.Status().Failed == 1 })
	position := f.position(t)
	if len(position.Failed) != 1 || position.Failed[0].UID != poison || position.Failed[0].Tries != 8 || len(position.Open) != 0 || position.Counts.Published != aheadMails-1 {
		t.Errorf("ledger %+v", position)
	}
	f.none(t)
}

// TestMarksWaitForTheConnection_I16: nothing is moved before it is noted, and a
// connection is used by one goroutine at a time though the adapter looks ahead.
func TestMarksWaitForTheConnection_I16(t *testing.T) {
	t.Parallel()
	s, f := scriptOf(aheadMails), newFixture()
	s.folders["Processed"] = 0
	settings := config("localhost", 1)
	settings.After = imap.After{Processed: imap.ProcessingMove, Folder: "Processed"}
	noted := func() uint32 { return f.position(t).LowWater }
	var users atomic.Int32
	use := func() (end func()) {
		if users.Add(1) != 1 {
			t.Error("a connection was used by two at once")
		}
		return func() { users.Add(-1) }
	}
	adapter, _ := f.run(t, settings, func(ctx context.Context) (connection.MailSource, error) {
		source, err := s.dial(ctx)
		return &changed{
			MailSource: source,
			describe: func(ctx context.Context, uids []uint32) ([]connection.Summary, error) {
				defer use()()
				awaitNote(ctx, func() bool { return noted() >= uids[0]-1 })
				return source.Describe(ctx, uids)
			},
			fetch: func(ctx context.Context, uids []uint32, receive func(uint32, io.Reader) error) error {
				defer use()()
				return source.Fetch(ctx, uids, receive)
			},
			move: func(ctx context.Context, uids []uint32, folder string) error {
				defer use()()
				if low := noted(); slices.Max(uids) > low {
					t.Errorf("message %d was moved, and noted is %d", slices.Max(uids), low)
				}
				return source.Move(ctx, uids, folder)
			},
		}, err
	})
	f.inOrder(t, 1, aheadMails)
	connected(t, adapter)
	eventually(t, "everything was moved", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.folders["Processed"] == aheadMails && len(s.mail) == 0
	})
	f.none(t)
}

// awaitNote returns a moment after the batch before is noted: when it would be moved
// if nothing waited for the connection.
func awaitNote(ctx context.Context, noted func() bool) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for before := false; ; before = noted() {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if before {
			return
		}
	}
}

// TestBatchesAreBounded: what is fetched with one command is 8 MiB at most, however
// much mail there is, and comes in the order of UIDs.
func TestBatchesAreBounded(t *testing.T) {
	t.Parallel()
	const mails, limit = 20, 8 << 20
	s, f := newScript(), newFixture()
	for number := range mails {
		s.deliver(append(message(number+1), make([]byte, 1<<20)...))
	}
	s.mail[7] = append(message(7), make([]byte, limit)...)
	var commands, large atomic.Int32
	f.run(t, config("localhost", 1), func(ctx context.Context) (connection.MailSource, error) {
		source, err := s.dial(ctx)
		return &changed{
			MailSource: source,
			fetch: func(ctx context.Context, uids []uint32, receive func(uint32, io.Reader) error) error {
				commands.Add(1)
				bytes := 0
				s.locked(func() {
					for _, uid := range uids {
						bytes += len(s.mail[uid])
					}
				})
				if bytes > limit {
					t.Errorf("%d bytes are fetched at once", bytes)
				}
				return source.Fetch(ctx, uids, receive)
			},
			fetchLarge: func(ctx context.Context, uid uint32, limit int64, w io.Writer) error {
				large.Add(1)
				return source.FetchLarge(ctx, uid, limit, w)
			},
		}, err
	})
	f.inOrder(t, 1, mails)
	if commands.Load() != 3 || large.Load() != 1 {
		t.Errorf("%d commands, %d large ones", commands.Load(), large.Load())
	}
}

// TestMailStoredBeyondAFailureIsKnown_I04: events go out without waiting for one
// another, so that the ledger may have some beyond one that failed. Nothing is noted
// of them; when the server then changes its UIDs they do not come once more.
func TestMailStoredBeyondAFailureIsKnown_I04(t *testing.T) {
	t.Parallel()
	s, f := scriptOf(3), newFixture()
	down := errors.New("down")
	f.intake.meet(nil, func(e schemas.Event) error {
		if strings.HasSuffix(e.ID, ":7:2") {
			return down
		}
		return nil
	})
	changed := make(chan struct{}) // no server changes its UIDs while a mailbox is selected
	adapter, _ := f.run(t, config("localhost", 1), func(ctx context.Context) (connection.MailSource, error) {
		if s.dials() > 0 {
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
		return s.dial(ctx)
	})
	for _, want := range []uint32{1, 3} {
		if _, mail := f.next(t); mail.UID != want {
			t.Fatalf("UID %d in place of %d", mail.UID, want)
		}
	}
	eventually(t, "the first is noted, and no more", func() bool { return f.position(t).LowWater == 1 })
	s.locked(func() {
		s.validity, s.next = 8, 14
		s.mail = map[uint32][]byte{11: message(1), 12: message(2), 13: message(3)}
		s.received = map[uint32]time.Time{11: time.Now(), 12: time.Now(), 13: time.Now()}
	})
	close(changed)
	for again := ""; again != "Mail 2"; {
		e, mail := f.next(t)
		if again = mail.Subject; again == "Mail 1" || again == "Mail 3" && !strings.HasSuffix(e.ID, ":7:3") {
			t.Errorf("%s came under another id: %s", again, e.ID)
		}
	}
	connected(t, adapter)
	eventually(t, "all are dealt with", func() bool { return f.position(t).LowWater == 13 })
	for len(f.intake.submitted) > 0 {
		e, mail := f.next(t)
		t.Errorf("%s came under another id: %s", mail.Subject, e.ID)
	}
}
