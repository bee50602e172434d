package agent_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/schemas"
)

// written is a request as the schema execution_request documents it. Podium's own
// requests also say in their headers which try it is and where the answer goes.
const written = `{
  "message_id": "0b7c1e9e-6d0e-4c1b-9f5e-1a2b3c4d5e6f", "from": "desk", "to": "clerk",
  "type": "execution_request", "timestamp": "2026-11-23T00:34:45Z",
  "payload": {
    "plan_id": "4e9f2a10-1111-4222-8333-444455556666", "request_id": "r1",
    "tasks": [{"task_id": "t1", "description": "shout hooray", "assigned_to": "clerk"}]
  }
}`

// An agent is a function from a request to a result; Serve takes its requests from the
// ledger, and puts one response to each there.
func ExampleServe() {
	ctx, stop := context.WithCancel(context.Background())
	ledger := memory.New(1)
	fmt.Println(ledger.Declare(ctx, "clerk", bus.Pool{Size: 2, AckWait: 30 * time.Second}))

	shout := func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
		return agent.Text(strings.ToUpper(request.Task().Description)), nil
	}
	served := make(chan error)
	go func() {
		served <- agent.Serve(ctx, ledger.Worker("clerk"), agent.HandlerFunc(shout), agent.ServeConfig{})
	}()

	fmt.Println(ask(ctx, ledger).Payload.Result.Text)
	stop()
	fmt.Println(<-served)
	// Output:
	// <nil>
	// SHOUT HOORAY
	// <nil>
}

// An agent that cannot do its work says why in words for a person, and whether another try
// can help. What any other error says stays in the agent's log.
func ExampleFailure() {
	ctx, stop := context.WithCancel(context.Background())
	ledger := memory.New(1)
	fmt.Println(ledger.Declare(ctx, "clerk", bus.Pool{Size: 2, AckWait: 30 * time.Second}))

	refuse := func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
		return agent.Outcome{}, &agent.Failure{Message: "The library is closed for good.", Permanent: true}
	}
	served := make(chan error)
	go func() {
		served <- agent.Serve(ctx, ledger.Worker("clerk"), agent.HandlerFunc(refuse), agent.ServeConfig{})
	}()

	payload := ask(ctx, ledger).Payload
	fmt.Println(payload.Status, payload.IssuesEncountered[0].Resolution)
	fmt.Println(payload.IssuesEncountered[0].Description)
	stop()
	fmt.Println(<-served)
	// Output:
	// <nil>
	// failed escalated
	// The library is closed for good.
	// <nil>
}

// ask publishes the written request, and waits for the response.
func ask(ctx context.Context, ledger bus.Core) schemas.ExecutionResponse {
	responses, err := ledger.Read(ctx, bus.WorkStream, 1, "podium.agent.clerk.response")
	if err != nil {
		panic(err)
	}
	defer responses.Close()
	request := bus.Message{Subject: bus.RequestSubject("clerk"), Body: []byte(written)}
	if _, err := bus.Append(ctx, ledger, request, bus.Expect{}); err != nil {
		panic(err)
	}
	message, err := bus.Next(ctx, responses)
	if err != nil {
		panic(err)
	}
	response, err := schemas.DecodeExecutionResponse(message.Body)
	if err != nil {
		panic(err)
	}
	return response
}
