package sim

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/budget"
)

// The invariants of budgets.
const (
	BudgetHolds            = "no request goes out that does not fit what is left of its budget, and whoever works reserves what it may use"
	ReservationsSettleOnce = "what was reserved for a request is settled once, by the first answer to it, at what that says"
)

// budgets are what a world has whose profiles bound what runs use.
type budgets struct {
	rand *rand.Rand
	days *rand.Rand // of limits of a day; nil: there are none
}

// withDays has budgets be limited by the day as well. A world begins shortly before the day ends.
func (b *budgets) withDays(w *World) {
	b.days = source(w.Seed, dayStream)
	w.now = w.now.Add(-time.Duration(1+b.days.IntN(180)) * time.Second)
}

// nextDay is the moment that follows when nothing goes wrong any more: the next one, or after many the next day, since runs may wait for one after the other.
func (b *budgets) nextDay(moments int, next time.Time) time.Time {
	if b == nil || b.days == nil || moments%500 != 499 {
		return next
	}
	return schemas.DayEnd(schemas.Day(next))
}

// declareDays says in a profile what its runs may use together on a day.
func (b *budgets) declareDays(p *schemas.Profile) {
	if b.days == nil || once(b.days, 6) {
		return
	}
	p.Budget.Day = schemas.Usage{Tokens: pick[int64](b.days, 60, 150, 400)}
	if once(b.days, 3) {
		p.Budget.DayAgents = map[string]schemas.Usage{alpha: {Tokens: pick[int64](b.days, 40, 100)}}
	}
	if p.Budget.Exhausted == "" && once(b.days, 2) {
		p.Budget.Exhausted = schemas.BudgetWaits
	}
}

func newBudgets(seed uint64) *budgets {
	return &budgets{rand: source(seed, budgetStream)}
}

// asksForMore is what people are told who may raise a budget.
const asksForMore = "more, such as "

// declare says in profiles what runs may use.
func (b *budgets) declare(sources []schemas.Profile) {
	if b == nil {
		return
	}
	for i := range sources {
		p := &sources[i]
		if once(b.rand, 6) {
			continue
		}
		p.Budget = &schemas.Budget{
			Run: schemas.Usage{Tokens: pick[int64](b.rand, 40, 90, 200, 1000)}, Reserve: schemas.Usage{Tokens: pick[int64](b.rand, 10, 30)},
		}
		if once(b.rand, 2) {
			p.Budget.Agents = map[string]schemas.Usage{alpha: {Tokens: pick[int64](b.rand, 30, 80)}}
		}
		if once(b.rand, 4) {
			p.Budget.Free = []string{beta}
		}
		if p.Waiting != nil && !once(b.rand, 3) {
			p.Budget.Exhausted, p.Budget.People = schemas.BudgetAsks, []string{schemas.ApprovingRequester}
			p.Budget.Expire, p.Budget.Remind = seconds(30+b.rand.IntN(60)), seconds(pick(b.rand, 0, 10))
		}
		b.declareDays(p)
		p.Languages = slices.Clone(p.Languages)
		for n := range p.Languages {
			p.Languages[n].Texts.Budget, p.Languages[n].Texts.Tokens = asksForMore+"{offer}", "{amount} tokens"
		}
		if p.Planner == nil {
			continue
		}
		planner := *p.Planner
		planner.Templates = slices.Clone(planner.Templates)
		for n := range planner.Templates {
			tasks := slices.Clone(planner.Templates[n].Tasks)
			for t := range tasks {
				tasks[t].Tokens = pick(b.rand, 0, 5, 20, 60)
			}
			planner.Templates[n].Tasks = tasks
		}
		p.Planner = &planner
	}
}

// usage is what an agent says that it has used: nothing, too little, or more than anybody has reckoned with.
func (b *budgets) usage(payload *schemas.ResponsePayload) {
	if b == nil {
		return
	}
	payload.ResourceUsage = nil
	if !once(b.rand, 4) {
		payload.ResourceUsage = &schemas.ResourceUsage{TimeElapsedSeconds: 1}
	}
	if payload.ResourceUsage != nil && !once(b.rand, 4) {
		payload.ResourceUsage.TokensUsed = new(pick(b.rand, 0, 5, 20, b.rand.IntN(100)))
	}
}

// told has somebody decide about a budget, and reports whether a question is about one.
func (b *budgets) told(q *question, text string) bool {
	if b == nil || !strings.Contains(text, asksForMore) {
		return false
	}
	soon := q.people.world.now.Add(time.Duration(b.rand.Int64N(int64(20 * time.Second))))
	say := func(at time.Time, control schemas.Control) {
		control.Inquiry = q.inquiry
		q.people.later(at, func() { q.control(&control) })
	}
	raise := schemas.Control{Action: schemas.ControlRaise}
	switch b.rand.IntN(6) {
	case 0: // nothing, ever
	case 1:
		say(soon, schemas.Control{Action: schemas.ControlReject})
	case 2: // too little, perhaps
		raise.Amount = &schemas.Usage{Tokens: 1 + b.rand.Int64N(50)}
		say(soon, raise)
	case 3: // twice at once
		say(soon, raise)
		say(soon, schemas.Control{Action: pick(b.rand, schemas.ControlRaise, schemas.ControlReject)})
	default:
		say(soon, raise)
	}
	return true
}

