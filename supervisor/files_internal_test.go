package supervisor

import (
	"fmt"
	"testing"

	"podium/bus/artifact"
	"podium/schemas"
	"podium/supervisor/session"
)

// TestGrantsBehindTheLastAreNotChecked: an answer that names more artifacts than its
// record holds takes no more work than one that names as many.
//
//nolint:paralleltest // it counts allocations
func TestGrantsBehindTheLastAreNotChecked(t *testing.T) {
	grants, err := artifact.NewGrants([]byte("a secret of tests"))
	if err != nil {
		t.Fatal(err)
	}
	o := &Owner{Config: Config{ArtifactGrants: grants}}
	prove := func(references int, last schemas.Artifact) (in input, allocations float64) {
		in = input{agent: "worker"}
		in.read.Response = &schemas.ExecutionResponse{}
		for n := range references {
			hash := fmt.Sprintf("%064x", n)
			in.read.References = append(in.read.References, schemas.Artifact{SHA256: hash, Grant: grants.Put("worker", hash)})
		}
		in.read.References = append(in.read.References, last)
		return in, testing.AllocsPerRun(3, func() {
			in.read.Proven = nil
			o.proveArtifacts(&in)
		})
	}
	foreign := schemas.Artifact{SHA256: fmt.Sprintf("%064x", 1<<20), Grant: "put.00000000..AAAA"}
	in, _ := prove(schemas.MaxProven-1, foreign)
	if len(in.read.Proven) != schemas.MaxProven-1 || !in.unknownArtifactGrant {
		t.Errorf("%d are proven, the one of another key counts as such: %t", len(in.read.Proven), in.unknownArtifactGrant)
	}
	in, full := prove(schemas.MaxProven, foreign)
	if len(in.read.Proven) != schemas.MaxProven || in.unknownArtifactGrant {
		t.Errorf("%d are proven, and the keys are read for one more: %t", len(in.read.Proven), in.unknownArtifactGrant)
	}
	if in, many := prove(20*schemas.MaxProven, foreign); len(in.read.Proven) != schemas.MaxProven || many > full {
		t.Errorf("%d are proven by %.0f allocations; %.0f are enough", len(in.read.Proven), many, full)
	}
	twice := input{agent: "worker", read: session.Input{Response: in.read.Response, References: append(in.read.References[:1:1], in.read.References[0])}}
	if o.proveArtifacts(&twice); len(twice.read.Proven) != 1 {
		t.Errorf("twice the same are %d", len(twice.read.Proven))
	}
}
