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

// A DayAccount is what the requests of all runs of a profile have used and have reserved that went out on one day (UTC). Everything in it goes by
// the id of a request (schemas.AttemptKey), so that whatever is told twice, or by two owners, counts once.
type DayAccount struct {
	Used []workflow.AgentAccount `json:"used,omitzero"` // by agent, each once
	Open []DayReservation        `json:"open,omitzero"` // the oldest first
}

// A DayReservation is what a request may use that nobody has answered.
type DayReservation struct {
	Request string `json:"request"`
	Agent   string `json:"agent"`
	Epoch   uint64 `json:"epoch,omitzero"` // of the owner that has told of it last
	schemas.Usage
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
			changed = open.Epoch < want.Epoch
			open.Epoch = max(open.Epoch, want.Epoch)
			return nil, changed
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

// Release takes back what is reserved for a request that nobody was asked by. What a later owner has told of stays.
func (a *DayAccount) Release(request string, epoch uint64) bool {
	at := a.open(request)
	if at < 0 || a.Open[at].Epoch > epoch {
		return false
	}
	a.Open = slices.Delete(a.Open, at, at+1)
	return true
}

// Adopt notes a request that is under way, whether it fits or not, and reports whether that was not known.
func (a *DayAccount) Adopt(want *DayReservation) bool {
	if at := a.open(want.Request); at >= 0 {
		newer := a.Open[at].Epoch < want.Epoch
		a.Open[at].Epoch = max(a.Open[at].Epoch, want.Epoch)
		return newer
	}
	a.Open = append(a.Open, *want)
	return true
}
