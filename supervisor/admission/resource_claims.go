package admission

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/eventloop"
	"podium/supervisor/restore"
)

// resourceClaims takes, renews and gives back the leases of resources that tasks share. What
// holds of a lease is said at resourceLease.
type resourceClaims struct {
	claims           map[string]*resourceClaim // by holder
	queue            []*resourceClaim          // whose agents had room, and that wait for a lease; the first goes first
	pending          []*resourceClaim          // for which the ledger has to be told something
	retryQueued      bool                      // somebody in the queue may try
	renew            bool                      // it is time to
	allAdopted       bool                      // leases may be taken
	adoptionReported bool                      // the local owners know that this shard's are adopted
	timer            *eventloop.Timer          // for the next renewal
}

// A resourceClaim is what one task has to do with its resources: it waits for them, or its
// request is under way and it has them.
type resourceClaim struct {
	session   *Demand
	holder    string   // <run>/<task>
	resources []string // that it needs, in lexical order, each once
	place     leasePlace
	task      *waitingTask // who goes when the leases are there; nil when it is under way

	wanted   bool // its task waits or is under way
	underWay bool
	stale    bool         // what it has is of no use to it any more, and it waits again
	known    bool         // the ledger may know of it
	held     []string     // what it has of its resources
	until    time.Time    // at least
	heldFor  *waitingTask // who it was taken for; nil when it was adopted
	again    time.Time    // it does not try before
	looked   bool         // that its request has its leases was looked at
	busy     bool         // an operation is under way
	queued   bool         // in resourceClaims.pending
	inQueue  bool         // in resourceClaims.queue
	tries    int          // that have failed in a row
}

// valid reports whether a waiting task has its leases for long enough. Those that an
// earlier attempt has had do not count: a successor may have given them back.
func (c *resourceClaim) valid(d *waitingTask, now time.Time) bool {
	return len(c.held) > 0 && c.heldFor == d && now.Add(leaseMargin).Before(c.until)
}

func holderOf(demand *Demand, grant schemas.Grant) string {
	return schemas.RunID(demand.State.Session, grant.Run) + "/" + grant.Task
}

// resourceClaim returns what a task has to do with its resources.
func (c *Controller) resourceClaim(demand *Demand, grant schemas.Grant, task *workflow.Task) *resourceClaim {
	holder := holderOf(demand, grant)
	claim := c.resourceClaims.claims[holder]
	if claim == nil {
		claim = &resourceClaim{holder: holder}
		c.resourceClaims.claims[holder] = claim
	}
	if !claim.wanted || claim.session != demand {
		claim.session, claim.wanted, claim.resources = demand, true, resourcesOf(task)
		claim.place = leasePlace{Holder: holder, Epoch: c.epoch, Priority: task.Priority(), Since: c.now}
	}
	if !slices.Contains(demand.claims, claim) {
		demand.claims = append(demand.claims, claim)
	}
	return claim
}

func resourcesOf(task *workflow.Task) []string {
	return slices.Compact(slices.Sorted(slices.Values(task.Resources())))
}

// trackClaims has the leases do what a session's state says, once that is the
// ledger's: those of ended attempts are given back, and those of requests under
// way that another owner has made are adopted.
func (c *Controller) trackClaims(demand *Demand) {
	for _, claim := range demand.claims {
		claim.stale = claim.stale || claim.underWay
		claim.wanted, claim.underWay = false, false
	}
	for task := range demand.State.UnderWay {
		if len(task.Resources()) > 0 {
			claim := c.resourceClaim(demand, schemas.Grant{Run: demand.State.Active.Number, Task: task.ID}, task)
			claim.wanted, claim.underWay, claim.stale, claim.task = true, true, false, nil
			claim.place.Attempt = task.Attempt
			c.leaveQueue(claim)
			c.schedule(claim)
		}
	}
	if len(demand.claims) == 0 {
		return
	}
	for grant := range demand.State.AwaitingGrant {
		if claim := c.resourceClaims.claims[holderOf(demand, grant)]; claim != nil {
			claim.wanted = true
		}
	}
	for grant := range demand.State.AwaitingDay {
		if claim := c.resourceClaims.claims[holderOf(demand, grant)]; claim != nil && demand.looks(grant) {
			claim.wanted = true
		}
	}
	kept := demand.claims[:0]
	for _, claim := range demand.claims {
		if claim.wanted {
			kept = append(kept, claim)
			if claim.stale && !fault.Is("who stands in line keeps what it cannot use") {
				c.schedule(claim) // it stands in the queue again, behind whom it would keep waiting
			}
			continue
		}
		c.leaveQueue(claim)
		c.schedule(claim)
	}
	clear(demand.claims[len(kept):])
	demand.claims = kept
}

