package schemas_test

import (
	"errors"
	"fmt"

	"podium/schemas"
	"podium/schemas/validation"
)

// A documented message is decoded and checked at once; what breaks its schema is named by
// its place, and no value of it is repeated, so that the error may stand in a log.
func ExampleDecodeExecutionRequest() {
	const form = `{
	  "message_id": "0b7c1e9e-6d0e-4c1b-9f5e-1a2b3c4d5e6f", "from": "desk", "to": "clerk",
	  "type": "execution_request", "timestamp": "2026-11-23T00:34:45Z",
	  "payload": {
	    "plan_id": "4e9f2a10-1111-4222-8333-444455556666", "request_id": "r1",
	    "tasks": [{"task_id": "t1", "description": "add", "assigned_to": "clerk", "priority": %q}]
	  }
	}`
	request, err := schemas.DecodeExecutionRequest(fmt.Appendf(nil, form, "high"))
	fmt.Println(request.From, request.Payload.Tasks[0].Priority, err)

	_, err = schemas.DecodeExecutionRequest(fmt.Appendf(nil, form, "whenever"))
	if invalid, is := errors.AsType[*validation.Error](err); is {
		fmt.Println(invalid.Pointer)
		fmt.Println(invalid.Reason)
	}
	// Output:
	// desk high <nil>
	// /payload/tasks/0/priority
	// is not one of: critical, high, medium, low, nice_to_have
}

// Any body can be held to the schema of its name: here to that of an agent, which is
// what the registry keeps of it.
func ExampleValidate() {
	fmt.Println(schemas.Validate("agent", []byte(`{"name": "clerk", "kinds": ["work", "assess"]}`)))
	fmt.Println(schemas.Validate("agent", []byte(`{"name": "clerk", "kinds": ["play"]}`)))
	// Output:
	// <nil>
	// invalid message at /kinds/0: is not one of: work, assess, plan, route, extract, judge
}

// Every id follows from what it names, so that whoever does something again says the same:
// from the profile and the thread the session, from that the run, from that the request.
func ExampleSessionID() {
	session := schemas.SessionID("desk", "<first@mail.example.org>")
	run := schemas.RunID(session, 1)
	fmt.Println("session", session, "of shard", schemas.ShardOf(session, 8))
	fmt.Println("run    ", run)

	request := schemas.RequestID(schemas.ShardOf(session, 8), 1, run, "t1", 2) // the second attempt, in the first epoch
	shard, named := schemas.ShardOfRequest(request)
	fmt.Println("request", request, "of shard", shard, named)
	fmt.Println("effect ", schemas.EffectID(run, "t1"), "whatever the attempt")
	// Output:
	// session 9ce605f4-ff21-59e9-85a2-c25c5ab5f8f6 of shard 0
	// run     9ce605f4-ff21-59e9-85a2-c25c5ab5f8f6-1
	// request 00000000-0001-8f71-82d7-1c4a678d0379 of shard 0 true
	// effect  069a14af-8867-573d-aa6c-67cdec8659ba whatever the attempt
}
