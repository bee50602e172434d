package schemas_test

import (
	"strings"
	"testing"

	"podium/schemas"
)

// TestTraceParent: what is no trace parent counts as none.
func TestTraceParent(t *testing.T) {
	t.Parallel()
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for given, want := range map[string]string{
		good: good, "": "", "nonsense": "", good + "\r\nx: y": "", good + "-01": "", strings.ToUpper(good): "", strings.Replace(good, "00-", "ff-", 1): "",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": "", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01": "",
		strings.Replace(good, "af", "ag", 1): "", strings.Replace(good, "-01", "-1", 1): "", strings.Replace(good, "0a", "ä", 1): "",
	} {
		if got := schemas.TraceParent(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
