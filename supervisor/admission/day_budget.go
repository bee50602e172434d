package admission

import (
	"context"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/budget"
	"podium/supervisor/eventloop"
)

// What runs of a profile may use together on one day stands in bus.BudgetBucket, one account for each profile and day, which owners change by
// compare-and-set. A request whose agent has room, whose breaker lets it pass and whose resources are leased reserves there what it may use, under
// its id, before it is granted. So a successor that grants it again finds what is reserved, and two owners reserve once. The answer settles that;
// nothing more is done for its session until the ledger has it. What nobody was asked by is given back. What is lost with an owner stays reserved
// until its session is loaded, else for the day: more is never used because of it.

const (
	// dayRetry is after what time a task that is held looks for room in the budget of the day, besides when a request of this process has left some.
	// It doubles with each look up to dayRetryMost.
	dayRetry     = 10 * time.Second
	dayRetryMost = 5 * time.Minute
	// daysKept is for how many days accounts are kept.
	daysKept = 31
)

// dayBudgets are the accounts that this owner changes.
type dayBudgets struct {
	books map[string]*dayBook // by key
	ready []*dayBook          // with operations that may begin
	held  []*waitingTask      // that wait for room, the oldest first
	retry *eventloop.Timer    // for when they look again
	pause time.Duration       // until then
	due   bool                // it is time to
}

// A dayBook is the account of one profile and day. Its operations are told in their order, all that wait at a time.
type dayBook struct {
	profile, day string
	pending      []dayOperation
	queued, busy bool
	tries        int       // that have failed in a row
	again        time.Time // it does not try before
}

type dayOperation struct {
	// change does the operation, and reports whether that changes anything. It may be called several times, by another goroutine.
	change func(*budget.DayAccount) bool
	done   func(now time.Time, void bool) // nil is nobody to be told
	frees  bool                           // others may have room then
	// recorded says that it follows from a record, so that whoever knows of that may do it; void that a successor of this owner is at work, and
	// nothing was done.
	recorded, void bool
	alone          bool // what it does is done again when its acknowledgment is lost, and nothing behind it may be
}

// tellDay has an account changed.
func (c *Controller) tellDay(profile, day string, operation dayOperation) {
	key := budget.DayKey(profile, day)
	book := c.days.books[key]
	if book == nil {
		book = &dayBook{profile: profile, day: day}
		c.days.books[key] = book
	}
	book.pending = append(book.pending, operation)
	c.scheduleDay(book)
}

func (c *Controller) scheduleDay(book *dayBook) {
	if !book.queued && !book.busy && len(book.pending) > 0 && !c.now.Before(book.again) {
		book.queued = true
		c.days.ready = append(c.days.ready, book)
	}
}

// tellDays begins the operations that wait, and reports whether there were any.
func (c *Controller) tellDays(ctx context.Context) bool {
	if c.days.due {
		c.days.due = false
		c.wakeHeld()
	}
	ready := c.days.ready
	c.days.ready = nil
	for _, book := range ready {
		book.queued = false
		c.changeDay(ctx, book)
	}
	return len(ready) > 0
}

// changeDay does what is pending for an account at once.
func (c *Controller) changeDay(ctx context.Context, book *dayBook) {
	operations, by := book.pending, budget.DayOwner{Shard: c.Shard, Epoch: c.epoch}
	if alone := slices.IndexFunc(operations, func(operation dayOperation) bool { return operation.alone }); alone >= 0 {
		operations = operations[:max(alone, 1)]
	}
	book.pending, book.busy = slices.Clone(book.pending[len(operations):]), true
	begins := false
	c.Loop.Start(func() error {
		_, err := compareAndSet(ctx, c.Core.KeyValue(bus.BudgetBucket), budget.DayKey(book.profile, book.day), func(account *budget.DayAccount) (bool, error) {
			begins = len(account.Owners) == 0
			owns, changed := account.Tell(by)
			for i := range operations {
				if operation := &operations[i]; owns || operation.recorded {
					changed = operation.change(account) || changed
				}
				operations[i].void = !owns && !operations[i].recorded
			}
			return changed, nil
		})
		if err == nil && begins {
			c.forgetDays(ctx, book)
		}
		return err
	}, func(now time.Time, err error) {
		book.busy = false
		if err != nil {
			c.Log.Warn().Err(err).Int("shard", c.Shard).Msg("the budget of the day waits for the ledger")
			book.pending = append(operations, book.pending...)
			book.again = now.Add(c.Backoff.After(book.tries))
			book.tries++
			c.Loop.At(book.again, func(time.Time) { c.scheduleDay(book) })
			return
		}
		book.tries = 0
		frees := false
		for i := range operations {
			if frees = frees || operations[i].frees; operations[i].done != nil {
				operations[i].done(now, operations[i].void)
			}
		}
		if frees {
			c.days.due = c.days.due || len(c.days.held) > 0
			c.LocalOwners.wakeHeld(c)
		}
		if c.scheduleDay(book); len(book.pending) == 0 {
			delete(c.days.books, budget.DayKey(book.profile, book.day))
		}
	})
}

