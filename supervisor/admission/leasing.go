package admission

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/supervisor/eventloop"
	"podium/supervisor/history"
	"podium/supervisor/plan"
)

// leasing is what a controller has to do with the resources that tasks share. What
// holds of them is said at lease.
type leasing struct {
	usages  map[string]*usage // by holder
	line    []*usage          // whose agents had room, and that wait for a lease; the first goes first
	errands []*usage          // for which the ledger has to be told something
	stirred bool              // somebody in the line may try
	renew   bool              // it is time to
	settled bool              // leases may be taken
	told    bool              // the local owners know that this shard's are adopted
	alarm   *eventloop.Timer  // for the next renewal
}

// A usage is what one task has to do with its resources: it waits for them, or its
// request is under way and it has them.
type usage struct {
	c         *Session
	holder    string   // <run>/<task>
	resources []string // that it needs, in lexical order, each once
	place     leasePlace
	waiter    *waiter // who goes when the leases are there; nil when it is under way

	wanted   bool // its task waits or is under way
	underWay bool
	spent    bool      // what it has is of no use to it any more, and it waits again
	known    bool      // the ledger may know of it
	held     []string  // what it has of its resources
	until    time.Time // at least
	heldFor  *waiter   // who it was taken for; nil when it was adopted
	again    time.Time // it does not try before
	looked   bool      // that its request has its leases was looked at
	busy     bool      // an operation is under way
	queued   bool      // in leasing.errands
	inLine   bool      // in leasing.line
	tries    int       // that have failed in a row
}

// valid reports whether a waiter has its leases for long enough. Those that an
// earlier attempt has had do not count: a successor may have given them back.
func (u *usage) valid(w *waiter, now time.Time) bool {
	return len(u.held) > 0 && u.heldFor == w && now.Add(leaseMargin).Before(u.until)
}

func holderOf(c *Session, grant schemas.Grant) string {
	return schemas.RunID(c.State.Session, grant.Run) + "/" + grant.Task
}

// usage returns what a task has to do with its resources.
func (a *Controller) usage(c *Session, grant schemas.Grant, task *plan.Task) *usage {
	holder := holderOf(c, grant)
	u := a.leasing.usages[holder]
	if u == nil {
		u = &usage{holder: holder}
		a.leasing.usages[holder] = u
	}
	if !u.wanted || u.c != c {
		u.c, u.wanted, u.resources = c, true, resourcesOf(task)
		u.place = leasePlace{Holder: holder, Epoch: a.epoch, Priority: task.Priority(), Since: a.now}
	}
	if !slices.Contains(c.usages, u) {
		c.usages = append(c.usages, u)
	}
	return u
}

func resourcesOf(task *plan.Task) []string {
	return slices.Compact(slices.Sorted(slices.Values(task.Resources())))
}

// follow has the leases do what a conversation's state says, once that is the
// ledger's: those of ended attempts are given back, and those of requests under
// way that another owner has made are adopted.
func (a *Controller) follow(c *Session) {
	for _, u := range c.usages {
		u.spent = u.spent || u.underWay
		u.wanted, u.underWay = false, false
	}
	for task := range c.State.UnderWay {
		if len(task.Resources()) > 0 {
			u := a.usage(c, schemas.Grant{Run: c.State.Active.Number, Task: task.ID}, task)
			u.wanted, u.underWay, u.spent, u.waiter = true, true, false, nil
			u.place.Attempt = task.Attempt
			a.leaveLine(u)
			a.errand(u)
		}
	}
	if len(c.usages) == 0 {
		return
	}
	for grant := range c.State.Waiting {
		if u := a.leasing.usages[holderOf(c, grant)]; u != nil {
			u.wanted = true
		}
	}
	kept := c.usages[:0]
	for _, u := range c.usages {
		if u.wanted {
			kept = append(kept, u)
			if u.spent {
				a.errand(u) // it stands in line again, behind whom it would keep waiting
			}
			continue
		}
		a.leaveLine(u)
		a.errand(u)
	}
	clear(c.usages[len(kept):])
	c.usages = kept
}

// holdsFor reports whether a waiter has all that it needs for itself.
func (a *Controller) holdsFor(w *waiter) bool {
	if len(w.resources) == 0 {
		return true
	}
	u := a.leasing.usages[holderOf(w.c, w.grant)]
	return u != nil && u.valid(w, a.now)
}

