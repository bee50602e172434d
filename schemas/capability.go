package schemas

import "slices"

// A Capability is how well an agent can do what certain words ask for, as it says
// itself.
type Capability struct {
	Words []Keyword `json:"words"` // one of them is enough; Shared has no meaning here
	Score float64   `json:"score"` // 0–1
}

// Declared returns the assessment of an agent that declares its capabilities
// instead of being asked (P-06): the highest score of those that are found, which
// are named by their index. Spoken is false when none is: then the agent counts as
// silent (P-09).
func Declared(capabilities []Capability, found func(capability int) bool) (score float64, spoken bool) {
	for i := range capabilities {
		if found(i) {
			score, spoken = max(score, capabilities[i].Score), true
		}
	}
	return score, spoken
}

// IsWork reports whether a request of this kind asks for work. All others are
// questions: what deciding needs to know. Only work may act outside.
func (k TaskKind) IsWork() bool { return k == "" || k == KindWork }

// Declares reports whether an agent is asked for a kind. A profile that was pinned
// before kinds were declared says none, and its runs go on as they began: each of
// its agents is asked for everything.
func (u *AgentUse) Declares(kind TaskKind) bool {
	return len(u.Kinds) == 0 || slices.Contains(u.Kinds, kind)
}

// Undeclared returns the first kind that a request asks for and that is not one of
// those declared.
func (r *ExecutionRequest) Undeclared(declared ...TaskKind) (kind TaskKind, found bool) {
	for i := range r.Payload.Tasks {
		kind = r.Payload.Tasks[i].Context.Kind
		if kind.IsWork() {
			kind = KindWork
		}
		if !slices.Contains(declared, kind) {
			return kind, true
		}
	}
	return "", false
}
