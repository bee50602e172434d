package admission

import (
	"time"

	"github.com/jellydator/ttlcache/v3"

	"podium/schemas"
	"podium/schemas/fault"
)

// A resultCache remembers what agents have answered to which input (M-29). It forgets
// with its owner, and what was used longest ago first.
type resultCache = ttlcache.Cache[resultKey, cachedResult]

type resultKey struct{ agent, input string }

type cachedResult struct {
	schemas.Reuse
	at time.Time
}

const maxCachedResults = 4096

func newResultCache() *resultCache {
	return ttlcache.New(ttlcache.WithCapacity[resultKey, cachedResult](maxCachedResults))
}

// RememberResult remembers what an agent has answered, and when.
func (c *Controller) RememberResult(reuse schemas.Reuse, answered time.Time) {
	c.results.Set(resultKey{reuse.Agent, reuse.Input}, cachedResult{reuse, answered}, ttlcache.NoTTL)
}

func (c *Controller) cachedResult(agent, input string, since time.Time) (schemas.Reuse, bool) {
	known := c.results.Get(resultKey{agent, input})
	if known == nil || !fault.Is("an old answer stands in for ever") && known.Value().at.Before(since) {
		return schemas.Reuse{}, false
	}
	return known.Value().Reuse, true
}
