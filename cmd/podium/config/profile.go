package config

import (
	"errors"
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/cmd/podium/config/keyword"
	"podium/schemas"
)

// A Profile is how one kind of session is handled, as the file says it.
type Profile struct {
	Language      string       `yaml:"language" default:"user" doc:"Language of answers, such as de, or user: answer in the language of the message."`
	CheckLanguage TextCheck    `yaml:"check_language" doc:"Results for people that are surely in another language, as a whole or in part, are asked for again, and fail in the end, of a person who does an agent's work too. text: by statistics of letters and words, and what agents say beside results is told only in the right language. words or true: by a few frequent words of the languages that Podium answers in. false, as without the key: not at all."`
	Stream        bool         `yaml:"stream" doc:"Whoever writes by chat sees the text of an answer while the agent still works on it: on the page, and in chats with progress: edit. Only where that text is the whole answer; it precedes every check, so that it does not go together with check_language, and agents with an output_schema are left out."`
	Agents        []AgentUse   `yaml:"agents" required:"true" min:"1" doc:"The closed set of agents that may be given work."`
	Routers       []Router     `yaml:"routers" required:"true" min:"1" doc:"Ways to choose an agent, asked in order; the first that decides wins."`
	Complexity    *Complexity  `yaml:"complexity" doc:"When a message becomes a plan of several steps. Absent: never."`
	Planner       *Planner     `yaml:"planner" doc:"Where plans come from. Default: rules when there is a complexity check, else every message is one task."`
	Execution     Execution    `yaml:"execution" doc:"How the tasks of a run are done."`
	Retry         Retry        `yaml:"retry" doc:"What happens when an attempt of a task fails. Default: 2 attempts, 1s apart."`
	Delivery      Delivery     `yaml:"delivery" doc:"What happens when an answer cannot be delivered."`
	Replan        *Replan      `yaml:"replan" doc:"Who judges whether the plan of a run still holds, and changes it. Absent: nobody."`
	Review        *Review      `yaml:"review" doc:"How what a run has made is looked at before it is answered. Absent: it is not."`
	Summary       *Summary     `yaml:"summary" doc:"How the results of several tasks are told in one text. Absent: each is told."`
	Deadlines     Deadlines    `yaml:"deadlines" doc:"How long a task may wait and take."`
	Conversation  Conversation `yaml:"conversation" doc:"What a message means that comes while a run is under way."`
	LocalOnly     bool         `yaml:"local_only" doc:"Whoever is reached by way of it stays on this machine and private networks: every agent needs egress: local, or is of a kind that goes nowhere, and answers are delivered by servers there. Names are held to it when they are resolved."`
	Approval      []Approval   `yaml:"approval" doc:"Which tasks, and answers, wait until somebody agrees; the first rule that matches counts."`
	Budget        *Budget      `yaml:"budget" doc:"What a run may use: tokens, working time and money. Absent: nothing is counted for it, and nothing is limited."`
	Waiting       Waiting      `yaml:"waiting" doc:"How runs wait for people whom they ask."`
	Recovery      Recovery     `yaml:"recovery" doc:"What is done about a task that has failed once its attempts and the fallback of its agent are used up, by the category of the failure. skip: the run goes on without it. fix: whoever is responsible mends what was found. planner: an agent says what is done instead, or whoever is upstream. human, coordinator: the people of escalation are asked what to do. requester: whoever has written is asked that. budget: people are asked for more. fail: it has failed. default: table has a way for each category. Absent: it has failed, and the answer says so. A task that the run can do without (optional, nice_to_have) is skipped all the same."`
	Escalation    Escalation   `yaml:"escalation" doc:"Who is asked about failures. They say by mail, podium answer or the API whether it is tried once more, left out, done by themselves, or done in another way, or whether the run ends."`
	Timezone      string       `yaml:"timezone" default:"UTC" doc:"Where days begin and times are told, by its IANA name, such as Europe/Berlin."`
	Context       Context      `yaml:"context" doc:"What agents are told of the conversation before a message."`
	Outputs       Outputs      `yaml:"outputs" doc:"What is written beside the answers, as runs go on."`
}

// Outputs is what is written of runs. It decides nothing, and is no part of the profile that runs are pinned to.
type Outputs struct {
	Plans string `yaml:"plans" doc:"The directory in which the plan of each run that has one stands as task_plan_TIME_RUN.md, with the states of its steps, from when it is made until the run has ended. TIME is that of the plan (UTC). Relative to this file; it is made when it is missing. Absent: no plan is written."`
}