// spending is what the oracle knows of what a run has used, by the answers themselves.
type spending struct {
	used   map[string]int64        // tokens, by agent
	open   map[string]*reservation // by request
	raised map[string]int64        // tokens, by agent; that of the run has no name
	parked bool                    // it has waited for the next day
}

type reservation struct {
	agent  string
	tokens int64
	day    *daySpending // in whose budget it is, too; nil is none
}

// daySpending is what the oracle knows of what runs of a profile have used on a day.
type daySpending struct {
	used   map[string]int64        // tokens, by agent
	least  map[string]int64        // of them what was reserved for them
	open   map[string]*reservation // by schemas.AttemptKey
	went   map[string]bool         // likewise, answered or not
	raised map[string]int64        // tokens, for some run; that of the profile has no name
}

func (o *oracle) dayOf(profile, day string) *daySpending {
	key := profile + "." + day
	if o.days == nil {
		o.days = map[string]*daySpending{}
	}
	if o.days[key] == nil {
		o.days[key] = &daySpending{used: map[string]int64{}, least: map[string]int64{}, open: map[string]*reservation{}, went: map[string]bool{}, raised: map[string]int64{}}
	}
	return o.days[key]
}

// goesOnDay: who needs some of the budget of a day has reserved it on the day on which it goes out.
func (o *oracle) goesOnDay(m *moment, f *schemas.TaskDispatched) {
	policy := m.run.profile.Budget
	if f.Reserved.Tokens == 0 || policy.Day.Tokens == 0 && policy.DayAgents[f.Agent].Tokens == 0 {
		return
	}
	reserved := m.run.spending.open[f.Request]
	reserved.day = o.dayOf(m.run.profile.Name, schemas.Day(m.cause.Time))
	reserved.day.open[schemas.AttemptKey(f.Request)], reserved.day.went[schemas.AttemptKey(f.Request)] = reserved, true
}

// daysHold: no more goes out on a day than its limits have room for, when nobody uses more than they have reserved; and the ledger has of each request
// what was reserved until it is answered, and then what it has used.
func daysHold(o *oracle) {
	for _, key := range slices.Sorted(maps.Keys(o.days)) {
		spent := o.days[key]
		var account budget.DayAccount
		if body, _, err := o.world.ledger.KeyValue(bus.BudgetBucket).Get(context.Background(), key); err == nil {
			o.world.must(schemas.Unmarshal(body, &account))
		}
		open := map[string]bool{}
		for i := range account.Open {
			open[account.Open[i].Request] = true
		}
		for _, request := range slices.Sorted(maps.Keys(spent.open)) {
			if !open[request] {
				o.world.violate(ReservationsSettleOnce, "%s: nothing is reserved for request %s, which nobody has answered", key, request)
			}
		}
		for i := range account.Open {
			if request := account.Open[i].Request; spent.went[request] && spent.open[request] == nil {
				o.world.violate(ReservationsSettleOnce, "%s: request %s is answered, and what it has reserved stays", key, request)
			}
		}
		for _, agent := range slices.Sorted(maps.Keys(spent.used)) {
			used := account.Taken(agent).Tokens - account.Reserved(agent).Tokens
			if used != spent.used[agent] {
				o.world.violate(ReservationsSettleOnce, "%s: agent %s has used %d tokens, and not %d", key, agent, spent.used[agent], used)
			}
		}
		o.dayHolds(key, spent)
	}
}

// dayHolds: what was reserved at a time, and what was used of that, has had room.
func (o *oracle) dayHolds(key string, spent *daySpending) {
	profile, _, _ := strings.Cut(key, ".")
	limits := map[string]int64{}
	for _, configured := range o.world.configurations {
		if current := configured.Current(profile); current != nil && current.Budget != nil {
			limits[""] = max(limits[""], current.Budget.Day.Tokens)
			for agent, limit := range current.Budget.DayAgents {
				limits[agent] = max(limits[agent], limit.Tokens)
			}
		}
	}
	for _, of := range slices.Sorted(maps.Keys(limits)) {
		taken := int64(0)
		for agent, tokens := range spent.least {
			if of == "" || of == agent {
				taken += tokens
			}
		}
		for _, open := range spent.open {
			if of == "" || of == open.agent {
				taken += open.tokens
			}
		}
		if limit := limits[of] + spent.raised[of]; limits[of] > 0 && taken > limit {
			o.world.violate(BudgetHolds, "%s: of %d tokens for %q %d are taken", key, limit, of, taken)
		}
	}
}

// taken is what is used or reserved, by an agent or by all.
func (s *spending) taken(agent string) int64 {
	taken := int64(0)
	for by, tokens := range s.used {
		if agent == "" || agent == by {
			taken += tokens
		}
	}
	for _, open := range s.open {
		if agent == "" || agent == open.agent {
			taken += open.tokens
		}
	}
	return taken
}

