package supervisor

import (
	"strings"
	"testing"

	"podium/schemas"
)

// TestKeyOf: one attempt has one key in every epoch; anything else has one of its own, also what
// only looks like it.
func TestKeyOf(t *testing.T) {
	t.Parallel()
	request := schemas.RequestID(7, 1, "run", "t1", 1)
	if keyOf(request) != keyOf(schemas.RequestID(7, 1<<31, "run", "t1", 1)) || keyOf(request) != keyOf(schemas.AttemptKey(request)) {
		t.Error("an epoch makes another attempt of a request")
	}
	known := map[requestKey]string{}
	plan := schemas.PlanID("run")
	for _, other := range []string{
		request, schemas.RequestID(8, 1, "run", "t1", 1), schemas.RequestID(7, 1, "run", "t2", 1), schemas.RequestID(7, 1, "run", "t1", 2),
		strings.ToUpper(request), "{" + request + "}", "urn:uuid:" + request, strings.ReplaceAll(request, "-", ""), request + " ", "", "t1",
		plan, plan[:9] + "0000" + plan[13:],
	} {
		if before, is := known[keyOf(other)]; is {
			t.Errorf("%q and %q have one key", before, other)
		}
		known[keyOf(other)] = other
	}
}
