package config

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"podium/cmd/podium/diagnostic"
)

// TestSourceProblems shows what each mistake about an event source is answered with.
func TestSourceProblems(t *testing.T) {
	t.Parallel()
	datadriven.RunTest(t, "testdata/http_problems", func(t *testing.T, d *datadriven.TestData) string {
		t.Helper()
		_, err := parse([]byte(d.Input), "podium.yaml", lookup)
		if err == nil {
			return "accepted"
		}
		if len(diagnostic.ProblemsOf(err)) == 0 {
			t.Errorf("%s: the error is %T", d.Pos, err)
		}
		return err.Error()
	})
}
