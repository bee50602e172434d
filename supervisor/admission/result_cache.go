package admission

import (
	"time"

	"podium/schemas"
	"podium/supervisor/session"
)

// A resultCache remembers what agents have answered to which input (M-29). It forgets
// with its owner, and the oldest first.
type resultCache struct {
	known map[resultKey]cachedResult
	order []resultKey
}

type resultKey struct{ agent, input string }

type cachedResult struct {
	schemas.Reuse
	at time.Time
}

const maxCachedResults = 4096

func (c *resultCache) learn(outcome *session.Outcome, now time.Time) {
	for _, reuse := range outcome.Learned {
		key := resultKey{reuse.Agent, reuse.Input}
		if c.known == nil {
			c.known = map[resultKey]cachedResult{}
		}
		if _, known := c.known[key]; !known {
			c.order = append(c.order, key)
		}
		c.known[key] = cachedResult{reuse, now}
		if len(c.order) > maxCachedResults {
			delete(c.known, c.order[0])
			c.order = c.order[1:]
		}
	}
}

func (c *resultCache) find(agent, input string, since time.Time) (schemas.Reuse, bool) {
	known, ok := c.known[resultKey{agent, input}]
	return known.Reuse, ok && !known.at.Before(since)
}

// Learn remembers what a decision says that agents have answered.
func (a *Controller) Learn(outcome *session.Outcome, now time.Time) { a.results.learn(outcome, now) }
