package bus

import (
	"context"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
)

// DefaultHeartbeat is how often Serve tells the registry that the agent lives.
const DefaultHeartbeat = 10 * time.Second

// A Worker is all that one agent may do on the bus: take its own requests,
// answer them, and ask the core services.
type Worker interface {
	// Name is the agent's name.
	Name() string
	// Fetch waits for requests and returns at least one and at most n, or the
	// context's error. A request stays the worker's until its ack-wait passes
	// without a sign of life.
	Fetch(ctx context.Context, n int) ([]Delivery, error)
	// Publish appends a response, a progress update or the question for a permit,
	// and waits for the ack.
	Publish(ctx context.Context, message Message) (Ack, error)
	// Ask asks a core service and waits for its answer.
	Ask(ctx context.Context, service string, body []byte) ([]byte, error)
	// Artifacts reaches the object store through the core, for a request of that id.
	Artifacts(request string) Artifacts
	// Cancelled hands out ids of requests that nobody waits for any more. It is
	// a hint: it may miss some.
	Cancelled() <-chan string
	// Permitted hands out the answers to the permits that any process of the agent
	// has asked for. It may miss some: then the same permit is asked for again.
	Permitted() <-chan schemas.PermitAnswer
}

// A Delivery is one request handed to a worker.
type Delivery interface {
	Message() Message
	// Deliveries counts how often it was handed out, this time included, as far as
	// the server knows: one that was killed, or whose machine lost its power, may
	// begin anew with 1 (see First).
	Deliveries() int
	// Server names the server that the worker was connected to when it was handed the
	// request. It has another name after each start; empty is unknown.
	Server() string
	// InProgress is the sign of life that keeps the request.
	InProgress() error
	// Ack says that the request is dealt with, and waits until that is noted.
	Ack(ctx context.Context) error
	// Nak gives the request back after a wait.
	Nak(wait time.Duration) error
}

// MaxAgents is how many agents a ledger serves. Each has a consumer on the work stream, of which a server allows 1,000 unless its
// default_max_consumers says otherwise; the rest is for the forwarder, and for verbs that read the stream.
const MaxAgents = 990

// IsFirstDelivery reports whether a request in somebody's hands was handed to nobody before. A
// count of 1 does not say so: what the server knows of its queues is written late,
// so that after a crash it counts from 1 again what was worked on already. The copy of
// a request that is published first therefore names the server that takes it
// (Event.First), and only deliveries by that very server, which has not been started
// anew since, are believed. Copies that follow name none.
func IsFirstDelivery(request *schemas.Event, d Delivery) bool {
	return d.Deliveries() == 1 && (request.First != "" && request.First == d.Server() || fault.Is("a delivery is the first by its number alone"))
}