// holdsFor reports whether a waiting task has all that it needs for itself.
func (c *Controller) holdsFor(d *waitingTask) bool {
	if len(d.resources) == 0 {
		return true
	}
	claim := c.resourceClaims.claims[holderOf(d.session, d.grant)]
	return claim != nil && claim.valid(d, c.now)
}

// hasLeases reports whether a waiting task whose agent has room has its resources; else
// it stands in the queue for them, and comes back when they are there.
func (c *Controller) hasLeases(d *waitingTask) bool {
	task := taskOf(d.session, d.grant)
	if len(d.resources) == 0 || task == nil {
		return true
	}
	claim := c.resourceClaim(d.session, d.grant, task)
	claim.task = d
	if claim.valid(d, c.now) {
		return true
	}
	if len(claim.held) > 0 && !fault.Is("who stands in line keeps what it cannot use") { // for another agent's request, or not for long enough
		claim.stale = true
		c.schedule(claim) // those before it in the queue would wait for it, and it for them
	}
	if !claim.inQueue {
		at, _ := slices.BinarySearchFunc(c.resourceClaims.queue, claim, func(a, b *resourceClaim) int {
			if a.place.before(&b.place) {
				return -1
			}
			return 1
		})
		c.resourceClaims.queue = slices.Insert(c.resourceClaims.queue, at, claim)
		claim.inQueue, claim.again = true, time.Time{}
	}
	c.resourceClaims.retryQueued = true
	return false
}

func (c *Controller) leaveQueue(claim *resourceClaim) {
	if claim.inQueue {
		claim.inQueue = false
		c.resourceClaims.queue = slices.DeleteFunc(c.resourceClaims.queue, func(other *resourceClaim) bool { return other == claim })
		c.resourceClaims.retryQueued = true
	}
}

// schedule has the ledger told what follows from its state.
func (c *Controller) schedule(claim *resourceClaim) {
	if !claim.queued && !claim.busy {
		claim.queued = true
		c.resourceClaims.pending = append(c.resourceClaims.pending, claim)
	}
}

// runClaims does what is pending, and lets those in the queue try who are first for each of
// their resources. Nobody loses by that: where they are not first, they would be
// refused.
func (c *Controller) runClaims(ctx context.Context) bool {
	open := c.mayTakeLeases()
	worked := c.resourceClaims.retryQueued || c.resourceClaims.renew || len(c.resourceClaims.pending) > 0
	if c.resourceClaims.renew {
		c.resourceClaims.renew = false
		c.renewLeases(ctx)
	}
	pending := c.resourceClaims.pending
	c.resourceClaims.pending = nil
	for _, claim := range pending {
		claim.queued = false
		c.advanceClaim(ctx, claim)
	}
	if !c.resourceClaims.retryQueued {
		return worked
	}
	c.resourceClaims.retryQueued = false
	wanted := map[string]bool{}
	for _, claim := range slices.Clone(c.resourceClaims.queue) {
		first := !slices.ContainsFunc(claim.resources, func(resource string) bool { return wanted[resource] })
		try := first && open && !claim.busy && !c.now.Before(claim.again)
		if claim.task.gone {
			c.leaveQueue(claim) // another one may come for the same task
			continue
		}
		if try && !c.pool(claim.task.agent).room(0) {
			c.leaveQueue(claim)
			c.enqueue(claim.task)
			continue
		}
		for _, resource := range claim.resources {
			wanted[resource] = true
		}
		if try {
			c.acquire(ctx, claim)
		}
	}
	return worked
}

// advanceClaim begins what is to be done for a task's resources, if anything is.
func (c *Controller) advanceClaim(ctx context.Context, claim *resourceClaim) {
	switch {
	case claim.busy:
	case (!claim.wanted || claim.stale) && claim.known:
		c.giveUp(ctx, claim)
	case !claim.wanted:
		if c.resourceClaims.claims[claim.holder] == claim || fault.Is("what an ended attempt has left takes the next one's place") { // else the task has asked anew
			delete(c.resourceClaims.claims, claim.holder)
		}
	case claim.underWay && len(claim.held) == 0 && !c.now.Before(claim.again):
		c.adopt(ctx, claim)
	}
}

