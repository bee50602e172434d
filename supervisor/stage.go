package supervisor

// A stage is where a live session is on the way of its next input. From each it goes to one
// of these:
//
//	waiting      ─► queued, loading
//	queued       ─► deciding
//	deciding     ─► storing, loading, fetching, confirming, quarantining, queued, waiting
//	loading      ─► sending, quarantining, retrying, waiting
//	fetching     ─► sending, quarantining, retrying, waiting
//	confirming   ─► retrying, waiting
//	storing      ─► sending, confirming, quarantining, retrying, waiting
//	sending      ─► sending, waiting
//	quarantining ─► retrying, waiting
//	retrying     ─► waiting
//
// Deciding takes no time: whoever lacks something for it has it loaded, fetched or
// confirmed first. An operation that ends leaves its session waiting, and it is queued at
// once, unless it stands on something that the ledger has lost. Who takes a shard over
// loads its open sessions all together.
type stage uint8

const (
	stageWaiting      stage = iota // for an input, a grant, a deadline or the word that nobody serves an agent
	stageQueued                    // in workQueue.ready
	stageDeciding                  // what it does next
	stageLoading                   // its records are read
	stageFetching                  // what a decision stands on is read
	stageConfirming                // it is looked up whether its newest record is the one in memory
	stageStoring                   // its record is on the way to the ledger
	stageSending                   // the outputs of its record are on the way
	stageQuarantining              // an input of it is on the way to quarantine
	stageRetrying                  // it waits after a temporary error
)

// busy reports whether an operation is under way, whose completion alone may touch the
// session.
func (s stage) busy() bool { return s > stageDeciding }

// enter has a session be at a stage.
func (o *Owner) enter(live *liveSession, at stage) {
	if o.onStageChange != nil {
		o.onStageChange(live.stage, at)
	}
	live.stage = at
}
