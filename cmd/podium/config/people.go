package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/mail"
	"slices"
	"strings"

	"podium/schemas"
	"podium/supervisor/recovery"
)

// A Person is somebody who does work, as agents of kind person name them, or decides by a rule of approval.
type Person struct {
	Mail    string        `yaml:"mail" doc:"Their address. What they answer from another one does not count. Absent, with chat: they decide approvals of runs that come from that chat, and need no mail account."`
	Account string        `yaml:"account" doc:"The mail account that writes to them and takes their answers. Default: the first."`
	Chat    *PersonInChat `yaml:"chat" doc:"Who they are in a chat. Where all who are asked are in the chat that a run comes from, they are asked and answer in its thread, instead of by mail."`
}

// A PersonInChat is who somebody is in a chat.
type PersonInChat struct {
	Channel string `yaml:"channel" required:"true" doc:"The channel of the chat section."`
	User    string `yaml:"user" required:"true" doc:"Their id, as the provider has it, such as U024BE7LH: it signs who has written."`
}

// person returns who does the tasks of an agent that is a person; nil when it is none.
func (a *Agent) person() *schemas.PersonPolicy {
	if a.Kind != KindPerson {
		return nil
	}
	return &schemas.PersonPolicy{People: a.People, Remind: a.Remind, Expire: a.Expires}
}

// people returns those who do the tasks of some agents, or decide for a profile; nil when nobody does.
func (c *Config) people(uses []schemas.AgentUse, source *Profile) map[string]schemas.Person {
	var people map[string]schemas.Person
	add := func(names []string) {
		for _, name := range names {
			person, known := c.People[name]
			if known && people == nil {
				people = map[string]schemas.Person{}
			}
			if known {
				people[name] = schemas.Person{Mail: person.Mail, Account: person.Account, Chat: (*schemas.PersonInChat)(person.Chat)}
			}
		}
	}
	for i := range uses {
		if uses[i].Person != nil {
			add(uses[i].Person.People)
		}
	}
	for i := range source.Approval {
		add(source.Approval[i].People)
	}
	for _, channel := range source.Escalation.channels() {
		add(channel.People)
	}
	if budget := source.Budget; budget != nil && budget.Exhausted == schemas.BudgetAsks {
		add(budget.People)
	}
	return people
}

// person checks somebody of the people section.
func (v *validator) person(name string) {
	person, path := v.config.People[name], "people."+name
	v.name(path, name)
	if person.Mail == "" && person.Chat == nil {
		v.problem(path, "nobody can ask %s: add mail, or chat where they are in one", name)
		return
	}
	if address, err := mail.ParseAddress(person.Mail); person.Mail != "" && (err != nil || address.Address != person.Mail) {
		v.problem(path+".mail", "%q is no address such as anna@example.org", person.Mail)
	}
	known := slices.ContainsFunc(v.config.Mail.Accounts, func(account Account) bool { return account.Name == person.Account || person.Account == "" })
	if chat := person.Chat; chat != nil {
		if _, there := v.config.Chat.Channels[chat.Channel]; !there {
			v.problem(path+".chat.channel", "there is no chat channel %q", chat.Channel)
		}
	}
	switch {
	case person.Mail == "" && person.Account != "":
		v.problem(path+".account", "no mail account writes to somebody without an address: add mail, or leave account out")
	case person.Mail == "":
	case len(v.config.Mail.Accounts) == 0:
		v.problem(path, "whoever is asked by mail is written to by an account, and there is none: add one to mail.accounts, or write chat and no mail")
	case !known:
		v.problem(path+".account", "there is no mail account %q", person.Account)
	}
}

// accountOf is the mail account that writes to a person: the first where they name none.
func (c *Config) accountOf(person *Person) string {
	if person.Mail != "" && person.Account == "" && len(c.Mail.Accounts) > 0 {
		return c.Mail.Accounts[0].Name
	}
	return person.Account
}

// personAgent checks an agent of kind person.
func (v *validator) personAgent(path string, agent *Agent) {
	if agent.Kind != KindPerson {
		return
	}
	if len(agent.People) == 0 {
		v.problem(path, "an agent of kind person needs people: who does its tasks")
	}
	v.askedTogether(path, agent.People)
}

// askedTogether checks people who are written to by one letter.
func (v *validator) askedTogether(path string, people []string) {
	for _, name := range people {
		if person, known := v.config.People[name]; known && person.Mail == "" {
			v.problem(path+".people", "%q is only in a chat, where people are asked for approvals alone: add mail to people.%s", name, name)
		}
	}
	v.writtenTogether(path, people)
}

