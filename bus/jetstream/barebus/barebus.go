// Package barebus speaks to a ledger's streams with nothing but the NATS client
// library: no events, no sessions, no bookkeeping. It is what Podium is measured
// against, and for nothing else.
package barebus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
)

const (
	coreAPI     = "$JS.API"
	agentAPI    = "CORE.API" // the same as the agents' account imports it
	ackWait     = 10 * time.Second
	asyncWindow = 1 << 14
)

// A Publish is one message under way.
type Publish struct{ future jetstream.PubAckFuture }

// Wait waits until the message is in its stream.
func (p Publish) Wait(ctx context.Context) error {
	select {
	case <-p.future.Ok():
		return nil
	case err := <-p.future.Err():
		return fmt.Errorf("publish: %w", err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A Client is one connection.
type Client struct {
	connection *nats.Conn
	js         jetstream.JetStream
	stops      []func()
}

// Connect connects as a user of the core account.
func Connect(url, seedFile string) (*Client, error) {
	return connect(url, seedFile, coreAPI)
}

// ConnectAgent connects as an agent, to the agents' account.
func ConnectAgent(url, seedFile, agent string) (*Client, error) {
	return connect(url, seedFile, agentAPI, nats.CustomInboxPrefix("_INBOX_"+agent))
}

func connect(url, seedFile, api string, options ...nats.Option) (*Client, error) {
	key, err := nats.NkeyOptionFromSeed(seedFile)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	connection, err := nats.Connect(url, append(options, key)...)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	js, err := jetstream.NewWithAPIPrefix(connection, api, jetstream.WithPublishAsyncMaxPending(asyncWindow))
	if err != nil {
		connection.Close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &Client{connection: connection, js: js}, nil
}

// Merge deletes streams and has another one take their subjects, so that every
// message is in one log.
func (c *Client) Merge(ctx context.Context, into string, streams ...string) error {
	whole, err := c.js.Stream(ctx, into)
	if err != nil {
		return fmt.Errorf("merge into %s: %w", into, err)
	}
	config := whole.CachedInfo().Config
	for _, name := range streams {
		part, err := c.js.Stream(ctx, name)
		if err != nil {
			return fmt.Errorf("merge %s: %w", name, err)
		}
		config.Subjects = append(config.Subjects, part.CachedInfo().Config.Subjects...)
		if err := c.js.DeleteStream(ctx, name); err != nil {
			return fmt.Errorf("merge %s: %w", name, err)
		}
	}
	if _, err := c.js.UpdateStream(ctx, config); err != nil {
		return fmt.Errorf("merge into %s: %w", into, err)
	}
	return nil
}

// Publish sends a message; the headers and the body are shared with it.
func (c *Client) Publish(message bus.Message) (Publish, error) {
	future, err := c.js.PublishMsgAsync(&nats.Msg{Subject: message.Subject, Header: nats.Header(message.Header), Data: message.Body})
	if err != nil {
		return Publish{}, fmt.Errorf("publish: %w", err)
	}
	return Publish{future: future}, nil
}

// Read hands the messages of a stream to a function, in order and one at a time,
// until Close.
func (c *Client) Read(ctx context.Context, stream string, handle func(bus.Message), subjects ...string) error {
	consumer, err := c.js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{FilterSubjects: subjects})
	if err != nil {
		return fmt.Errorf("read %s: %w", stream, err)
	}
	reading, err := consumer.Consume(func(m jetstream.Msg) { handle(read(m)) })
	if err != nil {
		return fmt.Errorf("read %s: %w", stream, err)
	}
	c.stops = append(c.stops, reading.Stop)
	return nil
}

// Answer pulls the requests to an agent, at most so many at a time, publishes
// what answer makes of each, awaits its ack, then acknowledges the request and
// awaits that too. It does so until Close; what goes wrong goes to failed.
func (c *Client) Answer(ctx context.Context, agent string, atOnce int, answer func(bus.Message) bus.Message, failed func(error)) error {
	consumer, err := c.js.Consumer(ctx, bus.WorkStream, agent)
	if err != nil {
		return fmt.Errorf("pull for %s: %w", agent, err)
	}
	pulling, err := consumer.Consume(func(m jetstream.Msg) {
		go func() {
			if err := c.respond(ctx, m, answer(read(m))); err != nil && ctx.Err() == nil {
				failed(err)
			}
		}()
	}, jetstream.PullMaxMessages(atOnce))
	if err != nil {
		return fmt.Errorf("pull for %s: %w", agent, err)
	}
	c.stops = append(c.stops, pulling.Stop)
	return nil
}

func (c *Client) respond(ctx context.Context, request jetstream.Msg, response bus.Message) error {
	published, err := c.Publish(response)
	if err == nil {
		err = published.Wait(ctx)
	}
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, ackWait)
	defer stop()
	return request.DoubleAck(ctx)
}

func read(m jetstream.Msg) bus.Message {
	return bus.Message{Subject: m.Subject(), Header: bus.Header(m.Headers()), Body: m.Data()}
}

// Close ends what reads and pulls, and closes the connection.
func (c *Client) Close() error {
	for _, stop := range c.stops {
		stop()
	}
	err := c.connection.FlushTimeout(ackWait)
	c.connection.Close()
	if errors.Is(err, nats.ErrConnectionClosed) {
		return nil
	}
	return err
}
