package intake_test

import (
	"context"
	"fmt"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/intake"
	"podium/bus/memory"
	"podium/schemas"
)

// An adapter submits what it has received; the receipt says which session it belongs to,
// and where on the ledger it stands for good. The same partition key is the same session.
func ExampleIntake_Submit() {
	ctx := context.Background()
	ledger := memory.New(4)
	receipt, err := intake.NewIntake(ledger).Submit(ctx, "chat", schemas.Event{
		ID: "m1", Source: "/podium/chat/web", Type: schemas.TypeChatReceived,
		Profile: "desk", PartitionKey: "thread-1",
		DataContentType: schemas.MediaTypeJSON, Data: []byte(`{"text": "hello"}`),
	})
	fmt.Println(receipt.Session, err)
	fmt.Println(receipt.Session == schemas.SessionID("desk", "thread-1"))

	message, err := ledger.Get(ctx, bus.ShardStream(receipt.Shard), receipt.Sequence)
	fmt.Println(message.Subject, message.Header["ce-profile"], string(message.Body), err)

	event, err := binding.Decode(message)
	fmt.Println(event.ID, event.PartitionKey, err)
	// Output:
	// 937dd1ba-1750-5835-90cd-843556d8142e <nil>
	// true
	// podium.in.chat.3 [desk] {"text": "hello"} <nil>
	// m1 thread-1 <nil>
}
