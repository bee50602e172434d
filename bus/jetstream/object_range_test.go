package jetstream

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/jetstream/wire"
	"podium/schemas"
)

// TestChunkIndexKeepsTheLongerList: who has read little of an artifact leaves what others have
// learned of it meanwhile.
func TestChunkIndexKeepsTheLongerList(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	c := &Core{returned: wire.NewSignal(), chunks: newChunkIndex(), replicas: 3}
	c.connection, err = wire.Endpoint{Process: s, Name: "test", Returned: c.returned, Logger: zerolog.Nop()}.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.connection.Close)

	const pieces = 3
	object := &jetstream.ObjectInfo{NUID: "one", Chunks: pieces}
	content := bytes.Repeat([]byte("0123456789"), pieces)
	read := func(limit int) error {
		piece, err := (artifacts{core: c}).collect(t.Context(), object, 0, limit)
		if err == nil && !bytes.Equal(piece, content[:limit]) {
			err = fmt.Errorf("it reads %q", piece)
		}
		return err
	}
	var asked atomic.Bool
	answer := func(m *nats.Msg) {
		if !asked.Swap(true) { // while the first one waits for its piece, another one reads everything
			if err := read(len(content)); err != nil {
				t.Error(err)
			}
		}
		var request lookup
		if err := schemas.Unmarshal(m.Data, &request); err != nil {
			t.Error(err)
		}
		body, err := schemas.Marshal(map[string]any{"message": map[string]any{
			"subject": request.NextOf, "seq": request.Sequence, "data": content[:10], "time": time.Unix(0, 0),
		}})
		if err = errors.Join(err, m.Respond(body)); err != nil {
			t.Error(err)
		}
	}
	if _, err = c.connection.Subscribe("$JS.API.STREAM.MSG.GET."+bus.ArtifactStream, func(m *nats.Msg) { go answer(m) }); err != nil {
		t.Fatal(err)
	}
	if err = read(1); err != nil {
		t.Fatal(err)
	}
	if known := c.chunksOf(objectChunks + object.NUID); len(known) != pieces {
		t.Errorf("the places of %d pieces are known, want %d", len(known), pieces)
	}
}