// Context says how much of a conversation agents are told.
type Context struct {
	Messages *int `yaml:"messages" min:"0" max:"8" doc:"Earlier messages and answers at most, with the files that came with them. 0: agents are told of this message alone. Default: 6."`
	Bytes    int  `yaml:"bytes" min:"256" max:"262144" default:"16384" doc:"Bytes of their words at most; the oldest are cut first."`
}

// An Approval says which tasks wait until somebody agrees. All that it says has to hold.
type Approval struct {
	Agents   []string         `yaml:"agents" doc:"Whose tasks: agents of the profile. Needed, but with delivery: true."`
	Delivery bool             `yaml:"delivery" doc:"It is for the answers of runs: they are sent to whoever has written once somebody has agreed, and never otherwise. Such a rule says who decides, and may be tainted; all else is for tasks."`
	Seconds  int              `yaml:"seconds" min:"0" doc:"From this estimate of the plan on, in seconds. A task without an estimate is below it."`
	Tokens   int              `yaml:"tokens" min:"0" doc:"From this estimate of the plan on, in tokens."`
	Tainted  bool             `yaml:"tainted" doc:"It is for what comes of what somebody has written, and lets be done what on_tainted: ask has wait. What templates hold without a parameter is not asked for, unless the agent is told the words of a request as well, as programs are."`
	If       jsontext.Value   `yaml:"if" doc:"JSON Schema of the arguments: those that it fits wait."`
	People   []string         `yaml:"people" required:"true" min:"1" doc:"Who decides, by their names in the people section, or as requester: whoever has written. Whoever has written does not decide by their name."`
	Need     int              `yaml:"need" min:"1" doc:"How many of them have to agree; default: 1. Persons count, whatever way they answer by and however often; one who says no is enough."`
	Remind   schemas.Duration `yaml:"remind" doc:"After that they are asked once more. Default: 24h."`
	Expires  schemas.Duration `yaml:"expires" doc:"After that nobody has agreed, and the task has failed. Default: 72h."`
	Sets     map[string]bool  `yaml:"sets" keys:"^.{1,255}$" doc:"Arguments of these agents that nobody but whoever agrees sets, each with true: {validated_by_human: true}. They are true for what was agreed to by this rule, and false for everything else that the agents are asked, whoever has written otherwise."`
}

// build returns the rule as the supervisor has it.
func (a *Approval) build() schemas.ApprovalRule {
	return schemas.ApprovalRule{
		Agents: a.Agents, Delivery: a.Delivery, Seconds: a.Seconds, Tokens: a.Tokens, Tainted: a.Tainted, If: a.If, People: a.People, Need: a.Need, Remind: a.Remind, Expire: a.Expires, Sets: a.Sets,
	}
}

// A Budget is what runs may use. What it does not limit it counts.
type Budget struct {
	Run            Limits                  `yaml:"run" doc:"What one run may use, by all of its agents together: whoever works, plans, judges, routes and assesses. Letters and answers only count."`
	Agent          map[string]Limits       `yaml:"agent" doc:"What single agents may use of that, by their names."`
	Day            Limits                  `yaml:"day" doc:"What all runs of the profile may use together on one day (UTC), over all processes."`
	AgentDay       map[string]Limits       `yaml:"agent_day" doc:"What single agents may use of that, by their names."`
	Reserve        int                     `yaml:"reserve" min:"1" doc:"Tokens that a request reserves when no plan estimates them. Needed where tokens are limited, or money by a price."`
	ReserveSeconds int                     `yaml:"reserve_seconds" min:"1" doc:"Seconds that a request reserves when no plan estimates them. Needed where seconds are limited."`
	ReserveMoney   float64                 `yaml:"reserve_money" min:"0" doc:"Money that a request reserves where its agent has no price. Needed where money is limited and there is no price."`
	Price          float64                 `yaml:"price" min:"0" doc:"What a million tokens cost, where an agent does not say what its work has cost (cost_micros)."`
	Prices         map[string]float64      `yaml:"prices" doc:"The same for single agents, by their names."`
	Free           []string                `yaml:"free" doc:"Agents that use no tokens: their requests reserve none. Those of kinds that have no use for any, such as calculator and retrieval, need not be named."`
	Exhausted      schemas.BudgetExhausted `yaml:"exhausted" enum:"end ask wait" doc:"What becomes of a run when nothing works and what is left does not fit. end (default): it ends with the results that it has, as budget_exhausted. ask: people are asked for more. wait: it waits for the next day, or until others leave some, where the limit of a day is used up; else it ends."`
	People         []string                `yaml:"people" doc:"Who may raise it, for exhausted: ask: names of the people section, or requester alone: whoever has written."`
	Remind         schemas.Duration        `yaml:"remind" doc:"After that they are asked once more. Default: 24h."`
	Expires        schemas.Duration        `yaml:"expires" doc:"After that nobody waits for them any more, and the run ends. Default: 72h."`
}

