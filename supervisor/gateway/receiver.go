// Package gateway joins supervisors to the agents' side of the bus: requests to a supervisor
// come in as work for a profile, and answers of agents that know no replyto find the shard
// that waits for them.
package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jellydator/ttlcache/v3"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/intake"
	"podium/schemas"
	"podium/supervisor/quarantine"
)

const (
	// Kind is what a supervisor calls itself in the registry of agents.
	Kind = "supervisor"
	// Adapter is the name under which requests to supervisors come in.
	Adapter = schemas.ChannelAgent
	// receiveTimeout bounds one request's way onto its shard.
	receiveTimeout = 10 * time.Second
	// rememberedRequests is how many of the newest requests can be cancelled by a
	// hint; each takes some 500 bytes.
	rememberedRequests = 16 << 10
)

// A Receiver makes a supervisor an agent: requests to the name of its worker
// become pieces of work that a profile handles. It announces the supervisor, and
// puts each request from the work stream onto the shard of its session, where
// the owner decides and answers; then the request is acknowledged.
//
//   - A request is taken over at least once: it may come again under the same id,
//     which its session knows. Two attempts of one effect share a session.
//   - An expired request is dropped. One that breaks its schema, or asks a question,
//     gets a failed response; one that cannot even be answered goes into quarantine.
//   - A full or unreachable ledger gives a request back; nothing is lost.
//   - The hint that nobody waits for a request any more becomes a control message
//     behind the request. If the hint is lost, the run ends when the request expires.
type Receiver struct {
	Core    bus.Core
	Worker  bus.Worker // of the supervisor's name
	Profile string     // that handles the requests; it is in force
	// Serve bounds the taking over: Concurrency is how many requests are on their
	// way at once, and not how many are worked on.
	Serve agent.ServeConfig
}

// Run takes requests over until ctx ends, and then returns nil. It fails for good
// with bus.ErrClosed or bus.ErrDenied.
func (r *Receiver) Run(ctx context.Context) error {
	config := r.Serve
	config.Agent.Kind, config.Agent.Profile = Kind, r.Profile
	config.Agent.Description = cmp.Or(config.Agent.Description, "Has other agents do the work, by the profile "+r.Profile+".")
	return agent.Receive(ctx, r.Worker, &reception{
		Receiver: r, intake: intake.NewIntake(r.Core), log: config.Log.With().Str("agent", r.Worker.Name()).Logger(),
		requests: ttlcache.New(ttlcache.WithCapacity[string, *receivedRequest](rememberedRequests)),
	}, config)
}

// A reception implements agent.Receiver for one Receiver at work.
type reception struct {
	*Receiver
	intake *intake.Intake
	log    zerolog.Logger

	mu       sync.Mutex
	requests *ttlcache.Cache[string, *receivedRequest] // those heard of last
}

// A receivedRequest is what a cancel hint needs to know of a request.
type receivedRequest struct {
	partition string // of its session; empty until it is on its shard
	unwanted  bool
}

var _ agent.Receiver = (*reception)(nil)

// Receive implements agent.Receiver.
func (r *reception) Receive(ctx context.Context, event schemas.Event, request *agent.Request) error {
	if request.To != r.Worker.Name() {
		// The run answers as whom the request names: nobody may have it speak for another.
		return &bus.MalformedError{Detail: "/to is not the agent whose subject it came by"}
	}
	ctx, stop := context.WithTimeout(ctx, receiveTimeout)
	defer stop()
	event.Profile = r.Profile
	event.PartitionKey = cmp.Or(event.EffectID, event.PartitionKey, event.ID)
	if _, err := r.intake.Submit(ctx, Adapter, event); err != nil {
		if errors.Is(err, schemas.ErrInvalidEvent) || errors.Is(err, bus.ErrTooLarge) {
			return &bus.MalformedError{Detail: err.Error()}
		}
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.request(event.ID)
	known.partition = event.PartitionKey
	if known.unwanted {
		r.cancel(event.ID, known.partition)
	}
	return nil
}

// Cancelled implements agent.Receiver. A hint may overtake its request: then the
// request is cancelled as soon as it is on its shard.
func (r *reception) Cancelled(request string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.request(request)
	known.unwanted = true
	if known.partition != "" {
		r.cancel(request, known.partition)
	}
}

func (r *reception) request(id string) *receivedRequest {
	known, _ := r.requests.GetOrSet(id, &receivedRequest{})
	return known.Value()
}

// cancel puts a durable word behind the request: its id derives from the
// request's, so that however many processes hear the hint, it counts once. It
// does not wait: whoever must know that work has ended looks at its expiry.
func (r *reception) cancel(request, partition string) {
	message, err := r.cancellation(request, partition)
	if err != nil {
		r.log.Error().Err(err).Str("request", request).Msg("a cancel hint cannot be written")
		return
	}
	r.Core.Publish(message, bus.Expect{}, func(_ bus.Ack, err error) {
		if err != nil {
			r.log.Warn().Err(err).Str("request", request).Msg("a cancel hint is lost; the request ends when it expires")
		}
	})
}

func (r *reception) cancellation(request, partition string) (bus.Message, error) {
	name := r.Worker.Name()
	body, err := schemas.Marshal(schemas.Control{
		Action: schemas.ControlCancel, Request: request, By: name, Reason: "nobody waits for the request any more",
	})
	if err != nil {
		return bus.Message{}, err
	}
	session := schemas.SessionID(r.Profile, partition)
	return binding.Encode(bus.ControlSubject(schemas.ShardOf(session, r.Core.Shards())), &schemas.Event{
		ID: schemas.EffectID(request, "cancel"), Source: binding.SourceOf(name), Type: schemas.TypeControl, Time: time.Now().UTC(),
		Profile: r.Profile, PartitionKey: partition, CausationID: request, DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

// Quarantine implements agent.Receiver. A message that names no session has no shard
// of its own, so that all of them stand in the first.
func (r *reception) Quarantine(ctx context.Context, message bus.Message, detail string) error {
	ctx, stop := context.WithTimeout(ctx, receiveTimeout)
	defer stop()
	event, err := quarantine.NewEvent(message, schemas.QuarantineMalformed, detail)
	if err != nil {
		return err
	}
	if err = artifact.Offload(ctx, r.Core.Artifacts(), &event); err != nil {
		return err
	}
	isolated, err := binding.Encode(bus.QuarantineSubject(schemas.QuarantineMalformed, 0), &event)
	if err != nil {
		return err
	}
	if _, err = bus.Append(ctx, r.Core, isolated, bus.Expect{}); err != nil {
		return fmt.Errorf("quarantine message %d of %s: %w", message.Sequence, message.Stream, err)
	}
	return nil
}
