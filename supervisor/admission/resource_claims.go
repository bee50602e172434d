package admission

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/eventloop"
	"podium/supervisor/restore"
)

// resourceClaims is what a controller has to do with the resources that tasks share. What
// holds of them is said at resourceLease.
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
	dispatch  *dispatch // who goes when the leases are there; nil when it is under way

	wanted   bool // its task waits or is under way
	underWay bool
	stale    bool      // what it has is of no use to it any more, and it waits again
	known    bool      // the ledger may know of it
	held     []string  // what it has of its resources
	until    time.Time // at least
	heldFor  *dispatch // who it was taken for; nil when it was adopted
	again    time.Time // it does not try before
	looked   bool      // that its request has its leases was looked at
	busy     bool      // an operation is under way
	queued   bool      // in resourceClaims.pending
	inQueue  bool      // in resourceClaims.queue
	tries    int       // that have failed in a row
}

// valid reports whether a dispatch has its leases for long enough. Those that an
// earlier attempt has had do not count: a successor may have given them back.
func (u *resourceClaim) valid(d *dispatch, now time.Time) bool {
	return len(u.held) > 0 && u.heldFor == d && now.Add(leaseMargin).Before(u.until)
}

func holderOf(s *Demand, grant schemas.Grant) string {
	return schemas.RunID(s.State.Session, grant.Run) + "/" + grant.Task
}

// resourceClaim returns what a task has to do with its resources.
func (a *Controller) resourceClaim(s *Demand, grant schemas.Grant, task *workflow.Task) *resourceClaim {
	holder := holderOf(s, grant)
	u := a.resourceClaims.claims[holder]
	if u == nil {
		u = &resourceClaim{holder: holder}
		a.resourceClaims.claims[holder] = u
	}
	if !u.wanted || u.session != s {
		u.session, u.wanted, u.resources = s, true, resourcesOf(task)
		u.place = leasePlace{Holder: holder, Epoch: a.epoch, Priority: task.Priority(), Since: a.now}
	}
	if !slices.Contains(s.claims, u) {
		s.claims = append(s.claims, u)
	}
	return u
}

func resourcesOf(task *workflow.Task) []string {
	return slices.Compact(slices.Sorted(slices.Values(task.Resources())))
}

// trackClaims has the leases do what a session's state says, once that is the
// ledger's: those of ended attempts are given back, and those of requests under
// way that another owner has made are adopted.
func (a *Controller) trackClaims(s *Demand) {
	for _, u := range s.claims {
		u.stale = u.stale || u.underWay
		u.wanted, u.underWay = false, false
	}
	for task := range s.State.UnderWay {
		if len(task.Resources()) > 0 {
			u := a.resourceClaim(s, schemas.Grant{Run: s.State.Active.Number, Task: task.ID}, task)
			u.wanted, u.underWay, u.stale, u.dispatch = true, true, false, nil
			u.place.Attempt = task.Attempt
			a.leaveQueue(u)
			a.schedule(u)
		}
	}
	if len(s.claims) == 0 {
		return
	}
	for grant := range s.State.Waiting {
		if u := a.resourceClaims.claims[holderOf(s, grant)]; u != nil {
			u.wanted = true
		}
	}
	kept := s.claims[:0]
	for _, u := range s.claims {
		if u.wanted {
			kept = append(kept, u)
			if u.stale {
				a.schedule(u) // it stands in the queue again, behind whom it would keep waiting
			}
			continue
		}
		a.leaveQueue(u)
		a.schedule(u)
	}
	clear(s.claims[len(kept):])
	s.claims = kept
}

// holdsFor reports whether a dispatch has all that it needs for itself.
func (a *Controller) holdsFor(d *dispatch) bool {
	if len(d.resources) == 0 {
		return true
	}
	u := a.resourceClaims.claims[holderOf(d.session, d.grant)]
	return u != nil && u.valid(d, a.now)
}

// hasLeases reports whether a dispatch whose agent has room has its resources; else
// it stands in the queue for them, and comes back when they are there.
func (a *Controller) hasLeases(d *dispatch) bool {
	task := taskOf(d.session, d.grant)
	if len(d.resources) == 0 || task == nil {
		return true
	}
	u := a.resourceClaim(d.session, d.grant, task)
	u.dispatch = d
	if u.valid(d, a.now) {
		return true
	}
	if len(u.held) > 0 { // for another agent's request, or not for long enough
		u.stale = true
		a.schedule(u) // those before it in the queue would wait for it, and it for them
	}
	if !u.inQueue {
		at, _ := slices.BinarySearchFunc(a.resourceClaims.queue, u, func(a, b *resourceClaim) int {
			if a.place.before(&b.place) {
				return -1
			}
			return 1
		})
		a.resourceClaims.queue = slices.Insert(a.resourceClaims.queue, at, u)
		u.inQueue, u.again = true, time.Time{}
	}
	a.resourceClaims.retryQueued = true
	return false
}