// Limits are what work may use; what is absent is not limited.
type Limits struct {
	Tokens  int     `yaml:"tokens" min:"0" doc:"Tokens."`
	Seconds int     `yaml:"seconds" min:"0" doc:"Working time in seconds."`
	Money   float64 `yaml:"money" min:"0" doc:"Money, in the unit of the prices."`
}

func (l Limits) build() schemas.Usage {
	return schemas.Usage{Tokens: int64(l.Tokens), Milliseconds: int64(l.Seconds) * 1000, CostMicros: micros(l.Money)}
}

// micros are millionths of an amount of money.
func micros(money float64) int64 { return int64(math.Round(money * 1e6)) }

// build returns the budget as the supervisor has it; uses are the agents of its profile.
func (c *Config) budget(source *Budget, uses []schemas.AgentUse) *schemas.Budget {
	if source == nil {
		return nil
	}
	made := &schemas.Budget{
		Run: source.Run.build(), Reserve: Limits{Tokens: source.Reserve, Seconds: source.ReserveSeconds, Money: source.ReserveMoney}.build(),
		Price: micros(source.Price), Exhausted: source.Exhausted, Free: slices.Clone(source.Free),
	}
	for name, limits := range source.Agent {
		if made.Agents == nil {
			made.Agents = map[string]schemas.Usage{}
		}
		made.Agents[name] = limits.build()
	}
	made.Day = source.Day.build()
	for name, limits := range source.AgentDay {
		if made.DayAgents == nil {
			made.DayAgents = map[string]schemas.Usage{}
		}
		made.DayAgents[name] = limits.build()
	}
	for name, price := range source.Prices {
		if made.Prices == nil {
			made.Prices = map[string]int64{}
		}
		made.Prices[name] = micros(price)
	}
	for i := range uses {
		if name := uses[i].Name; tokenless(c.Agents[name].Kind) && !slices.Contains(made.Free, name) {
			made.Free = append(made.Free, name)
		}
	}
	if source.Exhausted == schemas.BudgetAsks {
		made.People, made.Remind, made.Expire = source.People, source.Remind, source.Expires
	}
	return made
}

// tokenless reports whether agents of a kind have no use for tokens.
func tokenless(kind AgentKind) bool {
	switch kind {
	case KindCalculator, KindCaldav, KindCarddav, KindChat, KindDocument, KindEcho, KindFile, KindMail, KindPerson, KindRetrieval:
		return true
	case KindExec, KindHTTP, KindLLM, KindMCP, KindExternal, KindScripted, KindSupervisor:
	}
	return false
}

// Waiting says how a run waits for what a person is asked.
type Waiting struct {
	Asks   *int             `yaml:"asks" min:"0" max:"5" doc:"How often a task asks whoever wrote for what it lacks. 0: never; the run ends with what is lacking. Default: 2."`
	Remind schemas.Duration `yaml:"remind" default:"24h" doc:"After that they are asked once more; as long as expire, or longer: never."`
	Expire schemas.Duration `yaml:"expire" default:"72h" doc:"After that nobody waits for their answer any more, and the run ends with what is lacking."`
}

func (w *Waiting) build() *schemas.WaitingPolicy {
	policy := schemas.WaitingPolicy{Remind: w.Remind, Expire: w.Expire, Asks: defaultAsks}
	if w.Asks != nil {
		policy.Asks = *w.Asks
	}
	if policy.Asks == 0 {
		return nil
	}
	return &policy
}

func (c *Context) build() schemas.ContextPolicy {
	if c.Messages == nil {
		return schemas.ContextPolicy{Messages: defaultContextMessages, Bytes: c.Bytes}
	}
	return schemas.ContextPolicy{Messages: *c.Messages, Bytes: c.Bytes}
}

// Refused names keys that are understood and not granted (O-03).
func (Profile) Refused() map[string]string {
	const reason = "a supervisor has no tools of its own: give the work to an agent (agents: …)"
	return map[string]string{"tools": reason, "tool": reason, "mcp": reason, "mcp_servers": reason}
}