// equipped reports whether a waiter whose agent has room has its resources; else
// it stands in line for them, and comes back when they are there.
func (a *Controller) equipped(w *waiter) bool {
	task := taskOf(w.c, w.grant)
	if len(w.resources) == 0 || task == nil {
		return true
	}
	u := a.usage(w.c, w.grant, task)
	u.waiter = w
	if u.valid(w, a.now) {
		return true
	}
	if len(u.held) > 0 { // for another agent's request, or not for long enough
		u.spent = true
		a.errand(u) // those before it in the line would wait for it, and it for them
	}
	if !u.inLine {
		at, _ := slices.BinarySearchFunc(a.leasing.line, u, func(a, b *usage) int {
			if a.place.before(&b.place) {
				return -1
			}
			return 1
		})
		a.leasing.line = slices.Insert(a.leasing.line, at, u)
		u.inLine, u.again = true, time.Time{}
	}
	a.leasing.stirred = true
	return false
}

func (a *Controller) leaveLine(u *usage) {
	if u.inLine {
		u.inLine = false
		a.leasing.line = slices.DeleteFunc(a.leasing.line, func(other *usage) bool { return other == u })
		a.leasing.stirred = true
	}
}

// errand has the ledger told what follows from its state.
func (a *Controller) errand(u *usage) {
	if !u.queued && !u.busy {
		u.queued = true
		a.leasing.errands = append(a.leasing.errands, u)
	}
}

