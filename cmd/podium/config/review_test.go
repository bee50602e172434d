package config

import "testing"

// TestReviewProblems: whoever judges what was made answers such requests, is asked once, and goes no further than the profile allows.
func TestReviewProblems(t *testing.T) {
	t.Parallel()
	tellsProblems(t, "review_problems")
}
