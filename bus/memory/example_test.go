package memory_test

import (
	"context"
	"fmt"

	"podium/bus"
	"podium/bus/memory"
)

// A ledger in memory keeps every promise but that of surviving its process: what was
// appended is read in its order, from any sequence on.
func Example() {
	ctx := context.Background()
	ledger := memory.New(2) // with two shards
	for _, words := range []string{"one", "two", "three"} {
		message := bus.Message{Subject: bus.InSubject("chat", 1), Body: []byte(words)}
		if _, err := bus.Append(ctx, ledger, message, bus.Expect{}); err != nil {
			fmt.Println(err)
		}
	}
	for message, err := range ledger.Scan(ctx, bus.ShardStream(1), 2) {
		fmt.Println(message.Sequence, message.Subject, string(message.Body), err)
	}
	// Output:
	// 2 podium.in.chat.1 two <nil>
	// 3 podium.in.chat.1 three <nil>
}