// forgetDays takes the accounts of a profile out that are too old to be looked at. Whoever begins an account does it.
func (c *Controller) forgetDays(ctx context.Context, book *dayBook) {
	store := c.Core.KeyValue(bus.BudgetBucket)
	keys, err := store.Keys(ctx)
	oldest := schemas.Day(schemas.DayEnd(book.day).AddDate(0, 0, -daysKept-1))
	for _, key := range keys {
		if day, own := strings.CutPrefix(key, book.profile+"."); own && err == nil && len(day) == len(oldest) && day < oldest {
			err = store.Delete(ctx, key)
		}
	}
	if err != nil {
		c.Log.Warn().Err(err).Msg("old budgets of days are kept for now")
	}
}

// grantFitting gives a waiting task its grant, for which room is kept, once what it may use is reserved in the budget of the day.
func (c *Controller) grantFitting(d *waitingTask) {
	if c.fitsDay(d) {
		c.grantTo(d)
		return
	}
	day, claim := schemas.Day(c.now), *d.claim
	if c.DayLimits != nil {
		if policy := c.DayLimits(d.profile); policy != nil {
			claim.Run, claim.Agent = policy.Day, policy.DayAgents[d.agent]
		}
	}
	want := budget.DayReservation{Request: d.request, Agent: d.agent, Usage: claim.Need}
	var short *schemas.Shortage
	if d.asked != "" && d.asked != day && fault.Is("a new day takes what a former owner has asked for") {
		c.releaseDay(d.profile, d.asked, d.request)
	} else if d.asked != "" && d.asked != day {
		d.session.doWithout(unneeded{d.grant, d.asked, d.request}) // a former owner may have asked on that day, and not have said so yet
	}
	d.asked = day
	c.tellDay(d.profile, day, dayOperation{
		change: func(account *budget.DayAccount) (changed bool) {
			short, changed = account.Reserve(&want, &claim, day)
			return changed
		},
		done: func(_ time.Time, void bool) {
			if void {
				c.dayRefused(d)
			} else {
				c.dayAnswered(d, day, short)
			}
		},
	})
}

// fitsDay reports whether what a waiting task may use is reserved for today, or need not be.
func (c *Controller) fitsDay(d *waitingTask) bool {
	return d.claim == nil || d.reservedFor == schemas.Day(c.now)
}

// dayAnswered goes on with a task when it is known whether it fits the budget of the day. Who does not is granted all the same, to be held; and who
// is held already looks again later. The agent has its room back, and whatever the task has for itself alone is given back.
func (c *Controller) dayAnswered(d *waitingTask, day string, short *schemas.Shortage) {
	if short == nil {
		d.reservedFor = day
	}
	if short == nil && !d.gone {
		c.grantTo(d)
		return
	}
	if d.gone || d.held {
		c.dayRefused(d)
		return
	}
	c.leaveRoom(d)
	d.short = short
	c.grantTo(d)
}

// dayRefused has a task that goes on in no other way look for room later.
func (c *Controller) dayRefused(d *waitingTask) {
	c.leaveRoom(d)
	if d.gone {
		c.leaveDay(d)
		return
	}
	c.leaveClaim(d)
	c.holdForDay(d)
}

// leaveRoom gives back what is kept for a task that does not go now.
func (c *Controller) leaveRoom(d *waitingTask) {
	c.freed(d.agent, func(p *pool) { p.reserved-- })
	d.reserved = false
	c.releaseProbe(d)
}

// leaveClaim gives back what a task has of shared resources, while it waits for something else.
func (c *Controller) leaveClaim(d *waitingTask) {
	if claim := c.resourceClaims.claims[holderOf(d.session, d.grant)]; len(d.resources) > 0 && claim != nil && claim.task == d {
		claim.wanted = false
		c.leaveQueue(claim)
		c.schedule(claim)
	}
}

// holdForDay has a held task look for room later.
func (c *Controller) holdForDay(d *waitingTask) {
	if !d.looks {
		c.days.pause = dayRetry
	}
	d.looks = false
	c.days.held = append(c.days.held, d)
	if _, set := c.days.retry.Due(); !set {
		c.days.retry = c.Loop.At(c.now.Add(c.days.pause), func(time.Time) { c.days.due, c.days.pause = true, min(2*c.days.pause, dayRetryMost) })
	}
}

// looks reports whether a task that is held looks for room now.
func (dm *Demand) looks(grant schemas.Grant) bool {
	d := dm.waiting[grant]
	return d != nil && d.held && d.looks
}

// wakeHeld has all that are held look for room.
func (c *Controller) wakeHeld() {
	held := c.days.held
	c.days.held = nil
	for _, d := range held {
		if !d.gone {
			d.looks = true
			c.enqueue(d)
		}
	}
}

// leaveDay gives back what is reserved for a request that nobody was asked by, unless another task waits by the same one.
func (c *Controller) leaveDay(d *waitingTask) {
	if d.asked == "" {
		return
	}
	asked := d.asked
	d.asked = ""
	if next := d.session.waiting[d.grant]; next != nil && next != d && next.request == d.request {
		next.asked = asked
		return
	}
	c.releaseDay(d.profile, asked, d.request)
}

