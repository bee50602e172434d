package llm

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/validation"
)

// errUnusable reports a request that no prompt can be made of.
var errUnusable = errors.New("the request does not say what the role needs")

type object = map[string]any

// A choice is an agent that a router or a planner may name, or a word that stands for none.
type choice struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"input_schema"`
	Unavailable string         `json:"unavailable"` // why it is not asked now
}

// A question is what the arguments of a request hold when it is no work.
type question struct {
	Agents   []choice       `json:"agents"`
	MaxTasks int            `json:"max_tasks"`
	Given    jsontext.Value `json:"given"`
	Schema   jsontext.Value `json:"schema"`
	Known    jsontext.Value `json:"known"`
	Fault    jsontext.Value `json:"fault"`

	plan *schemas.PlanContext // what the task is a step of; nil is nothing
}

// shapeOf returns what an answer has to look like; nil is words.
func (a *Agent) shapeOf(asked *question) (*shape, error) {
	switch a.config.Role {
	case RoleRouter:
		return routerShape(asked)
	case RolePlanner:
		return plannerShape(asked)
	case RoleSteps:
		return stepsShape(asked)
	case RoleJudge:
		return judgeShape(asked)
	case RoleCritic:
		return criticShape()
	case RoleExtractor:
		return extractorShape(asked)
	case RoleResponder, RoleSummarizer, RoleWorker:
	}
	if len(a.config.OutputSchema) == 0 {
		return nil, nil //nolint:nilnil // words have no shape
	}
	return newShape(a.config.OutputSchema, a.config.OutputSchema, nil)
}

func newShape(asked, held jsontext.Value, tidy func(jsontext.Value) jsontext.Value) (*shape, error) {
	compiled, err := validation.Compile(held)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnusable, err)
	}
	return &shape{asked: asked, held: compiled, strict: strict(asked), tidy: tidy}, nil
}

func shapeOfObjects(asked, held object, tidy func(jsontext.Value) jsontext.Value) (*shape, error) {
	askedBody, err := schemas.Marshal(asked)
	if err != nil {
		return nil, err
	}
	heldBody, err := schemas.Marshal(held)
	if err != nil {
		return nil, err
	}
	return newShape(askedBody, heldBody, tidy)
}

func names(choices []choice) []string {
	known := make([]string, len(choices))
	for i := range choices {
		known[i] = choices[i].Name
	}
	return known
}

// routerShape is an answer to the question who is responsible, out of the closed set (O-11, O-12).
func routerShape(asked *question) (*shape, error) {
	if len(asked.Agents) == 0 {
		return nil, errUnusable
	}
	text := object{"type": "string"}
	properties := object{"next_agent": object{"type": "string", "enum": names(asked.Agents)}, "reasoning": text, "response": text}
	whole := object{"type": "object", "additionalProperties": false, "properties": properties, "required": []string{"next_agent", "reasoning", "response"}}
	held := object{"type": "object", "properties": properties, "required": []string{"next_agent"}}
	return shapeOfObjects(whole, held, func(value jsontext.Value) jsontext.Value {
		var decision map[string]jsontext.Value
		if schemas.Unmarshal(value, &decision) != nil {
			return value
		}
		return rewritten(value, pick(decision, "next_agent", "reasoning", "response"), func(kept map[string]jsontext.Value) {
			if name, known := spelled(stringOf(kept["next_agent"]), asked.Agents); known {
				kept["next_agent"] = quoted(name)
			}
			for _, name := range []string{"reasoning", "response"} {
				if kept[name].Kind() == 'n' {
					delete(kept, name)
				}
			}
		})
	})
}

// spelled finds the one name that a model means: it may differ in case, spaces, hyphens or underscores, and have quotes,
// code marks, stars, backslashes and a final point around it. A word "agent", an article and a label such as "name:"
// that belong to no name do not count.
func spelled(name string, choices []choice) (known string, found bool) {
	for _, exact := range []string{name, trimName(name)} {
		if slices.ContainsFunc(choices, func(c choice) bool { return c.Name == exact }) {
			return exact, true
		}
	}
	var all []string
	for _, bare := range []string{bareName(name), bareName(beforeName.ReplaceAllString(trimName(name), ""))} {
		all = append(all, bare, strings.TrimPrefix(bare, "@"), strings.TrimSuffix(bare, "agent"), strings.TrimPrefix(bare, "agent"))
	}
	for _, meant := range all {
		known, found = "", false
		for _, candidate := range choices {
			if meant == "" || bareName(candidate.Name) != meant {
				continue
			}
			if found {
				return "", false
			}
			known, found = candidate.Name, true
		}
		if found {
			return known, true
		}
	}
	return "", false
}

// beforeName is a label and an article before a name.
var beforeName = regexp.MustCompile(`(?i)^(?:\d{1,2}[.)]\s+)?(?:(?:name|agent|next[ _-]?agent|assigned[ _-]?to)["'` + "`" + `*\\]*\s*[:=]\s*)?(?:(?:the|der|die|das)\s+)?`)

// trimName takes away what models put around a name.
func trimName(name string) string {
	return strings.TrimFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune("\"'`*_.:,;!<>()[]{}\\|~#„“”‚‘’«»‹›「」『』", r)
	})
}

