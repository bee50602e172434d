package sim

import (
	"math/rand/v2"

	"podium/schemas"
)

// retriers are what a world has in which runs are begun anew; nil is a world without.
type retriers struct {
	rand   *rand.Rand
	mended *rand.Rand
	left   int // how many more, once the faults are over
}

// newRetriers returns those of the world of a seed.
func newRetriers(seed uint64) *retriers {
	r := &retriers{rand: source(seed, retrierStream)}
	r.mended = source(seed, mendedStream)
	r.left = 1 + r.rand.IntN(4)
	return r
}

// now reports whether somebody says something, while other things happen.
func (r *retriers) now() bool { return r != nil && r.rand.IntN(6) == 0 }

// later reports whether somebody says something when all else is done.
func (r *retriers) later() bool {
	if r == nil || r.left == 0 {
		return false
	}
	r.left--
	return true
}

// control is what somebody says about a run of a session.
func (r *retriers) control(session string) schemas.Control {
	from := []string{"", "", "", "a", "b", "d", "t1", "t2", "join", "none"}[r.rand.IntN(10)]
	if from != "" && r.mended.IntN(4) == 0 {
		from = []string{"fix1.", "fix2.", "c1.fix."}[r.mended.IntN(3)] + from
	}
	return schemas.Control{
		Action: schemas.ControlRetry, Run: schemas.RunID(session, 1+r.rand.IntN(4)), By: "sim", From: from, AllowDuplicate: r.rand.IntN(2) == 0,
	}
}
