package session

import (
	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// What an agent says beside its result stands in records, so that it is bounded; the whole is in
// its answer.
const (
	maxFindings     = 64
	maxFindingBytes = 16 << 10
)

// A findingBudget is the room that is left for what an agent says beside its result.
type findingBudget struct{ count, bytes int }

// takes reports whether there is room for one more, and takes it.
func (b *findingBudget) takes(texts ...string) bool {
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

// findingsOf keeps what an agent says beside its result, each sort of it from the first on as far
// as there is room; nil when it says nothing.
func findingsOf(payload *schemas.ResponsePayload) *schemas.Findings {
	var kept schemas.Findings
	room := findingBudget{maxFindings, maxFindingBytes}
	for i := range payload.IssuesEncountered {
		issue := payload.IssuesEncountered[i]
		issue.Description, issue.ResolutionDetails = cut(issue.Description, maxDetail), cut(issue.ResolutionDetails, maxDetail)
		if !room.takes(issue.IssueID, issue.TaskID, issue.Agent, issue.Description, issue.ResolutionDetails) {
			break
		}
		kept.Issues = append(kept.Issues, issue)
	}
	for i := range payload.ValidationResults {
		verdict := payload.ValidationResults[i]
		verdict.Details = cut(verdict.Details, maxDetail)
		if !room.takes(verdict.Validator, verdict.Details) {
			break
		}
		found := verdict.Issues
		verdict.Issues = nil
		for _, issue := range found {
			issue.Message = cut(issue.Message, maxDetail)
			if !room.takes(issue.Message, issue.File) {
				break
			}
			verdict.Issues = append(verdict.Issues, issue)
		}
		kept.ValidationResults = append(kept.ValidationResults, verdict)
	}
	for _, advice := range payload.Recommendations {
		if advice = cut(advice, maxDetail); !room.takes(advice) {
			break
		}
		kept.Recommendations = append(kept.Recommendations, advice)
	}
	if len(kept.Issues)+len(kept.ValidationResults)+len(kept.Recommendations) == 0 {
		return nil
	}
	return &kept
}

// boundedNeeds keeps what an agent lacks, as far as a record has room.
func boundedNeeds(needs []schemas.Need) []schemas.Need {
	var kept []schemas.Need
	room := findingBudget{schemas.MaxNeeds, maxFindingBytes}
	for _, need := range needs {
		texts := []string{need.Name, string(need.Schema)}
		for _, question := range need.Question {
			texts = append(texts, question)
		}
		if !room.takes(texts...) {
			break
		}
		kept = append(kept, need)
	}
	return kept
}

// boundedOperation is what an agent proposes, or nil when it is too large to be decided on.
func boundedOperation(proposed *schemas.Operation) *schemas.Operation {
	if proposed == nil || len(proposed.Arguments) > maxFindingBytes || jsontext.Value(proposed.Arguments).Kind() != '{' && len(proposed.Arguments) > 0 {
		return nil
	}
	kept := *proposed
	kept.Summary = cut(kept.Summary, maxDetail)
	return &kept
}