// bareName is a name in lower case, without what models put around and into it.
func bareName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune("-_\u2010\u2011", r) {
			return -1
		}
		return r
	}, strings.ToLower(trimName(name)))
}

// maxSteps bounds the tasks of a plan where a request names no number.
const maxSteps = 256

// plannerShape is the tasks of a plan. Whether they can be carried out is for Podium to say (P-02).
func plannerShape(asked *question) (*shape, error) {
	if len(asked.Agents) == 0 {
		return nil, errUnusable
	}
	most := asked.MaxTasks
	if most <= 0 {
		most = maxSteps
	}
	task := func(text object) object {
		members := object{
			"task_id": text, "description": text, "assigned_to": object{"type": "string", "enum": names(asked.Agents)},
			"dependencies": object{"type": "array", "items": object{"type": "string"}},
		}
		if slices.ContainsFunc(asked.Agents, func(c choice) bool { return len(c.InputSchema) > 0 }) {
			members["context"] = object{"type": "object", "properties": object{"arguments": object{"type": "object"}}}
		}
		return members
	}
	plan := func(tasks object) object {
		return object{"type": "object", "required": []string{"tasks"}, "additionalProperties": false, "properties": object{"tasks": tasks}}
	}
	wanted := plan(object{"type": "array", "items": object{
		"type": "object", "properties": task(object{"type": "string"}), "additionalProperties": false,
		"required": []string{"task_id", "description", "assigned_to", "dependencies"},
	}})
	held := plan(object{"type": "array", "minItems": 1, "maxItems": most, "items": object{
		"type": "object", "properties": task(object{"type": "string", "minLength": 1}), "required": []string{"task_id", "description"},
	}})
	return shapeOfObjects(wanted, held, func(value jsontext.Value) jsontext.Value { return tidyPlan(value, asked.Agents) })
}

// stepsShape is a plan as an ordered list of sentences, each of which is given to whoever is right for it (C-03).
func stepsShape(asked *question) (*shape, error) {
	if len(asked.Agents) == 0 {
		return nil, errUnusable
	}
	most := asked.MaxTasks
	if most <= 0 {
		most = maxSteps
	}
	plan := func(step, bounds object) object {
		steps := object{"type": "array", "items": step}
		maps.Copy(steps, bounds)
		return object{"type": "object", "required": []string{"steps"}, "additionalProperties": false, "properties": object{"steps": steps}}
	}
	wanted := plan(object{"type": "string"}, nil)
	held := plan(object{"type": "string", "minLength": 1}, object{"minItems": 1, "maxItems": most})
	return shapeOfObjects(wanted, held, nil)
}

