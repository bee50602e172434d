package approval

import (
	"crypto/sha256"
	"encoding/hex"

	"podium/schemas"
)

// An Answer is what people agree to who are asked whether an answer may be sent: its words, whom they are for, and the results that files are made of.
type Answer struct {
	Agent string           `json:"agent"` // who delivers it
	Reply *schemas.Reply   `json:"reply"`
	Words string           `json:"words"`
	Parts []schemas.Result `json:"parts,omitzero"`
	Files []string         `json:"files,omitzero"` // hashes of the deliverables that go along, in order
}

// Hash is SHA-256 (hex) of the answer. Otherwise stands for one that cannot be written, and is to be like nothing else.
func (a *Answer) Hash(otherwise string) string {
	body, err := schemas.Marshal(a)
	if err != nil {
		body = []byte(otherwise)
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// ForAnswer returns the first rule by which people agree to an answer, or nil. Outside and strange are those of For.
func (r Rules) ForAnswer(outside, strange bool) *schemas.ApprovalRule {
	for i := range r.ready {
		rule := r.ready[i].ApprovalRule
		if rule.Delivery && (rule.Tainted || !outside) && (strange || !rule.Tainted) {
			return rule
		}
	}
	return nil
}

// Answers reports whether any rule is for answers.
func (r Rules) Answers() bool {
	for i := range r.ready {
		if r.ready[i].Delivery {
			return true
		}
	}
	return false
}

// answersWrongly reports whether a rule for answers says what only tasks have.
func answersWrongly(rule *schemas.ApprovalRule) bool {
	tasks := len(rule.Agents) > 0 || rule.Seconds > 0 || rule.Tokens > 0 || len(rule.If) > 0 || len(rule.Sets) > 0
	return rule.Delivery && (tasks || ByRequester(rule))
}
