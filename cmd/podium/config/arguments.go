package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/document"
	"podium/agents/members"
	"podium/agents/retrieval"
	"podium/schemas"
	"podium/schemas/timezone"
	"podium/supervisor/arguments"
)

// An ArgumentRule says where one argument of an agent's tasks comes from.
type ArgumentRule struct {
	Path        string              `yaml:"path" required:"true" doc:"The argument: a name of input_schema, or several with dots between them, such as appointment.date."`
	Map         []ArgumentChoice    `yaml:"map" min:"1" doc:"Words, and the value that each stands for. Two that stand for different values are asked about."`
	Pattern     string              `yaml:"pattern" doc:"Regular expression (RE2): the value is its group called value, else its first group, else all of the match."`
	Find        arguments.Kind      `yaml:"find" enum:"date time number name email phone expression" doc:"What is looked for in the words."`
	Entity      string              `yaml:"entity" doc:"What the conversation is about, by the name that conversation.entities gives it."`
	Attachments string              `yaml:"attachments" doc:"The files of this media type that came with the message, such as image/*."`
	Message     []arguments.Member  `yaml:"message" enum:"from subject text" min:"1" doc:"These members of the message: one of them as text, several as an object."`
	Words       bool                `yaml:"words" doc:"All words of the message."`
	Same        string              `yaml:"same" doc:"The value of another argument."`
	Constant    string              `yaml:"constant" doc:"This value, where the conditions of the rule hold."`
	Default     string              `yaml:"default" doc:"The value when no rule of the path has any. Where the schema has choices, one of harmless."`
	Harmless    []string            `yaml:"harmless" min:"1" doc:"Choices that change nothing outside."`
	If          []ArgumentCondition `yaml:"if" min:"1" doc:"The rule counts when all of these hold of arguments that were filled before."`
	Received    bool                `yaml:"received" doc:"The rule counts only for a mail that somebody has sent."`
	When        []string            `yaml:"when" min:"1" doc:"The rule counts when one of these words is there; * as in keywords."`
	Unless      []string            `yaml:"unless" min:"1" doc:"The rule does not count when one of these words is there."`
	After       []string            `yaml:"after" min:"1" doc:"What is found counts right behind one of these words."`
	NotAfter    []string            `yaml:"not_after" min:"1" doc:"And behind none of these."`
	As          arguments.Kind      `yaml:"as" enum:"date time number name email phone expression" doc:"How the text of a pattern is read."`
	Units       []ArgumentUnit      `yaml:"units" min:"1" doc:"A number counts before one of these words."`
	Past        bool                `yaml:"past" doc:"A date without a year is the last one, and not the next."`
	Never       []string            `yaml:"never" min:"1" doc:"What a pattern may match and is no value."`
	NoDegrees   bool                `yaml:"no_degrees" doc:"Leaves out persons with a degree and no other title."`
	Confirm     bool                `yaml:"confirm" doc:"What is found is asked about, and never taken. Without a source the rule asks where it applies."`
	Phrase      bool                `yaml:"phrase" doc:"The text of a pattern is the name of a thing: no number, and no word such as please, is a part of it."`
	Own         bool                `yaml:"own" doc:"Who has signed is meant only where they write of something that is theirs."`

	Understood arguments.Understood `yaml:"understood" enum:"message sentence intent" doc:"Nothing is taken before every word is understood: of the message, or of the sentences of the keywords of this rule. What is read is asked about instead. Choices of harmless are taken from a plain question all the same. With intent, of a map or a pattern, it is the sentences where it has found something, none of the others may take it back, and nothing else of the message is taken either."`
	Whole      bool                 `yaml:"whole" doc:"With sentence and intent: nothing is taken before every word of the other sentences is understood too. Only words that are taken as they were written may say anything, up to the end of their sentence."`

	Ask map[string]string `yaml:"ask" doc:"The question when it is missing, by language. Default: the title of the argument in input_schema."`
}

// An ArgumentChoice is a word and the value that it stands for.
type ArgumentChoice struct {
	Word  string `yaml:"word" required:"true" doc:"A word; absag* is the beginning of one, *termin the end, *lager* any part, buch~ any form (buchen and Buchung, not Buchhaltung), ~invoices its beginning with a slip, /…/ a regular expression."`
	Value string `yaml:"value" required:"true" doc:"What it stands for."`
	Weak  bool   `yaml:"weak" doc:"It counts only where no other word does."`

	Confirm bool `yaml:"confirm" doc:"Who writes this may mean it otherwise, and is asked."`
}

// An ArgumentCondition is one of ArgumentRule.If.
type ArgumentCondition struct {
	Path string   `yaml:"path" required:"true" doc:"The argument that is looked at."`
	Is   []string `yaml:"is" min:"1" doc:"Its values for which the condition holds. Absent: any."`
	Not  bool     `yaml:"not" doc:"The condition holds when that is not so."`
}

