package intake_test

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/intake"
	"podium/bus/memory"
	"podium/schemas"
)

func incoming(id, key string) schemas.Event {
	return schemas.Event{ID: id, Source: "/podium/chat/web", Type: schemas.TypeChatReceived, Profile: "praxis", PartitionKey: key, DataContentType: schemas.MediaTypeJSON, Data: []byte(`{}`)}
}

func TestIntakeKeepsAConversationInOneShard(t *testing.T) {
	t.Parallel()
	ledger := memory.New(3)
	intake := intake.NewIntake(ledger)
	for n, key := range []string{"thread-1", "thread-2", "", "thread-1"} {
		id := string(rune('a' + n))
		receipt, err := intake.Submit(t.Context(), "chat", incoming(id, key))
		if err != nil {
			t.Fatal(err)
		}
		if key == "" {
			key = id // a conversation of its own
		}
		session := schemas.SessionID("praxis", key)
		if receipt.Session != session || receipt.Shard != schemas.ShardOf(session, 3) {
			t.Errorf("receipt %+v", receipt)
		}
		m, err := ledger.Get(t.Context(), bus.ShardStream(receipt.Shard), receipt.Sequence)
		if err != nil {
			t.Fatal(err)
		}
		e, err := binding.Decode(m)
		if err != nil || e.ID != id || e.PartitionKey != key || m.Subject != bus.InSubject("chat", receipt.Shard) {
			t.Errorf("stored %+v under %s, %v", e, m.Subject, err)
		}
		for name := range m.Header {
			if !strings.HasPrefix(name, "ce-") { // a Nats-Msg-Id would let the server swallow messages
				t.Errorf("header %s", name)
			}
		}
	}
}

// A mail goes to the session that it answers, after what was submitted for that before;
// nothing else can be submitted for a session by its name.
func TestIntakeTakesAMailToItsSession_I22(t *testing.T) {
	t.Parallel()
	ledger := memory.New(3)
	intake := intake.NewIntake(ledger)
	session := schemas.SessionID("praxis", "thread-1")
	mail := incoming("mail", "thread-2")
	mail.Type, mail.SessionID = schemas.TypeEmailReceived, session
	outcomes := intake.SubmitAll(t.Context(), "email", []schemas.Event{incoming("first", "thread-1"), mail})
	for _, outcome := range outcomes {
		if outcome.Err != nil || outcome.Receipt.Session != session || outcome.Receipt.Shard != schemas.ShardOf(session, 3) {
			t.Errorf("%+v", outcome)
		}
	}
	if outcomes[1].Receipt.Sequence <= outcomes[0].Receipt.Sequence {
		t.Error("it is before what came before it")
	}
	words := incoming("words", "thread-2")
	words.SessionID = session
	if _, err := intake.Submit(t.Context(), "chat", words); !errors.Is(err, schemas.ErrInvalidEvent) {
		t.Errorf("a chat message for a session: %v", err)
	}
}

func TestIntakeOffloadsLargeBodies(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	e := incoming("1", "k")
	e.Data = []byte(`"` + strings.Repeat("x", artifact.MessageInlineLimit) + `"`)
	receipt, err := intake.NewIntake(ledger).Submit(t.Context(), "mail", e)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ledger.Get(t.Context(), bus.ShardStream(0), receipt.Sequence)
	if err != nil {
		t.Fatal(err)
	}
	got, err := binding.Decode(m)
	if err != nil || got.Artifact == nil || len(m.Body) != 0 {
		t.Fatalf("stored %d bytes, %+v, %v", len(m.Body), got.Artifact, err)
	}
	if err := artifact.Resolve(t.Context(), ledger.Artifacts(), &got); err != nil || string(got.Data) != string(e.Data) {
		t.Errorf("resolved %d bytes, %v", len(got.Data), err)
	}
	if len(e.Data) == 0 {
		t.Error("the caller's event was changed")
	}
}