// operateOn runs an operation about a task's resources; done gets no error. After an error
// it is advanced anew.
func (c *Controller) operateOn(claim *resourceClaim, operation func() error, done func(now time.Time), failed func()) {
	claim.busy, claim.known = true, true
	c.Loop.Start(operation, func(now time.Time, err error) {
		claim.busy = false
		if err != nil {
			c.Log.Warn().Err(err).Int("shard", c.Shard).Msg("a lease waits for the ledger")
			claim.again = now.Add(c.Backoff.After(claim.tries))
			claim.tries++
			failed()
			c.Loop.At(claim.again, func(time.Time) {
				c.resourceClaims.retryQueued = true
				c.schedule(claim)
			})
			return
		}
		claim.tries = 0
		done(now)
		c.resourceClaims.retryQueued = true
		c.schedule(claim)
	})
}

// acquire tries to take all leases of a task. Room is kept meanwhile.
func (c *Controller) acquire(ctx context.Context, claim *resourceClaim) {
	claim.place.Attempt = claim.task.attempt
	d, place, resources, begun := claim.task, claim.place, claim.resources, c.now
	c.pool(d.agent).reserved++
	free := func() { c.freed(d.agent, func(p *pool) { p.reserved-- }) }
	var taken bool
	c.operateOn(claim, func() (err error) {
		taken, err = c.takeAll(ctx, resources, place, begun)
		return err
	}, func(now time.Time) {
		if !taken {
			free()
			claim.again = now.Add(leaseRetry)
			c.Loop.At(claim.again, func(time.Time) { c.resourceClaims.retryQueued = true })
			return
		}
		c.keep(claim, d, resources, begun)
		c.leaveQueue(claim)
		if claim.task != d || d.gone {
			free()
			if claim.task != nil && claim.task != d && !claim.task.gone {
				c.enqueue(claim.task)
			}
			return
		}
		d.reserved = true
		c.grantFitting(d)
	}, free)
}

// keep notes that a task has its leases, and sees that they are renewed.
func (c *Controller) keep(claim *resourceClaim, d *waitingTask, held []string, begun time.Time) {
	claim.held, claim.heldFor, claim.until = held, d, begun.Add(leaseTime)
	claim.stale = claim.stale && d == nil
	c.renewAt(begun.Add(leaseRenew))
}

