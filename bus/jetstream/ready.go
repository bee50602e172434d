package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

// readyWait bounds the question whether JetStream can be used. A server whose
// cluster has no leader leaves it without an answer.
const readyWait = 5 * time.Second

var errNoAnswer = errors.New("JetStream does not answer: the leader that is asked is away, or none is elected yet")

// ready returns nil when JetStream answers. Errors are temporary unless an operator
// has to change the server.
func (c *Core) ready(ctx context.Context, seedFile string) error {
	const op = "open the ledger"
	asking, stop := context.WithTimeout(ctx, readyWait)
	defer stop()
	_, err := c.js.AccountInfo(asking)
	if err == nil {
		return nil
	}
	here, _ := c.connection.ConnectedServerJetStream()
	api, _ := errors.AsType[*jetstream.APIError](err)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case errors.Is(err, context.DeadlineExceeded):
		return &bus.TemporaryError{Op: op, Err: errNoAnswer}
	case api != nil && api.ErrorCode == jetstream.JSErrCodeJetStreamNotEnabledForAccount:
		return fmt.Errorf("%s: the account of the key in %s has no JetStream; write `jetstream: enabled` into it: %s", op, seedFile, wire.Advice)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled) && !here && c.connection.ConnectedClusterName() == "":
		return fmt.Errorf("%s: the server runs without JetStream; add a block `jetstream` to its configuration: %s", op, wire.Advice)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled): // or it is on other servers of the cluster, which are away
		return &bus.TemporaryError{Op: op, Err: errors.New("no server with JetStream is there yet")}
	}
	return wire.Classify(op, err)
}
