package budget

import (
	"slices"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
)

// LimitsDay reports whether a request to an agent has to fit what runs may use together on one day.
func LimitsDay(policy *schemas.Budget, agent string, need schemas.Usage) bool {
	return limits(policy.Day, need) || limits(policy.DayAgents[agent], need)
}

func limits(limit, need schemas.Usage) bool {
	return limit.Tokens > 0 && need.Tokens > 0 || limit.Milliseconds > 0 && need.Milliseconds > 0 || limit.CostMicros > 0 && need.CostMicros > 0
}

// FitsAnotherDay reports whether a request that has no room today would have some if nothing else went out.
func FitsAnotherDay(short *schemas.Shortage) bool {
	return lacking(short.Limit, schemas.Usage{}, short.Need) == schemas.Usage{}
}

// A DayAccount is what the requests of all runs of a profile have used and have reserved that went out on one day (UTC). Everything in it goes by
// the id of a request (schemas.AttemptKey), so that whatever is told twice, or by two owners, counts once. What an owner tells that another one has
// succeeded changes nothing, once that one has told something: it would be about a past. For two owners that live at a time it remembers what was
// closed last: one may not know yet that a request is answered, and the other may have given back what a request goes by that is made after all.
type DayAccount struct {
	Used   []workflow.AgentAccount `json:"used,omitzero"`   // by agent, each once
	Open   []DayReservation        `json:"open,omitzero"`   // the oldest first
	Closed []DayClosed             `json:"closed,omitzero"` // the oldest first, MaxClosed at most
	Owners []DayOwner              `json:"owners,omitzero"` // who has told of each shard last
}

// A DayClosed is a reservation that is none any more: it was settled, or given back.
type DayClosed struct {
	Request string `json:"request"`
	// Agent is whose it was when it was given back, so that what it has used is counted if it is answered after all. Empty is that it is settled.
	Agent string `json:"agent,omitzero"`
}

// MaxClosed bounds what an account remembers. What was settled goes first, since owners live at the same time for seconds; what was given back may be
// answered hours later.
const MaxClosed = 128

// DayKey is the key of the account of a profile and a day in bus.BudgetBucket.
func DayKey(profile, day string) string { return profile + "." + day }

// A DayReservation is what a request may use that nobody has answered.
type DayReservation struct {
	Request string `json:"request"`
	Agent   string `json:"agent"`
	schemas.Usage
}

// A DayOwner is the owner of a shard, by the epoch that has begun with it.
type DayOwner struct {
	Shard int    `json:"shard"`
	Epoch uint64 `json:"epoch"`
}

// Tell notes who tells of a shard. It reports false when that is a former owner, and whether the account has changed.
func (a *DayAccount) Tell(by DayOwner) (owns, changed bool) {
	at := slices.IndexFunc(a.Owners, func(owner DayOwner) bool { return owner.Shard == by.Shard })
	switch {
	case at < 0:
		a.Owners = append(a.Owners, by)
	case a.Owners[at].Epoch >= by.Epoch:
		return a.Owners[at].Epoch == by.Epoch, false
	default:
		a.Owners[at].Epoch = by.Epoch
	}
	return true, true
}

// MaxOpen bounds the reservations of a day that are open at a time: what is above waits for one of them to be settled.
const MaxOpen = 4000

// Taken is what is used or reserved, by one agent or by all together when its name is empty.
func (a *DayAccount) Taken(agent string) schemas.Usage {
	var taken schemas.Usage
	for i := range a.Used {
		if agent == "" || a.Used[i].Agent == agent {
			taken = taken.Plus(a.Used[i].Usage)
		}
	}
	return taken.Plus(a.Reserved(agent))
}

// Reserved is what is reserved, as Taken has it.
func (a *DayAccount) Reserved(agent string) schemas.Usage {
	var reserved schemas.Usage
	for i := range a.Open {
		if agent == "" || a.Open[i].Agent == agent {
			reserved = reserved.Plus(a.Open[i].Usage)
		}
	}
	return reserved
}

func (a *DayAccount) open(request string) int {
	return slices.IndexFunc(a.Open, func(open DayReservation) bool { return open.Request == request })
}

