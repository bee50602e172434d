package config

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"podium/agents/llm"
	"podium/agents/mcp"
	"podium/cmd/podium/config/keyword"
	"podium/schemas"
	"podium/supervisor/circuit"
	"podium/supervisor/route"
)

// The defaults that are more than a word.
const (
	defaultConcurrency = 3 // M-31
	defaultMaxSteps    = 8
	defaultRounds      = 1

	defaultAsks   = 2
	defaultRemind = schemas.Duration(24 * time.Hour)
	defaultExpire = schemas.Duration(72 * time.Hour)

	defaultContextMessages = 6
	defaultContextBytes    = 16 << 10
	defaultTimeoutGrowth   = 1.5 // M-26
	defaultAttempts        = 2   // G-32: one retry
	defaultDeliveries      = 10
	defaultRetryWait       = schemas.Duration(time.Second)
	defaultDeliveryWait    = schemas.Duration(2 * time.Second)
	defaultPoll            = schemas.Duration(time.Minute)
	defaultQueue           = schemas.Duration(time.Minute)
	defaultWork            = schemas.Duration(30 * time.Second) // settlement 18
)

// The names of the agents that deliver answers. They exist without being
// configured, and no profile gives them work of its own.
const (
	MailAgent = "mail" // when there is a mail account
	ChatAgent = "chat" // always: a message can come in by the command line
)

// WithDefaults returns a copy in which everything that may be left out is set.
func (c *Config) WithDefaults() Config {
	complete := *c
	complete.Ledger = c.Ledger.withDefaults()
	complete.HTTP.Listen = cmp.Or(c.HTTP.Listen, "127.0.0.1:8080")
	complete.Mail.Accounts = slices.Clone(c.Mail.Accounts)
	for i := range complete.Mail.Accounts {
		complete.Mail.Accounts[i].fill()
	}
	complete.Chat.Channels = maps.Clone(c.Chat.Channels)
	for name, channel := range complete.Chat.Channels {
		complete.Chat.Channels[name] = channel.withDefaults()
	}
	complete.Agents = make(map[string]Agent, len(c.Agents)+2)
	for name, agent := range c.Agents {
		complete.Agents[name] = agent.withDefaults()
	}
	if _, set := complete.Agents[ChatAgent]; !set {
		complete.Agents[ChatAgent] = Agent{Kind: KindChat}.withDefaults()
	}
	if _, set := complete.Agents[MailAgent]; !set && len(c.Mail.Accounts) > 0 {
		complete.Agents[MailAgent] = Agent{Kind: KindMail}.withDefaults()
	}
	complete.People = maps.Clone(c.People)
	for name, person := range complete.People {
		person.Account = c.accountOf(&person)
		complete.People[name] = person
	}
	complete.Profiles = make(map[string]Profile, len(c.Profiles))
	for name, profile := range c.Profiles {
		complete.Profiles[name] = profile.withDefaults()
	}
	return complete
}

func (l Ledger) withDefaults() Ledger {
	l.Data = cmp.Or(l.Data, "./podium-data")
	if l.NATS == nil { // else the server's configuration decides
		l.Durability = cmp.Or(l.Durability, DurabilityFsync)
	}
	return l
}

func (a *Account) fill() {
	a.IMAP.TLS = cmp.Or(a.IMAP.TLS, EncryptionImplicit)
	a.IMAP.Mailboxes = a.IMAP.watched()
	a.IMAP.Mailbox = a.IMAP.Mailboxes[0]
	a.IMAP.After.Processed = cmp.Or(a.IMAP.After.Processed, ProcessingFlag)
	a.IMAP.Alarm = cmp.Or(a.IMAP.Alarm, defaultAlarm)
	if a.IMAP.After.Processed == ProcessingMove {
		a.IMAP.After.Folder = cmp.Or(a.IMAP.After.Folder, defaultFolder)
	}
	if a.IMAP.Canary != nil {
		canary := a.IMAP.Canary.withDefaults()
		a.IMAP.Canary = &canary
	}
	a.IMAP.Poll = cmp.Or(a.IMAP.Poll, defaultPoll)
	a.IMAP.Port = cmp.Or(a.IMAP.Port, portOf(a.IMAP.TLS, 993, 143, 143))
	a.SMTP.fill()
}

func portOf(encryption Encryption, implicit, startTLS, none int) int {
	switch encryption {
	case EncryptionImplicit:
		return implicit
	case EncryptionStartTLS:
		return startTLS
	case EncryptionNone:
	}
	return none
}