func (a *Controller) leaveQueue(u *resourceClaim) {
	if u.inQueue {
		u.inQueue = false
		a.resourceClaims.queue = slices.DeleteFunc(a.resourceClaims.queue, func(other *resourceClaim) bool { return other == u })
		a.resourceClaims.retryQueued = true
	}
}

// schedule has the ledger told what follows from its state.
func (a *Controller) schedule(u *resourceClaim) {
	if !u.queued && !u.busy {
		u.queued = true
		a.resourceClaims.pending = append(a.resourceClaims.pending, u)
	}
}

// runClaims does what is pending, and lets those in the queue try who are first for each of
// their resources. Nobody loses by that: where they are not first, they would be
// refused.
func (a *Controller) runClaims(ctx context.Context) bool {
	open := a.mayTakeLeases()
	worked := a.resourceClaims.retryQueued || a.resourceClaims.renew || len(a.resourceClaims.pending) > 0
	if a.resourceClaims.renew {
		a.resourceClaims.renew = false
		a.renewLeases(ctx)
	}
	pending := a.resourceClaims.pending
	a.resourceClaims.pending = nil
	for _, u := range pending {
		u.queued = false
		a.advanceClaim(ctx, u)
	}
	if !a.resourceClaims.retryQueued {
		return worked
	}
	a.resourceClaims.retryQueued = false
	wanted := map[string]bool{}
	for _, u := range slices.Clone(a.resourceClaims.queue) {
		first := !slices.ContainsFunc(u.resources, func(resource string) bool { return wanted[resource] })
		try := first && open && !u.busy && !a.now.Before(u.again)
		if u.dispatch.gone {
			a.leaveQueue(u) // another one may come for the same task
			continue
		}
		if try && !a.pool(u.dispatch.agent).room() {
			a.leaveQueue(u)
			a.enqueue(u.dispatch)
			continue
		}
		for _, resource := range u.resources {
			wanted[resource] = true
		}
		if try {
			a.acquire(ctx, u)
		}
	}
	return worked
}

// advanceClaim begins what is to be done for a task's resources, if anything is.
func (a *Controller) advanceClaim(ctx context.Context, u *resourceClaim) {
	switch {
	case u.busy:
	case (!u.wanted || u.stale) && u.known:
		a.giveUp(ctx, u)
	case !u.wanted:
		if a.resourceClaims.claims[u.holder] == u { // else the task has asked anew
			delete(a.resourceClaims.claims, u.holder)
		}
	case u.underWay && len(u.held) == 0 && !a.now.Before(u.again):
		a.adopt(ctx, u)
	}
}

// operateOn runs an operation about a task's resources; done gets no error. After an error
// it is advanced anew.
func (a *Controller) operateOn(u *resourceClaim, operation func() error, done func(now time.Time), failed func()) {
	u.busy, u.known = true, true
	a.Loop.Await(operation, func(now time.Time, err error) {
		u.busy = false
		if err != nil {
			a.Log.Warn().Err(err).Int("shard", a.Shard).Msg("a lease waits for the ledger")
			u.again = now.Add(a.Backoff.After(u.tries))
			u.tries++
			failed()
			a.Loop.At(u.again, func(time.Time) {
				a.resourceClaims.retryQueued = true
				a.schedule(u)
			})
			return
		}
		u.tries = 0
		done(now)
		a.resourceClaims.retryQueued = true
		a.schedule(u)
	})
}

// acquire tries to take all leases of a task. Room is kept meanwhile.
func (a *Controller) acquire(ctx context.Context, u *resourceClaim) {
	u.place.Attempt = u.dispatch.attempt
	d, place, resources, begun := u.dispatch, u.place, u.resources, a.now
	a.pool(d.agent).reserved++
	free := func() { a.freed(d.agent, func(p *pool) { p.reserved-- }) }
	var taken bool
	a.operateOn(u, func() (err error) {
		taken, err = a.takeAll(ctx, resources, place, begun)
		return err
	}, func(now time.Time) {
		if !taken {
			free()
			u.again = now.Add(leaseRetry)
			a.Loop.At(u.again, func(time.Time) { a.resourceClaims.retryQueued = true })
			return
		}
		a.keep(u, d, resources, begun)
		a.leaveQueue(u)
		if u.dispatch != d || d.gone {
			free()
			if u.dispatch != nil && u.dispatch != d && !u.dispatch.gone {
				a.enqueue(u.dispatch)
			}
			return
		}
		d.reserved = true
		a.grantTo(d)
	}, free)
}

// keep notes that a task has its leases, and sees that they are renewed.
func (a *Controller) keep(u *resourceClaim, d *dispatch, held []string, begun time.Time) {
	u.held, u.heldFor, u.until = held, d, begun.Add(leaseTime)
	u.stale = u.stale && d == nil
	a.renewAt(begun.Add(leaseRenew))
}

