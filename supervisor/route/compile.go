package route

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"podium/schemas"
)

// A Router is the routing of one profile, ready to decide. It is immutable and
// may be shared by any number of callers.
type Router struct {
	folder     *folder
	agents     []string
	routers    []router
	asks       bool        // whether a router needs answers of agents
	complexity *complexity // nil: every text is one step
	maxSteps   int
}

// DefaultMaxSteps bounds the steps of a text when the profile does not.
const DefaultMaxSteps = 8

// A router is one of the profile's routers, ready to be asked.
type router struct {
	kind     schemas.RouterKind
	agent    string               // default, agent
	order    schemas.KeywordOrder // keywords
	groups   []group              // keywords
	matcher  *matcher             // keywords
	score    *scorer              // score
	deadline time.Duration        // agent
}

// A group is a keyword group without its keywords.
type group struct {
	name, agent string
	priority    int
	bonus       map[string]int // by where a message comes from; nil is nothing
}

// Compile makes the routing of a profile ready. Its error joins every fault,
// each naming the router, group and keyword it is in. A profile that may only
// dispatch to a closed set of agents cannot name another (O-12).
func Compile(p *schemas.Profile) (*Router, error) {
	if p == nil {
		return nil, errors.New("compile routing: no profile")
	}
	c := compiler{profile: p, router: &Router{folder: newFolder(), maxSteps: p.Execution.MaxSteps}}
	c.agents(p.Agents)
	if len(p.Routers) == 0 {
		c.fault("routers", "none configured")
	}
	for i, configured := range p.Routers {
		c.routerAt(i, configured, p.Routers[:i])
	}
	if p.Complexity != nil {
		c.complexity(p.Complexity)
	}
	switch {
	case c.router.maxSteps < 0:
		c.fault("execution.max_steps", fmt.Sprintf("%d is negative", c.router.maxSteps))
	case c.router.maxSteps == 0:
		c.router.maxSteps = DefaultMaxSteps
	}
	if err := errors.Join(c.faults...); err != nil {
		return nil, fmt.Errorf("compile routing of profile %q: %w", p.Name, err)
	}
	return c.router, nil
}

// A compiler collects the faults of a profile while it builds a router.
type compiler struct {
	profile *schemas.Profile
	router  *Router
	faults  []error
}

func (c *compiler) fault(where, what string) {
	c.faults = append(c.faults, errors.New(where+": "+what))
}

func (c *compiler) agents(uses []schemas.AgentUse) {
	for i, use := range uses {
		where := fmt.Sprintf("agents[%d]", i)
		switch {
		case use.Name == "":
			c.fault(where, "no name")
		case use.Name == schemas.RouteRespond || use.Name == schemas.RouteFinish:
			c.fault(where, fmt.Sprintf("%q is reserved and names no agent", use.Name))
		case slices.Contains(c.router.agents, use.Name):
			c.fault(where, fmt.Sprintf("%q is listed twice", use.Name))
		default:
			c.router.agents = append(c.router.agents, use.Name)
		}
	}
}

func (c *compiler) agent(where, name string) {
	if !slices.Contains(c.router.agents, name) {
		c.fault(where, fmt.Sprintf("agent %q is not one of the profile's agents", name))
	}
}

func (c *compiler) routerAt(index int, configured schemas.Router, before []schemas.Router) {
	where := fmt.Sprintf("routers[%d] (%s)", index, configured.Kind)
	for _, earlier := range before {
		if earlier.Kind == schemas.RouterDefault {
			c.fault(where, "never asked: a default router comes before it")
			break
		}
	}
	ready := router{kind: configured.Kind, agent: configured.Agent}
	switch configured.Kind {
	case schemas.RouterAssigned:
	case schemas.RouterDefault:
		c.agent(where, configured.Agent)
	case schemas.RouterKeywords:
		ready.order = configured.Mode
		ready.groups, ready.matcher = c.groups(where, configured)
	case schemas.RouterScore:
		ready.score = c.scorer(where, configured)
	case schemas.RouterAgent:
		c.choosing(where, configured, before)
		ready.deadline = c.deadline(where, configured.Deadline, DefaultChoiceDeadline)
	default:
		c.fault(where, "unknown kind of router")
	}
	c.router.asks = c.router.asks || ready.asks()
	c.router.routers = append(c.router.routers, ready)
}

