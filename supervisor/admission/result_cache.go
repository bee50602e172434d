package admission

import (
	"time"

	"github.com/jellydator/ttlcache/v3"

	"podium/schemas"
)

// answers remembers what agents have answered to which input (M-29). It forgets
// with its owner, and what was used longest ago first.
type answers = ttlcache.Cache[answerKey, knownAnswer]

type answerKey struct{ agent, input string }

type knownAnswer struct {
	schemas.Reuse
	at time.Time
}

const rememberedAnswers = 4096

func newAnswers() *answers {
	return ttlcache.New(ttlcache.WithCapacity[answerKey, knownAnswer](rememberedAnswers))
}

// Learn remembers what an agent has answered.
func (a *Controller) Learn(reuse schemas.Reuse, now time.Time) {
	a.answers.Set(answerKey{reuse.Agent, reuse.Input}, knownAnswer{reuse, now}, ttlcache.NoTTL)
}

func (a *Controller) find(agent, input string, since time.Time) (schemas.Reuse, bool) {
	known := a.answers.Get(answerKey{agent, input})
	if known == nil || known.Value().at.Before(since) {
		return schemas.Reuse{}, false
	}
	return known.Value().Reuse, true
}
