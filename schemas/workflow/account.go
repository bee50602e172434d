package workflow

import (
	"slices"
	"time"

	"podium/schemas"
)

// An Account is what a run has used and has reserved, where its profile has a budget (P-10, P-19). It is never changed in place.
type Account struct {
	Agents []AgentAccount `json:"agents,omitzero"` // each once, in the order in which they have used something
	Open   []Reservation  `json:"open,omitzero"`   // what no answer has settled, the oldest first
	Raises []AgentAccount `json:"raises,omitzero"` // by how much limits were raised, each once; that of the run has no agent
	// Refused says that somebody has said no to more, or nobody anything: nobody is asked again.
	Refused bool `json:"refused,omitzero"`
	// Day is the newest day whose budget requests of the run were to go by, and DayRaises by how much people have raised it for the run.
	Day       string         `json:"day,omitzero"`
	DayRaises []AgentAccount `json:"day_raises,omitzero"`
}

// An AgentAccount is what is known of one agent.
type AgentAccount struct {
	Agent string `json:"agent,omitzero"`
	schemas.Usage
}

// A Reservation is what a request may use that nobody has answered.
type Reservation struct {
	Request string `json:"request"`
	Agent   string `json:"agent"`
	Day     string `json:"day,omitzero"` // in whose budget it is reserved, too; empty is none
	schemas.Usage
}

// Used is what agents have used: one of them, or all together when its name is empty. No account has none.
func (a *Account) Used(agent string) schemas.Usage {
	if a == nil {
		return schemas.Usage{}
	}
	return sum(a.Agents, agent)
}

// Taken is what is used or reserved, as Used has it.
func (a *Account) Taken(agent string) schemas.Usage {
	taken := a.Used(agent)
	if a != nil {
		for i := range a.Open {
			if agent == "" || a.Open[i].Agent == agent {
				taken = taken.Plus(a.Open[i].Usage)
			}
		}
	}
	return taken
}

// Raised is by how much the limit of an agent was raised, or that of the run when its name is empty.
func (a *Account) Raised(agent string) schemas.Usage {
	if a == nil {
		return schemas.Usage{}
	}
	return raisedOf(a.Raises, agent)
}

// RaisedOn is by how much people have raised the budget of a day for the run, as Raised has it.
func (a *Account) RaisedOn(day, agent string) schemas.Usage {
	if a == nil || a.Day != day {
		return schemas.Usage{}
	}
	return raisedOf(a.DayRaises, agent)
}

func raisedOf(raises []AgentAccount, agent string) schemas.Usage {
	at := slices.IndexFunc(raises, func(raise AgentAccount) bool { return raise.Agent == agent })
	if at < 0 {
		return schemas.Usage{}
	}
	return raises[at].Usage
}

// Reserved returns what is reserved for a request; false when nothing is, or not any more.
func (a *Account) Reserved(request string) (Reservation, bool) {
	if a == nil {
		return Reservation{}, false
	}
	at := a.open(request)
	if at < 0 {
		return Reservation{}, false
	}
	return a.Open[at], true
}

func (a *Account) open(request string) int {
	return slices.IndexFunc(a.Open, func(open Reservation) bool { return open.Request == request })
}

func sum(accounts []AgentAccount, agent string) schemas.Usage {
	var total schemas.Usage
	for i := range accounts {
		if agent == "" || accounts[i].Agent == agent {
			total = total.Plus(accounts[i].Usage)
		}
	}
	return total
}

// with returns accounts with some more for an agent.
func with(accounts []AgentAccount, agent string, more schemas.Usage) []AgentAccount {
	accounts = slices.Clone(accounts)
	at := slices.IndexFunc(accounts, func(account AgentAccount) bool { return account.Agent == agent })
	if at < 0 {
		return append(accounts, AgentAccount{Agent: agent, Usage: more})
	}
	accounts[at].Usage = accounts[at].Plus(more)
	return accounts
}

// changed returns a copy of the account, to be changed.
func (a *Account) changed() *Account {
	if a == nil {
		return &Account{}
	}
	copied := *a
	return &copied
}

