package sim

import (
	"math/rand/v2"
	"time"

	"podium/schemas"
)

// signatories are what a world has in which answers wait for leave; nil is a world without.
type signatories struct {
	rand *rand.Rand
	// idle is that nobody has to agree to any work, so that most runs come to their answer.
	idle bool
}

// newSignatories returns those of the world of a seed.
func newSignatories(seed uint64) *signatories {
	s := &signatories{rand: source(seed, signatoryStream)}
	s.idle = !once(s.rand, 4)
	return s
}

// declare says in profiles who has to agree to an answer, and how long they have. Some answers go out by themselves.
func (s *signatories) declare(sources []schemas.Profile) {
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
		if once(s.rand, 8) {
			continue
		}
		people := [][]string{{"anna"}, {"anna", "ben"}, {"eve", "anna"}, {"anna", "ben", "eve"}, {"carl", "ben"}}[s.rand.IntN(5)]
		rule := schemas.ApprovalRule{
			Delivery: true, People: people, Expire: schemas.Duration(pick(s.rand, 6*time.Second, 40*time.Second, 10*time.Minute)), Remind: schemas.Duration(pick(s.rand, 0, 3*time.Second)),
		}
		if len(people) > 1 && once(s.rand, 2) {
			rule.Need = 2
		}
		p.Approval = append(p.Approval, rule)
	}
}

// expires is how long those have who are asked by a profile whether its answer may go out.
func (s *signatories) expires(p *schemas.Profile) (time.Duration, bool) {
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

// says is what somebody says who is asked for leave.
func (s *signatories) says() string {
	switch s.rand.IntN(16) {
	case 0, 1, 2, 3, 4, 5, 6:
		return pick(s.rand, "yes", "Yes.", "YES", "yes\n\nThank you.")
	case 7, 8:
		return pick(s.rand, "no", "No.")
	case 9, 10:
		return pick(s.rand, "no\n\nIt is not ours to say.", "No\nAsk again in May.", "no\n\nSee P-1.\n\nAll of it.")
	case 11: // nobody edits the words of an answer
		return pick(s.rand, "yes\n{\"text\": \"Dear friends\"}", "yes\nnumber: 12")
	default: // what decides nothing
		return pick(s.rand, "yes, the number is 12", "no idea", "Looks good to me.", "7", "yes or no?")
	}
}

// insists reports whether somebody wants an answer sent that waits, or to which somebody has said no.
func (s *signatories) insists() bool { return s != nil && once(s.rand, 6) }
