package approval_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/approval"
)

func rules(tb testing.TB, of ...schemas.ApprovalRule) approval.Rules {
	tb.Helper()
	for i := range of {
		of[i].People, of[i].Expire = []string{"anna"}, 1
	}
	ready, faults := approval.Compile(of)
	if len(faults) > 0 {
		tb.Fatal(faults)
	}
	return ready
}

func validated(tb testing.TB) approval.Rules {
	tb.Helper()
	return rules(
		tb, schemas.ApprovalRule{Agents: []string{"clerk"}},
		schemas.ApprovalRule{Agents: []string{"learn", "keep"}, Seconds: 60, Sets: map[string]bool{"validated_by_human": true}},
		schemas.ApprovalRule{Agents: []string{"learn"}, Sets: map[string]bool{"signed": true}},
	)
}

// TestSets_G13: what only whoever agrees sets is false whoever has written it, by a rule that matches or by none, and true where somebody has agreed by the rule that sets it.
func TestSets_G13(t *testing.T) {
	t.Parallel()
	const both = `{"signed":false,"validated_by_human":false}`
	for name, c := range map[string]struct {
		agent, given string
		agreed       []string
		want         string
	}{
		"another agent":       {"clerk", `{"validated_by_human": true}`, nil, `{"validated_by_human": true}`},
		"nothing":             {"keep", ``, nil, `{"validated_by_human":false}`},
		"written":             {"keep", `{"validated_by_human": true, "a": 1}`, nil, `{"a":1,"validated_by_human":false}`},
		"written otherwise":   {"keep", `{"validated_by_human": "yes"}`, nil, `{"validated_by_human":false}`},
		"escaped":             {"keep", `{"validated_by_huma\u006e": true}`, nil, `{"validated_by_human":false}`},
		"of two rules":        {"learn", `{"signed": true}`, nil, both},
		"agreed":              {"keep", `{}`, []string{"validated_by_human"}, `{"validated_by_human":true}`},
		"agreed to another":   {"learn", `{"validated_by_human": true}`, []string{"signed"}, `{"signed":true,"validated_by_human":false}`},
		"agreed to no field":  {"keep", `{}`, []string{"a"}, `{"validated_by_human":false}`},
		"inside of something": {"keep", `{"a": {"validated_by_human": true}}`, nil, `{"a":{"validated_by_human":true},"validated_by_human":false}`},
		"twice":               {"keep", `{"validated_by_human": true, "validated_by_human": true}`, nil, `{"validated_by_human":false}`},
		"no object":           {"keep", `[true]`, nil, `[true]`},
	} {
		if got := validated(t).Arguments(c.agent, jsontext.Value(c.given), c.agreed); string(got) != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestSetsOfOperations_G13: of what an agent proposes only what it names itself is set, and the proposal stays as it is.
func TestSetsOfOperations_G13(t *testing.T) {
	t.Parallel()
	proposed := &schemas.Operation{Name: "keep", Arguments: jsontext.Value(`{"validated_by_human":true}`)}
	if got := validated(t).Proposed("learn", proposed, nil); string(got.Arguments) != `{"validated_by_human":false}` || string(proposed.Arguments) != `{"validated_by_human":true}` {
		t.Errorf("%s of %s", got.Arguments, proposed.Arguments)
	}
	if got := validated(t).Proposed("learn", proposed, []string{"validated_by_human"}); string(got.Arguments) != `{"validated_by_human":true}` {
		t.Errorf("agreed: %s", got.Arguments)
	}
	if got := validated(t).Proposed("clerk", proposed, nil); got != proposed {
		t.Errorf("another agent's: %s", got.Arguments)
	}
}

// TestFaultyRules: what cannot be asked is no rule.
func TestFaultyRules(t *testing.T) {
	t.Parallel()
	whole := schemas.ApprovalRule{Agents: []string{"learn"}, People: []string{"anna"}, Expire: 1}
	for name, spoil := range map[string]func(*schemas.ApprovalRule){
		"nobody decides":    func(r *schemas.ApprovalRule) { r.People = nil },
		"no agent":          func(r *schemas.ApprovalRule) { r.Agents = nil },
		"no end":            func(r *schemas.ApprovalRule) { r.Expire = 0 },
		"answers of agents": func(r *schemas.ApprovalRule) { r.Delivery = true },
		"answers, requester": func(r *schemas.ApprovalRule) {
			r.Delivery, r.Agents, r.People = true, nil, []string{schemas.ApprovingRequester}
		},
		"a condition":         func(r *schemas.ApprovalRule) { r.If = jsontext.Value(`{"type": 7}`) },
		"sets to false":       func(r *schemas.ApprovalRule) { r.Sets = map[string]bool{"a": false} },
		"sets nothing":        func(r *schemas.ApprovalRule) { r.Sets = map[string]bool{"": true} },
		"requester, tainted":  func(r *schemas.ApprovalRule) { r.People, r.Tainted = []string{schemas.ApprovingRequester}, true },
		"a negative estimate": func(r *schemas.ApprovalRule) { r.Seconds = -1 },
	} {
		rule := whole
		spoil(&rule)
		if _, faults := approval.Compile([]schemas.ApprovalRule{rule}); len(faults) != 1 {
			t.Errorf("%s: %v", name, faults)
		}
	}
	if _, faults := approval.Compile([]schemas.ApprovalRule{whole}); len(faults) > 0 {
		t.Error(faults)
	}
}

// FuzzSets: no JSON that somebody writes makes a field true.
func FuzzSets(f *testing.F) {
	for _, seed := range []string{`{"validated_by_human":true}`, `{"validated_by_human":true,"validated_by_human":true}`, `{"a":[1,{}]}`, ``, `null`, `7`, "{\"validated_by_human\\u0000\":true}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, given []byte) {
		said := validated(t).Arguments("keep", given, nil)
		var members map[string]any
		if schemas.Unmarshal(said, &members) == nil && (members["validated_by_human"] != false || len(members) == 0) && len(given) > 0 && given[0] == '{' {
			t.Errorf("%s becomes %s", given, said)
		}
	})
}
