package config

import (
	"errors"
	"strings"

	"podium/schemas"
)

// A Profile is how one kind of conversation is handled, as the file says it.
type Profile struct {
	Language   string      `yaml:"language" default:"user" doc:"Language of answers, such as de, or user: answer in the language of the message."`
	Agents     []AgentUse  `yaml:"agents" required:"true" min:"1" doc:"The closed set of agents that may be given work."`
	Routers    []Router    `yaml:"routers" required:"true" min:"1" doc:"Ways to choose an agent, asked in order; the first that decides wins."`
	Complexity *Complexity `yaml:"complexity" doc:"When a message becomes a plan of several steps. Absent: never."`
	Execution  Execution   `yaml:"execution" doc:"How the tasks of a run are done."`
	Retry      Retry       `yaml:"retry" doc:"What happens when an attempt of a task fails. Default: 2 attempts, 1s apart."`
	Delivery   Retry       `yaml:"delivery" doc:"What happens when an answer cannot be delivered. Default: 10 attempts, 2s before the second."`
	Deadlines  Deadlines   `yaml:"deadlines" doc:"How long a task may wait and take."`
}

// refused names keys that are understood and not granted (O-03).
func (Profile) refused() map[string]string {
	const reason = "a supervisor has no tools of its own: give the work to an agent (agents: …)"
	return map[string]string{"tools": reason, "tool": reason, "mcp": reason, "mcp_servers": reason}
}

// An AgentUse is one agent of a profile: its name, or its name and what is
// special about it here.
type AgentUse struct {
	Name string           `yaml:"name" required:"true" doc:"An agent of the agents section."`
	Work schemas.Duration `yaml:"work" doc:"Its work deadline in this profile."`
}

var errNoName = errors.New("the name is empty")

func (u *AgentUse) shorten(text string) error {
	if text == "" {
		return errNoName
	}
	u.Name = text
	return nil
}

// A Router is one way to choose an agent.
type Router struct {
	Kind   schemas.RouterKind   `yaml:"kind" required:"true" enum:"assigned keywords default" doc:"assigned: the plan names the agent. keywords: words of the message. default: always this agent."`
	Mode   schemas.KeywordOrder `yaml:"mode" enum:"order priority score" doc:"keywords: which group wins when several hit. Default: order."`
	Groups []Group              `yaml:"groups" min:"1" doc:"keywords: words and the agent that they lead to."`
	Agent  string               `yaml:"agent" doc:"default: the agent."`
}

// A Group sends messages with certain words to an agent.
type Group struct {
	Name     string    `yaml:"name" doc:"Name in explanations. Default: the agent's."`
	Agent    string    `yaml:"agent" required:"true"`
	Priority int       `yaml:"priority" min:"1" max:"1000" doc:"1 wins over 2. Needed with mode: priority."`
	Keywords []Keyword `yaml:"keywords" required:"true" min:"1"`
}

// A Keyword is words to look for: "dft" is a whole word, "cation*" the beginning
// of one. The long form says more.
type Keyword struct {
	Word   string              `yaml:"word" required:"true"`
	Mode   schemas.KeywordMode `yaml:"mode" enum:"word prefix" default:"word" doc:"word: a whole word. prefix: the beginning of a word."`
	Except []string            `yaml:"except" min:"1" doc:"Words in which it does not count."`
	Shared bool                `yaml:"shared" doc:"It belongs to several groups and does not decide alone."`
}

var errStar = errors.New(`"*" may only stand at the end of a keyword, as in "cation*"`)

func (k *Keyword) shorten(text string) error {
	word, prefix := strings.CutSuffix(text, "*")
	if word == "" || strings.Contains(word, "*") {
		return errStar
	}
	k.Word, k.Mode = word, schemas.ModeWord
	if prefix {
		k.Mode = schemas.ModePrefix
	}
	return nil
}

// Complexity says when a message becomes a plan of several steps (O-17…O-21).
type Complexity struct {
	Verbs      []Keyword `yaml:"verbs" min:"1" doc:"Action verbs; two distinct ones make a plan."`
	Patterns   []string  `yaml:"patterns" min:"1" doc:"Regular expressions (RE2) on the text in lower case."`
	Separators []string  `yaml:"separators" min:"1" doc:"Words that divide the text into steps, such as then."`
}

// Execution says how the tasks of a run are done.
type Execution struct {
	Mode     schemas.ExecutionMode `yaml:"mode" enum:"single sequence" doc:"Default: sequence when complexity is given, else single."`
	MaxSteps int                   `yaml:"max_steps" min:"1" max:"64" default:"8" doc:"Steps of a plan; the rest of the text stays with the last."`
}

// Retry says what happens when an attempt fails (G-32).
type Retry struct {
	Attempts int              `yaml:"attempts" min:"1" max:"20" doc:"1 means no retry."`
	Wait     schemas.Duration `yaml:"wait" doc:"Before the second attempt; it doubles each time."`
}

// Deadlines bounds the waits of a task.
type Deadlines struct {
	Queue schemas.Duration `yaml:"queue" default:"1m" doc:"Until an agent begins."`
	Work  schemas.Duration `yaml:"work" default:"30s" doc:"From then until it answers."`
}
