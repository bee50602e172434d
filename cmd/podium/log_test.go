package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// Figures of somebody's mail may occur by chance in an identifier or in how long a request took.
	identifier = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	personal   = regexp.MustCompile(`(\bAda\b|example\.org|demo\.example|[Tt]hursday|pump|Figures)|\b(1250|12\.5)\b`)
)

// TestLogHoldsNoPersonalData_G37: who wrote, what they wrote and to whom stays
// out of the log, however much is logged.
func TestLogHoldsNoPersonalData_G37(t *testing.T) {
	t.Parallel()
	logged := podium(t, "demo", "--once", "-vv", "-o", "json", "--data", filepath.Join(t.TempDir(), "demo")).succeeds(t).stderr
	if strings.Count(logged, "\n") < 10 {
		t.Fatalf("too little is logged to prove anything:\n%s", logged)
	}
	if found := personal.FindString(identifier.ReplaceAllString(logged, "")); found != "" {
		t.Errorf("the log holds %q:\n%s", found, logged)
	}
}
