package embedded

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"podium/bus/backoff"
)

const (
	// maxConnections is how many connections one external agent may have at a time.
	maxConnections = 64
	// maxSubscriptions is how many subscriptions one connection of it may have:
	// each of them that fits an answer is sent it, so that they multiply it.
	maxSubscriptions = 16
	// maxAgentPayload is the largest message of an external agent, in bytes, headers included;
	// larger bodies stand in the object store.
	maxAgentPayload = 1 << 20

	// maxUnread is what may wait to be read by one external agent, in bytes, over all its
	// connections; watchEvery is how often that is looked at. Whoever leaves more has
	// no connection for barredFor.
	maxUnread  = 32 << 20
	watchEvery = 100 * time.Millisecond
	barredFor  = 5 * time.Second
	// exchangeBurst is how many messages one external agent may send and be sent at once,
	// over all its connections, and exchangeRate how many a second more. Whoever exchanges
	// more has no connection for barredFor, and until that many seconds have passed. Each
	// request that it was made brings exchangeRequest more: who works much may talk much.
	exchangeBurst   = 1 << 16
	exchangeRate    = 2_000
	exchangeRequest = 64
	// receivedBurst and receivedRate are the same for the bytes that it sends: each is read
	// before it is known whether there is room for it.
	receivedBurst = 96 << 20
	receivedRate  = 32 << 20

	// writeDeadline is how long a connection may take nothing of what it is sent; what
	// waits for one that was cut is held for as long.
	writeDeadline = 2 * time.Second
	// sayEvery is how often the log says that an agent's connections are cut.
	sayEvery = 10 * time.Second
)

// externalLimits bounds what the connections of an external agent may ask of a server. The
// limits are the account's: nats-server knows none for a single user.
func externalLimits() string {
	return fmt.Sprintf("    limits {max_connections: %d, max_subscriptions: %d, max_payload: %d}\n",
		maxConnections, maxSubscriptions, maxAgentPayload)
}

// watch holds each external agent to its connections, to what it exchanges and to what it leaves
// unread, until ctx ends. What it asks the server waits in one queue with the questions
// of the core. What waits for a client that does not read is this process's memory: the
// server's own bound, max_pending, is for each connection, and has to be large
// enough for the core's.
func (s *Server) watch(ctx context.Context) {
	barred, said := make(map[string]bar), make(map[string]time.Time)
	messages, bytes := make(map[string]*pace), make(map[string]*pace)
	backoff.Every(ctx, watchEvery, func() {
		external, agents := s.external()
		connections, err := s.connections(agents)
		if err != nil {
			return // the server is stopping
		}
		for _, agent := range external {
			if messages[agent] == nil {
				messages[agent], bytes[agent] = newPace(time.Now(), exchangeBurst, exchangeRate), newPace(time.Now(), receivedBurst, receivedRate)
			}
			surplus, tooMuch := beyond(connections[agent])
			now := time.Now()
			exchanged, received := s.exchanged(agent)
			messages[agent].earn(s.made(agent), exchangeRequest)
			tooMany, tooLarge := messages[agent].beyond(exchanged, now), bytes[agent].beyond(received, now)
			reason := "connections"
			switch {
			case tooMuch:
				barred[agent] = bar{now.Add(barredFor), "unread"}
			case tooMany:
				barred[agent] = bar{now.Add(barredFor), "messages"}
			case tooLarge:
				barred[agent] = bar{now.Add(barredFor), "bytes"}
			}
			if now.Before(barred[agent].until) {
				surplus, reason = all(connections[agent]), barred[agent].reason
			}
			for _, id := range surplus {
				_ = s.server.DisconnectClientByID(id) // it may be gone by itself
			}
			if len(surplus) > 0 && time.Since(said[agent]) >= sayEvery {
				said[agent] = time.Now()
				s.config.Logger.Warn().Str("agent", agent).Str("reason", reason).Int("cut", len(surplus)).Int("of", len(connections[agent])).
					Msg("an agent has too many connections, sends too much, or leaves too much unread; connections are cut")
			}
		}
	})
}

// A bar keeps an agent without a connection, and says what it had too many or too much of.
type bar struct {
	until  time.Time
	reason string
}

// connections returns those of each agent, the oldest first.
func (s *Server) connections(agents map[string]string) (map[string][]*server.ConnInfo, error) {
	open, err := s.server.Connz(&server.ConnzOptions{Username: true, Sort: server.ByCid, Limit: server.DEFAULT_MAX_CONNECTIONS})
	if err != nil {
		return nil, err
	}
	connections := make(map[string][]*server.ConnInfo)
	for _, connection := range open.Conns {
		if name, is := agents[connection.AuthorizedUser]; is {
			connections[name] = append(connections[name], connection)
		}
	}
	return connections, nil
}

// exchanged returns how many messages an agent has sent and was sent since the start, by
// connections that are closed, too, and how many bytes it has sent.
func (s *Server) exchanged(agent string) (messages, received int64) {
	counted, err := s.server.AccountStatz(&server.AccountStatzOptions{Accounts: []string{externalAccount(agent)}, IncludeUnused: true})
	if err != nil {
		return 0, 0 // the server is stopping
	}
	for _, account := range counted.Accounts {
		messages += account.Received.Msgs + account.Sent.Msgs
		received += account.Received.Bytes
	}
	return messages, received
}

// made returns how many requests an agent was made.
func (s *Server) made(agent string) int64 {
	if made := s.requests.Load(); made != nil {
		return (*made)(agent)
	}
	return 0
}

// A pace is a token bucket, which may be overdrawn.
type pace struct {
	burst, rate float64 // rate is per second
	seen        int64
	earned      int64
	more        float64 // was earned since the last look
	left        float64
	at          time.Time
}

func newPace(now time.Time, burst, rate float64) *pace {
	return &pace{burst: burst, rate: rate, left: burst, at: now}
}

// earn brings more for each event of a total that grows.
func (p *pace) earn(total int64, each float64) {
	p.more += float64(total-p.earned) * each
	p.earned = total
}

// beyond takes what came since the last look, and reports whether it was too much.
func (p *pace) beyond(total int64, now time.Time) bool {
	p.left = min(p.left+now.Sub(p.at).Seconds()*p.rate, p.burst) + p.more - float64(total-p.seen)
	p.seen, p.at, p.more = total, now, 0
	return p.left < 0
}

// beyond returns which of an agent's connections are to be cut: the newest beyond
// their number, and all of them when they leave too much unread.
func beyond(connections []*server.ConnInfo) (surplus []uint64, tooMuch bool) {
	unread := 0
	for _, connection := range connections {
		unread += connection.Pending
	}
	if unread > maxUnread {
		return all(connections), true
	}
	return all(connections[min(len(connections), maxConnections):]), false
}

func all(connections []*server.ConnInfo) (ids []uint64) {
	for _, connection := range connections {
		ids = append(ids, connection.Cid)
	}
	return ids
}