func (c *compiler) groups(where string, configured schemas.Router) ([]group, *matcher) {
	switch configured.Mode {
	case schemas.OrderConfigured, schemas.OrderPriority, schemas.OrderScore:
	default:
		c.fault(where, fmt.Sprintf("unknown mode %q, want %q, %q or %q", configured.Mode,
			schemas.OrderConfigured, schemas.OrderPriority, schemas.OrderScore))
	}
	if len(configured.Groups) == 0 {
		c.fault(where, "no keyword groups")
	}
	var groups []group
	var keywords []keyword
	for i, g := range configured.Groups {
		in := fmt.Sprintf("%s: groups[%d] %q", where, i, g.Name)
		if g.Name == "" {
			c.fault(in, "no name")
		} else if slices.ContainsFunc(groups, func(other group) bool { return other.name == g.Name }) {
			c.fault(in, "another group has this name")
		}
		c.agent(in, g.Agent)
		if configured.Mode == schemas.OrderPriority && g.Priority < 1 {
			c.fault(in, fmt.Sprintf("priority %d, want 1 or more", g.Priority))
		}
		for _, source := range slices.Sorted(maps.Keys(g.SourceBonus)) {
			switch bonus := g.SourceBonus[source]; {
			case configured.Mode == schemas.OrderConfigured:
				c.fault(in, "source_bonus weighs nothing in the configured order; it needs mode score or priority")
			case source != schemas.ChannelEmail && source != schemas.ChannelChat && source != schemas.ChannelAgent:
				c.fault(in, fmt.Sprintf("source_bonus: %q is no source; there are %s, %s and %s", source, schemas.ChannelEmail, schemas.ChannelChat, schemas.ChannelAgent))
			case bonus < -schemas.MaxSourceBonus || bonus > schemas.MaxSourceBonus:
				c.fault(in, fmt.Sprintf("source_bonus: %d for %s, want at most %d", bonus, source, schemas.MaxSourceBonus))
			}
		}
		groups = append(groups, group{name: g.Name, agent: g.Agent, priority: g.Priority, bonus: g.SourceBonus})
		keywords = append(keywords, c.keywords(in+": keywords", i, g.Keywords)...)
	}
	return groups, newMatcher(keywords)
}

// keywords makes ready the keywords of one list, in which none may repeat another.
func (c *compiler) keywords(where string, group int, configured []schemas.Keyword) []keyword {
	if len(configured) == 0 {
		c.fault(where, "none configured")
	}
	ready := make([]keyword, 0, len(configured))
	first := make(map[string]string, len(configured))
	for i, one := range configured {
		in := fmt.Sprintf("%s[%d] %q", where, i, one.Word)
		k, err := c.router.folder.keyword(one, group)
		if err != nil {
			c.faults = append(c.faults, fmt.Errorf("%s: %w", in, err))
			continue
		}
		looked := k.folded
		if k.expression != nil {
			looked = "/" + k.expression.String()
		}
		if other, repeats := first[looked]; repeats {
			c.fault(in, fmt.Sprintf("repeats %q: case, accents, umlaut spelling and hyphens make no difference", other))
			continue
		}
		first[looked] = one.Word
		ready = append(ready, k)
	}
	return ready
}

func (c *compiler) complexity(configured *schemas.ComplexityRules) {
	ready := &complexity{verbs: c.optional("complexity.verbs", configured.Verbs)}
	for i, source := range configured.Patterns {
		expression, err := c.router.folder.pattern(source)
		if err != nil {
			c.faults = append(c.faults, fmt.Errorf("complexity.patterns[%d] %q: %w", i, source, err))
			continue
		}
		ready.patterns = append(ready.patterns, pattern{source: source, expression: expression})
	}
	separators := make([]schemas.Keyword, len(configured.Separators))
	for i, word := range configured.Separators {
		separators[i] = schemas.Keyword{Word: word, Mode: schemas.ModeWord}
	}
	ready.separators = c.optional("complexity.separators", separators)
	c.router.complexity = ready
}

// optional makes ready the keywords of a list that may be empty.
func (c *compiler) optional(where string, configured []schemas.Keyword) *matcher {
	if len(configured) == 0 {
		return newMatcher(nil)
	}
	return newMatcher(c.keywords(where, 0, configured))
}
