package session

import (
	"testing"

	"podium/schemas"
)

// A question takes no permit along, whatever is on record of it.
func TestNoQuestionBringsAPermit(t *testing.T) {
	t.Parallel()
	for kind, brings := range map[schemas.TaskKind]bool{
		schemas.TaskKindWork: true, schemas.TaskKindDeliver: true, schemas.TaskKindAssess: false, schemas.TaskKindPlan: false, schemas.TaskKindRoute: false,
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