func (c *Controller) releaseDay(profile, day, request string) {
	c.tellDay(profile, day, dayOperation{frees: true, change: func(account *budget.DayAccount) bool { return account.Release(request) }})
}

// SettleDays counts what a record says that requests have used of budgets of days, and calls done once the ledger has it. It reports false, and
// calls nothing, for a record that says nothing of that. To count it again changes nothing.
func (c *Controller) SettleDays(demand *Demand, record *schemas.Record, done func(now time.Time)) bool {
	var all []*schemas.Spent
	for fact := range record.AllFacts() {
		if spent := schemas.SpentBy(fact); spent != nil && spent.Day != "" && !fault.Is("what a day was used for is not counted") {
			all = append(all, spent)
		}
	}
	left := len(all)
	for _, spent := range all {
		c.tellDay(demand.State.Profile, spent.Day, dayOperation{
			frees: true, recorded: true,
			change: func(account *budget.DayAccount) bool {
				return account.Settle(schemas.AttemptKey(spent.Request), spent.Usage)
			},
			done: func(now time.Time, _ bool) {
				if left--; left == 0 && done != nil {
					done(now)
				}
			},
		})
	}
	return left > 0
}

// RecoverDays brings the budget of the day together with a session that was read from the ledger, once it is tracked: what its last record has used
// is counted first; what an owner has reserved for requests that nobody was asked by is given back, or kept for those that still wait; and after a
// loss of power what is under way is reserved again.
func (c *Controller) RecoverDays(demand *Demand, last *schemas.Record) {
	var lost []*waitingTask
	if demand.day != nil {
		lost = demand.day.lost
	}
	demand.day = nil
	if last != nil {
		c.SettleDays(demand, last, nil)
	}
	for _, d := range lost {
		c.leaveLost(d)
	}
	active := demand.State.Active
	if active == nil || active.Account == nil || active.Account.Day != schemas.Day(c.now) {
		return
	}
	profile, day, run := demand.State.Profile, active.Account.Day, schemas.RunID(demand.State.Session, active.Number)
	for task := range active.All {
		grant := schemas.Grant{Run: active.Number, Task: task.ID}
		if d := demand.waiting[grant]; d != nil {
			d.asked = day
		} else if !task.NotifiesPeople() {
			demand.doWithout(unneeded{grant, day, schemas.RequestID(c.Shard, 0, run, task.ID, task.Attempt+1)})
		}
		if request := schemas.AttemptKey(task.Request); request != "" && !reserves(active.Account, request) {
			c.releaseDay(profile, day, request) // its answer is counted
		}
	}
	if c.LocalOwners.allAdopted() {
		return
	}
	for i := range active.Account.Open {
		open := &active.Account.Open[i]
		if open.Day != day {
			continue
		}
		want := budget.DayReservation{Request: schemas.AttemptKey(open.Request), Agent: open.Agent, Usage: open.Usage}
		c.tellDay(profile, day, dayOperation{alone: true, change: func(account *budget.DayAccount) bool { return account.Adopt(&want) }})
	}
}

// An unneeded request is one for which an owner may have reserved something, and of which the ledger knows nothing.
type unneeded struct {
	grant        schemas.Grant
	day, request string
}

// leaveLost gives back what was reserved for a task that another owner has decided about, if no request needs it. What the session does not tell stays
// for the day.
func (c *Controller) leaveLost(d *waitingTask) {
	task := taskOf(d.session, d.grant)
	switch {
	case task == nil || !fault.Is("what nobody has answered counts as counted") && reserves(d.session.State.Active.Account, d.request):
	case task.Attempt < d.attempt:
		d.session.doWithout(unneeded{d.grant, d.asked, d.request})
	default:
		c.leaveDay(d)
	}
	d.asked = ""
}

// leaveUnneeded gives back what nobody was asked by, once this owner has written to the session since it was read: until then a former one may still
// say that it has asked. What this owner has just asked by it keeps it.
func (c *Controller) leaveUnneeded(demand *Demand) {
	if demand.restored() || demand.day == nil {
		return
	}
	active := demand.State.Active
	for _, request := range demand.day.unneeded {
		switch d := demand.waiting[request.grant]; {
		case active != nil && reserves(active.Account, request.request) && !fault.Is("what was asked by a reservation loses that"):
		case d != nil && d.request == request.request && d.asked == "":
			d.asked = request.day
		case d == nil || d.request != request.request || d.asked != request.day:
			c.releaseDay(demand.State.Profile, request.day, request.request)
		}
	}
	demand.day = nil
}

// reserves reports whether something is reserved in a run for a request, by schemas.AttemptKey.
func reserves(account *workflow.Account, request string) bool {
	return account != nil && slices.ContainsFunc(account.Open, func(open workflow.Reservation) bool { return schemas.AttemptKey(open.Request) == request })
}
