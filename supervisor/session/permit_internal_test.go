package session

import (
	"testing"

	"podium/schemas"
)

// A question takes no permit along, whatever is on record of it.
func TestNoQuestionBringsAPermit(t *testing.T) {
	t.Parallel()
	for kind, brings := range map[schemas.TaskKind]bool{
		"": true, schemas.KindWork: true, schemas.KindAssess: false, schemas.KindPlan: false, schemas.KindRoute: false,
	} {
		f := schemas.TaskDispatched{Kind: kind, Request: "request", Permitted: true}
		if permit := carriedPermit(&f); permit != "" != brings {
			t.Errorf("a request of kind %q brings %q", kind, permit)
		}
		if f.Permitted = false; carriedPermit(&f) != "" {
			t.Errorf("a request of kind %q brings what nobody has given", kind)
		}
	}
}
