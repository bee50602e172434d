package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestLogHoldsNoPersonalData_G37: who wrote, what they wrote and to whom stays
// out of the log, however much is logged.
func TestLogHoldsNoPersonalData_G37(t *testing.T) {
	t.Parallel()
	logged := podium(t, "demo", "--once", "-vv", "-o", "json", "--data", filepath.Join(t.TempDir(), "demo")).succeeds(t).stderr
	if strings.Count(logged, "\n") < 10 {
		t.Fatalf("too little is logged to prove anything:\n%s", logged)
	}
	for _, personal := range []string{"Ada", "example.org", "demo.example", "thursday", "Thursday", "pump", "1250", "12.5", "Figures"} {
		if strings.Contains(logged, personal) {
			t.Errorf("the log holds %q:\n%s", personal, logged)
		}
	}
}