// An AgentUse is one agent of a profile: its name, or its name and what is
// special about it here.
type AgentUse struct {
	Name        string            `yaml:"name" required:"true" doc:"An agent of the agents section."`
	Work        schemas.Duration  `yaml:"work" doc:"Its work deadline in this profile."`
	Fallback    string            `yaml:"fallback" doc:"Who is asked when its attempts are used up."`
	Unavailable string            `yaml:"unavailable" doc:"Why it is not asked now. Planners and judges are told so and may not choose it; what needs it all the same goes to its fallback, or fails by these words."`
	Verdict     *Verdict          `yaml:"verdict" doc:"Where its data tells whether what it has looked at is right. Where that is false the task has failed, is not tried again, and keeps its result for the judge."`
	Reuse       schemas.Duration  `yaml:"reuse" doc:"How long a result of it may answer the very same request again. Absent: never."`
	OnUnknown   schemas.OnUnknown `yaml:"on_unknown" enum:"resend ask" doc:"When it was permitted to act outside and nobody knows whether it has. resend (default): again, under the same effect id. ask: the run ends and tells a person."`
	OnTainted   schemas.OnTainted `yaml:"on_tainted" enum:"allow ask refuse" doc:"For agents with side_effects: external, and calendars and address books: what becomes of what they would do outside because of what somebody has written. allow: it is done. ask (default): it waits until somebody agrees, by a rule of approval with tainted: true; without one it is refused, and the answer says so. refuse: it is never done. What templates hold without a parameter is the profile's own, and is done."`
}

// Shorten implements strictyaml.Shorthand.
func (u *AgentUse) Shorten(text string) error {
	if text == "" {
		return errors.New("the name is empty")
	}
	u.Name = text
	return nil
}

// A Router is one way to choose an agent.
type Router struct {
	Kind          schemas.RouterKind   `yaml:"kind" required:"true" enum:"assigned keywords score agent default" doc:"assigned: the plan names the agent. keywords: words of the message. score: how well the agents can do it, as they declare or say when they are asked, and their descriptions are compared with the message. agent: another agent chooses. default: always this agent."`
	Mode          schemas.KeywordOrder `yaml:"mode" enum:"order priority score" doc:"keywords: which group wins when several hit. Default: order."`
	Match         schemas.KeywordMode  `yaml:"match" enum:"word prefix suffix compound substring" doc:"keywords: the mode of keywords that say none. Default: word."`
	Groups        []Group              `yaml:"groups" min:"1" doc:"keywords: words and the agent that they lead to."`
	Agent         string               `yaml:"agent" doc:"default: the agent. agent: the one that is asked to choose; any agent of the agents section."`
	SelfWeight    float64              `yaml:"self_weight" max:"1" doc:"score: weight of an agent's assessment of itself. Default: 0.6, unless keyword_weight is given."`
	KeywordWeight float64              `yaml:"keyword_weight" max:"1" doc:"score: weight of the share of the message's words that the agent's description has. Default: 0.4, unless self_weight is given."`
	Silent        float64              `yaml:"silent" max:"1" doc:"score: what the assessment of an agent counts that does not answer in time, or declares nothing of the message. Default: 0."`
	Floor         float64              `yaml:"floor" max:"1" doc:"score: from here on an agent that a plan suggests is taken, even when another has more. Default: 0.5."`
	Least         float64              `yaml:"least" max:"1" doc:"score: below it nobody is taken, and the next router decides. Default: 0."`
	Deadline      schemas.Duration     `yaml:"deadline" doc:"score and agent: how long answers are waited for; then it goes on without. When an agent's process dies the next one has its request after 15s: a longer deadline waits for that. Default: 2s for score, 10s for agent."`
}

// A Group sends messages with certain words to an agent.
type Group struct {
	Name     string              `yaml:"name" doc:"Name in explanations. Default: the agent's."`
	Agent    string              `yaml:"agent" required:"true" doc:"The agent of the profile that these words lead to."`
	Priority int                 `yaml:"priority" min:"1" max:"1000" doc:"1 wins over 2. Needed with mode: priority."`
	Match    schemas.KeywordMode `yaml:"match" enum:"word prefix suffix compound substring" doc:"The mode of keywords that say none. Default: the router's."`
	Keywords []Keyword           `yaml:"keywords" required:"true" min:"1" doc:"The words; one of them in a message is enough."`
	// SourceBonus weighs where a message comes from (G-26).
	SourceBonus SourceBonus `yaml:"source_bonus" doc:"Modes score and priority: what counts more, once a word of the group is in the message, for where it comes from. score: so many more words. priority: so much smaller a number. Less than 0 counts less. Default: nothing."`
}

// SourceBonus is what a keyword group has for where a message comes from.
type SourceBonus struct {
	Email int `yaml:"email" min:"-1000" max:"1000" doc:"For mail."`
	Chat  int `yaml:"chat" min:"-1000" max:"1000" doc:"For chat."`
	Agent int `yaml:"agent" min:"-1000" max:"1000" doc:"For the requests of other supervisors."`
}

