package embedded_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/embedded"
)

// ledger makes a ledger of one shard in a new directory; stop removes it.
func ledger(ctx context.Context, agents ...string) (dir string, server *embedded.Server, stop func()) {
	dir = have(os.MkdirTemp("", "podium"))
	server = have(embedded.Start(ctx, embedded.Config{Dir: dir, Shards: 1, Agents: agents}))
	return dir, server, func() {
		fmt.Println("closed:", server.Close())
		fmt.Println("removed:", os.RemoveAll(dir))
	}
}

func have[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// A ledger is in its directory: another server that starts on it, here after the first was
// restarted, has what was acknowledged before.
func ExampleStart() {
	ctx := context.Background()
	_, server, stop := ledger(ctx)
	defer stop()
	for _, words := range []string{"before", "after"} {
		core := have(server.Core(ctx))
		message := bus.Message{Subject: bus.InSubject("chat", 0), Body: []byte(words)}
		have(bus.Append(ctx, core, message, bus.Expect{}))
		for message, err := range core.Scan(ctx, bus.ShardStream(0), 1) {
			fmt.Println(message.Sequence, string(message.Body), err)
		}
		fmt.Println("restarted:", server.Restart(ctx))
	}
	// Output:
	// 1 before <nil>
	// restarted: <nil>
	// 1 before <nil>
	// 2 after <nil>
	// restarted: <nil>
	// closed: <nil>
	// removed: <nil>
}

// An agent needs nothing of Podium's but its key: it pulls a request with any client of
// NATS, and answers with the documented JSON.
func ExampleAgentSeedFile() {
	ctx := context.Background()
	dir, server, stop := ledger(ctx, "clerk")
	defer stop()
	core := have(server.Core(ctx))
	fmt.Println("declared:", core.Declare(ctx, "clerk", bus.Pool{Size: 1, AckWait: time.Minute}))
	asked := `{"message_id": "0b7c1e9e-6d0e-4c1b-9f5e-1a2b3c4d5e6f", "from": "desk", "to": "clerk", "type": "execution_request",
	  "timestamp": "2026-11-23T00:34:45Z", "payload": {"plan_id": "4e9f2a10-1111-4222-8333-444455556666", "request_id": "r1",
	  "tasks": [{"task_id": "t1", "description": "shout hooray", "assigned_to": "clerk"}]}}`
	have(bus.Append(ctx, core, bus.Message{Subject: bus.RequestSubject("clerk"), Body: []byte(asked)}, bus.Expect{}))

	key := have(nats.NkeyOptionFromSeed(embedded.AgentSeedFile(filepath.Join(dir, "credentials"), "clerk")))
	client := have(nats.Connect(server.URL(), key, nats.CustomInboxPrefix("_INBOX_clerk")))
	defer client.Close()
	consumer := have(have(jetstream.NewWithAPIPrefix(client, "CORE.API")).Consumer(ctx, "PODIUM_WORK", "clerk"))
	message := have(consumer.Next())
	var request struct {
		MessageID string `json:"message_id"`
		Payload   struct {
			Tasks []struct{ Description string }
		}
	}
	fmt.Println("read:", json.Unmarshal(message.Data(), &request))
	answer := fmt.Sprintf(`{"message_id": "9c0a8a5e-52c1-5d0e-8f0b-6b1d0c5c7a11", "from": "clerk", "to": "desk", "type": "execution_response",
	  "timestamp": "2026-11-23T00:34:58Z", "in_reply_to": %q, "payload": {"status": "completed",
	  "plan_id": "4e9f2a10-1111-4222-8333-444455556666", "result": {"text": %q}}}`,
		request.MessageID, strings.ToUpper(request.Payload.Tasks[0].Description))
	stored := have(client.Request("podium.agent.clerk.response", []byte(answer), time.Minute))
	fmt.Println("stored:", string(stored.Data))
	fmt.Println("acknowledged:", message.DoubleAck(ctx))
	// Output:
	// declared: <nil>
	// read: <nil>
	// stored: {"stream":"PODIUM_WORK","seq":2}
	// acknowledged: <nil>
	// closed: <nil>
	// removed: <nil>
}
