package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/jetstream/wire"
	"podium/schemas"
)

// A lookup is a request of the server's message API.
type lookup struct {
	Sequence uint64 `json:"seq,omitzero"`
	LastOf   string `json:"last_by_subj,omitzero"`
	NextOf   string `json:"next_by_subj,omitzero"` // from Sequence on
}

// A found is the answer to it.
type found struct {
	Error   *jetstream.APIError `json:"error,omitzero"`
	Message *struct {
		Subject  string    `json:"subject"`
		Sequence uint64    `json:"seq"`
		Header   []byte    `json:"hdrs,omitzero"`
		Body     []byte    `json:"data,omitzero"`
		Recorded time.Time `json:"time"`
	} `json:"message,omitzero"`
}

// Get implements bus.Ledger.
func (c *Core) Get(ctx context.Context, stream string, sequence uint64) (bus.Message, error) {
	if sequence == 0 {
		return bus.Message{}, fmt.Errorf("get 0 of %s: %w", stream, bus.ErrNotFound)
	}
	return c.lookUp(ctx, stream, lookup{Sequence: sequence})
}

// Last implements bus.Ledger.
func (c *Core) Last(ctx context.Context, subject string) (bus.Message, error) {
	parsed, err := bus.ParseSubject(subject)
	if err != nil {
		return bus.Message{}, err
	}
	stream := bus.WorkStream
	if parsed.Shard >= 0 {
		stream = bus.ShardStream(parsed.Shard)
	}
	if c.replicas == 1 && coreWrites(parsed.Kind) {
		return c.directOne(ctx, stream, "."+subject, nil, lookup{LastOf: subject})
	}
	return c.lookUp(ctx, stream, lookup{LastOf: subject})
}

// coreWrites reports whether nobody but the core can publish to a kind of subject.
func coreWrites(kind bus.Kind) bool {
	switch kind {
	case bus.KindSession, bus.KindShard, bus.KindControl, bus.KindIn, bus.KindQuarantine, bus.KindRequest:
		return true
	case bus.KindResponse, bus.KindProgress, bus.KindPermit:
		return false
	}
	return false
}

// firstAnswerWait is how long a question that changes nothing waits for its answer before it is asked again. Each further
// try waits twice as long. A server that ends, or a leader that is lost, leaves a question without an answer, and the next
// one is there in seconds.
const firstAnswerWait = 2 * time.Second

// askAgain asks a question that changes nothing until it is answered, or ctx ends. ctx has a deadline.
func askAgain[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	for wait := firstAnswerWait; ; wait *= 2 {
		try, stop := context.WithTimeout(ctx, wait)
		answer, err := ask(try)
		unanswered := err != nil && errors.Is(try.Err(), context.DeadlineExceeded)
		stop()
		if !unanswered || ctx.Err() != nil {
			return answer, err
		}
	}
}

// ask sends a question that one message answers.
func (c *Core) ask(ctx context.Context, subject string, body []byte) (*nats.Msg, error) {
	return askAgain(ctx, func(ctx context.Context) (*nats.Msg, error) {
		return c.connection.RequestWithContext(ctx, subject, body)
	})
}

func (c *Core) lookUp(ctx context.Context, stream string, request lookup) (bus.Message, error) {
	ctx, cancel := wire.Bounded(ctx)
	defer cancel()
	body, err := schemas.Marshal(request)
	if err != nil {
		return bus.Message{}, err
	}
	op := "look up a message of " + stream
	reply, err := c.ask(ctx, "$JS.API.STREAM.MSG.GET."+stream, body)
	if err != nil {
		return bus.Message{}, wire.Classify(op, err)
	}
	var answer found
	if err := schemas.Unmarshal(reply.Data, &answer); err != nil {
		return bus.Message{}, fmt.Errorf("%s: %w", op, err)
	}
	switch {
	case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		return bus.Message{}, fmt.Errorf("%s: there is no such stream: %w", op, bus.ErrNotFound)
	case answer.Error != nil:
		return bus.Message{}, wire.ClassifyAPI(op, answer.Error)
	case answer.Message == nil:
		return bus.Message{}, fmt.Errorf("%s: %w", op, bus.ErrNotFound)
	}
	m := answer.Message
	header, err := nats.DecodeHeadersMsg(m.Header)
	if err != nil { // a publisher may have sent anything; a reader, too, gets none then
		header = nil
	}
	return bus.Message{
		Subject: m.Subject, Header: wire.Incoming(header), Body: m.Body,
		Stream: stream, Sequence: m.Sequence, Recorded: m.Recorded,
	}, nil
}
