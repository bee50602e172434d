// Package admission decides which tasks that wait are dispatched next: an agent is asked
// only when it has room, its breaker lets requests pass, and the resources that the task
// needs for itself are leased to it. Of those that wait, the most urgent goes first, over
// all sessions of a shard (M-17), and of those that are as urgent requesters take turns. Nothing here is on record: what a session is admitted to
// becomes true by the record that its owner stores.
package admission

import (
	"context"
	"iter"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/registry"
	"podium/schemas"
	"podium/supervisor/circuit"
	"podium/supervisor/eventloop"
)

// Config is what a Controller needs.
type Config struct {
	Shard    int
	Core     bus.Core
	Loop     *eventloop.Loop
	Backoff  eventloop.Backoff
	Log      zerolog.Logger
	Sessions Sessions

	// PoolSize returns how many requests an agent works on at a time, over all
	// its processes; 0 is no bound. Nil bounds nobody.
	PoolSize func(agent string) int
	// Async reports whether the work of an agent may go on after its process has let go of the request. Then
	// nothing but the count of what is under way bounds it. Nil is nobody.
	Async func(agent string) bool
	// Breaker returns when an agent is not asked any more (M-28). Nil asks always.
	Breaker func(agent string) circuit.Policy
	// Presence looks whether anybody serves an agent, as registry.PresenceOf does. Nil never looks.
	Presence func(ctx context.Context, agent string, now time.Time) (registry.Presence, error)
	// Barred reports whether nobody is to ask an agent at this moment, for another reason than its breaker: it
	// answers at once, from what the process knows. Nil bars nobody.
	Barred func(agent string, now time.Time) bool
	// LocalOwners are the owners of the same process; nil is none.
	LocalOwners *LocalOwners
	// DayLimits returns the budget by whose limits of a day requests of a profile go; nil is by what they have on record.
	DayLimits func(profile string) *schemas.Budget
}

// Sessions are those that the owner has in memory, each by its demand.
type Sessions interface {
	Live(demand *Demand) bool
	InOrder() iter.Seq[*Demand] // by id
}

// A Controller decides about dispatches for the owner of one shard. It is used by the goroutine of its loop
// alone.
type Controller struct {
	Config
	epoch uint64
	now   time.Time // of the turn
	quiet time.Time // when the shard counts as read after a takeover, if nothing new comes

	pools        map[string]*pool // by agent
	arrivals     uint64           // waiting tasks so far
	withCapacity []string         // agents that may have room for somebody who waits
	results      *resultCache
	ready        []*Demand // that may go on

	breakers       map[string]*breaker // by agent
	unsynced       []*breaker          // of which the ledger has to be told, or asked
	resourceClaims resourceClaims
	days           dayBudgets

	looking   *eventloop.Timer // for when agents are looked after again
	lookDue   bool
	absentees int // agents that nobody serves, as far as is known

	takeoverScanned   bool             // all that is under way in the shard is known
	takeoverScanTimer *eventloop.Timer // for when that is looked at again
}

// New returns a controller that knows of nothing yet: see Open.
func New(config Config) *Controller {
	return &Controller{
		Config: config, pools: map[string]*pool{}, breakers: map[string]*breaker{}, resourceClaims: resourceClaims{claims: map[string]*resourceClaim{}},
		results: newResultCache(), days: dayBudgets{books: map[string]*dayBook{}},
	}
}

// Open reads what the ledger knows of the agents, before the first decision of an epoch.
func (c *Controller) Open(ctx context.Context, epoch uint64, now time.Time) error {
	c.epoch, c.now = epoch, now
	return c.openBreakers(ctx)
}

// BeginTurn begins a turn. After a takeover the shard counts as read at the moment quiet, if
// nothing new comes.
func (c *Controller) BeginTurn(now, quiet time.Time) { c.now, c.quiet = now, quiet }

// GrantWaiting grants the tasks that wait, as far as their agents have room and are not barred and
// their resources are free, and reports whether there was anything to do.
func (c *Controller) GrantWaiting(ctx context.Context) bool {
	granted := false
	for len(c.withCapacity) > 0 {
		agent := c.withCapacity[0]
		c.withCapacity = c.withCapacity[1:]
		p := c.pool(agent)
		for d := p.next(); d != nil && c.tryGrant(p, d); d = p.next() {
			granted = true
		}
	}
	c.withCapacity = nil
	c.syncAll(ctx)
	worked := c.runClaims(ctx)
	return c.tellDays(ctx) || worked || granted
}

// Ready returns the sessions that may go on since it was called last.
func (c *Controller) Ready() []*Demand {
	woken := c.ready
	c.ready = nil
	return woken
}

func (c *Controller) markReady(demand *Demand) { c.ready = append(c.ready, demand) }
