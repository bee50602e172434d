package embedded

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
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

// watch holds each external agent to its connections and to what it leaves unread, until ctx
// ends: what waits for a client that does not read is this process's memory. The
// server's own bound, max_pending, is for each connection, and has to be large
// enough for the core's.
func (s *Server) watch(ctx context.Context) {
	agents := make(map[string]string, len(s.config.External)) // by public key
	for _, name := range s.config.External {
		agents[s.keys.Agents[name].Public] = name
	}
	barred, said := make(map[string]time.Time), make(map[string]time.Time)
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		connections, err := s.connections(agents)
		if err != nil {
			continue // the server is stopping
		}
		for _, agent := range slices.Sorted(maps.Keys(connections)) {
			surplus, tooMuch := beyond(connections[agent])
			if now := time.Now(); tooMuch {
				barred[agent] = now.Add(barredFor)
			} else if now.Before(barred[agent]) {
				surplus = all(connections[agent])
			}
			for _, id := range surplus {
				_ = s.server.DisconnectClientByID(id) // it may be gone by itself
			}
			if len(surplus) > 0 && time.Since(said[agent]) >= sayEvery {
				said[agent] = time.Now()
				s.config.Logger.Warn().Str("agent", agent).Int("cut", len(surplus)).Int("of", len(connections[agent])).
					Msg("an agent has too many connections, or leaves too much unread; connections are cut")
			}
		}
	}
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