// takeAll takes the leases of all resources or of none. When one is not to be
// had, the task stands in the queue for each of them.
func (a *Controller) takeAll(ctx context.Context, resources []string, place leasePlace, now time.Time) (bool, error) {
	taken := 0
	for _, resource := range resources {
		if _, got, err := a.takeOne(ctx, resource, &place, (*resourceLease).verdict, now); err != nil {
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
		_, err := compareAndSet(ctx, a.leases(), leaseKey(resource), func(l *resourceLease) (bool, error) {
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
func (a *Controller) takeOne(
	ctx context.Context, resource string, place *leasePlace, verdictOf func(*resourceLease, *leasePlace, time.Time) leaseVerdict, now time.Time,
) (resourceLease, bool, error) {
	got := false
	found, err := compareAndSet(ctx, a.leases(), leaseKey(resource), func(l *resourceLease) (bool, error) {
		l.Resource = resource
		verdict := verdictOf(l, place, now)
		if verdict == leaseLapsed {
			used, err := a.uses(ctx, l.Holder, now)
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
func (a *Controller) uses(ctx context.Context, holder string, now time.Time) (bool, error) {
	run, id, _ := strings.Cut(holder, "/")
	session, number, err := schemas.ParseRunID(run)
	if err != nil {
		return false, nil //nolint:nilerr // no task of ours can be the holder
	}
	found, err := restore.Load(ctx, a.Core, session)
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
func (a *Controller) adopt(ctx context.Context, u *resourceClaim) {
	place, resources, begun := u.place, u.resources, a.now
	place.Priority, place.Since = -1, time.Time{} // nobody is before it
	verdictOf := (*resourceLease).verdict
	if !a.resourceClaims.allAdopted && !a.resourceClaims.adoptionReported {
		verdictOf = (*resourceLease).verdictOnAdoption
	}
	var got []string
	lost := 0
	a.operateOn(u, func() error {
		got, lost = nil, 0
		for _, resource := range resources {
			found, taken, err := a.takeOne(ctx, resource, &place, verdictOf, begun)
			switch {
			case err != nil:
				return err
			case taken:
				got = append(got, resource)
			case found.Holder != u.holder: // else a successor keeps it
				lost++
			}
		}
		return nil
	}, func(now time.Time) {
		u.looked = true
		if lost > 0 {
			a.Log.Error().Str("session", u.session.State.Session).Int("leases", lost).
				Msg("a request under way uses what another task has by now: its shard was without an owner for too long")
		}
		if len(got) == 0 {
			u.again = now.Add(leaseRenew)
			a.Loop.At(u.again, func(time.Time) { a.schedule(u) })
			return
		}
		a.keep(u, nil, got, begun)
	}, func() {})
}

// giveUp ends all that a task has to do with its resources.
func (a *Controller) giveUp(ctx context.Context, u *resourceClaim) {
	u.held, u.stale = nil, false
	resources, place := u.resources, u.place
	a.operateOn(u, func() error {
		for _, resource := range resources {
			_, err := compareAndSet(ctx, a.leases(), leaseKey(resource), func(l *resourceLease) (bool, error) {
				return l.leave(&place), nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}, func(time.Time) {
		u.known = false
		a.retryFor(resources)
		a.LocalOwners.tell(a, resources)
	}, func() {})
}

// retryFor lets those try again at once who wait for what is free now.
func (a *Controller) retryFor(free []string) {
	for _, u := range a.resourceClaims.queue {
		if slices.ContainsFunc(u.resources, func(resource string) bool { return slices.Contains(free, resource) }) {
			u.again = time.Time{}
			a.resourceClaims.retryQueued = true
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
func (a *Controller) renewLeases(ctx context.Context) {
	var all []renewal
	for _, holder := range slices.Sorted(maps.Keys(a.resourceClaims.claims)) {
		if u := a.resourceClaims.claims[holder]; len(u.held) > 0 {
			all = append(all, renewal{resourceClaim: u, place: u.place, resources: u.held, until: u.until})
		}
	}
	if len(all) == 0 {
		return
	}
	begun := a.now
	a.Loop.Await(func() error { return a.renewAll(ctx, all, begun) }, func(now time.Time, err error) {
		wait := leaseRenew
		if err != nil {
			wait = leaseRenew / 4
			a.Log.Warn().Err(err).Int("shard", a.Shard).Msg("leases are not renewed yet")
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
		a.renewAt(now.Add(wait))
	})
}

func (a *Controller) renewAll(ctx context.Context, all []renewal, now time.Time) error {
	for i := range all {
		r := &all[i]
		r.mine = true
		for _, resource := range r.resources {
			mine := false
			_, err := compareAndSet(ctx, a.leases(), leaseKey(resource), func(l *resourceLease) (bool, error) {
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

func (a *Controller) renewAt(moment time.Time) {
	if a.resourceClaims.timer == nil {
		a.resourceClaims.timer = a.Loop.At(moment, func(time.Time) { a.resourceClaims.timer, a.resourceClaims.renew = nil, true })
	}
}
