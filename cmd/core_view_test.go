package cmd_test

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"
)

// TestRulesChangeNothing: what a rule of a run calls changes neither the run nor the view that it sees, emits no event, and is no other rule. It finds what is planted.
func TestRulesChangeNothing(t *testing.T) {
	t.Parallel()
	calls := coreCalls(t)
	called := map[*ssa.Function]bool{}
	rules := rulesIn(calls)
	if len(rules) < 20 {
		t.Fatalf("%d rules were found", len(rules))
	}
	var nested []string
	for _, rule := range rules {
		addCalled(called, calls, rule)
		nested = append(nested, rulesCalledBy(rule, rules, calls)...)
	}
	nested, plantedRules := apart(nested)
	if len(nested) > 0 {
		t.Errorf("a rule leads to another one:\n%s", strings.Join(nested, "\n"))
	}
	if !slices.Contains(plantedRules, "supervisor/plan.plantedChange calls supervisor/plan.plantedEmit") {
		t.Errorf("the planted call of a rule was not found in\n%s", strings.Join(plantedRules, "\n"))
	}
	source, planted := apart(changesIn(called))
	if len(source) > 0 {
		t.Errorf("what rules call changes what it sees:\n%s", strings.Join(source, "\n"))
	}
	for _, want := range []string{"plantedChange writes", "plantedChange$1 writes", "(*supervisor/plan.View).plantedMethod writes", "plantedEmit emits", "plantedApply applies"} {
		if !slices.ContainsFunc(planted, func(found string) bool { return strings.Contains(found, want) }) {
			t.Errorf("%q was not found in\n%s", want, strings.Join(planted, "\n"))
		}
	}
}

// rulesIn returns the rules: the functions by which a table of rules says what they return.
func rulesIn(calls map[*ssa.Function][]*ssa.Function) []*ssa.Function {
	rules := map[*ssa.Function]bool{}
	for function, callees := range calls {
		if name := shortName(function); name != "supervisor/plan.applyFirst" && name != "supervisor/plan.applyEach" {
			continue
		}
		for _, callee := range callees {
			params, results := callee.Signature.Params(), callee.Signature.Results()
			if params.Len() > 0 && isView(params.At(0).Type()) && results.Len() == 1 && strings.HasSuffix(types.Unalias(results.At(0).Type()).String(), "schemas.Facts") {
				rules[callee] = true
			}
		}
	}
	return slices.Collect(maps.Keys(rules))
}

func isView(t types.Type) bool {
	return strings.HasSuffix(t.String(), "*podium/supervisor/plan.View")
}

// returnsCopies are the functions that apply events to a copy, and leave what they are given as it is.
func returnsCopies(function *ssa.Function) bool {
	name := shortName(function)
	return name == "(*supervisor/plan.View).after" || name == "(*schemas/workflow.Task).After"
}

// rulesCalledBy returns the other rules that a rule calls, by itself or by what it calls.
func rulesCalledBy(rule *ssa.Function, rules []*ssa.Function, calls map[*ssa.Function][]*ssa.Function) []string {
	called := map[*ssa.Function]bool{}
	addCalled(called, calls, rule)
	var found []string
	for _, other := range rules {
		if other != rule && called[other] {
			found = append(found, shortName(rule)+" calls "+shortName(other))
		}
	}
	return found
}

// addCalled adds a function, and all that it calls.
func addCalled(called map[*ssa.Function]bool, calls map[*ssa.Function][]*ssa.Function, function *ssa.Function) {
	if called[function] || returnsCopies(function) || changesRun(function) != "" {
		return
	}
	called[function] = true
	for _, callee := range calls[function] {
		addCalled(called, calls, callee)
	}
}

// changesIn returns the functions that emit an event, apply one, or write to a part of a run or a view that is not their own copy.
func changesIn(functions map[*ssa.Function]bool) []string {
	var found []string
	for function := range functions {
		for _, block := range function.Blocks {
			for _, instruction := range block.Instrs {
				if written := writes(instruction); written != "" {
					found = append(found, shortName(function)+" "+written)
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// writes says what an instruction changes; empty if it changes nothing that is shared.
func writes(instruction ssa.Instruction) string {
	switch instruction := instruction.(type) {
	case *ssa.Store:
		if part := sharedPart(instruction.Addr); part != "" {
			return "writes " + part
		}
	case ssa.CallInstruction:
		if callee := instruction.Common().StaticCallee(); callee != nil {
			return changesRun(callee)
		}
	}
	return ""
}

// changesRun says how a function changes a run; empty if it does not.
func changesRun(function *ssa.Function) string {
	switch shortName(function) {
	case "(*supervisor/plan.Decision).emit":
		return "emits"
	case "(*schemas/workflow.Run).Apply":
		return "applies"
	}
	return ""
}

// sharedPart returns which part of a run or a view is written, unless it is of a copy that the function has made itself.
func sharedPart(address ssa.Value) string {
	part := ""
	for {
		switch at := address.(type) {
		case *ssa.FieldAddr:
			of := at.X.Type().Underlying().(*types.Pointer).Elem() //nolint:forcetypeassert // of what else is there a field
			if name := strings.TrimPrefix(of.String(), module); part == "" && isRunOrView(name) {
				part = fmt.Sprintf("%s.%s", name, of.Underlying().(*types.Struct).Field(at.Field).Name()) //nolint:forcetypeassert // likewise
			}
			address = at.X
		case *ssa.IndexAddr:
			if slice, is := at.X.Type().Underlying().(*types.Slice); is && part == "" {
				if pointer, points := slice.Elem().(*types.Pointer); points && isRunOrView(strings.TrimPrefix(pointer.Elem().String(), module)) {
					part = slice.String()
				}
			}
			address = at.X
		case *ssa.Alloc:
			return "" // a copy
		case *ssa.Call:
			if callee := at.Call.StaticCallee(); callee != nil && (strings.HasPrefix(callee.Name(), "New") || strings.HasPrefix(callee.Name(), "Clone") || returnsCopies(callee)) {
				return ""
			}
			return part
		default:
			return part
		}
	}
}

func isRunOrView(name string) bool {
	switch name {
	case "schemas/workflow.Run", "schemas/workflow.Task", "schemas/workflow.Inquiry", "schemas/workflow.Account", "schemas/workflow.Review", "supervisor/plan.View":
		return true
	}
	return false
}
