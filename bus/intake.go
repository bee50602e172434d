package bus

import (
	"context"
	"fmt"
	"sync"
	"time"

	"podium/schemas"
)

// IntakeShare is the percentage of a stream's limit at which intake is refused,
// so that work under way can end.
const IntakeShare = 90

// stateAge is how old the knowledge of a stream's size may be.
const stateAge = time.Second

// An Intake is the one way of a door onto the bus. It is safe for use by several
// goroutines at once.
type Intake struct {
	core Core

	mu     sync.Mutex
	states map[int]knownState // by shard
}

type knownState struct {
	full bool
	at   time.Time
}

// A Receipt says where an event went. It is as durable as the ledger promises.
type Receipt struct {
	Session  string // the conversation it belongs to
	Shard    int
	Sequence uint64 // in the shard's stream
}

// NewIntake returns the intake of a ledger.
func NewIntake(core Core) *Intake {
	return &Intake{core: core, states: make(map[int]knownState)}
}

// Submit publishes an event that a door has received, and waits until the ledger
// has it. Profile is required; without a PartitionKey the event is a
// conversation of its own. Errors: schemas.ErrInvalidEvent, ErrFull from
// IntakeShare on, ErrTooLarge over ArtifactLimit, and temporary errors after
// which the same event (the same ID) may be submitted again.
func (i *Intake) Submit(ctx context.Context, door string, e schemas.Event) (Receipt, error) {
	if !schemas.ValidAgentName(door) {
		return Receipt{}, fmt.Errorf("%q cannot be the name of a door", door)
	}
	if err := e.Validate(); err != nil {
		return Receipt{}, err
	}
	if e.Profile == "" {
		return Receipt{}, fmt.Errorf("%w: attribute %q is missing", schemas.ErrInvalidEvent, "profile")
	}
	if e.PartitionKey == "" {
		e.PartitionKey = e.ID
	}
	session := schemas.SessionID(e.Profile, e.PartitionKey)
	shard := schemas.ShardOf(session, i.core.Shards())
	if err := i.admit(ctx, shard); err != nil {
		return Receipt{}, err
	}
	if err := Offload(ctx, i.core.Artifacts(), &e); err != nil {
		return Receipt{}, err
	}
	message, err := Encode(InSubject(door, shard), &e)
	if err != nil {
		return Receipt{}, err
	}
	ack, err := Append(ctx, i.core, message, Expect{})
	if err != nil {
		return Receipt{}, fmt.Errorf("submit a %s: %w", e.Type, err)
	}
	return Receipt{Session: session, Shard: shard, Sequence: ack.Sequence}, nil
}

// admit refuses what would fill the last tenth of a shard's stream.
func (i *Intake) admit(ctx context.Context, shard int) error {
	i.mu.Lock()
	known, ok := i.states[shard]
	i.mu.Unlock()
	if !ok || time.Since(known.at) >= stateAge {
		state, err := i.core.State(ctx, ShardStream(shard))
		if err != nil {
			return fmt.Errorf("state of shard %d: %w", shard, err)
		}
		known = knownState{at: time.Now()}
		if state.MaxBytes > 0 {
			known.full = float64(state.Bytes) >= float64(state.MaxBytes)*IntakeShare/100
		}
		i.mu.Lock()
		i.states[shard] = known
		i.mu.Unlock()
	}
	if known.full {
		return fmt.Errorf("shard %d takes no more events from outside: %w", shard, ErrFull)
	}
	return nil
}