// writtenTogether checks those of some people who are written to, by one account.
func (v *validator) writtenTogether(path string, people []string) {
	account := ""
	for _, name := range people {
		person, known := v.config.People[name]
		switch {
		case !known:
			v.problem(path+".people", "there is nobody called %q in the people section", name)
		case person.Mail == "":
		case account != "" && v.config.accountOf(&person) != account:
			v.problem(path+".people", "those who are asked together are written to by one mail account, and %q has another one", name)
		default:
			account = v.config.accountOf(&person)
		}
	}
}

// approval checks a rule by which people agree.
func (v *validator) approval(path string, rule *Approval, agents []string) {
	for _, name := range rule.Agents {
		v.granted(path+".agents", name, agents)
		if v.config.Agents[name].Kind == KindPerson {
			v.problem(path+".agents", "%q is a person, who may decline its tasks: leave it out", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rule.Sets)) {
		if name == "" || !rule.Sets[name] {
			v.problem(path+".sets", "whoever agrees sets an argument to true: write {%s: true}, or leave it out", cmp.Or(name, "name"))
		}
	}
	requester := slices.Contains(rule.People, schemas.ApprovingRequester)
	switch ofTasks := len(rule.Agents) > 0 || rule.Seconds > 0 || rule.Tokens > 0 || len(rule.If) > 0 || len(rule.Sets) > 0; {
	case len(rule.Agents) == 0 && !rule.Delivery:
		v.problem(path+".agents", "whose tasks wait? name agents of the profile, or write delivery: true for the answers")
	case rule.Delivery && ofTasks:
		v.problem(path+".delivery", "a rule for answers says who decides, and nothing of tasks: write a rule of its own for these")
	case rule.Delivery && requester:
		v.problem(path+".people", "whoever has written cannot agree to what they are sent: name somebody of the people section")
	case requester && rule.Tainted:
		v.problem(path+".people", "the requester cannot approve what comes of their own words. Three ways work: name another person of the people section, by mail or in the chat "+
			"that the run comes from; or leave tainted out and write on_tainted: allow for the agent, so that the requester confirms their own request; or name a person and "+
			"approve at the command line, by podium approve")
	case rule.Need > len(rule.People):
		v.problem(path+".need", "%d of %d people cannot agree: name more, or write need: %d", rule.Need, len(rule.People), len(rule.People))
	default:
		v.writtenTogether(path, slices.DeleteFunc(slices.Clone(rule.People), func(name string) bool { return name == schemas.ApprovingRequester }))
	}
	for _, name := range rule.People {
		if person, known := v.config.People[name]; rule.Delivery && known && person.Mail == "" {
			v.problem(path+".people", "%q is only in a chat, and answers are shown to those who approve them by mail alone: add mail to people.%s", name, name)
		}
	}
}

// powerlessApprovers are cautions of rules whose only approver is the requester, for agents that do not act on what people write until somebody else approves.
func (c *Config) powerlessApprovers() (cautions []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		profile := c.Profiles[name]
		for i := range profile.Approval {
			rule := &profile.Approval[i]
			if len(rule.People) != 1 || rule.People[0] != schemas.ApprovingRequester {
				continue
			}
			for j := range profile.Agents {
				use := &profile.Agents[j]
				agent := c.Agents[use.Name]
				asks := use.OnTainted == "" || use.OnTainted == schemas.OnTaintedAsk
				if !slices.Contains(rule.Agents, use.Name) || agent.sideEffects() == "" || !asks || profile.asksForTainted(use.Name) {
					continue
				}
				cautions = append(cautions, fmt.Sprintf("profiles.%s.approval[%d]: only the requester may approve what agent %q does, and nobody may approve what comes of their own words, so that it is refused. "+
					"Three ways work: name another person of the people section in a rule with tainted: true; or write {name: %s, on_tainted: allow} at profiles.%s.agents, so that the requester "+
					"confirms their own request; or name a person in a rule with tainted: true and approve at the command line, by podium approve", name, i, use.Name, use.Name, name))
			}
		}
	}
	return cautions
}

