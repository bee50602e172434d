package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/cmd/podium/config/keyword"
	"podium/schemas"
	"podium/supervisor/answer"
)

func (v *validator) planner(path string, profile *Profile, agents []string) {
	planner := profile.Planner
	if planner == nil {
		return
	}
	switch planner.Kind {
	case schemas.PlannerAgent:
		if planner.Agent == "" {
			v.problem(path, `kind agent needs "agent": who is asked for the plan`)
		} else {
			v.agentExists(path+".agent", planner.Agent)
			v.declares(path+".agent", planner.Agent, schemas.KindPlan)
		}
	case schemas.PlannerTemplate:
		if len(planner.Templates) == 0 {
			v.problem(path, `kind template needs "templates"`)
		}
	case schemas.PlannerRules:
		if profile.Complexity == nil {
			v.problem(path, `kind rules needs the profile's "complexity": its verbs and separators split the text`)
		}
	case schemas.PlannerNone, schemas.PlannerExternal:
	}
	if planner.Kind != schemas.PlannerAgent && planner.Agent != "" {
		v.problem(path+".agent", "only a planner of kind agent has an agent")
	}
	if planner.Kind != schemas.PlannerTemplate && len(planner.Templates) > 0 {
		v.problem(path+".templates", "only a planner of kind template has templates")
	}
	for i := range planner.Templates {
		v.template(fmt.Sprintf("%s.templates[%d]", path, i), &planner.Templates[i], agents)
	}
}

// replan holds what is said of a judge together.
func (v *validator) replan(path string, profile *Profile) {
	replan := profile.Replan
	if replan == nil {
		if profile.Execution.Mode == executionReplanLoop {
			v.problem(path+".execution.mode", `replan_loop needs the profile's "replan": who judges how it goes on`)
		}
		if profile.Execution.Steps > 0 && profile.Review == nil && profile.Escalation.build() == nil {
			v.problem(path+".execution.steps", `only a profile with "replan", "review" or "escalation" counts steps`)
		}
		return
	}
	at := path + ".replan"
	v.agentExists(at+".agent", replan.Agent)
	v.declares(at+".agent", replan.Agent, schemas.KindJudge)
	stepwise := profile.Execution.Mode == schemas.ExecutionSequence || profile.Execution.Mode == executionReplanLoop
	switch {
	case replan.After == schemas.OccasionStep && !stepwise:
		v.problem(at+".after", "step needs execution.mode replan_loop or sequence")
	case replan.After == schemas.OccasionFailure && profile.Execution.Mode == executionReplanLoop:
		v.problem(at+".after", "replan_loop asks after each step; write mode: sequence, or leave out after")
	case profile.Execution.Mode == schemas.ExecutionSingle:
		v.problem(path+".execution.mode", "single has no plan that a judge may change")
	}
	for i := range replan.Conditions {
		condition := &replan.Conditions[i]
		if (condition.Pointer == "") == (len(condition.Constant) == 0) {
			v.problem(fmt.Sprintf("%s.conditions[%d]", at, i), "a condition has a pointer or a constant")
		} else if !jsontext.Pointer(condition.Pointer).IsValid() {
			v.problem(fmt.Sprintf("%s.conditions[%d].pointer", at, i), "it is no JSON Pointer; one begins with a slash, such as /vram_low")
		}
	}
}

// review holds what is said of a review, and of a summary, together.
func (v *validator) review(path string, profile *Profile) {
	judge := func(at, agent string) {
		v.agentExists(at, agent)
		v.declares(at, agent, schemas.KindJudge)
	}
	if summary := profile.Summary; summary != nil {
		switch {
		case summary.Agent == "" && summary.Template == "":
			v.problem(path+".summary", "it names an agent, or has a template")
		case summary.Agent != "":
			judge(path+".summary.agent", summary.Agent)
		}
		if _, err := answer.ParseTemplate(summary.Template); err != nil {
			v.problem(path+".summary.template", "%v", err)
		}
	}
	review := profile.Review
	if review == nil {
		return
	}
	at := path + ".review"
	people := []*EscalationChannel{profile.Escalation.Human, profile.Escalation.Coordinator}
	if review.OnFailed == schemas.ReviewAsks && !slices.ContainsFunc(people, func(channel *EscalationChannel) bool { return channel != nil && len(channel.People) > 0 }) {
		v.problem(at+".on_failed", "ask asks people, and nobody is named: add escalation: {human: {people: [NAME]}}")
	}
	if review.Merge != "" {
		judge(at+".merge", review.Merge)
	}
	asked := map[string]bool{}
	for i := range review.Checks {
		agent, place := review.Checks[i].Agent, fmt.Sprintf("%s.checks[%d].agent", at, i)
		if asked[agent] {
			v.problem(place, "%q is asked by another check already: name all its types of project there", agent)
		}
		asked[agent] = true
		judge(place, agent)
	}
}

