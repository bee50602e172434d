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

// TestDeclares: an agent is asked for what it declares; without that, for work.
func TestDeclares(t *testing.T) {
	t.Parallel()
	for _, kind := range []RequestKind{KindWork, KindAssess, KindPlan, KindRoute} {
		if silent := (AgentUse{}); silent.Declares(kind) != (kind == KindWork) {
			t.Errorf("an agent that declares nothing is asked for %s, or not", kind)
		}
		only := AgentUse{Kinds: []RequestKind{kind}}
		for _, other := range []RequestKind{KindWork, KindAssess, KindPlan, KindRoute} {
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
	request := func(kinds ...RequestKind) *ExecutionRequest {
		var made ExecutionRequest
		for _, kind := range kinds {
			made.Payload.Tasks = append(made.Payload.Tasks, Task{Context: TaskContext{Kind: kind}})
		}
		return &made
	}
	for _, test := range []struct {
		kinds, declared []RequestKind
		want            RequestKind
	}{
		{[]RequestKind{""}, []RequestKind{KindWork}, ""},
		{[]RequestKind{KindWork, ""}, []RequestKind{KindAssess, KindWork}, ""},
		{[]RequestKind{"", KindAssess, KindPlan}, []RequestKind{KindWork}, KindAssess},
		{[]RequestKind{""}, []RequestKind{KindPlan}, KindWork},
		{[]RequestKind{KindRoute}, nil, KindRoute},
	} {
		if kind, found := request(test.kinds...).Undeclared(test.declared...); kind != test.want || found != (test.want != "") {
			t.Errorf("%v of %v: %q, %t", test.kinds, test.declared, kind, found)
		}
	}
}
