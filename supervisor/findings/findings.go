// Package findings bounds what agents say beside their results, as it stands in records: checks, issues,
// recommendations, deliverables, what they lack and what they propose. The whole is in the agent's answer. It is pure.
package findings

import (
	"maps"
	"slices"
	"strings"

	"podium/schemas"
)

// Bounds of each sort of what an agent says.
const (
	maxCount = 64
	maxBytes = 16 << 10
	maxText  = 2 << 10 // bytes of one sentence
)

// A budget is the room that is left for what an agent says beside its result.
type budget struct{ count, bytes int }

// takes reports whether there is room for one more, and takes it.
func (b *budget) takes(texts ...string) bool {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if b.count == 0 || size > b.bytes {
		return false
	}
	b.count, b.bytes = b.count-1, b.bytes-size
	return true
}

// Of keeps what an agent says beside its result, each sort of it from the first on as far
// as there is room; nil when it says nothing.
func Of(payload *schemas.ResponsePayload) *schemas.Findings {
	var kept schemas.Findings
	room := budget{maxCount, maxBytes} // of issues, and anew of each other sort
	for i := range payload.IssuesEncountered {
		issue := payload.IssuesEncountered[i]
		issue.Description, issue.ResolutionDetails = cut(issue.Description), cut(issue.ResolutionDetails)
		if !room.takes(issue.IssueID, issue.TaskID, issue.Agent, issue.Description, issue.ResolutionDetails) {
			break
		}
		kept.Issues = append(kept.Issues, issue)
	}
	room = budget{maxCount, maxBytes}
	for i := range payload.ValidationResults {
		verdict := payload.ValidationResults[i]
		verdict.Details = cut(verdict.Details)
		if !room.takes(verdict.Validator, verdict.Details) {
			break
		}
		found := verdict.Issues
		verdict.Issues = nil
		for _, issue := range found {
			issue.Message = cut(issue.Message)
			if !room.takes(issue.Message, issue.File) {
				break
			}
			verdict.Issues = append(verdict.Issues, issue)
		}
		kept.ValidationResults = append(kept.ValidationResults, verdict)
	}
	room = budget{maxCount, maxBytes}
	for _, advice := range payload.Recommendations {
		if advice = cut(advice); !room.takes(advice) {
			break
		}
		kept.Recommendations = append(kept.Recommendations, advice)
	}
	if len(kept.Issues)+len(kept.ValidationResults)+len(kept.Recommendations) == 0 {
		return nil
	}
	return &kept
}

// Needs keeps what an agent lacks, as far as a record has room.
func Needs(needs []schemas.Need) []schemas.Need {
	var kept []schemas.Need
	room := budget{schemas.MaxNeeds, maxBytes}
	for _, need := range needs {
		texts := []string{need.Name, string(need.Schema)}
		for _, language := range slices.Sorted(maps.Keys(need.Question)) {
			texts = append(texts, language, need.Question[language])
		}
		if !room.takes(texts...) {
			break
		}
		kept = append(kept, need)
	}
	return kept
}

// Operation is what an agent proposes, or nil when it is too large to be decided on.
func Operation(proposed *schemas.Operation) *schemas.Operation {
	if proposed == nil || len(proposed.Arguments) > maxBytes || len(proposed.Arguments) > 0 && proposed.Arguments.Kind() != '{' {
		return nil
	}
	kept := *proposed
	kept.Summary = cut(kept.Summary)
	kept.Recipients = nil
	for _, recipient := range proposed.Recipients[:min(len(proposed.Recipients), maxCount)] {
		kept.Recipients = append(kept.Recipients, cut(recipient))
	}
	return &kept
}

// MaxDeliverables is how many deliverables of an answer are kept. There may have been more where so many are.
const MaxDeliverables = maxCount

// Deliverables keeps what an agent lists from the first on, as far as there is room.
func Deliverables(deliverables []schemas.Deliverable) []schemas.Deliverable {
	size := 0
	for i := range deliverables {
		d := &deliverables[i]
		size += len(d.DeliverableID) + len(d.TaskID) + len(d.Agent) + len(d.Path) + len(d.Description) + len(d.Metadata)
		if i == maxCount || size > maxBytes {
			return deliverables[:i]
		}
	}
	return deliverables
}

func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
