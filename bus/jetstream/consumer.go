package jetstream

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/schemas"
)

const (
	maxWaiting  = 512 // processes of one agent that wait for requests
	maxPoolSize = 65535
)

// consumerConfig is the durable of an agent: at most the pool's size is out at a
// time, over all its processes, and nothing is ever given up (M-31, M-32).
func consumerConfig(agent string, pool bus.Pool) (jetstream.ConsumerConfig, error) {
	switch {
	case !schemas.ValidAgentName(agent):
		return jetstream.ConsumerConfig{}, fmt.Errorf("%q cannot be the name of an agent", agent)
	case pool.Size < 1 || pool.Size > maxPoolSize:
		return jetstream.ConsumerConfig{}, fmt.Errorf("agent %s: a pool holds 1 to %d requests, not %d", agent, maxPoolSize, pool.Size)
	case pool.AckWait < 100*time.Millisecond:
		return jetstream.ConsumerConfig{}, fmt.Errorf("agent %s: an ack-wait of %s is too short", agent, pool.AckWait)
	}
	return jetstream.ConsumerConfig{
		Name:          agent,
		Durable:       agent,
		FilterSubject: bus.RequestSubject(agent),
		DeliverPolicy: jetstream.DeliverAllPolicy,
		ReplayPolicy:  jetstream.ReplayInstantPolicy,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       pool.AckWait,
		MaxAckPending: pool.Size,
		MaxDeliver:    -1,
		MaxWaiting:    maxWaiting,
	}, nil
}
