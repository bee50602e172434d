package admission

import (
	"time"

	"podium/schemas"
	"podium/supervisor/session"
)

// answers remembers what agents have answered to which input (M-29). It forgets
// with its owner, and the oldest first.
type answers struct {
	known map[answerKey]knownAnswer
	order []answerKey
}

type answerKey struct{ agent, input string }

type knownAnswer struct {
	schemas.Reuse
	at time.Time
}

const rememberedAnswers = 4096

func (a *answers) learn(outcome *session.Outcome, now time.Time) {
	for _, reuse := range outcome.Learned {
		key := answerKey{reuse.Agent, reuse.Input}
		if a.known == nil {
			a.known = map[answerKey]knownAnswer{}
		}
		if _, known := a.known[key]; !known {
			a.order = append(a.order, key)
		}
		a.known[key] = knownAnswer{reuse, now}
		if len(a.order) > rememberedAnswers {
			delete(a.known, a.order[0])
			a.order = a.order[1:]
		}
	}
}

func (a *answers) find(agent, input string, since time.Time) (schemas.Reuse, bool) {
	known, ok := a.known[answerKey{agent, input}]
	return known.Reuse, ok && !known.at.Before(since)
}

// Learn remembers what a decision says that agents have answered.
func (a *Controller) Learn(outcome *session.Outcome, now time.Time) { a.answers.learn(outcome, now) }
