package config

import (
	"cmp"
	"time"

	"podium/bus/agent"
	"podium/cmd/podium/config/keyword"
	"podium/schemas"
)

// grace is how much longer the supervisor waits than the agent works, so that
// it is the agent who says that time is up.
const grace = schemas.Duration(5 * time.Second)

// Profile returns a profile as the supervisor pins it, with the words for people
// in every language. The result depends on nothing but the configuration and the
// words; a name without a profile gives the zero Profile. The configuration is
// one that Load or Parse has returned, or WithDefaults.
func (c *Config) Profile(name string) schemas.Profile {
	source, ok := c.Profiles[name]
	if !ok {
		return schemas.Profile{}
	}
	uses := c.uses(name, &source)
	profile := schemas.Profile{
		Name:          name,
		Language:      source.Language,
		CheckLanguage: source.CheckLanguage.build(), Stream: source.Stream,
		Agents:       uses,
		People:       c.people(uses, &source),
		Budget:       c.budget(source.Budget, uses),
		Approval:     each(source.Approval, (*Approval).build),
		Recovery:     source.Recovery.build(),
		Escalation:   source.Escalation.build(),
		Planner:      source.Planner.build(),
		Replan:       source.Replan.build(),
		Review:       source.Review.build(),
		Summary:      source.Summary.build(),
		Execution:    source.Execution.build(),
		Retry:        schemas.Retry{Attempts: source.Retry.Attempts, Wait: source.Retry.Wait, TimeoutGrowth: source.Retry.TimeoutGrowth},
		Delivery:     schemas.Retry{Attempts: source.Delivery.Attempts, Wait: source.Delivery.Wait, OnUnknown: source.Delivery.OnUnknown, OnTainted: source.Delivery.OnTainted},
		Deadlines:    schemas.Deadlines(source.Deadlines),
		Conversation: source.Conversation.build(),
		Context:      source.Context.build(),
		Waiting:      source.Waiting.build(),
		Timezone:     source.Timezone,
		Routers:      each(source.Routers, (*Router).build),
		Languages:    Languages(),
	}
	if source.Complexity != nil {
		profile.Complexity = &schemas.ComplexityRules{
			Verbs:      keyword.Build(source.Complexity.Verbs),
			Patterns:   source.Complexity.Patterns,
			Separators: source.Complexity.Separators,
		}
	}
	return profile
}

// Entry returns the one profile that is no agent of another one, which words go to that name none; empty when there are several.
func (c *Config) Entry() string {
	var entries []string
	for name := range c.Profiles {
		nested := false
		for _, agent := range c.Agents {
			nested = nested || agent.Kind == KindSupervisor && agent.Profile == name
		}
		if !nested {
			entries = append(entries, name)
		}
	}
	if len(entries) != 1 {
		return ""
	}
	return entries[0]
}

// uses gives a program's timeout precedence over a shorter work deadline, unless
// the profile says otherwise for this agent, or the timeout is only supposed.
func (c *Config) uses(name string, profile *Profile) []schemas.AgentUse {
	uses := make([]schemas.AgentUse, len(profile.Agents))
	for i, use := range profile.Agents {
		agent := c.Agents[use.Name]
		uses[i] = schemas.AgentUse{
			Name: use.Name, Description: agent.Description, Work: use.Work, Heartbeat: agent.heartbeat(), Async: agent.Async,
			Supervisor: agent.Kind == KindSupervisor || agent.Supervisor, Kinds: agent.Kinds, Capabilities: each(agent.Capabilities, (*Capability).build),
			Fallback: use.Fallback, Reuse: use.Reuse, SideEffects: agent.sideEffects(), OnUnknown: use.OnUnknown,
			OnTainted: use.OnTainted, Action: agent.actionKnown(),
			InputSchema: agent.InputSchema, OutputSchema: agent.OutputSchema, Render: agent.Render,
			Arguments: agent.arguments(), Extractor: agent.Extractor, Person: agent.person(), Verdict: use.Verdict.build(), Unavailable: use.Unavailable,
		}
		timeout := agent.Timeout
		if use.Work == 0 && timeout > 0 && timeout+grace > profile.Deadlines.Work && !c.supposed(use.Name, name) {
			uses[i].Work = timeout + grace
		}
	}
	return uses
}