// unreachedApprovers are cautions of rules that only people in a chat decide, in profiles that messages reach by other ways.
func (c *Config) unreachedApprovers() (cautions []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		for i := range c.Profiles[name].Approval {
			people := c.Profiles[name].Approval[i].People
			var channels []string
			for _, approver := range people {
				person, known := c.People[approver]
				if !known || person.Mail != "" || person.Chat == nil {
					channels = nil
					break
				}
				channels = append(channels, person.Chat.Channel)
			}
			byMail := slices.ContainsFunc(c.Mail.Accounts, func(account Account) bool { return account.Profile == name })
			elsewhere := slices.ContainsFunc(slices.Sorted(maps.Keys(c.Chat.Channels)), func(channel string) bool {
				return c.Chat.Channels[channel].Profile == name && !slices.Contains(channels, channel)
			})
			if len(channels) > 0 && (byMail || elsewhere) {
				cautions = append(cautions, fmt.Sprintf("profiles.%s.approval[%d]: its approvers are only in chat (%s), and messages come by other ways too: what needs approval then fails, "+
					"as nobody can be asked; add mail to one of them", name, i, strings.Join(slices.Compact(channels), ", ")))
			}
		}
	}
	return cautions
}

// budget checks what runs may use.
func (v *validator) budget(path string, budget *Budget) {
	for _, names := range [...][]string{slices.Sorted(maps.Keys(budget.Agent)), slices.Sorted(maps.Keys(budget.AgentDay)), slices.Sorted(maps.Keys(budget.Prices)), budget.Free} {
		for _, name := range names {
			v.agentExists(path, name)
		}
	}
	limited := func(of func(Limits) bool) bool {
		some := func(limits map[string]Limits) bool {
			return slices.ContainsFunc(slices.Collect(maps.Values(limits)), of)
		}
		return of(budget.Run) || of(budget.Day) || some(budget.Agent) || some(budget.AgentDay)
	}
	const needed = "a request reserves what no plan estimates: write %s, and how much that is"
	priced := budget.Price > 0 && budget.Reserve > 0
	switch {
	case limited(func(l Limits) bool { return l.Tokens > 0 }) && budget.Reserve == 0, budget.Price > 0 && budget.Reserve == 0:
		v.problem(path, needed, "reserve")
	case limited(func(l Limits) bool { return l.Seconds > 0 }) && budget.ReserveSeconds == 0:
		v.problem(path, needed, "reserve_seconds")
	case limited(func(l Limits) bool { return l.Money > 0 }) && budget.ReserveMoney == 0 && !priced:
		v.problem(path, needed, "reserve_money, or price and reserve")
	}
	requester := slices.Contains(budget.People, schemas.ApprovingRequester)
	switch {
	case budget.Exhausted == schemas.BudgetWaits && budget.Day == (Limits{}) && len(budget.AgentDay) == 0:
		v.problem(path+".exhausted", "there is no other day to wait for: write day, and how much its runs may use on one, or another exhausted")
	case budget.Exhausted != schemas.BudgetAsks && len(budget.People) > 0:
		v.problem(path+".people", "nobody is asked: write exhausted: ask, or leave people out")
	case budget.Exhausted == schemas.BudgetAsks && len(budget.People) == 0:
		v.problem(path+".exhausted", "who is asked? name people, such as people: [requester]")
	case requester && len(budget.People) > 1:
		v.problem(path+".people", "either whoever has written raises the budget or people who are named: write requester alone, or leave it out")
	case !requester:
		v.askedTogether(path, budget.People)
	}
}

// narrowBudgets are cautions of limits in which not even one request has room that no plan estimates.
func (c *Config) narrowBudgets() (cautions []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		budget := c.Profiles[name].Budget
		if budget == nil {
			continue
		}
		narrow := func(key string, limits Limits) {
			if limits.Tokens > 0 && limits.Tokens < budget.Reserve || limits.Seconds > 0 && limits.Seconds < budget.ReserveSeconds || limits.Money > 0 && limits.Money < budget.ReserveMoney {
				cautions = append(cautions, fmt.Sprintf("profiles.%s.budget.%s has no room for one request that no plan estimates, and is used up from the beginning: raise it, or have requests reserve less", name, key))
			}
		}
		narrow("run", budget.Run)
		narrow("day", budget.Day)
		for _, agent := range slices.Sorted(maps.Keys(budget.Agent)) {
			narrow("agent."+agent, budget.Agent[agent])
		}
		for _, agent := range slices.Sorted(maps.Keys(budget.AgentDay)) {
			narrow("agent_day."+agent, budget.AgentDay[agent])
		}
	}
	return cautions
}

// asksForTainted reports whether people of the profile are asked about what an agent does because of what somebody has written.
func (p *Profile) asksForTainted(agent string) bool {
	return slices.ContainsFunc(p.Approval, func(rule Approval) bool { return rule.Tainted && slices.Contains(rule.Agents, agent) })
}

