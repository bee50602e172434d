package findings_test

import (
	"slices"
	"strings"
	"testing"

	"podium/schemas"
	"podium/supervisor/findings"
)

// TestBounds: each sort of finding is kept from the first on, up to its bounds, and nothing is changed in
// what the agent has said.
func TestBounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 4<<10)
	payload := &schemas.ResponsePayload{
		ValidationResults: []schemas.ValidationResult{{Validator: "v", Status: "failed", Details: long, Issues: []schemas.ValidationIssue{{Message: long}, {Message: "m"}}}},
		Recommendations:   make([]string, 200),
	}
	for range 3 {
		payload.IssuesEncountered = append(payload.IssuesEncountered, schemas.Issue{Description: long})
	}
	kept := findings.Of(payload)
	if len(kept.Issues) != 3 || len(kept.Issues[0].Description) > 2<<10+4 || len(kept.ValidationResults[0].Issues) != 2 || len(kept.Recommendations) > 64 {
		t.Errorf("%d issues, %d of the check, %d recommendations", len(kept.Issues), len(kept.ValidationResults[0].Issues), len(kept.Recommendations))
	}
	if payload.IssuesEncountered[0].Description != long || len(payload.ValidationResults[0].Issues) != 2 || payload.ValidationResults[0].Details != long {
		t.Error("what the agent has said is changed")
	}
	if findings.Of(&schemas.ResponsePayload{}) != nil {
		t.Error("nothing is something")
	}
}

// TestNeedsAndOperation: what cannot be decided on whole is not kept in part.
func TestNeedsAndOperation(t *testing.T) {
	t.Parallel()
	needs := []schemas.Need{{Name: "a", Question: map[string]string{"de": "?", "en": "?"}}, {Name: "b", Schema: []byte(`"` + strings.Repeat("x", 17<<10) + `"`)}, {Name: "c"}}
	if kept := findings.Needs(needs); len(kept) != 1 || kept[0].Name != "a" {
		t.Errorf("%+v", kept)
	}
	for name, c := range map[string]struct {
		arguments string
		kept      bool
	}{
		"none": {"", true}, "an object": {`{"a":1}`, true}, "a list": {`[1]`, false}, "too large": {`{"a":"` + strings.Repeat("x", 17<<10) + `"}`, false},
	} {
		proposed := &schemas.Operation{Name: "book", Arguments: []byte(c.arguments), Summary: "Books."}
		if kept := findings.Operation(proposed); (kept != nil) != c.kept {
			t.Errorf("%s: %+v", name, kept)
		}
	}
	if findings.Operation(nil) != nil {
		t.Error("nothing is proposed")
	}
}

// TestDeliverablesAreBounded: an agent cannot fill a record with what it lists.
func TestDeliverablesAreBounded(t *testing.T) {
	t.Parallel()
	small := schemas.Deliverable{DeliverableID: "d", Type: "code"}
	large := schemas.Deliverable{DeliverableID: "d", Type: "code", Description: strings.Repeat("x", (16<<10)/2)}
	for name, test := range map[string]struct {
		listed []schemas.Deliverable
		want   int
	}{
		"none":                 {nil, 0},
		"as many as may be":    {slices.Repeat([]schemas.Deliverable{small}, 64), 64},
		"one more":             {slices.Repeat([]schemas.Deliverable{small}, 65), 64},
		"one that is large":    {[]schemas.Deliverable{large, small}, 2},
		"two that are":         {[]schemas.Deliverable{large, large, small}, 1},
		"one that is too much": {[]schemas.Deliverable{{DeliverableID: "d", Path: strings.Repeat("x", (16 << 10))}, small}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := findings.Deliverables(test.listed); len(got) != test.want {
				t.Errorf("%d are kept, want %d", len(got), test.want)
			}
		})
	}
}
