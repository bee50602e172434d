package cmd_test

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/cha"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// mostMethods is how many methods one type of the core may have, promoted ones included.
const mostMethods = 60

// TestCoreCalls finds functions that call each other in cycles and predicates that act, and bounds the methods of one type. It finds those that are planted.
func TestCoreCalls(t *testing.T) {
	t.Parallel()
	core, err := readCore()
	if err != nil {
		t.Fatal(err)
	}
	calls := coreCalls(t)
	cycles, planted := apart(cyclesIn(calls))
	predicates, plantedToo := apart(actingPredicates(calls))
	wide, plantedTypes := apart(methodsOf(core.packages))
	most, methods := wide[len(wide)-1], 0
	if _, err = fmt.Sscan(most, &methods); err != nil {
		t.Fatal(err)
	}
	if len(cycles) > 0 || len(predicates) > 0 || methods > mostMethods {
		t.Errorf("functions in cycles:\n%s\npredicates that act:\n%s\na type with %s methods, more than %d",
			strings.Join(cycles, "\n"), strings.Join(predicates, "\n"), most, mostMethods)
	}
	t.Logf("methods: %s", most)
	found := strings.Join(slices.Concat(planted, plantedToo, plantedTypes), "\n")
	for _, want := range []string{"plantedPing$1", "plantedPong", "plantedWide).plantedNext", "plantedLoop", "plantedActs", "plan.plantedWide"} {
		if !strings.Contains(found, want) {
			t.Errorf("%s was not found in\n%s", want, found)
		}
	}
}

// apart splits what was found into what is in the source and what is planted.
func apart(found []string) (source, planted []string) {
	for _, line := range found {
		if strings.Contains(line, "planted") {
			planted = append(planted, line)
		} else {
			source = append(source, line)
		}
	}
	return source, planted
}

// coreCalls returns which functions of the core call which, read once for all tests.
func coreCalls(t *testing.T) map[*ssa.Function][]*ssa.Function {
	t.Helper()
	calls, err := readCalls()
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

var readCalls = sync.OnceValues(func() (map[*ssa.Function][]*ssa.Function, error) {
	core, err := readCore()
	if err != nil {
		return nil, err
	}
	return callsIn(core.packages), nil
})

// callsIn returns which functions of the core each of them calls, through function values and interfaces too.
func callsIn(built []*ssa.Package) map[*ssa.Function][]*ssa.Function {
	inCore := map[*ssa.Package]bool{}
	for _, pkg := range built {
		inCore[pkg] = true
	}
	program := built[0].Prog
	graph := vta.CallGraph(ssautil.AllFunctions(program), cha.CallGraph(program))
	calls := map[*ssa.Function][]*ssa.Function{}
	for function, node := range graph.Nodes {
		if function == nil || !inCore[function.Pkg] {
			continue
		}
		calls[function] = calledBy(node, inCore)
	}
	return calls
}

// calledBy returns the functions of the core that a function calls, by itself or by a wrapper that the compiler makes of a method.
func calledBy(node *callgraph.Node, inCore map[*ssa.Package]bool) []*ssa.Function {
	called, seen := map[*ssa.Function]bool{}, map[*callgraph.Node]bool{}
	var add func(node *callgraph.Node)
	add = func(node *callgraph.Node) {
		for _, edge := range node.Out {
			switch callee := edge.Callee; {
			case inCore[callee.Func.Pkg]:
				called[callee.Func] = true
			case callee.Func.Synthetic != "" && !seen[callee]:
				seen[callee] = true
				add(callee)
			}
		}
	}
	add(node)
	return slices.SortedFunc(maps.Keys(called), func(a, b *ssa.Function) int { return strings.Compare(a.String(), b.String()) })
}

// cyclesIn returns the names of the functions of each cycle of calls, by Tarjan's algorithm. A function that calls itself is none.
func cyclesIn(calls map[*ssa.Function][]*ssa.Function) []string {
	var found []string
	var stack []*ssa.Function
	index, low, onStack := map[*ssa.Function]int{}, map[*ssa.Function]int{}, map[*ssa.Function]bool{}
	var visit func(function *ssa.Function)
	visit = func(function *ssa.Function) {
		index[function] = len(index) + 1
		low[function] = index[function]
		stack, onStack[function] = append(stack, function), true
		for _, callee := range calls[function] {
			if index[callee] == 0 {
				visit(callee)
				low[function] = min(low[function], low[callee])
			} else if onStack[callee] {
				low[function] = min(low[function], index[callee])
			}
		}
		if low[function] != index[function] {
			return
		}
		var cycle []string
		for {
			top := stack[len(stack)-1]
			stack, onStack[top] = stack[:len(stack)-1], false
			cycle = append(cycle, shortName(top))
			if top == function {
				break
			}
		}
		if len(cycle) > 1 {
			slices.Sort(cycle)
			found = append(found, strings.Join(cycle, " "))
		}
	}
	for _, function := range slices.SortedFunc(maps.Keys(calls), func(a, b *ssa.Function) int { return strings.Compare(a.String(), b.String()) }) {
		if index[function] == 0 {
			visit(function)
		}
	}
	slices.Sort(found)
	return found
}

func shortName(function *ssa.Function) string {
	return strings.ReplaceAll(function.RelString(nil), module, "")
}

// actingPredicates returns the functions that return a bool, and emit an event by themselves or by what they call.
func actingPredicates(calls map[*ssa.Function][]*ssa.Function) []string {
	emits := map[*ssa.Function]bool{}
	for function := range calls {
		emits[function] = shortName(function) == "(*supervisor/session.decision).emitBy"
	}
	for changed := true; changed; {
		changed = false
		for function, called := range calls {
			if !emits[function] && slices.ContainsFunc(called, func(callee *ssa.Function) bool { return emits[callee] }) {
				emits[function], changed = true, true
			}
		}
	}
	var found []string
	for function := range calls {
		results := function.Signature.Results()
		for result := range results.Variables() {
			if emits[function] && types.Identical(result.Type().Underlying(), types.Typ[types.Bool]) {
				found = append(found, shortName(function))
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

// methodsOf returns the number of methods of each type of the core, promoted ones included, with its name; the most are last.
func methodsOf(built []*ssa.Package) []string {
	var found []string
	for _, pkg := range built {
		for name, member := range pkg.Members {
			if named, is := member.(*ssa.Type); is {
				found = append(found, fmt.Sprintf("%4d %s.%s", types.NewMethodSet(types.NewPointer(named.Type())).Len(), pkg.Pkg.Name(), name))
			}
		}
	}
	slices.Sort(found)
	return found
}
