package agent

import (
	"context"
	"errors"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
)

// A Receiver takes over requests whose work outlives their delivery, such as a
// supervisor's: it makes each durable elsewhere, and from there it is answered.
type Receiver interface {
	// Receive makes a valid request durable. The event is as its sender wrote it:
	// a large body is still a reference; request holds what was read of it. When
	// Receive has returned nil the request is acknowledged, so that one may be
	// received more than once. A *MalformedError refuses the request for good; any
	// other error gives it back.
	Receive(ctx context.Context, event schemas.Event, request *Request) error
	// Quarantine keeps a message that says too little to be answered. Detail is
	// English and quotes no value. An error gives the message back.
	Quarantine(ctx context.Context, message bus.Message, detail string) error
	// Cancelled hears that nobody waits for a request any more. It is a hint: it
	// may miss some, and may name one that was never received. It must not block.
	Cancelled(request string)
}

// Receive is the life of one process of an agent that takes requests over
// instead of working on them. It is Serve in all else: it announces the agent,
// takes as many requests as it has free slots until ctx ends, keeps their leases,
// and answers those that break their schema or are of a kind that it does not
// declare. Remember has no meaning here.
func Receive(ctx context.Context, worker bus.Worker, receiver Receiver, config ServeConfig) error {
	s := newServer(worker, config)
	s.quarantine, s.onCancel = receiver.Quarantine, receiver.Cancelled
	s.handleDelivery = func(ctx context.Context, d bus.Delivery) { s.handOver(ctx, d, receiver) }
	return s.run(ctx)
}

// handOver is the life of one delivery that a receiver takes over.
func (s *server) handOver(ctx context.Context, d bus.Delivery, receiver Receiver) {
	ctx, held := s.keepLease(ctx, d)
	defer held.end()
	e, err := binding.Decode(d.Message())
	if err != nil {
		s.refuse(ctx, d, e, nil, err)
		return
	}
	whole := e
	request, err := s.open(ctx, &whole)
	if err != nil {
		s.refuse(ctx, d, e, request, err)
		return
	}
	log := s.log.With().Str("request", e.ID).Str("run", e.CorrelationID).Int("attempt", request.Attempt).Logger()
	if expired(request.Expires) {
		log.Info().Msg("an expired request is not taken over")
		s.acknowledge(ctx, d, log)
		return
	}
	if failure := s.undeclared(request); failure != nil {
		s.logFailure(log, failure, nil)
		s.decline(ctx, d, &e, request, failure, log)
		return
	}
	err = receiver.Receive(ctx, e, request)
	if _, refused := errors.AsType[*bus.MalformedError](err); refused {
		s.refuse(ctx, d, e, request, err)
		return
	}
	if err != nil {
		log.Warn().Err(err).Msg("a request is not taken over yet")
		s.giveBack(ctx, d, log, "it could not be made durable")
		return
	}
	s.acknowledge(ctx, d, log)
}