// close takes a reservation out, and remembers it.
func (a *DayAccount) close(at int, closed DayClosed) {
	a.Open = slices.Delete(a.Open, at, at+1)
	if a.Closed = append(a.Closed, closed); len(a.Closed) > MaxClosed {
		oldest := max(slices.IndexFunc(a.Closed, func(closed DayClosed) bool { return closed.Agent == "" }), 0)
		a.Closed = slices.Delete(a.Closed, oldest, oldest+1)
	}
}

func (a *DayAccount) closed(request string) int {
	return slices.IndexFunc(a.Closed, func(closed DayClosed) bool { return closed.Request == request })
}

// settled reports whether a request is answered, and what it has used is counted.
func (a *DayAccount) settled(request string) bool {
	at := a.closed(request)
	return at >= 0 && a.Closed[at].Agent == ""
}

// reserve adds a reservation.
func (a *DayAccount) reserve(want *DayReservation) {
	a.Open = append(a.Open, *want)
	if at := a.closed(want.Request); at >= 0 {
		a.Closed = slices.Delete(a.Closed, at, at+1)
	}
}

// Reserve reserves what a request may use, if that fits what its claim says. It returns why it does not fit, or nil, and whether the account has changed.
// For one that is settled nothing is reserved: whoever asks does not know yet that another owner has made it.
func (a *DayAccount) Reserve(want *DayReservation, claim *schemas.DayClaim, day string) (short *schemas.Shortage, changed bool) {
	if a.settled(want.Request) && !fault.Is("what is answered is reserved once more") {
		return nil, false
	}
	if at := a.open(want.Request); at >= 0 {
		open := &a.Open[at]
		if open.Agent == want.Agent && open.Usage == want.Usage {
			return nil, false
		}
		a.Open, changed = slices.Delete(a.Open, at, at+1), true // nobody was asked by it
	}
	if short = a.lacking(claim, want.Agent, day); short == nil {
		a.reserve(want)
		changed = true
	}
	return short, changed
}

// lacking is why a request does not fit; nil is that it does.
func (a *DayAccount) lacking(claim *schemas.DayClaim, agent, day string) *schemas.Shortage {
	raised, agentRaised := claim.Raised, claim.AgentRaised
	if claim.Day != day {
		raised, agentRaised = schemas.Usage{}, schemas.Usage{}
	}
	for _, of := range [...]struct {
		agent         string
		limit, raised schemas.Usage
	}{{"", claim.Run, raised}, {agent, claim.Agent, agentRaised}} {
		short := schemas.Shortage{Agent: of.agent, Limit: raise(of.limit, of.raised), Taken: a.Taken(of.agent), Need: claim.Need, Day: day}
		if short.Offer = lacking(short.Limit, short.Taken, claim.Need); short.Offer != (schemas.Usage{}) {
			return &short
		}
	}
	if len(a.Open) >= MaxOpen {
		return &schemas.Shortage{Limit: claim.Run, Taken: a.Taken(""), Need: claim.Need, Offer: claim.Need, Day: day}
	}
	return nil
}

// Settle counts what a request has used, in the place of what was reserved for it, and reports whether that changes anything: what has nothing to
// settle is settled already. What was given back by an owner that did not know of the request is counted, too.
func (a *DayAccount) Settle(request string, used schemas.Usage) bool {
	agent := ""
	if at := a.open(request); at >= 0 {
		agent = a.Open[at].Agent
		a.close(at, DayClosed{Request: request})
	} else if at = a.closed(request); at >= 0 && a.Closed[at].Agent != "" {
		agent, a.Closed[at].Agent = a.Closed[at].Agent, ""
	} else {
		return false
	}
	if by := slices.IndexFunc(a.Used, func(of workflow.AgentAccount) bool { return of.Agent == agent }); by >= 0 {
		a.Used[by].Usage = a.Used[by].Plus(used)
		return true
	}
	a.Used = append(a.Used, workflow.AgentAccount{Agent: agent, Usage: used})
	return true
}

// Release takes back what is reserved for a request that nobody was asked by.
func (a *DayAccount) Release(request string) bool {
	at := a.open(request)
	if at < 0 {
		return false
	}
	a.close(at, DayClosed{Request: request, Agent: a.Open[at].Agent})
	return true
}

// Adopt notes a request that is under way, whether it fits or not, and reports whether that was not known.
func (a *DayAccount) Adopt(want *DayReservation) bool {
	if a.open(want.Request) >= 0 || a.settled(want.Request) {
		return false
	}
	a.reserve(want)
	return true
}
