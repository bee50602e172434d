package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"podium/cmd/podium/config/keyword"
	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

func (v *validator) profile(name string) {
	profile, path := v.config.Profiles[name], "profiles."+name
	v.name(path, name)
	v.language(path+".language", profile.Language)
	v.timezone(path+".timezone", profile.Timezone)
	if profile.Stream && profile.CheckLanguage.build() != "" {
		v.problem(path+".stream", "answers are checked (check_language), and would be shown before; leave out one of the two")
	}
	agents := make([]string, len(profile.Agents))
	for i, use := range profile.Agents {
		at := fmt.Sprintf("%s.agents[%d]", path, i)
		v.agentExists(at, use.Name)
		v.declares(at, use.Name, schemas.KindWork)
		if slices.Contains(agents[:i], use.Name) {
			v.problem(at, "%q is listed twice", use.Name)
		}
		agents[i] = use.Name
	}
	slices.Sort(agents)
	agents = slices.Compact(agents)
	v.planner(path+".planner", &profile, agents)
	v.replan(path, &profile)
	v.review(path, &profile)
	v.uses(path, &profile, agents)
	for i := range profile.Routers {
		v.router(fmt.Sprintf("%s.routers[%d]", path, i), &profile.Routers[i], agents)
	}
	for i := range profile.Approval {
		v.approval(fmt.Sprintf("%s.approval[%d]", path, i), &profile.Approval[i], agents)
	}
	v.recovery(path, &profile)
	if profile.Budget != nil {
		v.budget(path+".budget", profile.Budget)
	}
	if profile.Complexity != nil {
		v.complexity(path+".complexity", profile.Complexity)
	}
	if profile.LocalOnly {
		v.localOnly(path, name, nil)
		v.localChannels(name)
	}
}

func (v *validator) language(path, language string) {
	if language == "" || language == schemas.LanguageOfWriter {
		return
	}
	known := []string{schemas.LanguageOfWriter}
	for _, resource := range v.languages {
		known = append(known, resource.Tag)
	}
	if !slices.Contains(known, language) {
		v.problem(path, "%s", diagnostic.Suggest(fmt.Sprintf("there are no words for people in %q", language), "", known))
	}
}

func (v *validator) agentExists(path, name string) {
	agent, ok := v.config.Agents[name]
	switch {
	case name == MailAgent || name == ChatAgent || agent.delivers():
		v.problem(path, "%q delivers answers; a profile gives it no work", name)
	case !ok:
		var names []string
		for known, agent := range v.config.Agents {
			if !agent.delivers() {
				names = append(names, known)
			}
		}
		v.problem(path, "%s", diagnostic.Suggest(fmt.Sprintf("there is no agent %q", name), name, names))
	}
}

// granted checks that a router leads to an agent of the profile's closed set.
func (v *validator) granted(path, agent string, agents []string) {
	if !slices.Contains(agents, agent) {
		v.problem(path, "%s", diagnostic.Suggest(fmt.Sprintf("%q is not one of this profile's agents", agent), agent, agents))
	}
}

func (v *validator) router(path string, router *Router, agents []string) {
	keywords := router.Kind == schemas.RouterKeywords
	score, asked := router.Kind == schemas.RouterScore, router.Kind == schemas.RouterAgent
	if !keywords && (router.Mode != "" || router.Match != "" || len(router.Groups) > 0) {
		v.problem(path, "only a router of kind keywords has mode, match and groups")
	}
	if !score && (router.SelfWeight != 0 || router.KeywordWeight != 0 || router.Silent != 0 || router.Floor != 0 || router.Least != 0) {
		v.problem(path, "only a router of kind score has weights, silent, floor and least")
	}
	if !score && !asked && router.Deadline != 0 {
		v.problem(path+".deadline", "only routers of kind score and agent wait for answers")
	}
	if keywords && len(router.Groups) == 0 {
		v.problem(path, `"groups" is missing`)
	}
	switch {
	case asked && router.Agent == "":
		v.problem(path, `"agent" is missing`)
	case asked:
		v.agentExists(path+".agent", router.Agent)
		v.declares(path+".agent", router.Agent, schemas.KindRoute)
	case router.Kind == schemas.RouterDefault:
		v.granted(path+".agent", router.Agent, agents)
	case router.Agent != "":
		v.problem(path+".agent", "only routers of kind default and agent have an agent")
	}
	for i, group := range router.Groups {
		at := fmt.Sprintf("%s.groups[%d]", path, i)
		v.granted(at+".agent", group.Agent, agents)
		if router.Mode == schemas.OrderPriority && group.Priority == 0 {
			v.problem(at, "with mode priority every group needs a priority")
		}
		if order := cmp.Or(router.Mode, schemas.OrderConfigured); order == schemas.OrderConfigured && group.SourceBonus != (SourceBonus{}) {
			v.problem(at+".source_bonus", "it weighs nothing in the configured order; write mode: score or mode: priority")
		}
		v.keywords(at+".keywords", group.Keywords)
	}
}

func (v *validator) keywords(path string, keywords []Keyword) {
	keyword.Check(path, keywords, v.problem)
}

func (v *validator) complexity(path string, complexity *Complexity) {
	if len(complexity.Verbs) == 0 && len(complexity.Patterns) == 0 {
		v.problem(path, "it needs verbs or patterns, or no message is ever more than one step")
	}
	v.keywords(path+".verbs", complexity.Verbs)
	for i, pattern := range complexity.Patterns {
		v.expression(fmt.Sprintf("%s.patterns[%d]", path, i), pattern)
	}
}

// unsaidTaint cautions about agents that act outside and of which a profile does not say what becomes of that when strangers have it done.
func (c *Config) unsaidTaint() (cautions []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		for i := range c.Profiles[name].Agents {
			use := &c.Profiles[name].Agents[i]
			agent := c.Agents[use.Name]
			profile := c.Profiles[name]
			if agent.sideEffects() == "" || use.OnTainted != "" || profile.asksForTainted(use.Name) {
				continue
			}
			what := "it is not asked to do anything"
			switch agent.actionKnown() {
			case schemas.ActionNamed:
				what = "it reads, and changes nothing"
			case schemas.ActionArguments:
				what = "it is asked for nothing but what a template of the profile holds"
			}
			cautions = append(cautions, fmt.Sprintf("agent %q acts outside, and profile %q does not say what becomes of that when it comes of what people write (%s): %s then, and they are told so; "+
				"write {name: %s, on_tainted: allow} at profiles.%s.agents where their words are meant to have it act, else on_tainted: refuse", use.Name, name, c.reachedBy(name), what, use.Name, name))
		}
	}
	return cautions
}

// reachedBy are the ways by which what people write reaches a profile, in words.
func (c *Config) reachedBy(profile string) string {
	var ways []string
	for i := range c.Mail.Accounts {
		if account := &c.Mail.Accounts[i]; account.Profile == profile {
			ways = append(ways, fmt.Sprintf("mail account %q", account.Name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Chat.Channels)) {
		if c.Chat.Channels[name].Profile == profile {
			ways = append(ways, fmt.Sprintf("chat channel %q", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		if c.Agents[name].Kind == KindSupervisor && c.Agents[name].Profile == profile {
			ways = append(ways, fmt.Sprintf("agent %q", name))
		}
	}
	return strings.Join(append(ways, "podium send"), ", ")
}
