package imap_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"podium/ingest/imap"
	"podium/ingest/imap/connection"
	"podium/schemas"
)

// steps notes what is done, in its order.
type steps struct {
	mu   sync.Mutex
	list []string
	fail map[int]bool // by the number of a flush, from 1 on
	made int          // flushes
}

var errDisk = errors.New("the disk does not take it")

func (s *steps) did(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, step)
}

func (s *steps) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	if s.fail[s.made] {
		s.list = append(s.list, "no flush")
		return errDisk
	}
	s.list = append(s.list, "flush")
	return nil
}

func (s *steps) since(at int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list[at:])
}

// marked notes what the mail server is told.
type marked struct {
	connection.MailSource
	steps *steps
}

// Flag implements connection.MailSource.
func (m marked) Flag(ctx context.Context, uids []uint32, flag string) error {
	m.steps.did("mark")
	return m.MailSource.Flag(ctx, uids, flag)
}

// Move implements connection.MailSource.
func (m marked) Move(ctx context.Context, uids []uint32, folder string) error {
	m.steps.did("mark")
	return m.MailSource.Move(ctx, uids, folder)
}

// stepping is a fixture whose steps are noted, and how its adapters connect.
func stepping(s *script) (*fixture, *steps, func(context.Context) (connection.MailSource, error)) {
	f, noted := newFixture(), &steps{fail: map[int]bool{}}
	f.flush = noted.flush
	f.store.written = func() { noted.did("entry") }
	f.intake.meet(func(events []schemas.Event) {
		if len(events) > 0 {
			noted.did("event")
		}
	}, nil)
	return f, noted, func(ctx context.Context) (connection.MailSource, error) {
		source, err := s.dial(ctx)
		return marked{source, noted}, err
	}
}

// TestMailServerIsToldWhatIsOnDisk: the event is flushed before the entry is written that
// names it, and the entry before the mail server is told.
func TestMailServerIsToldWhatIsOnDisk_I02(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]imap.After{"flag": {}, "move": {Processed: imap.ProcessingMove, Folder: "Done"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript()
			s.folders["Done"] = 0
			f, noted, dial := stepping(s)
			settings := config("localhost", 1)
			settings.After = after
			adapter, stop := f.run(t, settings, dial)
			connected(t, adapter)
			if contact := noted.since(0); !slices.Equal(contact, []string{"entry", "flush"}) {
				t.Errorf("at first contact: %v", contact)
			}
			for number := range 2 {
				at := len(noted.since(0))
				s.deliver(message(number + 1))
				f.next(t)
				want := []string{"event", "flush", "entry", "flush", "mark"}
				eventually(t, "it is marked", func() bool { return len(noted.since(at)) >= len(want) })
				if did := noted.since(at); !slices.Equal(did, want) {
					t.Errorf("mail %d: %v", number, did)
				}
			}
			stop()
		})
	}
}

// TestNothingIsSaidWithoutAFlush: what cannot be flushed is neither noted nor told, and
// is offered again under its id.
func TestNothingIsSaidWithoutAFlush_I02(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fails int // which flush after first contact
		want  []string
	}{
		"events": {1, []string{"event", "no flush", "entry", "flush", "event", "flush", "entry", "flush", "mark"}},
		"entry":  {2, []string{"event", "flush", "entry", "no flush", "flush", "mark"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript()
			f, noted, dial := stepping(s)
			adapter, stop := f.run(t, config("localhost", 1), dial)
			connected(t, adapter)
			at := len(noted.since(0))
			noted.mu.Lock()
			noted.fail[noted.made+test.fails] = true
			noted.mu.Unlock()
			s.deliver(message(1))
			first, _ := f.next(t)
			eventually(t, "it is marked", func() bool { return slices.Contains(noted.since(at), "mark") })
			stop()
			if did := noted.since(at); !slices.Equal(did, test.want) {
				t.Errorf("%v, want %v", did, test.want)
			}
			for len(f.intake.submitted) > 0 {
				if again, _ := f.next(t); again.ID != first.ID {
					t.Errorf("then event %s", again.ID)
				}
			}
			if f.position(t).Counts.Published != 1 {
				t.Errorf("%+v", f.position(t))
			}
		})
	}
}