// contend runs the errands, and lets those in line try who are first for each of
// their resources. Nobody loses by that: where they are not first, they would be
// refused.
func (a *Controller) contend(ctx context.Context) bool {
	open := a.mayTakeLeases()
	worked := a.leasing.stirred || a.leasing.renew || len(a.leasing.errands) > 0
	if a.leasing.renew {
		a.leasing.renew = false
		a.renewLeases(ctx)
	}
	errands := a.leasing.errands
	a.leasing.errands = nil
	for _, u := range errands {
		u.queued = false
		a.settleUsage(ctx, u)
	}
	if !a.leasing.stirred {
		return worked
	}
	a.leasing.stirred = false
	wanted := map[string]bool{}
	for _, u := range slices.Clone(a.leasing.line) {
		first := !slices.ContainsFunc(u.resources, func(resource string) bool { return wanted[resource] })
		try := first && open && !u.busy && !a.now.Before(u.again)
		if u.waiter.gone {
			a.leaveLine(u) // another one may come for the same task
			continue
		}
		if try && !a.pool(u.waiter.agent).room() {
			a.leaveLine(u)
			a.enlist(u.waiter)
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

// settleUsage begins what is to be done for a task's resources, if anything is.
func (a *Controller) settleUsage(ctx context.Context, u *usage) {
	switch {
	case u.busy:
	case (!u.wanted || u.spent) && u.known:
		a.giveUp(ctx, u)
	case !u.wanted:
		if a.leasing.usages[u.holder] == u { // else the task has asked anew
			delete(a.leasing.usages, u.holder)
		}
	case u.underWay && len(u.held) == 0 && !a.now.Before(u.again):
		a.adopt(ctx, u)
	}
}

// operateOn runs an operation about a task's resources; done gets no error. After an error
// it is settled anew.
func (a *Controller) operateOn(u *usage, operation func() error, done func(now time.Time), failed func()) {
	u.busy, u.known = true, true
	a.Loop.Await(operation, func(now time.Time, err error) {
		u.busy = false
		if err != nil {
			a.Log.Warn().Err(err).Int("shard", a.Shard).Msg("a lease waits for the ledger")
			u.again = now.Add(a.Backoff.After(u.tries))
			u.tries++
			failed()
			a.Loop.At(u.again, func(time.Time) {
				a.leasing.stirred = true
				a.errand(u)
			})
			return
		}
		u.tries = 0
		done(now)
		a.leasing.stirred = true
		a.errand(u)
	})
}

// acquire tries to take all leases of a task. Room is kept meanwhile.
func (a *Controller) acquire(ctx context.Context, u *usage) {
	u.place.Attempt = u.waiter.attempt
	w, place, resources, begun := u.waiter, u.place, u.resources, a.now
	a.pool(w.agent).reserved++
	free := func() { a.freed(w.agent, func(p *pool) { p.reserved-- }) }
	var taken bool
	a.operateOn(u, func() (err error) {
		taken, err = a.takeAll(ctx, resources, place, begun)
		return err
	}, func(now time.Time) {
		if !taken {
			free()
			u.again = now.Add(leaseRetry)
			a.Loop.At(u.again, func(time.Time) { a.leasing.stirred = true })
			return
		}
		a.keep(u, w, resources, begun)
		a.leaveLine(u)
		if u.waiter != w || w.gone {
			free()
			if u.waiter != nil && u.waiter != w && !u.waiter.gone {
				a.enlist(u.waiter)
			}
			return
		}
		w.reserved = true
		a.hand(w)
	}, free)
}

// keep notes that a task has its leases, and sees that they are renewed.
func (a *Controller) keep(u *usage, w *waiter, held []string, begun time.Time) {
	u.held, u.heldFor, u.until = held, w, begun.Add(leaseTime)
	u.spent = u.spent && w == nil
	a.renewAt(begun.Add(leaseRenew))
}

// takeAll takes the leases of all resources or of none. When one is not to be
// had, the task stands in line for each of them.
func (a *Controller) takeAll(ctx context.Context, resources []string, place leasePlace, now time.Time) (bool, error) {
	taken := 0
	for _, resource := range resources {
		if _, got, err := a.takeOne(ctx, resource, &place, (*lease).verdict, now); err != nil {
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
		_, err := amend(ctx, a.leases(), leaseKey(resource), func(l *lease) (bool, error) {
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
	ctx context.Context, resource string, place *leasePlace, judge func(*lease, *leasePlace, time.Time) leaseVerdict, now time.Time,
) (lease, bool, error) {
	got := false
	found, err := amend(ctx, a.leases(), leaseKey(resource), func(l *lease) (bool, error) {
		l.Resource = resource
		verdict := judge(l, place, now)
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
	found, err := history.Load(ctx, a.Core, session)
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
func (a *Controller) adopt(ctx context.Context, u *usage) {
	place, resources, begun := u.place, u.resources, a.now
	place.Priority, place.Since = -1, time.Time{} // nobody is before it
	judge := (*lease).verdict
	if !a.leasing.settled && !a.leasing.told {
		judge = (*lease).claim
	}
	var got []string
	lost := 0
	a.operateOn(u, func() error {
		got, lost = nil, 0
		for _, resource := range resources {
			found, taken, err := a.takeOne(ctx, resource, &place, judge, begun)
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
			a.Log.Error().Str("session", u.c.State.Session).Int("leases", lost).
				Msg("a request under way uses what another task has by now: its shard was without an owner for too long")
		}
		if len(got) == 0 {
			u.again = now.Add(leaseRenew)
			a.Loop.At(u.again, func(time.Time) { a.errand(u) })
			return
		}
		a.keep(u, nil, got, begun)
	}, func() {})
}

// giveUp ends all that a task has to do with its resources.
func (a *Controller) giveUp(ctx context.Context, u *usage) {
	u.held, u.spent = nil, false
	resources, place := u.resources, u.place
	a.operateOn(u, func() error {
		for _, resource := range resources {
			_, err := amend(ctx, a.leases(), leaseKey(resource), func(l *lease) (bool, error) {
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
	for _, u := range a.leasing.line {
		if slices.ContainsFunc(u.resources, func(resource string) bool { return slices.Contains(free, resource) }) {
			u.again = time.Time{}
			a.leasing.stirred = true
		}
	}
}

// A renewal is what is renewed of one task.
type renewal struct {
	usage     *usage
	place     leasePlace
	resources []string
	until     time.Time // as it was
	mine      bool      // all of it is still this owner's
}

// renewLeases keeps what this owner's tasks have for another leaseTime.
func (a *Controller) renewLeases(ctx context.Context) {
	var all []renewal
	for _, holder := range slices.Sorted(maps.Keys(a.leasing.usages)) {
		if u := a.leasing.usages[holder]; len(u.held) > 0 {
			all = append(all, renewal{usage: u, place: u.place, resources: u.held, until: u.until})
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
			case err != nil || len(r.usage.held) == 0 || !r.usage.until.Equal(r.until):
			case r.mine:
				r.usage.until = begun.Add(leaseTime)
			default:
				r.usage.held = nil
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
			_, err := amend(ctx, a.leases(), leaseKey(resource), func(l *lease) (bool, error) {
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
	if a.leasing.alarm == nil {
		a.leasing.alarm = a.Loop.At(moment, func(time.Time) { a.leasing.alarm, a.leasing.renew = nil, true })
	}
}
