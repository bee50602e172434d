package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/cmd/podium/config/keyword"
	"podium/schemas"
)

// A Planner says where the plan of a run comes from.
type Planner struct {
	Kind       schemas.PlannerKind     `yaml:"kind" required:"true" enum:"none rules template agent external" doc:"none: one task. rules: the complexity check splits the text. template: a named graph below. agent: an agent is asked for the plan. external: the plan comes with the request."`
	Agent      string                  `yaml:"agent" doc:"agent: who is asked. With a complexity check, only for complex messages."`
	Templates  []Template              `yaml:"templates" min:"1" doc:"template: the first that fits is taken; when none fits, the message is one task."`
	MaxTasks   int                     `yaml:"max_tasks" min:"1" max:"4096" default:"256" doc:"Tasks of a plan at most."`
	MaxTokens  int                     `yaml:"max_tokens" min:"1" doc:"Bound on the sum of the tasks' estimated tokens."`
	MaxSeconds int                     `yaml:"max_seconds" min:"1" doc:"Bound on the estimated time of the longest path."`
	Otherwise  schemas.PlannerFallback `yaml:"otherwise" enum:"fail single" default:"fail" doc:"When no plan comes that can be carried out. fail: the run ends. single: it goes on with one task."`
}

// Replan says who judges whether the plan of a run still holds.
type Replan struct {
	Agent      string           `yaml:"agent" required:"true" doc:"The judge: an agent that answers requests of kind judge, such as one of kind llm with the role judge."`
	After      schemas.Occasion `yaml:"after" enum:"step failure" doc:"step: after each step, in mode sequence; one task at a time. failure: when a task has failed for good. Default: step with mode sequence and replan_loop, else failure."`
	Attempts   int              `yaml:"attempts" min:"2" max:"4096" doc:"Attempts at a request at most: the first plan is one, and each change of it one more. When they are used up what is left of the plan is done, and nobody is asked. Default: as execution.steps allows."`
	Conditions []Condition      `yaml:"conditions" min:"1" doc:"What the judge is told besides, by name."`
}

// Review says how what a run has made is looked at.
type Review struct {
	When     schemas.ReviewWhen     `yaml:"when" enum:"complex" doc:"complex: only requests of several steps, by the complexity check, or without one when the plan has several tasks. Default: every run."`
	Rounds   *int                   `yaml:"rounds" min:"0" max:"64" default:"1" doc:"How often a run may go back to work for what was found. 0: never."`
	Merge    string                 `yaml:"merge" doc:"Who makes one file of versions that tasks have made beside each other: an agent of your own that answers requests of kind judge with one deliverable for each path. Absent: they are a conflict."`
	Agree    []string               `yaml:"agree" min:"1" doc:"Members of the data of results that have one value in all of them."`
	Checks   []Check                `yaml:"checks" min:"1" doc:"Who looks, all at once; each of them once."`
	OnFailed schemas.OnReviewFailed `yaml:"on_failed" enum:"fail partial ask" default:"fail" doc:"When something is still wrong in the end. fail: the run has failed, and none of its results is told. partial: they are told, with what was found. ask: the people of escalation are asked what becomes of it."`
}

// A Check says who looks at what a run has made.
type Check struct {
	Agent string   `yaml:"agent" required:"true" doc:"An agent that answers requests of kind judge, with validation_results or with tasks that are to be done."`
	For   []string `yaml:"for" min:"1" doc:"Types of project that it is for: those of the constraint project_type of the tasks. Default: all."`
}

// Summary says how the results of several tasks are told in one text.
type Summary struct {
	Agent    string `yaml:"agent" doc:"Who writes it: an agent that answers requests of kind judge."`
	Template string `yaml:"template" doc:"Go text/template over tasks, the results that would be told, and steps, all that were completed, each with task, agent, text and data; without an agent, or when it has failed."`
}

func (r *Review) build() *schemas.Review {
	if r == nil {
		return nil
	}
	return &schemas.Review{
		When: r.When, Rounds: *r.Rounds, Merge: r.Merge, Agree: r.Agree, OnFailed: r.OnFailed,
		Checks: each(r.Checks, func(check *Check) schemas.Check { return schemas.Check(*check) }),
	}
}

