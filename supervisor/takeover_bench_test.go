package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/embedded"
	"podium/bus/history"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/restore"
)

// ledgers are those that a benchmark runs on.
func ledgers() map[string]func(testing.TB) bus.Core {
	return map[string]func(testing.TB) bus.Core{
		"memory": func(testing.TB) bus.Core { return memory.New(1) },
		"embedded": func(tb testing.TB) bus.Core {
			tb.Helper()
			server, err := embedded.Start(tb.Context(), embedded.Config{
				Dir: tb.TempDir(), Shards: 1, Agents: []string{"worker", "chat"}, Durability: embedded.Interval, Logger: zerolog.Nop(),
			})
			if err != nil {
				tb.Fatal(err)
			}
			core, err := server.Core(context.WithoutCancel(tb.Context()))
			if err != nil {
				tb.Fatal(err)
			}
			tb.Cleanup(func() {
				core.Close()
				if err := server.Close(); err != nil {
					tb.Error(err)
				}
			})
			return core
		},
	}
}

// openMany leaves a ledger with so many sessions whose tasks are under way, by
// as many records each, as an owner leaves it that has stopped in order.
func openMany(tb testing.TB, core bus.Core, sessions, records int) *restore.Profiles {
	tb.Helper()
	profiles, err := restore.NewProfiles(tb.Context(), core.Artifacts(), []schemas.Profile{deskProfile()})
	if err != nil {
		tb.Fatal(err)
	}
	owner := supervisor.NewOwner(supervisor.Config{
		Name: "before", Core: core, Profiles: profiles, Log: zerolog.Nop(), CheckpointEvery: time.Hour,
	})
	ctx, stop := context.WithCancel(tb.Context())
	ended := make(chan error, 1)
	go func() { ended <- owner.Run(ctx) }()
	publish := func(subject string, event *schemas.Event) {
		message, err := binding.Encode(subject, event)
		if err != nil {
			tb.Fatal(err)
		}
		core.Publish(message, bus.Expect{}, func(_ bus.Ack, err error) {
			if err != nil {
				tb.Error(err)
			}
		})
	}
	for record := range records {
		for i := range sessions {
			thread := fmt.Sprint("thread", i)
			id := schemas.SessionID("desk", thread)
			if record == 0 {
				body, err := schemas.Marshal(schemas.ChatReceived{Provider: "p", Channel: "c", Thread: thread, MessageID: thread, Text: "do it, please, and tell me how it went"})
				if err != nil {
					tb.Fatal(err)
				}
				publish(bus.InSubject("chat", 0), &schemas.Event{
					ID: thread, Source: "/desk", Type: schemas.TypeChatReceived, Profile: "desk", PartitionKey: thread,
					DataContentType: schemas.MediaTypeJSON, Data: body,
				})
				continue
			}
			request := schemas.RequestID(0, 1, schemas.RunID(id, 1), "t1", 1)
			update := schemas.ProgressUpdate{
				Envelope: schemas.Envelope{
					MessageID: schemas.EffectID(request, strconv.Itoa(record)), From: "worker", To: "supervisor",
					Type: schemas.EnvelopeTypeProgressUpdate, Timestamp: midnight(), InReplyTo: request,
				},
				Payload: schemas.ProgressPayload{PlanID: schemas.PlanID(schemas.RunID(id, 1)), ProgressPercentage: record},
			}
			body, err := schemas.Marshal(update)
			if err != nil {
				tb.Fatal(err)
			}
			publish(bus.ProgressSubject("worker", 0), &schemas.Event{
				ID: update.MessageID, Source: binding.SourceOf("worker"), Type: schemas.TypeProgressUpdate, CausationID: request,
				DataContentType: schemas.MediaTypeJSON, Data: body,
			})
		}
		settled(tb, core, sessions, record+1)
	}
	stop()
	if err := <-ended; err != nil {
		tb.Fatal(err)
	}
	return profiles
}

// settled waits until each session has so many records.
func settled(tb testing.TB, core bus.Core, sessions, records int) {
	tb.Helper()
	for i := range sessions {
		id := schemas.SessionID("desk", fmt.Sprint("thread", i))
		for {
			message, err := core.Last(tb.Context(), bus.SessionSubject(id, 1))
			if err == nil {
				stored, err := history.ReadRecord(tb.Context(), core, message)
				if err == nil && stored.Number >= uint64(records) {
					break
				}
			} else if !errors.Is(err, bus.ErrNotFound) {
				tb.Fatal(err)
			}
			wait(tb, 10*time.Millisecond)
		}
	}
}

func wait(tb testing.TB, span time.Duration) {
	tb.Helper()
	select {
	case <-time.After(span):
	case <-tb.Context().Done():
		tb.Fatal("the test has ended")
	}
}

// BenchmarkTakeover is how long it takes until all open sessions are back in
// memory: 10,000 with one record each and with seven, which is as many as there
// are behind a snapshot.
func BenchmarkTakeover(b *testing.B) {
	for name, open := range ledgers() {
		for _, size := range []struct{ sessions, records int }{{10_000, 1}, {10_000, 7}, {100_000, 1}} {
			b.Run(fmt.Sprintf("%s/%d sessions of %d records", name, size.sessions, size.records), func(b *testing.B) {
				core := open(b)
				profiles := openMany(b, core, size.sessions, size.records)
				b.ReportAllocs()
				for b.Loop() {
					owner := supervisor.NewOwner(supervisor.Config{Name: "after", Core: core, Profiles: profiles, Log: zerolog.Nop()})
					if err := owner.Open(b.Context(), time.Now()); err != nil {
						b.Fatal(err)
					}
					if loaded := owner.OpenSessions(); loaded != size.sessions {
						b.Fatalf("%d sessions are open", loaded)
					}
				}
			})
		}
	}
}