// takeAll takes the leases of all resources or of none. When one is not to be
// had, the task stands in the queue for each of them.
func (c *Controller) takeAll(ctx context.Context, resources []string, place leasePlace, now time.Time) (bool, error) {
	taken := 0
	for _, resource := range resources {
		if _, got, err := c.takeOne(ctx, resource, &place, (*resourceLease).verdict, now); err != nil {
			return false, err // what it has taken stays its own, and is given back or taken again
		} else if !got {
			break
		}
		taken++
	}
	if taken == len(resources) {
		return true, nil
	}
	for _, resource := range resources {
		_, err := compareAndSet(ctx, c.leases(), leaseKey(resource), func(l *resourceLease) (bool, error) {
			l.Resource = resource
			yielded := l.yield(&place)
			return l.wait(&place, now) || yielded, nil
		})
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// takeOne takes the lease of a resource if it is to be had, and returns it as it is then.
func (c *Controller) takeOne(
	ctx context.Context, resource string, place *leasePlace, verdictOf func(*resourceLease, *leasePlace, time.Time) leaseVerdict, now time.Time,
) (resourceLease, bool, error) {
	got := false
	found, err := compareAndSet(ctx, c.leases(), leaseKey(resource), func(l *resourceLease) (bool, error) {
		l.Resource = resource
		verdict := verdictOf(l, place, now)
		if verdict == leaseLapsed {
			used, err := c.uses(ctx, l.Holder, now)
			if err != nil {
				return false, err
			}
			if !used {
				verdict = leaseFree
			}
		}
		if got = verdict == leaseFree; got {
			l.take(place, now)
		}
		return got, nil
	})
	return found, got, err
}

// uses reports whether the ledger says that an agent may be at work on a holder's
// request: it is under way and has not expired.
func (c *Controller) uses(ctx context.Context, holder string, now time.Time) (bool, error) {
	run, id, _ := strings.Cut(holder, "/")
	session, number, err := schemas.ParseRunID(run)
	if err != nil {
		return false, nil //nolint:nilerr // no task of ours can be the holder
	}
	found, err := restore.Load(ctx, c.Core, session)
	if err != nil {
		return false, err
	}
	active := found.State.Active
	if active == nil || active.Number != number {
		return false, nil
	}
	task := active.Task(id)
	return task != nil && task.State.UnderWay() && now.Before(task.Expires), nil
}

// adopt takes over the leases of a request that is under way already. What another
// one has by now is looked at again later, for as long as the request goes on.
func (c *Controller) adopt(ctx context.Context, claim *resourceClaim) {
	place, resources, begun := claim.place, claim.resources, c.now
	place.Priority, place.Since = -1, time.Time{} // nobody is before it
	verdictOf := (*resourceLease).verdict
	if !c.resourceClaims.allAdopted && !c.resourceClaims.adoptionReported {
		verdictOf = (*resourceLease).verdictOnAdoption
	}
	var got []string
	lost := 0
	c.operateOn(claim, func() error {
		got, lost = nil, 0
		for _, resource := range resources {
			found, taken, err := c.takeOne(ctx, resource, &place, verdictOf, begun)
			switch {
			case err != nil:
				return err
			case taken:
				got = append(got, resource)
			case found.Holder != claim.holder: // else a successor keeps it
				lost++
			}
		}
		return nil
	}, func(now time.Time) {
		claim.looked = true
		if lost > 0 {
			c.Log.Error().Str("session", claim.session.State.Session).Int("leases", lost).
				Msg("a request under way uses what another task has by now: its shard was without an owner for too long")
		}
		if len(got) == 0 {
			claim.again = now.Add(leaseRenew)
			c.Loop.At(claim.again, func(time.Time) { c.schedule(claim) })
			return
		}
		c.keep(claim, nil, got, begun)
	}, func() {})
}

// giveUp ends all that a task has to do with its resources.
func (c *Controller) giveUp(ctx context.Context, claim *resourceClaim) {
	claim.held, claim.stale = nil, false
	resources, place := claim.resources, claim.place
	c.operateOn(claim, func() error {
		for _, resource := range resources {
			_, err := compareAndSet(ctx, c.leases(), leaseKey(resource), func(l *resourceLease) (bool, error) {
				return l.leave(&place), nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}, func(time.Time) {
		claim.known = false
		c.retryFor(resources)
		c.LocalOwners.tell(c, resources)
	}, func() {})
}

// retryFor lets those try again at once who wait for what is free now.
func (c *Controller) retryFor(free []string) {
	for _, claim := range c.resourceClaims.queue {
		if slices.ContainsFunc(claim.resources, func(resource string) bool { return slices.Contains(free, resource) }) {
			claim.again = time.Time{}
			c.resourceClaims.retryQueued = true
		}
	}
}

// A renewal is what is renewed of one task.
type renewal struct {
	resourceClaim *resourceClaim
	place         leasePlace
	resources     []string
	until         time.Time // as it was
	mine          bool      // all of it is still this owner's
}

// renewLeases keeps what this owner's tasks have for another leaseTime.
func (c *Controller) renewLeases(ctx context.Context) {
	var all []renewal
	for _, holder := range slices.Sorted(maps.Keys(c.resourceClaims.claims)) {
		if claim := c.resourceClaims.claims[holder]; len(claim.held) > 0 {
			all = append(all, renewal{resourceClaim: claim, place: claim.place, resources: claim.held, until: claim.until})
		}
	}
	if len(all) == 0 {
		return
	}
	begun := c.now
	c.Loop.Start(func() error { return c.renewAll(ctx, all, begun) }, func(now time.Time, err error) {
		wait := leaseRenew
		if err != nil {
			wait = leaseRenew / 4
			c.Log.Warn().Err(err).Int("shard", c.Shard).Msg("leases are not renewed yet")
		}
		for _, r := range all {
			switch {
			case err != nil || len(r.resourceClaim.held) == 0 || !r.resourceClaim.until.Equal(r.until):
			case r.mine:
				r.resourceClaim.until = begun.Add(leaseTime)
			default:
				r.resourceClaim.held = nil
			}
		}
		c.renewAt(now.Add(wait))
	})
}

func (c *Controller) renewAll(ctx context.Context, all []renewal, now time.Time) error {
	for i := range all {
		r := &all[i]
		r.mine = true
		for _, resource := range r.resources {
			mine := false
			_, err := compareAndSet(ctx, c.leases(), leaseKey(resource), func(l *resourceLease) (bool, error) {
				mine = l.renew(&r.place, now)
				return mine, nil
			})
			if err != nil {
				return err
			}
			r.mine = r.mine && mine
		}
	}
	return nil
}

func (c *Controller) renewAt(moment time.Time) {
	if c.resourceClaims.timer == nil {
		c.resourceClaims.timer = c.Loop.At(moment, func(time.Time) { c.resourceClaims.timer, c.resourceClaims.renew = nil, true })
	}
}