// Recovery says what is done about failures, by their category.
type Recovery struct {
	Default      schemas.RecoveryWay `yaml:"default" enum:"skip fix human coordinator requester planner budget fail table" doc:"For the categories that are not named. ask of other systems is default: human. table: each has a way of its own, see docs/recovery.md."`
	Execution    schemas.RecoveryWay `yaml:"task_execution" enum:"skip fix human coordinator requester planner budget fail" doc:"An agent has failed, crashed, taken too long, or answered what cannot be used."`
	Validation   schemas.RecoveryWay `yaml:"validation" enum:"skip fix human coordinator requester planner budget fail" doc:"What was made, or the arguments, are not right. fix: whoever has made it mends it."`
	Dependency   schemas.RecoveryWay `yaml:"dependency" enum:"skip fix human coordinator requester planner budget fail" doc:"An agent is blocked by something else."`
	Resource     schemas.RecoveryWay `yaml:"resource" enum:"skip fix human coordinator requester planner budget fail" doc:"The budget is used up, or an agent has no room. budget: the people of budget are asked for more, else the coordinator."`
	Coordination schemas.RecoveryWay `yaml:"coordination" enum:"skip fix human coordinator requester planner budget fail" doc:"Nobody is responsible, somebody has said no, or nobody knows whether something has happened outside; the last is for people alone."`
	Input        schemas.RecoveryWay `yaml:"input" enum:"skip fix human coordinator requester planner budget fail" doc:"Something is lacking that nobody has said."`
}

func (r *Recovery) build() map[string]schemas.RecoveryWay {
	ways := map[string]schemas.RecoveryWay{
		schemas.RecoveryDefault: r.Default, string(schemas.CategoryExecution): r.Execution, string(schemas.CategoryValidation): r.Validation, string(schemas.CategoryDependency): r.Dependency,
		string(schemas.CategoryResource): r.Resource, string(schemas.CategoryCoordination): r.Coordination, string(schemas.CategoryInput): r.Input,
	}
	maps.DeleteFunc(ways, func(_ string, way schemas.RecoveryWay) bool { return way == "" })
	if len(ways) == 0 {
		return nil
	}
	return ways
}

// Escalation says who is asked about failures.
type Escalation struct {
	Planner     *EscalationChannel `yaml:"planner" doc:"Who decides by recovery: planner. {agent: NAME}: an agent that answers requests of kind judge is asked what is done instead. upstream: a run that is done for another supervisor ends as blocked, with what is there and why, so that it is planned anew. Absent: the judge of replan is asked."`
	Coordinator *EscalationChannel `yaml:"coordinator" doc:"Who is asked by recovery: coordinator; or upstream, as for planner."`
	Human       *EscalationChannel `yaml:"human" doc:"Who is asked by recovery: human, and about what nobody knows to have happened outside."`
}

// An EscalationChannel is people who are asked about failures, or an agent, or whoever is upstream.
type EscalationChannel struct {
	Agent   string           `yaml:"agent" doc:"For planner: who judges failures. Its kinds have to have judge."`
	People  []string         `yaml:"people" min:"1" doc:"Their names in the people section; the word of one of them is enough."`
	Remind  schemas.Duration `yaml:"remind" doc:"After that they are asked once more. Default: 24h."`
	Expires schemas.Duration `yaml:"expires" doc:"After that the task has failed. Default: 72h."`

	Upstream bool             `yaml:"upstream" doc:"For planner and coordinator: whoever is upstream decides, as by the short form."`
	Wait     schemas.Duration `yaml:"wait" doc:"With upstream: how long the run waits for their word, and says in its progress that it is blocked. Absent: it ends at once."`
}

// Shorten implements strictyaml.Shorthand.
func (c *EscalationChannel) Shorten(text string) error {
	if text != "upstream" {
		return fmt.Errorf("it is upstream, or people: {people: [NAME]}, or for planner {agent: NAME}, and not %q", text)
	}
	c.Upstream = true
	return nil
}

func (e *Escalation) build() *schemas.Escalation {
	if e.Planner == nil && e.Coordinator == nil && e.Human == nil {
		return nil
	}
	return &schemas.Escalation{Planner: e.Planner.build(), Coordinator: e.Coordinator.build(), Human: e.Human.build()}
}

func (c *EscalationChannel) build() *schemas.EscalationChannel {
	if c == nil {
		return nil
	}
	if c.Upstream {
		return &schemas.EscalationChannel{Upstream: true, Wait: c.Wait}
	}
	return &schemas.EscalationChannel{Agent: c.Agent, People: c.People, Remind: c.Remind, Expire: c.Expires}
}