func (s *Summary) build() *schemas.Summary {
	if s == nil {
		return nil
	}
	return &schemas.Summary{Agent: s.Agent, Template: s.Template}
}

// A Condition is something that judges are told.
type Condition struct {
	Name     string         `yaml:"name" required:"true" doc:"What it is called."`
	Pointer  string         `yaml:"pointer" doc:"A JSON Pointer (RFC 6901) into the data of results, such as /vram_low. The newest result that has it counts."`
	Constant jsontext.Value `yaml:"constant" doc:"Its value, instead of a pointer."`
	End      bool           `yaml:"end" doc:"When the value is true the run ends with what is there."`
}

// A Verdict says where data tells whether what an agent has looked at is right.
type Verdict struct {
	Pointer string `yaml:"pointer" required:"true" doc:"A JSON Pointer (RFC 6901) into its data, such as /valid."`
	Detail  string `yaml:"detail" doc:"A JSON Pointer to what is wrong, such as /error_message."`
}

func (r *Replan) build() *schemas.Replan {
	if r == nil {
		return nil
	}
	return &schemas.Replan{Agent: r.Agent, After: r.After, Attempts: r.Attempts, Conditions: each(r.Conditions, (*Condition).build)}
}

func (c *Condition) build() schemas.Condition { return schemas.Condition(*c) }

func (v *Verdict) build() *schemas.Verdict {
	if v == nil {
		return nil
	}
	return &schemas.Verdict{Pointer: v.Pointer, Detail: v.Detail}
}

// looseReplans are cautions of plans that change without a bound of their own, and of judges that are not told what is wrong (C-18).
func (c *Config) looseReplans() (cautions []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		profile := c.Profiles[name]
		if profile.Replan == nil {
			continue
		}
		if profile.Replan.Attempts == 0 && profile.Execution.Steps == schemas.DefaultSteps {
			cautions = append(cautions, fmt.Sprintf("profiles.%s.replan may change a plan until %d steps are used up: say how often it may in attempts, or bound execution.steps", name, schemas.DefaultSteps))
		}
		for i := range profile.Agents {
			if agent := &profile.Agents[i]; agent.Verdict != nil && agent.Verdict.Detail == "" {
				cautions = append(cautions, fmt.Sprintf("profiles.%s.agents: %s says that something is wrong and not what, so that the judge can only guess: name the place of it in verdict.detail", name, agent.Name))
			}
		}
	}
	return cautions
}

// build puts a mode of this file into the terms of a run.
func (e Execution) build() schemas.Execution {
	if e.Mode == executionReplanLoop {
		e.Mode = schemas.ExecutionSequence
	}
	return schemas.Execution(e)
}

// executionReplanLoop is a sequence whose plan is judged after each step.
const executionReplanLoop schemas.ExecutionMode = "replan_loop"

// A Template is a named graph of tasks.
type Template struct {
	Name       string         `yaml:"name" required:"true" doc:"Its name in runs, so that one sees which was taken."`
	Keywords   []Keyword      `yaml:"keywords" min:"1" doc:"Words that pick it. Without any it fits every message."`
	Parameters []Parameter    `yaml:"parameters" min:"1" doc:"What it takes from the message, to be written as {name}."`
	Tasks      []TemplateTask `yaml:"tasks" required:"true" min:"1" doc:"The graph: what is done, and what depends on what."`
}

// A Parameter is a value that a template takes from the message.
type Parameter struct {
	Name     string `yaml:"name" required:"true" doc:"{name} in descriptions and arguments stands for the value."`
	Pattern  string `yaml:"pattern" required:"true" doc:"Regular expression (RE2) on the message; its first group, or the match, is the value."`
	Default  string `yaml:"default" doc:"The value when the pattern does not match."`
	Required bool   `yaml:"required" doc:"Without a value the template does not fit."`
}

