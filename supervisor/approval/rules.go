package approval

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/validation"
	"podium/schemas/workflow"
)

// Rules are those of a profile, made ready. They do not change.
type Rules struct {
	ready []rule
	sets  map[string][]string // by agent: what only whoever agrees sets
}

type rule struct {
	*schemas.ApprovalRule
	condition *validation.Schema // nil is none
}

// Compile makes rules ready, or says what is wrong with them.
func Compile(rules []schemas.ApprovalRule) (Rules, []error) {
	ready := Rules{sets: setsOf(rules)}
	var faults []error
	for i := range rules {
		compiled := rule{ApprovalRule: &rules[i]}
		if len(compiled.If) > 0 {
			var err error
			if compiled.condition, err = validation.Compile(compiled.If); err != nil {
				faults = append(faults, fmt.Errorf("approval[%d]: if: %w", i, err))
			}
		}
		ready.ready = append(ready.ready, compiled)
		switch {
		case answersWrongly(compiled.ApprovalRule):
			faults = append(faults, fmt.Errorf("approval[%d]: a rule for answers names neither agents nor what tasks have, and %s agrees to none", i, schemas.ApprovingRequester))
		case len(compiled.Agents) == 0 && !compiled.Delivery || len(compiled.People) == 0 || compiled.Expire <= 0 || compiled.Remind < 0 || compiled.Seconds < 0 || compiled.Tokens < 0:
			faults = append(faults, fmt.Errorf("approval[%d]: it names agents and people, and expire is longer than 0", i))
		case ByRequester(compiled.ApprovalRule) && compiled.Tainted:
			faults = append(faults, fmt.Errorf("approval[%d]: %s agrees to nothing that is tainted", i, schemas.ApprovingRequester))
		case compiled.Need < 0 || compiled.Need > len(compiled.People):
			faults = append(faults, fmt.Errorf("approval[%d]: %d of %d people cannot agree", i, compiled.Need, len(compiled.People)))
		case !setsTrue(compiled.Sets):
			faults = append(faults, fmt.Errorf("approval[%d]: sets has names, each with true", i))
		}
	}
	return ready, faults
}

// None reports whether nobody ever has to agree.
func (r Rules) None() bool { return len(r.ready) == 0 }

// For returns the first rule that matches a task, or nil. Outside has nobody but people of the profile agree, by rules that are tainted; these match what is strange.
func (r Rules) For(task *workflow.Task, outside, strange bool) *schemas.ApprovalRule {
	for i := range r.ready {
		rule := &r.ready[i]
		switch {
		case !slices.Contains(rule.Agents, task.Agent) || task.Plan.Seconds < rule.Seconds || task.Plan.Tokens < rule.Tokens:
		case outside && (!rule.Tainted || ByRequester(rule.ApprovalRule)) || rule.Tainted && !strange:
		case rule.condition == nil || rule.condition.Validate(r.argumentsOf(task)) == nil:
			return rule.ApprovalRule
		}
	}
	return nil
}

// Named are those who agree by a rule and are asked by name.
func Named(rule *schemas.ApprovalRule) []string {
	return slices.DeleteFunc(slices.Clone(rule.People), func(name string) bool { return name == schemas.ApprovingRequester })
}

// ByRequester reports whether whoever has begun the run agrees.
func ByRequester(rule *schemas.ApprovalRule) bool {
	return slices.Contains(rule.People, schemas.ApprovingRequester)
}

// argumentsOf are the arguments of a task, none as an empty object.
func (r Rules) argumentsOf(task *workflow.Task) jsontext.Value {
	if given := r.Arguments(task.Agent, task.Arguments(), nil); len(given) > 0 {
		return given
	}
	return jsontext.Value("{}")
}