func (a Agent) withDefaults() Agent {
	a.calendarDefaults()
	a.Concurrency = cmp.Or(a.Concurrency, defaultConcurrency)
	a.Kinds = a.kinds()
	a.Capabilities = slices.Clone(a.Capabilities)
	for i := range a.Capabilities {
		a.Capabilities[i].Words = keyword.Default(a.Capabilities[i].Words, schemas.ModeWord)
	}
	switch a.Kind {
	case KindExec, KindHTTP:
		a.Timeout = cmp.Or(a.Timeout, defaultWork)
	case KindLLM:
		a.Timeout = cmp.Or(a.Timeout, schemas.Duration(llm.DefaultTimeout))
		a.FirstByte, a.Idle = cmp.Or(a.FirstByte, defaultFirstByte), cmp.Or(a.Idle, defaultIdle)
	case KindMCP:
		a.Timeout = cmp.Or(a.Timeout, schemas.Duration(mcp.DefaultTimeout))
	case KindCalculator, KindEcho, KindCaldav, KindCarddav, KindExternal, KindScripted, KindDocument, KindFile, KindRetrieval, KindPerson, KindSupervisor, KindMail, KindChat:
	}
	if a.Kind == KindRetrieval {
		a.InputSchema = a.inputSchema()
	}
	if a.Kind == KindPerson {
		a.Remind, a.Expires = cmp.Or(a.Remind, defaultRemind), cmp.Or(a.Expires, defaultExpire)
	}
	a.Breaker.Failures = cmp.Or(a.Breaker.Failures, circuit.DefaultFailures)
	a.Breaker.Within = cmp.Or(a.Breaker.Within, schemas.Duration(circuit.DefaultWithin))
	a.Breaker.Open = cmp.Or(a.Breaker.Open, schemas.Duration(circuit.DefaultOpen))
	return a
}

// delivers reports whether an agent delivers answers, and has no other work.
func (a *Agent) delivers() bool { return a.Kind == KindMail || a.Kind == KindChat }

// kinds are those of the requests that an agent answers.
func (a *Agent) kinds() []schemas.RequestKind {
	if a.Kind == KindLLM {
		return []schemas.RequestKind{a.Role.Kind()}
	}
	if len(a.Kinds) == 0 {
		return []schemas.RequestKind{schemas.KindWork}
	}
	return a.Kinds
}

func (p Profile) withDefaults() Profile {
	p.Language = cmp.Or(p.Language, schemas.LanguageOfWriter)
	p.Routers = slices.Clone(p.Routers)
	for i := range p.Routers {
		p.Routers[i] = p.Routers[i].withDefaults()
	}
	mode := schemas.ExecutionSingle
	if p.Complexity != nil {
		complexity := *p.Complexity
		complexity.Verbs = keyword.Default(complexity.Verbs, schemas.ModeWord)
		p.Complexity, mode = &complexity, schemas.ExecutionSequence
	}
	if p.Planner != nil {
		planner := p.Planner.withDefaults()
		p.Planner = &planner
		switch planner.Kind {
		case schemas.PlannerTemplate, schemas.PlannerAgent, schemas.PlannerExternal:
			mode = schemas.ExecutionDAG
		case schemas.PlannerNone, schemas.PlannerRules:
		}
	}
	p.Execution.Mode = cmp.Or(p.Execution.Mode, mode)
	if p.Replan != nil {
		replan := *p.Replan
		after := schemas.OccasionFailure
		if p.Execution.Mode == schemas.ExecutionSequence || p.Execution.Mode == executionReplanLoop {
			after = schemas.OccasionStep
		}
		replan.After = cmp.Or(replan.After, after)
		p.Replan, p.Execution.Steps = &replan, cmp.Or(p.Execution.Steps, schemas.DefaultSteps)
	}
	if p.Review != nil {
		review, rounds := *p.Review, defaultRounds
		if review.Rounds == nil {
			review.Rounds = &rounds
		}
		review.OnFailed = cmp.Or(review.OnFailed, schemas.ReviewFails)
		p.Review, p.Execution.Steps = &review, cmp.Or(p.Execution.Steps, schemas.DefaultSteps)
	}
	p.Execution.MaxSteps = cmp.Or(p.Execution.MaxSteps, defaultMaxSteps)
	p.Retry.TimeoutGrowth = cmp.Or(p.Retry.TimeoutGrowth, defaultTimeoutGrowth)
	p.Retry.Attempts, p.Retry.Wait = cmp.Or(p.Retry.Attempts, defaultAttempts), cmp.Or(p.Retry.Wait, defaultRetryWait)
	p.Delivery.Attempts, p.Delivery.Wait = cmp.Or(p.Delivery.Attempts, defaultDeliveries), cmp.Or(p.Delivery.Wait, defaultDeliveryWait)
	p.Deadlines.Queue = cmp.Or(p.Deadlines.Queue, defaultQueue)
	p.Deadlines.Work = cmp.Or(p.Deadlines.Work, defaultWork)
	p.Context.Bytes = cmp.Or(p.Context.Bytes, defaultContextBytes)
	p.Waiting.Remind, p.Waiting.Expire = cmp.Or(p.Waiting.Remind, defaultRemind), cmp.Or(p.Waiting.Expire, defaultExpire)
	p.Approval = slices.Clone(p.Approval)
	for i := range p.Approval {
		rule := &p.Approval[i]
		rule.Remind, rule.Expires = cmp.Or(rule.Remind, defaultRemind), cmp.Or(rule.Expires, defaultExpire)
	}
	p.Escalation.Coordinator, p.Escalation.Human = p.Escalation.Coordinator.withDefaults(), p.Escalation.Human.withDefaults()
	p.Budget = p.budgetOfCoordinator()
	if p.Budget != nil && p.Budget.Exhausted == schemas.BudgetAsks {
		budget := *p.Budget
		budget.Remind, budget.Expires = cmp.Or(budget.Remind, defaultRemind), cmp.Or(budget.Expires, defaultExpire)
		p.Budget = &budget
	}
	p.Timezone = cmp.Or(p.Timezone, "UTC")
	return p
}