// supposed reports whether nothing is said of the time of a program or an endpoint, while the profile says how long work may take: then that holds.
func (c *Config) supposed(agent, profile string) bool {
	_, said := c.places["agents."+agent+".timeout"]
	_, written := c.places["profiles."+profile+".deadlines.work"]
	kind := c.Agents[agent].Kind
	return written && !said && (kind == KindExec || kind == KindHTTP)
}

// Policy is what holds of an agent whatever it says of itself, but for its name.
func (a *Agent) Policy() schemas.Agent {
	policy := schemas.Agent{
		Kind: string(a.Kind), Description: a.Description, Kinds: a.kinds(), Concurrency: a.Concurrency, Input: string(a.Input), Profile: a.Profile,
		Capabilities: each(a.Capabilities, (*Capability).build), InputSchema: a.InputSchema, OutputSchema: a.OutputSchema, SideEffects: a.sideEffects(),
	}
	for _, target := range a.Egress {
		policy.Egress = append(policy.Egress, target.String())
	}
	return policy
}

// each returns what is built of every entry, and nil of none.
func each[From, To any](entries []From, build func(*From) To) (built []To) {
	for i := range entries {
		built = append(built, build(&entries[i]))
	}
	return built
}

func (c *Capability) build() schemas.Capability {
	return schemas.Capability{Words: keyword.Build(c.Words), Score: c.Score}
}

// WorkDeadlines returns how long an agent may work on a request, by the profiles
// that use it.
func (c *Config) WorkDeadlines(agent string) map[string]schemas.Duration {
	deadlines := map[string]schemas.Duration{}
	for name := range c.Profiles {
		profile := c.Profile(name)
		for i := range profile.Agents {
			if use := &profile.Agents[i]; use.Name == agent {
				deadlines[name] = cmp.Or(use.Work, profile.Deadlines.Work)
			}
		}
	}
	return deadlines
}

// heartbeat is how often an agent promises a sign of life while it works: what is
// served here keeps the default (M-36, M-47).
func (a *Agent) heartbeat() schemas.Duration {
	switch a.Kind {
	case KindCalculator, KindEcho, KindExec, KindHTTP, KindLLM, KindMCP, KindCaldav, KindCarddav, KindScripted, KindDocument, KindFile, KindRetrieval, KindMail, KindChat:
		return schemas.Duration(agent.DefaultProgressEvery)
	case KindExternal, KindSupervisor, KindPerson:
	}
	return a.Heartbeat
}

// sideEffects are those that a profile pins: whoever keeps a collection acts outside without saying so.
func (a *Agent) sideEffects() string {
	if a.keepsCollection() {
		return schemas.SideEffectsExternal
	}
	return a.SideEffects
}

// actionKnown is how far it is known what an agent would do outside. Programs and endpoints see all of a request, and may do what they like.
func (a *Agent) actionKnown() schemas.ActionKnown {
	switch a.Kind {
	case KindCaldav, KindCarddav:
		return schemas.ActionNamed
	case KindFile, KindScripted:
		if a.SideEffects != "" {
			return schemas.ActionNamed
		}
	case KindMCP:
		if a.SideEffects != "" {
			return schemas.ActionArguments
		}
	case KindCalculator, KindEcho, KindExec, KindHTTP, KindLLM, KindExternal, KindDocument, KindRetrieval, KindPerson, KindSupervisor, KindMail, KindChat:
	}
	return ""
}

func (r *Router) build() schemas.Router {
	return schemas.Router{
		Kind: r.Kind, Mode: r.Mode, Groups: each(r.Groups, (*Group).build), Agent: r.Agent, SelfWeight: r.SelfWeight, KeywordWeight: r.KeywordWeight,
		Silent: r.Silent, Floor: r.Floor, Least: r.Least, Deadline: r.Deadline,
	}
}

func (g *Group) build() schemas.KeywordGroup {
	return schemas.KeywordGroup{Name: g.Name, Agent: g.Agent, Priority: g.Priority, Keywords: keyword.Build(g.Keywords), SourceBonus: g.SourceBonus.build()}
}
