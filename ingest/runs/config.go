package runs

import (
	"cmp"
	"strings"
	"time"
)

// minCapabilityKey is the least that a keyed hash needs to be unguessable, in bytes.
const minCapabilityKey = 32

// A Config is what an API needs to know. Fields at zero take the default named.
type Config struct {
	// CapabilityKey signs the keys in run URLs: at least 32 random bytes, the
	// same after a restart, or the URLs given out before open nothing.
	CapabilityKey []byte
	// BaseURL stands before the path of every URL given out, such as
	// "https://podium.example.org". Without it they are relative to the host.
	BaseURL string
	// MaxWait bounds "Prefer: wait=N"; 60 s.
	MaxWait time.Duration
	// Heartbeat is the pause after which an idle event stream gets a comment; 15 s.
	Heartbeat time.Duration
	// WriteTimeout bounds one write to an event stream's reader; 30 s.
	WriteTimeout time.Duration
	// BodyTimeout bounds the wait for the body of an answer; 10 s.
	BodyTimeout time.Duration
	// Said returns what an agent has said so far of the result of a request that is shown while it comes, and what is
	// closed when there is more; nil for any other request. Without it nothing is shown before it is done.
	Said func(request string) (text string, changed <-chan struct{})
	// Readers bounds how many requests may wait or follow events at once, in each
	// shard; 400, which leaves the ledger readers for whoever else needs them. One key
	// has a 25th of them, and one address without a token a quarter.
	Readers int
}

// WithDefaults returns a copy without zero values.
func (c Config) WithDefaults() Config {
	c.MaxWait = cmp.Or(c.MaxWait, time.Minute)
	c.Heartbeat = cmp.Or(c.Heartbeat, 15*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.BodyTimeout = cmp.Or(c.BodyTimeout, 10*time.Second)
	c.Readers = cmp.Or(c.Readers, 400)
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return c
}
