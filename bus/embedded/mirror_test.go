package embedded_test

import (
	"strconv"
	"testing"

	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/embedded/serverprocess"
	"podium/schemas"
)

// TestMirrorHidesNothing reads records while two mirrors of their stream answer its direct gets, too: one has no record,
// and one has each under its own name. Every read finds the record, and that of the ledger's stream.
func TestMirrorHidesNothing(t *testing.T) {
	t.Parallel()
	process := serverprocess.Start(t, serverprocess.Config{})
	c, js := connectCore(t, process, false), administratorOf(t, process.URL(), process.Keys())
	stream, incoming := bus.ShardStream(0), bus.InSubject("chat", 0)
	appendOne := func(subject string) {
		if _, err := bus.Append(t.Context(), c, bus.Message{Subject: subject, Body: []byte("x")}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
	}
	var records []string
	for n := 0; len(records) < 20; n++ {
		if session := schemas.SessionID("p", strconv.Itoa(n)); schemas.ShardOf(session, c.Shards()) == 0 {
			records = append(records, bus.SessionSubject(session, c.Shards()))
			appendOne(records[len(records)-1])
		}
	}
	appendOne(incoming)
	for name, filter := range map[string]string{"ELSEWHERE": incoming, "COPY": ""} {
		if _, err := js.CreateStream(t.Context(), natsjetstream.StreamConfig{
			Name: name, AllowDirect: true, MirrorDirect: true, Mirror: &natsjetstream.StreamSource{Name: stream, FilterSubject: filter},
		}); err != nil {
			t.Fatal(err)
		}
		awaitAnswerOf(t, process, name, "$JS.API.DIRECT.GET."+stream+"."+incoming)
	}
	for range 20 {
		for _, record := range records {
			if found, err := c.Last(t.Context(), record); err != nil || found.Stream != stream {
				t.Fatalf("the last record of a session: %q, %v", found.Stream, err)
			}
		}
		if found, err := c.LastOf(t.Context(), 0, records); err != nil || len(found) != len(records) {
			t.Fatalf("%d of %d records were found, %v", len(found), len(records), err)
		}
	}
}

// awaitAnswerOf asks until a mirror answers.
func awaitAnswerOf(t *testing.T, process *serverprocess.Process, mirror, question string) {
	t.Helper()
	key, err := nats.NkeyOptionFromSeed(process.Keys().Core.SeedFile)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := nats.Connect(process.URL(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	for {
		answer, err := connection.RequestWithContext(t.Context(), question, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Header.Get("Nats-Stream") == mirror {
			return
		}
	}
}
