package session_test

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// Deciding by hand: a message goes in, what was decided comes out, and nothing has happened.
// The same state and the same message give the same facts for ever.
func ExampleStep() {
	profile, err := plan.Compile(schemas.Profile{
		Name: "desk", Agents: []schemas.AgentUse{{Name: "calculator"}},
		Routers:   []schemas.Router{{Kind: schemas.RouterDefault, Agent: "calculator"}},
		Execution: schemas.Execution{Mode: schemas.ExecutionSingle},
		Retry:     schemas.Retry{Attempts: 1}, Delivery: schemas.Retry{Attempts: 1},
		Deadlines: schemas.Deadlines{Queue: schemas.Duration(time.Minute), Work: schemas.Duration(time.Minute)},
		Language:  "en", Languages: []schemas.Language{storyProfile().Languages[0]},
	})
	fmt.Println(err)
	input, err := session.ParseInput(schemas.Event{
		ID: "m1", Source: "/podium/chat/web", Type: schemas.TypeChatReceived, Profile: "desk", PartitionKey: "thread-1",
		Data: []byte(`{"provider": "webhook", "channel": "web", "message_id": "m1", "text": "6 * 7"}`),
	}, session.Publisher{}, 1)
	fmt.Println(err)
	input.Now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

	env := session.Env{Current: profile}
	before := session.State{Session: input.Event.Session(), Profile: "desk"}
	outcome := session.Step(env, before, input)
	for _, fact := range outcome.Facts {
		fmt.Println(strings.TrimSpace(fact.Name() + " " + schemas.TaskOf(fact)))
	}
	// What the run's agents are asked follows from the facts, by the profile that the run began with.
	outputs, err := session.Outputs(session.Env{Current: profile, Pinned: profile}, outcome.State, &schemas.Transition{Cause: outcome.Cause, Facts: outcome.Facts})
	fmt.Println(len(outputs), outputs[0].Kind, outputs[0].Agent, err)
	fmt.Println(reflect.DeepEqual(outcome, session.Step(env, before, input)))
	// Output:
	// <nil>
	// <nil>
	// message_received
	// run_started
	// plan_created
	// task_routed t1
	// task_dispatched t1
	// 1 request calculator <nil>
	// true
}
