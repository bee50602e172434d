package supervisor_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/intake"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/restore"
)

// A whole Podium in memory: a chat message is submitted, the owner of its shard asks the
// worker, and asks the agent that delivers answers to deliver what the worker has said.
func ExampleOwner_Run() {
	ctx, stop := context.WithCancel(context.Background())
	ledger := memory.New(1)
	profiles, err := restore.NewProfiles(ctx, ledger.Artifacts(), []schemas.Profile{deskProfile()}) // all work goes to the worker
	fmt.Println(err)

	answer := make(chan string)
	ended := []chan error{
		serve(ctx, ledger, "worker", func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			return agent.Text(strings.ToUpper(request.Task().Context.Request)), nil
		}),
		serve(ctx, ledger, "chat", func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			var delivery schemas.DeliveryArguments
			defer func() { answer <- delivery.Text }()
			return agent.Outcome{}, schemas.Unmarshal(request.Task().Context.Arguments, &delivery)
		}),
		make(chan error, 1),
	}
	owner := supervisor.NewOwner(supervisor.Config{Shard: 0, Name: "example", Core: ledger, Profiles: profiles})
	go func() { ended[2] <- owner.Run(ctx) }()

	_, err = intake.NewIntake(ledger).Submit(ctx, "chat", schemas.Event{
		ID: "m1", Source: "/podium/chat/web", Type: schemas.TypeChatReceived, Profile: "desk", PartitionKey: "thread-1",
		Data: []byte(`{"provider": "webhook", "channel": "web", "message_id": "m1", "text": "shout hooray", "reply_ref": "opaque"}`),
	})
	fmt.Println(err)
	fmt.Println(<-answer)
	stop()
	fmt.Println(<-ended[0], <-ended[1], <-ended[2])
	// Output:
	// <nil>
	// <nil>
	// SHOUT HOORAY
	// <nil> <nil> <nil>
}

// serve has a function do the work of an agent, until ctx ends.
func serve(ctx context.Context, ledger *memory.Ledger, name string, work agent.HandlerFunc) chan error {
	ended := make(chan error, 1)
	if err := ledger.Declare(ctx, name, bus.Pool{Size: 1, AckWait: 30 * time.Second}); err != nil {
		ended <- err
		return ended
	}
	go func() { ended <- agent.Serve(ctx, ledger.Worker(name), work, agent.ServeConfig{}) }()
	return ended
}