// judgeShape is how a run goes on: words for whoever has asked, or steps that are still to be done; what is not meant is empty. Which of
// them it has to be is for Podium to say.
func judgeShape(asked *question) (*shape, error) {
	if len(asked.Agents) == 0 {
		return nil, errUnusable
	}
	properties := object{"response": object{"type": "string"}, "steps": object{"type": "array", "items": object{"type": "string"}}}
	wanted := object{"type": "object", "additionalProperties": false, "properties": properties, "required": []string{"response", "steps"}}
	held := object{"type": "object", "properties": object{
		"response": object{"type": []string{"string", "null"}}, "steps": object{"type": []string{"array", "null"}, "items": object{"type": "string"}},
		"tasks": object{"type": "array"},
	}}
	return shapeOfObjects(wanted, held, func(value jsontext.Value) jsontext.Value {
		var said map[string]jsontext.Value
		var tasks []map[string]jsontext.Value
		if schemas.Unmarshal(value, &said) != nil || schemas.Unmarshal(said["tasks"], &tasks) != nil || len(tasks) == 0 {
			return value
		}
		for i := range tasks {
			spellAssigned(tasks[i], asked.Agents)
		}
		body, err := schemas.Marshal(tasks)
		if err != nil {
			return value
		}
		return rewritten(value, said, func(kept map[string]jsontext.Value) { kept["tasks"] = body })
	})
}

// spellAssigned writes the agent that a task is assigned to as it is called.
func spellAssigned(task map[string]jsontext.Value, choices []choice) {
	if assigned := task["assigned_to"]; assigned.Kind() == '"' {
		if name, known := spelled(stringOf(assigned), choices); known {
			task["assigned_to"] = quoted(name)
		}
	}
}

// criticShape is a validation result: whether what was made passes, and what is wrong with it, by file and line.
func criticShape() (*shape, error) {
	text := object{"type": "string"}
	result := func(line any, required ...string) object {
		issue := object{"type": "object", "properties": object{
			"severity": object{"type": "string", "enum": []string{schemas.ValidationError, schemas.ValidationWarning, "info"}}, "message": text, "file": text, "line": line,
		}, "required": []string{"severity", "message"}}
		return object{"type": "object", "properties": object{
			"status":  object{"type": "string", "enum": []string{schemas.ValidationPassed, schemas.ValidationFailed}},
			"details": text, "issues": object{"type": "array", "items": issue},
		}, "required": required}
	}
	wanted := result(object{"type": "integer"}, "status", "details", "issues")
	return shapeOfObjects(wanted, result(object{"type": "integer", "minimum": 0}, "status"), func(value jsontext.Value) jsontext.Value {
		var said map[string]jsontext.Value
		if schemas.Unmarshal(value, &said) != nil {
			return value
		}
		return rewritten(value, pick(said, "status", "details", "issues"), func(kept map[string]jsontext.Value) { kept["validator"] = quoted(string(RoleCritic)) })
	})
}

// tidyPlan keeps of a plan what a planner is asked for: no files, references or constraints, which are not its to name.
func tidyPlan(value jsontext.Value, choices []choice) jsontext.Value {
	var tasks []map[string]jsontext.Value
	var plan map[string]jsontext.Value
	switch value.Kind() {
	case '[':
		if schemas.Unmarshal(value, &tasks) != nil {
			return value
		}
	case '{':
		if schemas.Unmarshal(value, &plan) != nil || schemas.Unmarshal(plan["tasks"], &tasks) != nil {
			return value
		}
	default:
		return value
	}
	for i, task := range tasks {
		tasks[i] = pick(task, "task_id", "description", "assigned_to", "dependencies", "context")
		spellAssigned(tasks[i], choices)
		var told map[string]jsontext.Value
		if context, has := task["context"]; has && schemas.Unmarshal(context, &told) == nil {
			tasks[i]["context"] = rewritten(context, pick(told, "arguments"), nil)
		}
	}
	body, err := schemas.Marshal(object{"tasks": tasks})
	if err != nil {
		return value
	}
	return body
}

