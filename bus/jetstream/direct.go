package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"podium/bus"
	"podium/bus/jetstream/wire"
	"podium/schemas"
)

// A direct get is several times faster than a look-up by the leader, but it is
// for few streams and subjects only. At several replicas a follower may answer
// it, with the past. And it writes a message's place among the headers that were
// published with it, so that a publisher could forge the place: none of ours can
// where nobody but the core publishes (coreWrites).
//
// Each mirror of a stream answers its direct gets as well, without being asked to by anybody: it may lack messages that
// the stream has. Such an answer names the mirror (Nats-Stream). It counts for nothing, and neither does an answer that
// names no stream, which is what "not found" is: then the leader of the stream is asked.

// errForeign reports that a stream other than the one that was asked has answered.
var errForeign = errors.New("a mirror of the stream answers its direct gets")

// directNext returns the first message of a subject from a sequence on.
func (c *Core) directNext(ctx context.Context, stream string, request lookup) (bus.Message, error) {
	body, err := schemas.Marshal(request)
	if err != nil {
		return bus.Message{}, err
	}
	return c.directOne(ctx, stream, "", body, request)
}

// directOne returns the message that a direct get finds. The request is the same question for the leader of the stream,
// which is asked when the answer cannot be trusted.
func (c *Core) directOne(ctx context.Context, stream, what string, body []byte, request lookup) (bus.Message, error) {
	ctx, cancel := wire.Bounded(ctx)
	defer cancel()
	m, err := c.ask(ctx, "$JS.API.DIRECT.GET."+stream+what, body)
	if err != nil {
		return bus.Message{}, wire.Classify("direct get", err)
	}
	message, ok, err := directMessage(stream, m)
	switch {
	case errors.Is(err, errForeign):
		return c.lookUp(ctx, stream, request)
	case ok || err != nil:
		return message, err
	}
	if _, err := endOfAnswer(m.Header); err != nil {
		return bus.Message{}, err
	}
	return c.lookUp(ctx, stream, request)
}

// directLastOf asks for many subjects by direct gets. A server ends an answer that
// grows too large; the next one then begins behind it. It fails with errForeign when no answer proves that it comes from
// the stream.
func (c *Core) directLastOf(ctx context.Context, stream string, subjects []string, newest map[string]bus.Message) error {
	before := len(newest)
	for from := uint64(1); from > 0; {
		body, err := schemas.Marshal(struct {
			Subjects []string `json:"multi_last"`
			From     uint64   `json:"seq"`
		}{subjects, from})
		if err != nil {
			return err
		}
		from, err = askAgain(ctx, func(ctx context.Context) (uint64, error) { return c.directAnswer(ctx, stream, body, newest) })
		if err != nil {
			return err
		}
	}
	if len(newest) == before {
		return errForeign
	}
	return nil
}

// directAnswer collects one answer, and returns where the next begins; 0 is nowhere.
func (c *Core) directAnswer(ctx context.Context, stream string, body []byte, newest map[string]bus.Message) (uint64, error) {
	answers := make(chan *nats.Msg, 2*lastOfChunk)
	inbox := c.connection.NewInbox()
	subscription, err := c.connection.ChanSubscribe(inbox, answers)
	if err != nil {
		return 0, wire.Classify("direct get", err)
	}
	defer func() { _ = subscription.Unsubscribe() }()
	if err := c.connection.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, body); err != nil {
		return 0, wire.Classify("direct get", err)
	}
	for {
		select {
		case m := <-answers:
			message, ok, err := directMessage(stream, m)
			switch {
			case err != nil:
				return 0, err
			case !ok:
				return endOfAnswer(m.Header)
			case message.Sequence > newest[message.Subject].Sequence:
				newest[message.Subject] = message
			}
		case <-ctx.Done():
			return 0, wire.Classify("direct get", ctx.Err())
		}
	}
}

// directMessage reads a message whose place the server wrote into its headers. It
// reports false for a status, which has no place. It fails with errForeign when another stream has answered.
func directMessage(stream string, m *nats.Msg) (bus.Message, bool, error) {
	subject, number := m.Header.Get("Nats-Subject"), m.Header.Get("Nats-Sequence")
	if number == "" {
		return bus.Message{}, false, nil
	}
	if m.Header.Get("Nats-Stream") != stream {
		return bus.Message{}, false, errForeign
	}
	sequence, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return bus.Message{}, false, fmt.Errorf("direct get: sequence %q: %w", number, err)
	}
	recorded, err := time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp"))
	if err != nil {
		return bus.Message{}, false, fmt.Errorf("direct get: %w", err)
	}
	return bus.Message{
		Subject: subject, Header: wire.Incoming(m.Header), Body: m.Data,
		Stream: stream, Sequence: sequence, Recorded: recorded.UTC(),
	}, true, nil
}

// endOfAnswer reads the status that ends an answer.
func endOfAnswer(header nats.Header) (next uint64, err error) {
	switch status := header.Get("Status"); status {
	case "204":
		if header.Get("Nats-Num-Pending") == "0" {
			return 0, nil
		}
		last, err := strconv.ParseUint(header.Get("Nats-Last-Sequence"), 10, 64)
		return last + 1, err
	case "404":
		return 0, nil
	default:
		return 0, &bus.TemporaryError{Op: "direct get", Err: fmt.Errorf("the server answers %s %s", status, header.Get("Description"))}
	}
}
