// Package retriers holds what people say who have runs begun anew that are over, or are not: all of a run that is left, or from a task on, with effects
// that happen twice, or without. All of it is drawn from a source of its own.
package retriers

import (
	"math/rand/v2"

	"podium/schemas"
)

// stream is a source of its own for runs that are begun anew, so that worlds without them are as they were.
const stream = 0x7265747279

// mendedStream draws who names what mends a task instead of that.
const mendedStream = 0x6d656e64

// Retriers are what a world has in which runs are begun anew; nil is a world without.
type Retriers struct {
	Rand   *rand.Rand
	Said   []Said
	mended *rand.Rand
	left   int // how many more, once the faults are over
}

// Said is a word about a run.
type Said struct{ ID, Session string }

// New returns those of the world of a seed.
func New(seed uint64) *Retriers {
	r := &Retriers{Rand: rand.New(rand.NewPCG(seed, stream))} //nolint:gosec // a simulation repeats
	r.mended = rand.New(rand.NewPCG(seed, mendedStream))      //nolint:gosec // a simulation repeats
	r.left = 1 + r.Rand.IntN(4)
	return r
}

// Now reports whether somebody says something, while other things happen.
func (r *Retriers) Now() bool { return r != nil && r.Rand.IntN(6) == 0 }

// Later reports whether somebody says something when all else is done.
func (r *Retriers) Later() bool {
	if r == nil || r.left == 0 {
		return false
	}
	r.left--
	return true
}

// Control is what somebody says about a run of a session.
func (r *Retriers) Control(session string) schemas.Control {
	from := []string{"", "", "", "a", "b", "d", "t1", "t2", "join", "none"}[r.Rand.IntN(10)]
	if from != "" && r.mended.IntN(4) == 0 {
		from = []string{"fix1.", "fix2.", "c1.fix."}[r.mended.IntN(3)] + from
	}
	return schemas.Control{
		Action: schemas.ControlRetry, Run: schemas.RunID(session, 1+r.Rand.IntN(4)), By: "sim", From: from, AllowDuplicate: r.Rand.IntN(2) == 0,
	}
}