// maxSchema bounds the schema of an extraction, in bytes.
const maxSchema = 64 << 10

// extractorShape is the arguments that words hold: of the schema, but what is not there may be absent.
func extractorShape(asked *question) (*shape, error) {
	if len(asked.Schema) == 0 || len(asked.Schema) > maxSchema {
		return nil, errUnusable
	}
	var schema any
	if err := schemas.Unmarshal(asked.Schema, &schema); err != nil {
		return nil, errUnusable
	}
	loose, err := schemas.Marshal(withoutDemands(schema))
	if err != nil {
		return nil, errUnusable
	}
	return newShape(loose, loose, withoutNulls)
}

// withoutDemands leaves out of a schema what must be there. A property of such a name is an object, and stays.
func withoutDemands(schema any) any {
	switch value := schema.(type) {
	case object:
		for name, member := range value {
			_, list := member.([]any)
			_, number := member.(float64)
			if name == "required" && list || name == "minProperties" && number || name == "dependentRequired" && demands(member) {
				delete(value, name)
				continue
			}
			value[name] = withoutDemands(member)
		}
	case []any:
		for i := range value {
			value[i] = withoutDemands(value[i])
		}
	}
	return schema
}

// demands reports whether the value is that of dependentRequired, and no schema of a property.
func demands(value any) bool {
	members, is := value.(object)
	for _, member := range members {
		if _, list := member.([]any); !list {
			return false
		}
	}
	return is
}

// withoutNulls leaves out members without a value, by which models say that they found none.
func withoutNulls(value jsontext.Value) jsontext.Value {
	var read any
	if value.Kind() != '{' || schemas.Unmarshal(value, &read) != nil {
		return value
	}
	body, err := schemas.Marshal(dropNulls(read))
	if err != nil {
		return value
	}
	return body
}

func dropNulls(value any) any {
	if members, is := value.(object); is {
		for name, member := range members {
			if member == nil {
				delete(members, name)
				continue
			}
			members[name] = dropNulls(member)
		}
	}
	return value
}

// pick returns the members of those names.
func pick(members map[string]jsontext.Value, wanted ...string) map[string]jsontext.Value {
	kept := map[string]jsontext.Value{}
	for _, name := range wanted {
		if value, has := members[name]; has {
			kept[name] = value
		}
	}
	return kept
}

// rewritten returns an object of other members, changed once more; the value itself if that cannot be written.
func rewritten(value jsontext.Value, members map[string]jsontext.Value, change func(map[string]jsontext.Value)) jsontext.Value {
	if change != nil {
		change(members)
	}
	body, err := schemas.Marshal(members)
	if err != nil {
		return value
	}
	return body
}

func quoted(text string) jsontext.Value {
	value, _ := jsontext.AppendQuote(nil, text) // invalid UTF-8 is replaced
	return value
}

// strict reports whether a schema is within what servers can enforce to the letter: of every object all members
// are required, and there are no others.
func strict(schema jsontext.Value) bool {
	var read any
	return schemas.Unmarshal(schema, &read) == nil && closed(read)
}

func closed(schema any) bool {
	value, is := schema.(object)
	if !is {
		return true
	}
	if kind := value["type"]; kind == "object" || value["properties"] != nil {
		properties, _ := value["properties"].(object)
		required, _ := value["required"].([]any)
		if value["additionalProperties"] != false || len(required) != len(properties) {
			return false
		}
		for _, property := range properties {
			if !closed(property) {
				return false
			}
		}
	}
	for _, name := range []string{"anyOf", "oneOf", "allOf", "if", "not", "patternProperties", "$ref"} {
		if _, has := value[name]; has {
			return false
		}
	}
	return closed(value["items"])
}