// budgetHolds: whoever works reserves what the plan says, else what the budget does, and no more than is left of it.
func budgetHolds(o *oracle, m *moment) {
	f, policy := schemas.As[*schemas.TaskDispatched](m.fact), m.run.profile.Budget
	if f == nil || policy == nil {
		return
	}
	tells := f.Task == schemas.DeliveryTask || noticeOf(f.Task) > 0
	want := policy.Reserve.Tokens
	if m.task != nil && m.task.planned != nil && m.task.planned.Tokens > 0 {
		want = int64(m.task.planned.Tokens)
	}
	if slices.Contains(policy.Free, f.Agent) {
		want = 0
	}
	if tells != (f.Reserved == nil) || !tells && f.Reserved.Tokens != want {
		o.world.violate(BudgetHolds, "%s: %s reserves %v, and not %d tokens", m.id, f.Task, f.Reserved, want)
		return
	}
	if tells || want == 0 {
		return
	}
	for _, of := range [...]string{"", f.Agent} {
		limit := policy.Run.Tokens
		if of != "" {
			limit = policy.Agents[of].Tokens
		}
		if taken := m.run.spending.taken(of); limit > 0 && taken+want > limit+m.run.spending.raised[of] {
			o.world.violate(BudgetHolds, "%s: %s of %q needs %d tokens, and %d of %d are taken", m.id, f.Task, of, want, taken, limit+m.run.spending.raised[of])
		}
	}
}

// spends notes what a fact says of the budget, and holds it to what agents have answered.
func (o *oracle) spends(m *moment) {
	if m.run.profile.Budget == nil {
		return
	}
	s := &m.run.spending
	if s.used == nil {
		s.used, s.open, s.raised = map[string]int64{}, map[string]*reservation{}, map[string]int64{}
	}
	switch f := m.fact.(type) {
	case *schemas.TaskReady:
		s.parked = s.parked || f.Day != nil && f.Day.Parked
	case *schemas.TaskDispatched:
		if f.Reserved != nil {
			s.open[f.Request] = &reservation{agent: f.Agent, tokens: f.Reserved.Tokens}
			o.goesOnDay(m, f)
		}
	case *schemas.TaskCompleted:
		o.settled(m, f.Usage)
	case *schemas.TaskFailed:
		o.settled(m, f.Usage)
	case *schemas.InquiryOpened:
		o.settled(m, f.Usage)
	case *schemas.ResponseLate:
		if m.run.ended == nil {
			o.settled(m, f.Usage)
		}
	case *schemas.InquiryAnswered:
		switch i := m.run.inquiry(f.Inquiry); {
		case i == nil || i.fact.Shortage == nil || f.Amount == nil:
		case i.fact.Shortage.Day != "":
			o.dayOf(m.run.profile.Name, i.fact.Shortage.Day).raised[i.fact.Shortage.Agent] += f.Amount.Tokens
		default:
			s.raised[i.fact.Shortage.Agent] += f.Amount.Tokens
		}
	default:
	}
}

// settled: the first answer to a request settles what was reserved for it, at what it says.
func (o *oracle) settled(m *moment, spent *schemas.Spent) {
	s := &m.run.spending
	by, err := o.saidAt(m.shard, m.cause.Sequence)
	request := by.request
	if m.cause.Malformed != nil && m.task != nil && m.task.attempt != nil {
		request, by.tokens, err = m.task.attempt.fact.Request, nil, nil
	}
	asked := o.requests[request]
	said := m.cause.Malformed != nil || by.status != "" // a question for a permit is no answer
	answers := err == nil && said && m.cause.Sequence > 0 && asked != nil && asked.task.run == m.run && asked.task.id == schemas.TaskOf(m.fact)
	answers = answers && asked.at.sequence >= m.run.reopened // what a run has asked that was over stays reserved, also when its answer is sent again
	open := s.open[request]
	switch {
	case answers && open != nil:
		want := open.tokens
		if by.tokens != nil {
			want = int64(*by.tokens)
		}
		delete(s.open, request)
		s.used[open.agent] += want
		if open.day != nil {
			open.day.used[open.agent] += want
			open.day.least[open.agent] += min(want, open.tokens)
			delete(open.day.open, schemas.AttemptKey(request))
		}
		if spent == nil || spent.Request != request || spent.Tokens != want {
			o.world.violate(ReservationsSettleOnce, "%s: %s of %s has used %d tokens, and not %v", m.id, m.fact.Name(), schemas.TaskOf(m.fact), want, spent)
		}
	case spent != nil && answers && (asked.task.id == schemas.DeliveryTask || asked.task.notice() > 0):
		s.used[asked.agent] += spent.Tokens // it only counts
	case spent != nil:
		o.world.violate(ReservationsSettleOnce, "%s: %s of %s settles request %s, for which nothing is reserved", m.id, m.fact.Name(), schemas.TaskOf(m.fact), spent.Request)
	}
}
