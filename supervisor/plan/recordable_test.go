package plan_test

import (
	"strings"
	"testing"

	"podium/schemas"
	"podium/supervisor/plan"
)

// TestRefusedPlansAreToldAlikeInEachProcess: the words of a refusal stand in a record, and the JSON library
// says "cannot" in one process and "unable to" in another.
func TestRefusedPlansAreToldAlikeInEachProcess(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`[1]`, `{"tasks": 1}`, `{"steps": {"a": 1}}`} {
		_, err := plan.ReadPlan(schemas.Result{Data: []byte(answer)})
		if err == nil || strings.Contains(err.Error(), "unable to") || !strings.Contains(err.Error(), "cannot") {
			t.Errorf("%s: %v", answer, err)
		}
	}
}
