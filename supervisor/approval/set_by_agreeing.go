package approval

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// Arguments are those of a task as its agent is told them. What is set by agreeing alone (schemas.ApprovalRule.Sets) is true if it is among agreed, and
// false otherwise, whatever has been written there. Arguments of an agent for which nothing is set so stay as they are, and so do those that are no object.
func (r Rules) Arguments(agent string, given jsontext.Value, agreed []string) jsontext.Value {
	return mark(given, r.sets[agent], agreed, true)
}

// Sets reports whether any argument of an agent is set by agreeing alone.
func (r Rules) Sets(agent string) bool { return len(r.sets[agent]) > 0 }

// Proposed is an operation of an agent with its arguments as Arguments has them, but that none is added which the agent has not named.
func (r Rules) Proposed(agent string, operation *schemas.Operation, agreed []string) *schemas.Operation {
	return Marked(operation, r.sets[agent], agreed)
}

// Marked is an operation of whose arguments each that is among fields is true if it is among agreed, and false otherwise. None is added.
func Marked(operation *schemas.Operation, fields, agreed []string) *schemas.Operation {
	if operation == nil || len(fields) == 0 {
		return operation
	}
	marked := *operation
	marked.Arguments = mark(operation.Arguments, fields, agreed, false)
	return &marked
}

// mark makes each of the fields of an object true or false. Fields that it lacks are left out unless add says otherwise.
func mark(given jsontext.Value, fields, agreed []string, add bool) jsontext.Value {
	if len(fields) == 0 {
		return given
	}
	members := map[string]jsontext.Value{}
	if len(given) > 0 {
		if given.Kind() != '{' {
			return given
		}
		if schemas.Unmarshal(given, &members) != nil {
			members = map[string]jsontext.Value{} // what cannot be read says nothing
		}
	}
	for _, field := range fields {
		if _, there := members[field]; !there && !add {
			continue
		}
		members[field] = jsontext.Value("false")
		if slices.Contains(agreed, field) {
			members[field] = jsontext.Value("true")
		}
	}
	marked, err := schemas.Marshal(members)
	if err != nil {
		return given
	}
	return marked
}

// Fields are the names of what is set by agreeing to a rule, in order.
func Fields(rule *schemas.ApprovalRule) []string {
	return slices.Sorted(maps.Keys(rule.Sets))
}

// setsOf are the names of what is set by agreeing alone, by agent.
func setsOf(rules []schemas.ApprovalRule) map[string][]string {
	sets := map[string][]string{}
	for i := range rules {
		for _, agent := range rules[i].Agents {
			for _, field := range Fields(&rules[i]) {
				if !slices.Contains(sets[agent], field) {
					sets[agent] = append(sets[agent], field)
				}
			}
		}
	}
	return sets
}

func setsTrue(sets map[string]bool) bool {
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		if name == "" || !sets[name] {
			return false
		}
	}
	return true
}