func (b *SourceBonus) build() map[string]int {
	built := map[string]int{}
	for source, bonus := range map[string]int{schemas.ChannelEmail: b.Email, schemas.ChannelChat: b.Chat, schemas.ChannelAgent: b.Agent} {
		if bonus != 0 {
			built[source] = bonus
		}
	}
	if len(built) == 0 {
		return nil
	}
	return built
}

// A Keyword is words to look for.
type Keyword = keyword.Keyword

// Complexity says when a message becomes a plan of several steps (O-17…O-21).
type Complexity struct {
	Verbs      []Keyword `yaml:"verbs" min:"1" doc:"Action verbs; two distinct ones make a plan."`
	Patterns   []string  `yaml:"patterns" min:"1" doc:"Regular expressions (RE2) on the text in lower case."`
	Separators []string  `yaml:"separators" min:"1" doc:"Words that divide the text into steps, such as then."`
}

// Execution says how the tasks of a run are done.
type Execution struct {
	Mode          schemas.ExecutionMode `yaml:"mode" enum:"single sequence dag replan_loop" doc:"single: one task. sequence: one after the other. dag: as they depend on each other. replan_loop: a sequence after each step of which the agent of replan judges how it goes on. Default: dag with a planner of kind template, agent or external; sequence when complexity is given; else single."`
	MaxSteps      int                   `yaml:"max_steps" min:"1" max:"64" default:"8" doc:"Steps of a plan; the rest of the text stays with the last."`
	Steps         int                   `yaml:"steps" min:"1" max:"4096" doc:"With replan or review: plans, tasks and judgements of a run together, retries not counted; then it stops with what is there. Default: 50, which are the plan, 24 times a task with its judgement, and one more task."`
	Schedule      schemas.Schedule      `yaml:"schedule" enum:"ready levels" default:"ready" doc:"ready: a task begins when all that it depends on has ended. levels: when all of the level before has."`
	OnFailure     schemas.OnFailure     `yaml:"on_failure" enum:"skip continue abort" default:"skip" doc:"What becomes of the tasks behind one that failed for good. continue: they work with what is there. abort: the run ends."`
	AllowedChains [][]string            `yaml:"allowed_chains" min:"1" doc:"mode single: sequences of agents that one message may lead to, besides one agent alone."`
	ContextLimit  int                   `yaml:"context_limit" min:"1024" doc:"Bytes of other tasks' results in a request at most. Default: 1 MiB."`
	Estimate      schemas.ETA           `yaml:"eta" enum:"critical_path sum" default:"critical_path" doc:"How the end is foreseen: along the longest path, or by all estimates added up."`
}

// Retry says what happens when an attempt fails (G-32).
type Retry struct {
	Attempts      int              `yaml:"attempts" min:"1" max:"20" default:"2" doc:"How often it is tried at most; 1 means no retry."`
	Wait          schemas.Duration `yaml:"wait" default:"1s" doc:"Before the second attempt; it doubles each time, up to 5m."`
	TimeoutGrowth float64          `yaml:"timeout_growth" default:"1.5" doc:"Multiplies the work deadline with each attempt."`
}

// Delivery says what happens when an answer cannot be delivered.
type Delivery struct {
	Attempts  int               `yaml:"attempts" min:"1" max:"20" default:"10" doc:"How often it is tried at most; 1 means no retry."`
	Wait      schemas.Duration  `yaml:"wait" default:"2s" doc:"Before the second attempt; it doubles each time, up to 5m."`
	OnUnknown schemas.OnUnknown `yaml:"on_unknown" enum:"resend ask" default:"resend" doc:"When nobody knows whether an answer was delivered. resend: again, under the same id. ask: the run ends and tells a person."`
	OnTainted schemas.OnTainted `yaml:"on_tainted" enum:"allow ask refuse" default:"allow" doc:"What becomes of answers to what somebody has written. allow: they go to those who take part. ask: each waits until somebody agrees, by a rule of approval with delivery: true and tainted: true; without one none is sent. refuse: none is sent. Sent is what goes by mail, to a provider or to a callback: without such a rule podium send --wait and the API show an answer to whoever asks for it."`
}

// Deadlines bounds the waits of a task.
type Deadlines struct {
	Queue schemas.Duration `yaml:"queue" default:"1m" doc:"Until an agent begins."`
	Work  schemas.Duration `yaml:"work" default:"30s" doc:"From then until it answers; at least three times the task's estimate."`
	Run   schemas.Duration `yaml:"run" doc:"For all of a run's work. Absent: no bound."`
	Plan  schemas.Duration `yaml:"plan" doc:"Until a planner has answered. Absent: the work deadline."`
}
