package schemas

import (
	"slices"
	"testing"
)

// TestDeclared: the highest score of the capabilities that are found speaks for the
// agent, and without one nothing does, which a score of 0 is not.
func TestDeclared_P06_P09(t *testing.T) {
	t.Parallel()
	capabilities := []Capability{{Score: 0.3}, {Score: 0.8}, {Score: 0}}
	for _, test := range []struct {
		found  []int
		score  float64
		spoken bool
	}{
		{nil, 0, false},
		{[]int{2}, 0, true},
		{[]int{0}, 0.3, true},
		{[]int{0, 1, 2}, 0.8, true},
	} {
		score, spoken := Declared(capabilities, func(i int) bool { return slices.Contains(test.found, i) })
		if score != test.score || spoken != test.spoken {
			t.Errorf("found %v: %v, spoken %t", test.found, score, spoken)
		}
	}
	if score, spoken := Declared(nil, func(int) bool { return true }); score != 0 || spoken {
		t.Errorf("without capabilities: %v, spoken %t", score, spoken)
	}
}

// TestDeclares: an agent is asked for what it declares; one of a profile that was
// pinned before kinds were declared, for everything.
func TestDeclares(t *testing.T) {
	t.Parallel()
	for _, kind := range []TaskKind{KindWork, KindAssess, KindPlan, KindRoute} {
		if before := (AgentUse{}); !before.Declares(kind) {
			t.Errorf("before, agents were asked for %s", kind)
		}
		only := AgentUse{Kinds: []TaskKind{kind}}
		for _, other := range []TaskKind{KindWork, KindAssess, KindPlan, KindRoute} {
			if only.Declares(other) != (other == kind) {
				t.Errorf("an agent for %s is asked for %s", kind, other)
			}
		}
	}
}

// TestUndeclared: a request is of an undeclared kind when any of its tasks is; a task
// that says no kind is work.
func TestUndeclared(t *testing.T) {
	t.Parallel()
	request := func(kinds ...TaskKind) *ExecutionRequest {
		var made ExecutionRequest
		for _, kind := range kinds {
			made.Payload.Tasks = append(made.Payload.Tasks, Task{Context: TaskContext{Kind: kind}})
		}
		return &made
	}
	for _, test := range []struct {
		kinds, declared []TaskKind
		want            TaskKind
	}{
		{[]TaskKind{""}, []TaskKind{KindWork}, ""},
		{[]TaskKind{KindWork, ""}, []TaskKind{KindAssess, KindWork}, ""},
		{[]TaskKind{"", KindAssess, KindPlan}, []TaskKind{KindWork}, KindAssess},
		{[]TaskKind{""}, []TaskKind{KindPlan}, KindWork},
		{[]TaskKind{KindRoute}, nil, KindRoute},
	} {
		if kind, found := request(test.kinds...).Undeclared(test.declared...); kind != test.want || found != (test.want != "") {
			t.Errorf("%v of %v: %q, %t", test.kinds, test.declared, kind, found)
		}
	}
}
