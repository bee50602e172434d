package approval

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// Arguments are those of an agent as it is told them: what only whoever agrees sets is false, whoever has written it, but for what somebody has set by
// agreeing. Where nobody sets anything, and where they are no object, they stay as they are.
func (r Rules) Arguments(agent string, given jsontext.Value, agreed []string) jsontext.Value {
	return mark(given, r.sets[agent], agreed, true)
}

// Sets reports whether any argument of an agent is for whoever agrees to set.
func (r Rules) Sets(agent string) bool { return len(r.sets[agent]) > 0 }

// Proposed is an operation of an agent with what only whoever agrees sets, of that which it names itself.
func (r Rules) Proposed(agent string, operation *schemas.Operation, agreed []string) *schemas.Operation {
	return Marked(operation, r.sets[agent], agreed)
}

// Marked is an operation in which some of the arguments that it has are false, and those are true that somebody has agreed to set.
func Marked(operation *schemas.Operation, fields, agreed []string) *schemas.Operation {
	if operation == nil || len(fields) == 0 {
		return operation
	}
	marked := *operation
	marked.Arguments = mark(operation.Arguments, fields, agreed, false)
	return &marked
}

// mark gives fields of an object their values. Add has it have those that it lacks.
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

// Fields are what whoever agrees by a rule sets, in order.
func Fields(rule *schemas.ApprovalRule) []string {
	return slices.Sorted(maps.Keys(rule.Sets))
}

// setsOf are what only whoever agrees sets, by agent.
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
