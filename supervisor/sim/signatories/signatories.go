// Package signatories holds what profiles say of answers that wait for leave, and what people say who are asked for it, in worlds with that: one whole word,
// a no with its reason, words that want the answer changed, and words that decide nothing. All of it is drawn from a source of its own.
package signatories

import (
	"math/rand/v2"
	"time"

	"podium/schemas"
)

// stream is a source of its own for answers that wait, so that worlds without them are as they were.
const stream = 0x7369676e61746f72

// Signatories are what a world has in which answers wait for leave; nil is a world without.
type Signatories struct {
	Rand *rand.Rand
	// idle is that nobody has to agree to any work, so that most runs come to their answer.
	idle bool
}

// New returns those of the world of a seed.
func New(seed uint64) *Signatories {
	s := &Signatories{Rand: rand.New(rand.NewPCG(seed, stream))} //nolint:gosec // a simulation repeats
	s.idle = !once(s.Rand, 4)
	return s
}

// Declare says in profiles who has to agree to an answer, and how long they have. Some answers go out by themselves.
func (s *Signatories) Declare(sources []schemas.Profile) {
	if s == nil {
		return
	}
	for i := range sources {
		p := &sources[i]
		for n := range p.Languages {
			p.Languages[n].Texts.Sending = "Send this to {recipients}?\n\n{work}\n\n{approve} or {reject}"
		}
		if s.idle {
			p.Approval = nil
		}
		if once(s.Rand, 8) {
			continue
		}
		people := [][]string{{"anna"}, {"anna", "ben"}, {"eve", "anna"}, {"anna", "ben", "eve"}, {"carl", "ben"}}[s.Rand.IntN(5)]
		rule := schemas.ApprovalRule{
			Delivery: true, People: people, Expire: schemas.Duration(pick(s.Rand, 6*time.Second, 40*time.Second, 10*time.Minute)), Remind: schemas.Duration(pick(s.Rand, 0, 3*time.Second)),
		}
		if len(people) > 1 && once(s.Rand, 2) {
			rule.Need = 2
		}
		p.Approval = append(p.Approval, rule)
	}
}

// Expires is how long those have who are asked by a profile whether its answer may go out.
func (s *Signatories) Expires(p *schemas.Profile) (time.Duration, bool) {
	if s == nil {
		return 0, false
	}
	for i := range p.Approval {
		if rule := &p.Approval[i]; rule.Delivery {
			return time.Duration(rule.Expire), true
		}
	}
	return 0, false
}

// Says is what somebody says who is asked for leave.
func (s *Signatories) Says() string {
	switch s.Rand.IntN(16) {
	case 0, 1, 2, 3, 4, 5, 6:
		return pick(s.Rand, "yes", "Yes.", "YES", "yes\n\nThank you.")
	case 7, 8:
		return pick(s.Rand, "no", "No.")
	case 9, 10:
		return pick(s.Rand, "no\n\nIt is not ours to say.", "No\nAsk again in May.", "no\n\nSee P-1.\n\nAll of it.")
	case 11: // nobody edits the words of an answer
		return pick(s.Rand, "yes\n{\"text\": \"Dear friends\"}", "yes\nnumber: 12")
	default: // what decides nothing
		return pick(s.Rand, "yes, the number is 12", "no idea", "Looks good to me.", "7", "yes or no?")
	}
}

// Insists reports whether somebody wants an answer sent that waits, or to which somebody has said no.
func (s *Signatories) Insists() bool { return s != nil && once(s.Rand, 6) }

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func once(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }
