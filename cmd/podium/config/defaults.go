package config

import (
	"maps"
	"slices"
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/route"
)

// The defaults that are more than a word.
const (
	defaultConcurrency   = 3 // M-31
	defaultMaxSteps      = 8
	defaultTimeoutGrowth = 1.5 // M-26
	defaultAttempts      = 2   // G-32: one retry
	defaultDeliveries    = 10
	defaultRetryWait     = schemas.Duration(time.Second)
	defaultDeliveryWait  = schemas.Duration(2 * time.Second)
	defaultPoll          = schemas.Duration(time.Minute)
	defaultQueue         = schemas.Duration(time.Minute)
	defaultWork          = schemas.Duration(30 * time.Second) // settlement 18
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
	complete.HTTP.Listen = or(c.HTTP.Listen, "127.0.0.1:8080")
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
	complete.Profiles = make(map[string]Profile, len(c.Profiles))
	for name, profile := range c.Profiles {
		complete.Profiles[name] = profile.withDefaults()
	}
	return complete
}

func (l Ledger) withDefaults() Ledger {
	l.Data = or(l.Data, "./podium-data")
	if l.NATS == nil { // else the server's configuration decides
		l.Durability = or(l.Durability, DurabilityFsync)
	}
	return l
}

func (a *Account) fill() {
	a.IMAP.TLS = or(a.IMAP.TLS, EncryptionImplicit)
	a.IMAP.Mailboxes = a.IMAP.watched()
	a.IMAP.Mailbox = a.IMAP.Mailboxes[0]
	a.IMAP.After.Processed = or(a.IMAP.After.Processed, ProcessingFlag)
	a.IMAP.Alarm = or(a.IMAP.Alarm, defaultAlarm)
	if a.IMAP.After.Processed == ProcessingMove {
		a.IMAP.After.Folder = or(a.IMAP.After.Folder, defaultFolder)
	}
	if a.IMAP.Canary != nil {
		canary := a.IMAP.Canary.withDefaults()
		a.IMAP.Canary = &canary
	}
	a.IMAP.Poll = or(a.IMAP.Poll, defaultPoll)
	a.IMAP.Port = or(a.IMAP.Port, portOf(a.IMAP.TLS, 993, 143, 143))
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
	a.Concurrency = or(a.Concurrency, defaultConcurrency)
	a.Kinds = a.kinds()
	a.Capabilities = slices.Clone(a.Capabilities)
	for i := range a.Capabilities {
		a.Capabilities[i].Words = wordByDefault(a.Capabilities[i].Words)
	}
	if a.Kind == KindExec {
		a.Timeout = or(a.Timeout, defaultWork)
	}
	a.Breaker.Failures = or(a.Breaker.Failures, plan.DefaultBreakerFailures)
	a.Breaker.Within = or(a.Breaker.Within, schemas.Duration(plan.DefaultBreakerWithin))
	a.Breaker.Open = or(a.Breaker.Open, schemas.Duration(plan.DefaultBreakerOpen))
	return a
}

// delivers reports whether an agent delivers answers, and has no other work.
func (a *Agent) delivers() bool { return a.Kind == KindMail || a.Kind == KindChat }

// kinds are those of the requests that an agent answers.
func (a *Agent) kinds() []schemas.TaskKind {
	if len(a.Kinds) == 0 {
		return []schemas.TaskKind{schemas.KindWork}
	}
	return a.Kinds
}

func (p Profile) withDefaults() Profile {
	p.Language = or(p.Language, schemas.LanguageOfWriter)
	p.Routers = slices.Clone(p.Routers)
	for i := range p.Routers {
		p.Routers[i] = p.Routers[i].withDefaults()
	}
	mode := schemas.ExecutionSingle
	if p.Complexity != nil {
		complexity := *p.Complexity
		complexity.Verbs = wordByDefault(complexity.Verbs)
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
	p.Execution.Mode = or(p.Execution.Mode, mode)
	p.Execution.MaxSteps = or(p.Execution.MaxSteps, defaultMaxSteps)
	p.Retry.TimeoutGrowth = or(p.Retry.TimeoutGrowth, defaultTimeoutGrowth)
	p.Retry.Attempts, p.Retry.Wait = or(p.Retry.Attempts, defaultAttempts), or(p.Retry.Wait, defaultRetryWait)
	p.Delivery.Attempts, p.Delivery.Wait = or(p.Delivery.Attempts, defaultDeliveries), or(p.Delivery.Wait, defaultDeliveryWait)
	p.Deadlines.Queue = or(p.Deadlines.Queue, defaultQueue)
	p.Deadlines.Work = or(p.Deadlines.Work, defaultWork)
	return p
}

func (r Router) withDefaults() Router {
	switch r.Kind {
	case schemas.RouterKeywords:
		return r.keywordsWithDefaults()
	case schemas.RouterScore:
		if r.SelfWeight == 0 && r.KeywordWeight == 0 {
			r.SelfWeight, r.KeywordWeight = route.DefaultSelfWeight, route.DefaultKeywordWeight
		}
		r.Floor = or(r.Floor, route.DefaultFloor)
		r.Deadline = or(r.Deadline, schemas.Duration(route.DefaultAssessDeadline))
	case schemas.RouterAgent:
		r.Deadline = or(r.Deadline, schemas.Duration(route.DefaultChoiceDeadline))
	case schemas.RouterAssigned, schemas.RouterDefault:
	}
	return r
}

func (r Router) keywordsWithDefaults() Router {
	r.Mode = or(r.Mode, schemas.OrderConfigured)
	r.Match = or(r.Match, schemas.ModeWord)
	r.Groups = slices.Clone(r.Groups)
	for i := range r.Groups {
		r.Groups[i].Name = or(r.Groups[i].Name, r.Groups[i].Agent)
		r.Groups[i].Match = or(r.Groups[i].Match, r.Match)
		r.Groups[i].Keywords = matchByDefault(r.Groups[i].Keywords, r.Groups[i].Match)
	}
	return r
}

func (p Planner) withDefaults() Planner {
	p.Templates = slices.Clone(p.Templates)
	for i := range p.Templates {
		p.Templates[i].Keywords = wordByDefault(p.Templates[i].Keywords)
	}
	return p
}

func wordByDefault(keywords []Keyword) []Keyword { return matchByDefault(keywords, schemas.ModeWord) }

func matchByDefault(keywords []Keyword, match schemas.KeywordMode) []Keyword {
	keywords = slices.Clone(keywords)
	for i := range keywords {
		keywords[i].Mode = or(keywords[i].Mode, match)
	}
	return keywords
}

// or returns the value, or what stands in for a zero one.
func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
