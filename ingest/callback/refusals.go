package callback

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/ingest/problem"
)

// warnEvery is how often the log says that answers for an agent are refused for one reason.
const warnEvery = time.Minute

// A refusal is what becomes of an answer that is not taken: what the endpoint is told, and what the operator is. Nothing of
// it is a word of the sender's.
type refusal struct {
	told    *problem.Document
	reason  string // empty when the log has it already
	detail  error  // what is wrong with an answer that cannot be read
	request string // that was to be answered, once the token has said so
}

func refuse(told *problem.Document) *refusal { return &refusal{told: told, reason: told.Title} }

// unauthentic is told the sender without a reason, which would tell a forger how far it has come.
func unauthentic(reason string) *refusal {
	return &refusal{told: problemUnauthentic(), reason: reason}
}

// refusals counts what is refused, and tells the log of the first in a while. There are as many counts as agents times reasons.
type refusals struct {
	clock func() time.Time
	log   zerolog.Logger

	mu     sync.Mutex
	counts map[refusalKind]*refusalCount
}

type refusalKind struct{ agent, reason string }

type refusalCount struct {
	refused uint64
	warned  time.Time
}

// note counts an answer that is refused to an agent. The name is empty when there is no such agent: what stands in the
// address is anybody's word then.
func (r *refusals) note(agent string, refused *refusal) {
	if refused.reason == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kind := refusalKind{agent, refused.reason}
	count := r.counts[kind]
	if count == nil {
		count = &refusalCount{}
		r.counts[kind] = count
	}
	count.refused++
	now := r.clock()
	if count.refused > 1 && now.Sub(count.warned) < warnEvery {
		return
	}
	count.warned = now
	told := r.log.Warn().Str("reason", refused.reason).AnErr("detail", refused.detail).Uint64("refused", count.refused)
	if agent != "" {
		told = told.Str("agent", agent)
	}
	if refused.request != "" {
		told = told.Str("request", refused.request)
	}
	told.Msg("an answer by callback is refused")
}