// budgetOfCoordinator is the budget of a profile whose recovery asks for more: the coordinator may raise it where nothing else is said.
func (p *Profile) budgetOfCoordinator() *Budget {
	way := p.Recovery.Resource
	if way == "" && p.Recovery.Default == schemas.WayTable {
		way = schemas.WayBudget
	}
	coordinator := p.Escalation.Coordinator
	if p.Budget == nil || way != schemas.WayBudget || p.Budget.Exhausted != "" || coordinator == nil || coordinator.Upstream {
		return p.Budget
	}
	budget := *p.Budget
	budget.Exhausted, budget.People = schemas.BudgetAsks, coordinator.People
	budget.Remind, budget.Expires = coordinator.Remind, coordinator.Expires
	return &budget
}

func (c *EscalationChannel) withDefaults() *EscalationChannel {
	if c == nil || c.Upstream || c.Agent != "" {
		return c
	}
	return &EscalationChannel{People: c.People, Remind: cmp.Or(c.Remind, defaultRemind), Expires: cmp.Or(c.Expires, defaultExpire)}
}

func (r Router) withDefaults() Router {
	switch r.Kind {
	case schemas.RouterKeywords:
		return r.keywordsWithDefaults()
	case schemas.RouterScore:
		if r.SelfWeight == 0 && r.KeywordWeight == 0 {
			r.SelfWeight, r.KeywordWeight = route.DefaultSelfWeight, route.DefaultKeywordWeight
		}
		r.Floor = cmp.Or(r.Floor, route.DefaultFloor)
		r.Deadline = cmp.Or(r.Deadline, schemas.Duration(route.DefaultAssessDeadline))
	case schemas.RouterAgent:
		r.Deadline = cmp.Or(r.Deadline, schemas.Duration(route.DefaultChoiceDeadline))
	case schemas.RouterAssigned, schemas.RouterDefault:
	}
	return r
}

func (r Router) keywordsWithDefaults() Router {
	r.Mode = cmp.Or(r.Mode, schemas.OrderConfigured)
	r.Match = cmp.Or(r.Match, schemas.ModeWord)
	r.Groups = slices.Clone(r.Groups)
	for i := range r.Groups {
		r.Groups[i].Name = cmp.Or(r.Groups[i].Name, r.Groups[i].Agent)
		r.Groups[i].Match = cmp.Or(r.Groups[i].Match, r.Match)
		r.Groups[i].Keywords = keyword.Default(r.Groups[i].Keywords, r.Groups[i].Match)
	}
	return r
}

func (p Planner) withDefaults() Planner {
	p.Templates = slices.Clone(p.Templates)
	for i := range p.Templates {
		p.Templates[i].Keywords = keyword.Default(p.Templates[i].Keywords, schemas.ModeWord)
	}
	return p
}