func TestIntakeRefuses(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	intake := intake.NewIntake(ledger)
	noProfile, noID, huge := incoming("1", "k"), incoming("", "k"), incoming("1", "k")
	noProfile.Profile = ""
	huge.Data = make([]byte, artifact.MaxSize+1)
	for _, c := range []struct {
		adapter string
		event   schemas.Event
		want    error
	}{{"chat", noProfile, schemas.ErrInvalidEvent}, {"chat", noID, schemas.ErrInvalidEvent}, {"chat", huge, bus.ErrTooLarge}} {
		if _, err := intake.Submit(t.Context(), c.adapter, c.event); !errors.Is(err, c.want) {
			t.Errorf("got %v, want %v", err, c.want)
		}
	}
	if _, err := intake.Submit(t.Context(), "a.b", incoming("1", "k")); err == nil {
		t.Error("an adapter that is two tokens was taken")
	}
	if state, err := ledger.State(t.Context(), bus.ShardStream(0)); err != nil || state.Messages != 0 {
		t.Errorf("something was stored: %+v, %v", state, err)
	}
}

// TestIntakeLeavesRoomForArtifacts: what large messages need is kept for those under way,
// too, and small ones are refused with them: their answers may be large.
func TestIntakeLeavesRoomForArtifacts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 100 * artifact.MessageInlineLimit
		ledger := memory.New(1, memory.WithMaxBytes(limit))
		adapter := intake.NewIntake(ledger)
		large, taken := incoming("1", "k"), 0
		for ; ; taken++ {
			large.Data = append(make([]byte, artifact.MessageInlineLimit), strconv.Itoa(taken)...)
			_, err := adapter.Submit(t.Context(), "chat", large)
			if err != nil {
				if !errors.Is(err, bus.ErrFull) || !strings.Contains(err.Error(), "large messages") {
					t.Fatal(err)
				}
				break
			}
		}
		if taken != 90 {
			t.Errorf("%d were taken of 100 that fill it", taken)
		}
		if fill, err := intake.NewUsage(ledger).Shard(t.Context(), 0); err != nil || fill.Share() > 1 {
			t.Errorf("the shard, which agents need to end their work, is full to %s (%v)", fill, err)
		}
		if _, err := adapter.Submit(t.Context(), "chat", incoming("2", "k")); !errors.Is(err, bus.ErrFull) {
			t.Errorf("a small one: %v", err)
		}
		if _, err := ledger.Artifacts().Put(t.Context(), bytes.NewReader(make([]byte, 9*artifact.MessageInlineLimit)), ""); err != nil {
			t.Errorf("an answer finds no room: %v", err)
		}
		if _, err := ledger.Artifacts().Put(t.Context(), bytes.NewReader(make([]byte, 2*artifact.MessageInlineLimit)), ""); !errors.Is(err, bus.ErrFull) {
			t.Errorf("more than fits: %v", err)
		}
	})
}

func TestIntakeLeavesRoomForWorkUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 100_000
		ledger := memory.New(1, memory.WithMaxBytes(limit))
		intake := intake.NewIntake(ledger)
		e := incoming("1", "k")
		e.Data = make([]byte, 1000)
		refused := 0
		for range 200 { // faster than the stream's size is looked at
			_, err := intake.Submit(t.Context(), "chat", e)
			if err != nil && !errors.Is(err, bus.ErrFull) {
				t.Fatal(err)
			}
			if err != nil {
				refused++
			}
		}
		state, err := ledger.State(t.Context(), bus.ShardStream(0))
		if err != nil {
			t.Fatal(err)
		}
		if share := float64(state.Bytes) / limit; share < 0.9 || share > 0.92 || refused < 100 {
			t.Errorf("%.3f of the stream is full, %d were refused", share, refused)
		}
		m := bus.Message{Subject: bus.ResponseSubject("echo", 0), Body: make([]byte, 1000)}
		if _, err := bus.Append(t.Context(), ledger, m, bus.Expect{}); err != nil {
			t.Errorf("a response finds no room: %v", err)
		}
	})
}