// channels are those that are there.
func (e *Escalation) channels() []*EscalationChannel {
	return slices.DeleteFunc([]*EscalationChannel{e.Coordinator, e.Human}, func(channel *EscalationChannel) bool { return channel == nil })
}

// recovery checks that each value has whom it asks, and that they can be asked.
func (v *validator) recovery(path string, profile *Profile) {
	filled := profile.withDefaults()
	profile = &filled
	ways := profile.Recovery.build()
	for _, category := range slices.Sorted(maps.Keys(ways)) {
		if ways[category] != schemas.WayTable {
			v.recoveryWay(path+".recovery."+category, ways[category], profile)
			continue
		}
		var used []schemas.RecoveryWay
		for _, left := range recovery.Categories() {
			way := recovery.OfTable(left)
			if _, named := ways[string(left)]; !named && !slices.Contains(used, way) && (way != schemas.WayBudget || profile.Budget != nil) {
				v.recoveryWay(path+".recovery.default", way, profile)
			}
			used = append(used, way)
		}
	}
	channels := map[string]*EscalationChannel{"planner": profile.Escalation.Planner, "coordinator": profile.Escalation.Coordinator, "human": profile.Escalation.Human}
	for _, name := range slices.Sorted(maps.Keys(channels)) {
		if channels[name] != nil {
			v.escalation(path, name, channels[name], profile)
		}
	}
}

// recoveryWay checks that a value has whom it asks.
func (v *validator) recoveryWay(at string, way schemas.RecoveryWay, profile *Profile) {
	asks := profile.Budget != nil && profile.Budget.Exhausted == schemas.BudgetAsks
	switch {
	case way == schemas.WayHuman && profile.Escalation.Human == nil, way == schemas.WayCoordinator && profile.Escalation.Coordinator == nil:
		v.problem(at, "%s asks people, and nobody is named: add escalation: {%s: {people: [NAME]}}", way, way)
	case way == schemas.WayPlanner && profile.Escalation.Planner == nil && profile.Replan == nil:
		v.problem(at, "planner asks the judge of replan, and there is none: add replan, or escalation: {planner: {agent: NAME}}, or {planner: upstream}")
	case way == schemas.WayRequester && profile.Waiting.build() == nil:
		v.problem(at, "requester asks whoever has written, and waiting.asks is 0: nobody is asked anything")
	case way == schemas.WayFix && profile.Execution.Mode == schemas.ExecutionSingle:
		v.problem(at, "fix adds tasks to a plan, and execution.mode single has none: write dag or sequence")
	case way == schemas.WayBudget && !asks && (profile.Escalation.Coordinator == nil || !profile.Escalation.Coordinator.Upstream):
		v.problem(at, "budget asks for more, and nobody may raise it: add budget: {exhausted: ask, people: [NAME]}, or escalation: {coordinator: {people: [NAME]}} to a budget")
	}
}

// escalation checks who is asked about failures.
func (v *validator) escalation(path, name string, channel *EscalationChannel, profile *Profile) {
	at := path + ".escalation." + name
	planner := name == "planner"
	switch {
	case channel.Upstream && (len(channel.People) > 0 || channel.Agent != ""), channel.Wait != 0 && !channel.Upstream:
		v.problem(at, "it is upstream, which may be waited for, or somebody else: write {upstream: true, wait: 10m}")
	case channel.Upstream && name == "human", !channel.Upstream && planner && channel.Agent == "", !planner && channel.Agent != "":
		v.problem(at, "planner is upstream or an agent: {agent: NAME}; coordinator is upstream or people: {people: [NAME]}; human is people")
	case planner && len(channel.People) > 0:
		v.problem(at+".people", "planner is an agent; people are asked by coordinator or human")
	case channel.Agent != "":
		v.agentExists(at+".agent", channel.Agent)
		v.declares(at+".agent", channel.Agent, schemas.KindJudge)
		if profile.Replan != nil && profile.Replan.After == schemas.OccasionStep {
			v.problem(at, "the judge of replan is asked after each step, and about failures with it: leave this out, or write replan: {after: failure}")
		}
		if profile.Execution.Mode == schemas.ExecutionSingle {
			v.problem(at, "single has no plan that an agent may change: write execution: {mode: dag}")
		}
	case !channel.Upstream && len(channel.People) == 0:
		v.problem(at, "nobody is named: write {people: [NAME]}")
	case !channel.Upstream:
		v.askedTogether(at, channel.People)
	}
}
