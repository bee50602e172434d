package supervisor_test

import (
	"context"
	"fmt"
	"time"

	"podium/bus/bustest"
	"podium/bus/intake"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/restore"
	"podium/supervisor/verify"
)

// Replaying: whatever was decided in a shard is decided again, from its causes alone.
func Example_replay() {
	ctx := context.Background()
	ledger := memory.New(1)
	profiles, err := restore.NewProfiles(ctx, ledger.Artifacts(), []schemas.Profile{bustest.DeskProfile(2)})
	fmt.Println(err)
	_, err = intake.NewIntake(ledger).Submit(ctx, "chat", schemas.Event{
		ID: "m1", Source: "/podium/chat/web", Type: schemas.TypeChatReceived, Profile: "desk", PartitionKey: "thread-1",
		Data: []byte(`{"provider": "webhook", "channel": "web", "message_id": "m1", "text": "shout hooray"}`),
	})
	fmt.Println(err)
	owner := supervisor.NewOwner(supervisor.Config{Name: "example", Core: ledger, Profiles: profiles, Go: func(operation func()) { operation() }})
	now := time.Unix(0, 0)
	fmt.Println(owner.Open(ctx, now))
	for worked := err == nil; worked && err == nil; {
		worked, err = owner.Tick(ctx, now)
	}
	fmt.Println(err)
	replayed, err := verify.Shard(ctx, ledger, profiles, 0, "")
	fmt.Printf("%d inputs, %d records with %d facts decided again, %d differ, %v\n",
		replayed.Inputs, replayed.Records, replayed.Facts, len(replayed.Faults), err)
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// <nil>
	// 1 inputs, 1 records with 5 facts decided again, 0 differ, <nil>
}