// reserveBudget notes what a request may use; claim is what it had to have of the budget of a day, or nil.
func reserveBudget(r *Run, f *schemas.TaskDispatched, claim *schemas.DayClaim, now time.Time) {
	if f.Reserved == nil {
		return
	}
	r.Account = r.Account.changed()
	reserved := Reservation{Request: f.Request, Agent: f.Agent, Usage: *f.Reserved}
	if claim != nil {
		reserved.Day = schemas.Day(now)
	}
	r.Account.Open = append(slices.Clip(r.Account.Open), reserved)
}

// claimDay notes what a task needs of the budget of a day. Once it is not parked any more, neither is the run.
func claimDay(r *Run, task *Task, claim *schemas.DayClaim, now time.Time) {
	parked := task.Day != nil && task.Day.Parked
	task.Day = claim
	if claim != nil {
		if day := schemas.Day(now); r.Account == nil || r.Account.Day != day {
			r.Account = r.Account.changed()
			r.Account.Day, r.Account.DayRaises = day, nil
		}
	}
	switch parks := claim != nil && claim.Parked; {
	case parks && r.Resting.IsZero():
		r.Resting = now
	case parked && !parks:
		resumeRun(r, now)
	}
}

// resumeRun ends the rest of a run, unless it rests for another reason. Its own deadline moves by the time that it has rested.
func resumeRun(r *Run, now time.Time) {
	if r.Resting.IsZero() || r.WaitsForPeople() || r.Parked() != nil {
		return
	}
	if !r.Expires.IsZero() && r.Rests() {
		r.Expires = r.Expires.Add(max(now.Sub(r.Resting), 0))
	}
	r.Resting = time.Time{}
}

// Parked returns the first task because of which the run waits for the next day, or nil.
func (r *Run) Parked() *Task {
	for i := range r.TaskCount() {
		task := r.TaskAt(i)
		if task.HeldForDay() && task.Day.Parked {
			return task
		}
	}
	return nil
}

// settleAccount notes what a request has used, in the place of what was reserved for it. Nothing counts that has nothing to settle, but for what tells people
// something: nothing is reserved for that.
func settleAccount(r *Run, f schemas.Fact) {
	spent := schemas.SpentBy(f)
	if spent == nil {
		return
	}
	reserved, open := r.Account.Reserved(spent.Request)
	task := r.Task(schemas.TaskOf(f))
	if tells := task != nil && task.NotifiesPeople(); !open && !tells {
		return
	}
	r.Account = r.Account.changed()
	if open {
		r.Account.Open = slices.Delete(slices.Clone(r.Account.Open), r.Account.open(spent.Request), r.Account.open(spent.Request)+1)
	} else {
		reserved.Agent = task.Agent
	}
	r.Account.Agents = with(r.Account.Agents, reserved.Agent, spent.Usage)
}

// raiseAccount notes what a person says to an inquiry about a budget.
func raiseAccount(r *Run, f *schemas.InquiryAnswered) {
	asked := r.Inquiry(f.Inquiry)
	if asked == nil || !asked.Kind.IsBudget() || asked.Shortage == nil {
		return
	}
	r.Account = r.Account.changed()
	if f.Choice == schemas.ChoiceReject || f.Amount == nil {
		r.Account.Refused = true
		return
	}
	switch asked.Shortage.Day {
	case "":
		r.Account.Raises = with(r.Account.Raises, asked.Shortage.Agent, *f.Amount)
	case r.Account.Day:
		r.Account.DayRaises = with(r.Account.DayRaises, asked.Shortage.Agent, *f.Amount)
	}
}

// noteUnraised marks the budget as refused when an inquiry for more budget ends without an answer.
func noteUnraised(r *Run, f *schemas.InquiryClosed) {
	silent := f.Reason == schemas.InquiryExpired || f.Reason == schemas.InquiryUnreachable
	if asked := r.Inquiry(f.Inquiry); silent && asked != nil && asked.Kind.IsBudget() {
		r.Account = r.Account.changed()
		r.Account.Refused = true
	}
}

// AsksForBudget returns the inquiry by which people are asked for more, or nil.
func (r *Run) AsksForBudget() *Inquiry {
	for _, inquiry := range r.Inquiries {
		if inquiry.Open() && inquiry.Kind.IsBudget() {
			return inquiry
		}
	}
	return nil
}
