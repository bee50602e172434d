package admission

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Limits are what a Control admits at a time. Fields at zero take the default named.
type Limits struct {
	// Connections of everybody; 4096.
	Connections int
	// AddressConnections of one address, those of known senders included; 1024.
	// Those of a proxy do not count.
	AddressConnections int
	// StrangerConnections of one address, on which no sender was known yet; 256.
	// Those of a proxy do not count.
	StrangerConnections int
	// StrangerRequests with a body, of one address; 64.
	StrangerRequests int
	// Bodies in bytes, of everybody; 64 MiB.
	Bodies int64
	// StrangerBodies in bytes, of one address; 16 MiB.
	StrangerBodies int64
	// Proxies are believed what they say in X-Forwarded-For.
	Proxies []netip.Prefix
}

func (l Limits) withDefaults() Limits {
	l.Connections = cmp.Or(l.Connections, 4096)
	l.AddressConnections = cmp.Or(l.AddressConnections, 1024)
	l.StrangerConnections = cmp.Or(l.StrangerConnections, 256)
	l.StrangerRequests = cmp.Or(l.StrangerRequests, 64)
	l.Bodies = cmp.Or(l.Bodies, 64<<20)
	l.StrangerBodies = cmp.Or(l.StrangerBodies, 16<<20)
	return l
}

// A Control admits connections, requests and bodies to one server. It is safe for
// use by several goroutines at once.
type Control struct {
	limits Limits

	mu          sync.Mutex
	connections map[net.Conn]*connection
	addresses   map[netip.Prefix]int // connections of each address
	strangers   map[netip.Prefix]*stranger
	usage       Usage
}

// A connection is one that is open.
type connection struct {
	from    netip.Prefix
	proxied bool // it is a proxy's
	counted bool // among those of strangers
}

// A stranger is what all strangers of one address have together.
type stranger struct {
	connections, requests int
	bytes                 int64
}

// Usage is what a Control has admitted and not seen the end of, and what it has
// refused since it was made.
type Usage struct {
	Connections int
	Bodies      int64 // bytes
	// Refused counts, by the limit that was reached.
	Refused Refusals
}

// Refusals are counts by limit.
type Refusals struct {
	Connections, AddressConnections, StrangerConnections, StrangerRequests, Bodies, StrangerBodies uint64
}

// New returns a Control that has admitted nothing.
func New(limits Limits) *Control {
	return &Control{
		limits:      limits.withDefaults(),
		connections: make(map[net.Conn]*connection),
		addresses:   make(map[netip.Prefix]int),
		strangers:   make(map[netip.Prefix]*stranger),
	}
}

// Usage returns what is admitted now.
func (c *Control) Usage() Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usage
}

type connectionKey struct{}

// Connect is the server's ConnContext. A connection that finds no room is closed
// without a word: a word would be work for whoever sends nothing.
func (c *Control) Connect(ctx context.Context, conn net.Conn) context.Context {
	from := addressOf(conn.RemoteAddr().String())
	proxied := c.proxy(from)
	made := &connection{from: block(from), proxied: proxied, counted: !proxied}
	if !c.connect(conn, made) {
		_ = conn.Close() // it carried nothing
		return ctx
	}
	return context.WithValue(ctx, connectionKey{}, made)
}

func (c *Control) connect(conn net.Conn, made *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.usage.Connections >= c.limits.Connections {
		c.usage.Refused.Connections++
		return false
	}
	if !made.proxied {
		if c.addresses[made.from] >= c.limits.AddressConnections {
			c.usage.Refused.AddressConnections++
			return false
		}
		if known := c.strangers[made.from]; known != nil && known.connections >= c.limits.StrangerConnections {
			c.usage.Refused.StrangerConnections++
			return false
		}
		c.addresses[made.from]++
		c.count(made.from, stranger{connections: 1})
	}
	c.connections[conn] = made
	c.usage.Connections++
	return true
}

// Note is the server's ConnState, or a part of it.
func (c *Control) Note(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ended := c.connections[conn]; ended != nil {
		delete(c.connections, conn)
		c.usage.Connections--
		if !ended.proxied {
			if c.addresses[ended.from]--; c.addresses[ended.from] == 0 {
				delete(c.addresses, ended.from)
			}
		}
		c.acquaint(ended)
	}
}

// acquaint counts a connection no longer among those of strangers. The lock is held.
func (c *Control) acquaint(known *connection) {
	if known.counted {
		known.counted = false
		c.count(known.from, stranger{connections: -1})
	}
}

// count adds to what the strangers of an address have. The lock is held.
func (c *Control) count(from netip.Prefix, more stranger) {
	have := c.strangers[from]
	if have == nil {
		have = &stranger{}
		c.strangers[from] = have
	}
	have.connections += more.connections
	have.requests += more.requests
	have.bytes += more.bytes
	if *have == (stranger{}) {
		delete(c.strangers, from)
	}
}