func (v *validator) template(path string, template *Template, agents []string) {
	v.keywords(path+".keywords", template.Keywords)
	for i, parameter := range template.Parameters {
		v.expression(fmt.Sprintf("%s.parameters[%d].pattern", path, i), parameter.Pattern)
	}
	for i := range template.Tasks {
		if agent := template.Tasks[i].Agent; agent != "" {
			v.granted(fmt.Sprintf("%s.tasks[%d].agent", path, i), agent, agents)
		}
	}
}

func (v *validator) expression(path, pattern string) {
	if fault := keyword.ExpressionFault(pattern); fault != "" {
		v.problem(path, "%s", fault)
	}
}

// uses checks what a profile says of its agents beyond their names.
func (v *validator) uses(path string, profile *Profile, agents []string) {
	for i, use := range profile.Agents {
		at := fmt.Sprintf("%s.agents[%d]", path, i)
		if use.Fallback == use.Name && use.Name != "" {
			v.problem(at+".fallback", "an agent cannot stand in for itself")
		} else if use.Fallback != "" {
			v.granted(at+".fallback", use.Fallback, agents)
		}
		agent := v.config.Agents[use.Name]
		if use.OnTainted != "" && agent.Kind != "" && agent.sideEffects() == "" {
			v.problem(at+".on_tainted", "%q does nothing outside that could be refused; an agent that does says side_effects: external", use.Name)
		}
	}
	for i, chain := range profile.Execution.AllowedChains {
		for j, agent := range chain {
			v.granted(fmt.Sprintf("%s.execution.allowed_chains[%d][%d]", path, i, j), agent, agents)
		}
	}
	v.keywords(path+".conversation.urgent", profile.Conversation.Urgent)
	for i, entity := range profile.Conversation.Entities {
		v.expression(fmt.Sprintf("%s.conversation.entities[%d].pattern", path, i), entity.Pattern)
	}
}

// tiers refuses supervisors that would ask each other in a circle.
func (v *validator) tiers() {
	for _, name := range slices.Sorted(maps.Keys(v.config.Agents)) {
		if chain := v.circle(name, nil); len(chain) > 0 && chain[0] == name {
			v.problem("agents."+name+".profile", "these supervisors would ask each other in a circle: %s", strings.Join(append(chain, name), " → "))
		}
	}
}

// circle returns the way from a supervisor back to one on the way, or nil.
func (v *validator) circle(name string, way []string) []string {
	if at := slices.Index(way, name); at >= 0 {
		return way[at:]
	}
	agent := v.config.Agents[name]
	if agent.Kind != KindSupervisor {
		return nil
	}
	profile := v.config.Profiles[agent.Profile]
	for _, next := range profile.reached() {
		if chain := v.circle(next.agent, append(slices.Clip(way), name)); chain != nil {
			return chain
		}
	}
	return nil
}

// shortTiers are cautions of supervisors whose answer is waited for shorter than people below them are: an attempt ends before their word, and another one has to adopt what they are asked.
func (c *Config) shortTiers() (cautions []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		profile := c.Profile(name)
		for i := range profile.Agents {
			use := &profile.Agents[i]
			agent := c.Agents[use.Name]
			if agent.Kind != KindSupervisor {
				continue
			}
			work := cmp.Or(use.Work, profile.Deadlines.Work)
			if waits := c.waits(agent.Profile); waits > work {
				cautions = append(cautions, fmt.Sprintf("profiles.%s.agents: profile %q of %q waits for people up to %s, and its answer is waited for %s: most words will come too late; write {name: %s, work: %s} or more, or let it wait shorter",
					name, agent.Profile, use.Name, short(waits), short(work), use.Name, short(waits+waits/8)))
			}
		}
	}
	return cautions
}

// short is a length of time as people write it: without the parts at its end that are nothing.
func short(length schemas.Duration) string {
	text := time.Duration(length).String()
	for _, nothing := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, nothing) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// waits returns how long a run of a profile may wait for people, one thing at a time, or a supervisor below it may.
func (c *Config) waits(name string) schemas.Duration {
	profile, waits := c.Profile(name), schemas.Duration(0)
	longest := func(expire schemas.Duration, people []string) {
		if slices.ContainsFunc(people, func(person string) bool { return person != schemas.ApprovingRequester }) {
			waits = max(waits, expire)
		}
	}
	for i := range profile.Approval {
		if rule := &profile.Approval[i]; !rule.Delivery { // an answer to whoever is upstream is not held
			longest(rule.Expire, rule.People)
		}
	}
	if budget := profile.Budget; budget != nil && budget.Exhausted == schemas.BudgetAsks {
		longest(budget.Expire, budget.People)
	}
	if asked := profile.Escalation; asked != nil {
		for _, channel := range []*schemas.EscalationChannel{asked.Planner, asked.Coordinator, asked.Human} {
			if channel != nil {
				longest(channel.Expire, channel.People)
			}
		}
	}
	for i := range profile.Agents {
		use := &profile.Agents[i]
		if use.Person != nil {
			longest(use.Person.Expire, use.Person.People)
		}
		if agent := c.Agents[use.Name]; agent.Kind == KindSupervisor {
			waits = max(waits, c.waits(agent.Profile))
		}
	}
	return waits
}