// A TemplateTask is one task of a template.
type TemplateTask struct {
	Task         string           `yaml:"task" required:"true" doc:"Its id in the plan."`
	Description  string           `yaml:"description" required:"true" doc:"What is to be done. {request} stands for the whole message."`
	Agent        string           `yaml:"agent" doc:"Who does it. Absent: it is routed."`
	Dependencies []string         `yaml:"dependencies" min:"1" doc:"Ids of the tasks that end before it begins."`
	Priority     schemas.Priority `yaml:"priority" enum:"critical high medium low nice_to_have" doc:"Among tasks that may begin, critical goes first. Default: medium."`
	Optional     bool             `yaml:"optional" doc:"The run can do without it."`
	Seconds      int              `yaml:"seconds" min:"1" doc:"Estimated time; the work deadline is at least three times that."`
	Tokens       int              `yaml:"tokens" min:"1" doc:"Estimated tokens, whose sum max_tokens bounds."`
	Resources    []string         `yaml:"resources" min:"1" doc:"Names of what no other task may use meanwhile."`
	Arguments    jsontext.Value   `yaml:"arguments" doc:"For the agent, as its input schema wants them."`
}

// Conversation says what a message means that comes while a run is under way.
type Conversation struct {
	WhileRunning   schemas.WhileRunning `yaml:"while_running" enum:"queue merge supersede" default:"queue" doc:"queue: a run of its own, after this one. merge: all that wait become one run. supersede: it ends the run under way and takes its place."`
	RepliesPerHour int                  `yaml:"replies_per_hour" min:"1" max:"60" default:"3" doc:"Answers by mail to one correspondent of a conversation in an hour, and 60 to all of them together; an answer beyond that waits until the oldest of them is an hour old, so that programs which answer each other are slowed down."`
	Answer         schemas.AnswerPolicy `yaml:"answer" enum:"proven unrefuted everybody" default:"proven" doc:"Whose mail is answered, where its mailbox says who is believed about its origin (authserv_ids, dkim). proven: mail that is vouched for; other mail is worked on and not answered, and forged mail is not worked on. unrefuted: all but forged mail. everybody: all of it, so that strangers can have words of theirs sent to others."`
	Entities       []Entity             `yaml:"entities" min:"1" doc:"What conversations are about: kept, handed to every agent, and checked in what they answer."`
	Urgent         []Keyword            `yaml:"urgent" min:"1" doc:"Keywords of what cannot wait for the answer to a question. Where whoever is asked writes one of them, that is no answer: it is a message that takes the place of the run that asks, and goes where it belongs."`
}

// An Entity is something that a session is about.
type Entity struct {
	Name    string `yaml:"name" required:"true" doc:"Its name in requests, and in the data of results."`
	Pattern string `yaml:"pattern" required:"true" doc:"Regular expression (RE2) on the message; its first group, or the match, is the value."`
}

func (p *Planner) build() *schemas.Planner {
	if p == nil {
		return nil
	}
	return &schemas.Planner{
		Kind: p.Kind, Agent: p.Agent, Templates: each(p.Templates, (*Template).build),
		MaxTasks: p.MaxTasks, MaxTokens: p.MaxTokens, MaxSeconds: p.MaxSeconds, Otherwise: p.Otherwise,
	}
}

func (t *Template) build() schemas.Template {
	return schemas.Template{
		Name: t.Name, Keywords: keyword.Build(t.Keywords),
		Parameters: each(t.Parameters, func(p *Parameter) schemas.Parameter { return schemas.Parameter(*p) }),
		Tasks:      each(t.Tasks, func(t *TemplateTask) schemas.TemplateTask { return schemas.TemplateTask(*t) }),
	}
}

func (c *Conversation) build() schemas.ConversationPolicy {
	var urgent []schemas.Keyword // none is no list: a profile without any has the hash that it had
	if len(c.Urgent) > 0 {
		urgent = keyword.Build(keyword.Default(c.Urgent, schemas.ModeWord))
	}
	return schemas.ConversationPolicy{
		WhileRunning: c.WhileRunning, RepliesPerHour: c.RepliesPerHour, Answer: cmp.Or(c.Answer, schemas.AnswerProven),
		Entities: each(c.Entities, func(e *Entity) schemas.Entity { return schemas.Entity(*e) }), Urgent: urgent,
	}
}
