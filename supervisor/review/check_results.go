package review

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/findings"
)

// ErrNoResults reports an answer that does not say what a check has found.
var ErrNoResults = errors.New("no validation_results")

// Results are what a check has found: what it says beside its result, or else in the first of some values that holds it, as
// {"validation_results": […]} or as one of these alone (M-10, M-43).
func Results(said *schemas.Findings, values [][]byte) ([]schemas.ValidationResult, error) {
	if said != nil && len(said.ValidationResults) > 0 {
		return said.ValidationResults, nil
	}
	for _, value := range values {
		if found := read(value); len(found) > 0 {
			return found, nil
		}
	}
	return nil, ErrNoResults
}

func read(value jsontext.Value) []schemas.ValidationResult {
	var said struct {
		schemas.ValidationResult
		All []schemas.ValidationResult `json:"validation_results"`
	}
	if value.Kind() != '{' || schemas.Unmarshal(value, &said) != nil {
		return nil
	}
	if len(said.All) == 0 {
		said.All = []schemas.ValidationResult{said.ValidationResult}
	}
	for i := range said.All {
		if result := &said.All[i]; result.Status != schemas.ValidationPassed && result.Status != schemas.ValidationFailed {
			return nil
		}
	}
	if kept := findings.Of(&schemas.ResponsePayload{ValidationResults: said.All}); kept != nil {
		return kept.ValidationResults
	}
	return nil
}

// Told is what a check has found as others may be told it: what it says in the data or the text of its result nobody has held to the schema. As with Issues a
// severity that nobody knows is an error; and where it says no name that is the check's own.
func Told(check string, results []schemas.ValidationResult) []schemas.ValidationResult {
	told := slices.Clone(results)
	for i := range told {
		result := &told[i]
		if result.Validator == "" {
			result.Validator = check
		}
		if len(result.Validator) > maxValidator {
			result.Validator = strings.ToValidUTF8(result.Validator[:maxValidator], "")
		}
		result.Issues = slices.Clone(result.Issues)
		for j := range result.Issues {
			issue := &result.Issues[j]
			if issue.Severity != schemas.ValidationWarning && issue.Severity != infoSeverity {
				issue.Severity = schemas.ValidationError
			}
			issue.Line = min(max(issue.Line, 0), maxLine)
		}
	}
	return told
}

// Issues are what a check has found, one by one. A check that has failed without an error has one (M-41).
func Issues(check string, results []schemas.ValidationResult) []schemas.ReviewIssue {
	var found []schemas.ReviewIssue
	for i := range results {
		result := &results[i]
		failed := result.Status == schemas.ValidationFailed
		for _, issue := range result.Issues {
			severity := issue.Severity
			if severity != schemas.ValidationWarning && severity != infoSeverity {
				severity, failed = schemas.ValidationError, false
			}
			found = append(found, schemas.ReviewIssue{
				Check: check, Severity: severity, Message: truncate(issue.Message), File: truncate(issue.File), Line: min(max(issue.Line, 0), maxLine),
			})
		}
		if failed {
			issue := schemas.ReviewIssue{Check: check, Severity: schemas.ValidationError, Message: truncate(result.Details)}
			if issue.Message == "" {
				issue.Reasons = because(schemas.CheckFailed, "check", result.Validator)
			}
			found = append(found, issue)
		}
	}
	return found
}

const (
	infoSeverity = "info"
	maxValidator = 256 // bytes; the schema counts characters
	maxLine      = 1 << 31
)

// Passed reports whether nothing that was found is an error (M-41).
func Passed(issues []schemas.ReviewIssue) bool {
	for i := range issues {
		if issues[i].Severity == schemas.ValidationError {
			return false
		}
	}
	return true
}

// maxIssues bounds the issues of a round, which stand in its record.
const maxIssues = 64

// Kept are the issues that a record has room for: errors first.
func Kept(issues []schemas.ReviewIssue) []schemas.ReviewIssue {
	var kept []schemas.ReviewIssue
	for _, errors := range [...]bool{true, false} {
		for i := range issues {
			if (issues[i].Severity == schemas.ValidationError) == errors && len(kept) < maxIssues {
				kept = append(kept, issues[i])
			}
		}
	}
	return kept
}
