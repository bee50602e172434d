package supervisor

// A stage is where a live session is on the way of its next input.
//
//	waiting ─► queued ─► deciding ─► storing ─► sending ─► queued or waiting
//	                        │  ▲        │
//	                        ▼  │        ▼
//	      loading, fetching, confirming, quarantining ─► queued
//
// Deciding takes no time: whoever lacks something for it has it loaded, fetched or
// confirmed first, and is queued again. After a temporary error of the ledger a session is
// retrying, and queued after a while.
type stage uint8

const (
	stageWaiting      stage = iota // for an input, a grant, a deadline or the word that nobody serves an agent
	stageQueued                    // in workQueue.ready
	stageDeciding                  // what it does next
	stageLoading                   // its records are read
	stageFetching                  // what a decision stands on is read
	stageConfirming                // it is looked up whether its newest record is the one in memory
	stageStoring                   // its record is on the way to the ledger
	stageSending                   // what its record owes is on the way
	stageQuarantining              // an input of it is on the way to quarantine
	stageRetrying                  // it waits after a temporary error
)

// busy reports whether an operation is under way, whose completion alone may touch the
// session.
func (s stage) busy() bool { return s > stageDeciding }
