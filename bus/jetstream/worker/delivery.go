package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"podium/bus"
	"podium/bus/backoff"
	"podium/bus/jetstream/wire"
)

// Words of the acknowledgement protocol (ADR-15 of NATS).
const (
	ack        = "+ACK"
	nak        = "-NAK"
	inProgress = "+WPI"
)

// How often an acknowledgement that reached nobody is told again, and after which wait.
const (
	ackTries = 10
	ackPause = 50 * time.Millisecond
)

// A delivery is one request in the hands of a worker.
type delivery struct {
	worker  *Worker
	raw     *nats.Msg
	at      wire.Position
	message bus.Message
	server  string
}

func newDelivery(w *Worker, m *nats.Msg, at wire.Position) *delivery {
	return &delivery{worker: w, raw: m, at: at, server: w.connection.ConnectedServerId(), message: bus.Message{
		Subject: m.Subject, Header: wire.Incoming(m.Header), Body: m.Data,
		Stream: bus.WorkStream, Sequence: at.Stream, Recorded: at.Recorded,
	}}
}

func (d *delivery) Message() bus.Message { return d.message }
func (d *delivery) Deliveries() int      { return d.at.Deliveries }

// Server implements bus.Delivery. The server's id is made anew at each start. A
// message that is read when its connection has been lost and is back gets the name of
// the later server, or none, and never that of an earlier one.
func (d *delivery) Server() string { return d.server }

func (d *delivery) InProgress() error {
	return wire.Classify("report work in progress", d.worker.connection.Publish(d.raw.Reply, []byte(inProgress)))
}

// Ack implements bus.Delivery. While an agent comes or goes, the server reaches nobody's acknowledgements for a moment, and
// says so: it is told again.
func (d *delivery) Ack(ctx context.Context) error {
	for tries := 0; ; tries++ {
		_, err := d.worker.request(ctx, "acknowledge a request", &nats.Msg{Subject: d.raw.Reply, Data: []byte(ack)})
		if tries >= ackTries || !errors.Is(err, nats.ErrNoResponders) || backoff.Pause(ctx, ackPause) != nil {
			return err
		}
	}
}

func (d *delivery) Nak(wait time.Duration) error {
	body := nak
	if wait > 0 {
		body = fmt.Sprintf(`%s {"delay":%d}`, nak, wait)
	}
	return wire.Classify("give a request back", d.worker.connection.Publish(d.raw.Reply, []byte(body)))
}