// An ArgumentUnit is one of ArgumentRule.Units.
type ArgumentUnit struct {
	Word   string `yaml:"word" required:"true" doc:"The word behind the number."`
	Factor string `yaml:"factor" doc:"Multiplies the number. Default: 1."`
}

// Hours are those of a day in which a time is meant.
type Hours struct {
	From  string `yaml:"from" required:"true" doc:"Such as 07:00."`
	Until string `yaml:"until" required:"true" doc:"Such as 19:00."`
}

func (r *ArgumentRule) build() arguments.Rule {
	return arguments.Rule{
		Path: r.Path, Map: each(r.Map, func(c *ArgumentChoice) arguments.Choice { return arguments.Choice(*c) }), Pattern: r.Pattern, Find: r.Find,
		Entity: r.Entity, Attachments: r.Attachments, Message: r.Message, Words: r.Words, Same: r.Same, Constant: r.Constant,
		Default: r.Default, Harmless: r.Harmless, If: each(r.If, func(c *ArgumentCondition) arguments.Condition { return arguments.Condition(*c) }),
		Received: r.Received, When: r.When, Unless: r.Unless, After: r.After, NotAfter: r.NotAfter, As: r.As,
		Units: each(r.Units, func(u *ArgumentUnit) arguments.Unit { return arguments.Unit(*u) }), Past: r.Past, Never: r.Never,
		NoDegrees: r.NoDegrees, Confirm: r.Confirm, Phrase: r.Phrase, Own: r.Own, Understood: r.Understood, Whole: r.Whole, Ask: r.Ask,
	}
}

// arguments returns how the arguments of an agent's tasks are filled; nothing when they are not. An agent
// whose schema requires anything has them filled without a word in the file.
func (a *Agent) arguments() jsontext.Value {
	schema := a.inputSchema()
	spec := arguments.Spec{Input: a.Input, Rules: each(a.Arguments, (*ArgumentRule).build), Trusted: a.Trusted, Known: a.Known}
	if a.Hours != nil {
		spec.Hours = arguments.Hours(*a.Hours)
	}
	if !a.fillsArguments(schema) {
		return nil
	}
	body, err := schemas.Marshal(spec)
	if err != nil {
		return nil // plain values can be written
	}
	return body
}

// inputSchema is the schema of the file, else that of the kind, if it has one for messages.
func (a *Agent) inputSchema() jsontext.Value {
	switch {
	case len(a.InputSchema) > 0:
	case a.Kind == KindDocument:
		return document.InputSchema(nil)
	case a.Kind == KindRetrieval:
		return members.Names(a.Members).Write(retrieval.InputSchema(a.Mode))
	}
	return a.InputSchema
}

func (a *Agent) fillsArguments(schema jsontext.Value) bool {
	if len(a.Arguments) > 0 || a.Input != "" || a.Extractor != "" || len(a.Trusted) > 0 || len(a.Known) > 0 || a.Hours != nil {
		return true
	}
	var wants struct {
		Required []string `json:"required"`
	}
	return len(schema) > 0 && schemas.Unmarshal(schema, &wants) == nil && len(wants.Required) > 0
}

// arguments checks how the arguments of an agent's tasks are filled.
func (v *validator) arguments(path string, agent *Agent) {
	spec := agent.arguments()
	if spec == nil {
		return
	}
	if len(agent.inputSchema()) == 0 {
		v.problem(path, "it says how arguments are filled, and has no input_schema that names them")
		return
	}
	if agent.Extractor != "" {
		v.agentExists(path+".extractor", agent.Extractor)
		v.declares(path+".extractor", agent.Extractor, schemas.KindExtract)
	}
	for i := range agent.Arguments {
		for _, tag := range slices.Sorted(maps.Keys(agent.Arguments[i].Ask)) {
			v.name(fmt.Sprintf("%s.arguments[%d].ask.%s", path, i, tag), tag)
		}
	}
	var built arguments.Spec
	if err := schemas.Unmarshal(spec, &built); err != nil {
		v.problem(path+".arguments", "%v", err)
		return
	}
	if _, err := arguments.Compile(built, agent.inputSchema()); err != nil {
		for _, fault := range joined(err) {
			v.problem(path+".arguments", "%s", strings.TrimPrefix(fault.Error(), "arguments, "))
		}
	}
}

// joined are the errors that were joined into one.
func joined(err error) []error {
	if several, is := err.(interface{ Unwrap() []error }); is {
		return several.Unwrap()
	}
	return []error{err}
}

// timezone checks the name of a time zone.
func (v *validator) timezone(path, name string) {
	if _, err := timezone.Load(name); err != nil {
		v.problem(path, "%v", fmt.Errorf("timezone %w", err))
	}
}
