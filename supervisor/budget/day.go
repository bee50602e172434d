package budget

import (
	"slices"

	"podium/schemas"
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
// succeeded changes nothing, once that one has told something: it would be about a past.
type DayAccount struct {
	Used   []workflow.AgentAccount `json:"used,omitzero"`   // by agent, each once
	Open   []DayReservation        `json:"open,omitzero"`   // the oldest first
	Owners []DayOwner              `json:"owners,omitzero"` // who has told of each shard last
}

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

// Reserve reserves what a request may use, if that fits what its claim says. It returns why it does not fit, or nil, and whether the account has changed.
func (a *DayAccount) Reserve(want *DayReservation, claim *schemas.DayClaim, day string) (short *schemas.Shortage, changed bool) {
	if at := a.open(want.Request); at >= 0 {
		open := &a.Open[at]
		if open.Agent == want.Agent && open.Usage == want.Usage {
			return nil, false
		}
		a.Open, changed = slices.Delete(a.Open, at, at+1), true // nobody was asked by it
	}
	if short = a.lacking(claim, want.Agent, day); short == nil {
		a.Open, changed = append(a.Open, *want), true
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
// settle is settled already.
func (a *DayAccount) Settle(request string, used schemas.Usage) bool {
	at := a.open(request)
	if at < 0 {
		return false
	}
	agent := a.Open[at].Agent
	a.Open = slices.Delete(a.Open, at, at+1)
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
	a.Open = slices.Delete(a.Open, at, at+1)
	return true
}

// Adopt notes a request that is under way, whether it fits or not, and reports whether that was not known.
func (a *DayAccount) Adopt(want *DayReservation) bool {
	if a.open(want.Request) >= 0 {
		return false
	}
	a.Open = append(a.Open, *want)
	return true
}
