package bus_test

import (
	"context"
	"errors"
	"fmt"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/schemas"
)

// Of two who append after the same message of a subject one wins; the other is told so,
// and has changed nothing. This is how only one process decides for a session.
func ExampleAppend() {
	ctx := context.Background()
	ledger := memory.New(1) // with one shard
	session := schemas.SessionID("desk", "thread-1")
	record := bus.Message{Subject: bus.SessionSubject(session, ledger.Shards()), Body: []byte(`{}`)}

	first, err := bus.Append(ctx, ledger, record, bus.ExpectLast(0)) // nothing is there yet
	fmt.Println(first.Stream, first.Sequence, err)

	_, err = bus.Append(ctx, ledger, record, bus.ExpectLast(0)) // written by somebody who has not seen the first
	fmt.Println(errors.Is(err, bus.ErrConflict), bus.Temporary(err))

	second, err := bus.Append(ctx, ledger, record, bus.ExpectLast(first.Sequence))
	fmt.Println(second.Stream, second.Sequence, err)
	// Output:
	// PODIUM_0 1 <nil>
	// true false
	// PODIUM_0 2 <nil>
}

// What cannot be read is the sender's fault, and no other try can help: the error says what
// is wrong, and quotes nothing of it.
func ExampleMalformedError() {
	_, err := binding.Decode(bus.Message{Subject: bus.RequestSubject("clerk"), Body: []byte(`{"text": "hello"}`)})
	_, is := errors.AsType[*bus.MalformedError](err)
	fmt.Println(is)
	fmt.Println(err)
	// Output:
	// true
	// malformed message: it has no CloudEvents headers, and its body has no message_id
}

// A subject says whose message it is and which shard it belongs to.
func ExampleParseSubject() {
	subject, err := bus.ParseSubject("podium.agent.clerk.response.3")
	fmt.Println(subject.Kind, subject.Agent, subject.Shard, err)
	// Output:
	// response clerk 3 <nil>
}
