// Package statistics counts what becomes of the requests to agents, from the records that owners store: how long
// they wait, how long they are worked on, and how they end. The figures stand in the ledger's registry, beside the
// checkpoints and in no record: nothing is decided by them, and what a crash takes of the newest seconds is
// not made up for.
package statistics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/session"
)

// An Agent is what is counted of one agent.
type Agent struct {
	// Queue is how long requests wait until somebody begins, Work how long they are worked on. What is answered
	// without a word before has its whole time in Work.
	Queue Histogram `json:"queue,omitzero"`
	Work  Histogram `json:"work,omitzero"`
	// Completed and Failed are attempts, over the ledger's life.
	Completed uint64 `json:"completed,omitzero"`
	Failed    uint64 `json:"failed,omitzero"`
	// LastFailure is the newest of those that have failed; nil is none.
	LastFailure *Failure `json:"last_failure,omitzero"`
	// Ready is how many tasks wait for the agent to have room, as of Told.
	Ready int       `json:"ready,omitzero"`
	Told  time.Time `json:"told,omitzero"`
}

// A Failure is how an attempt has failed.
type Failure struct {
	At       time.Time               `json:"at"`
	Cause    schemas.FailureKind     `json:"cause"`
	Category schemas.FailureCategory `json:"category,omitzero"`
}

// A Keeper counts for the owners of one process. It is safe for use by several goroutines at once.
type Keeper struct {
	store bus.KeyValue

	mu      sync.Mutex
	agents  map[string]*Agent
	ready   map[int]map[string]int // by shard and agent
	changed map[string]struct{}    // since they were written
}

// prefix begins the keys of AgentBucket that hold statistics.
const prefix = "statistics."

// Open returns a keeper that goes on with what the ledger holds.
func Open(ctx context.Context, core bus.Core) (*Keeper, error) {
	k := &Keeper{store: core.KeyValue(bus.AgentBucket), ready: map[int]map[string]int{}, changed: map[string]struct{}{}}
	var err error
	k.agents, err = read(ctx, k.store)
	return k, err
}

// Read returns the statistics that stand in a ledger, by agent.
func Read(ctx context.Context, core bus.Core) (map[string]*Agent, error) {
	return read(ctx, core.KeyValue(bus.AgentBucket))
}

func read(ctx context.Context, store bus.KeyValue) (map[string]*Agent, error) {
	values, err := store.Below(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("read the statistics of the agents: %w", err)
	}
	agents := make(map[string]*Agent, len(values))
	for key, value := range values {
		name := strings.TrimPrefix(key, prefix)
		if !schemas.ValidAgentName(name) {
			continue
		}
		agent := &Agent{}
		if err := schemas.Unmarshal(value, agent); err != nil {
			return nil, fmt.Errorf("read the statistics of agent %s: %w", name, err)
		}
		agents[name] = agent
	}
	return agents, nil
}

func (k *Keeper) agent(name string) *Agent {
	known := k.agents[name]
	if known == nil {
		known = &Agent{}
		k.agents[name] = known
	}
	k.changed[name] = struct{}{}
	return known
}

// Observe takes a record that was stored, and the state of its session before. It waits for nothing but other owners.
func (k *Keeper) Observe(before *session.State, record *schemas.Record) {
	asked := attempts{before: before, began: map[string]attempt{}}
	for i := range record.Transitions {
		at := record.Transitions[i].Cause.Time
		for _, fact := range record.Transitions[i].Facts {
			k.observe(&asked, fact, at)
		}
	}
}

// attempts are those under way, by the run and the task.
type attempts struct {
	before *session.State
	began  map[string]attempt // in this record
}

type attempt struct {
	agent               string
	dispatched, started time.Time
}

func (a *attempts) key(run int, task string) string { return fmt.Sprint(run, " ", task) }

// of returns the attempt that a task is at.
func (a *attempts) of(run int, task string) attempt {
	if known, is := a.began[a.key(run, task)]; is {
		return known
	}
	if a.before.Active == nil || a.before.Active.Number != run {
		return attempt{}
	}
	if known := a.before.Active.Task(task); known != nil && known.State.UnderWay() {
		return attempt{agent: known.Agent, dispatched: known.Dispatched, started: known.Started}
	}
	return attempt{}
}

func (k *Keeper) observe(asked *attempts, fact schemas.Fact, at time.Time) {
	switch f := fact.(type) { //nolint:gochecksumtype // no other fact begins or ends an attempt
	case *schemas.TaskDispatched:
		asked.began[asked.key(f.Run, f.Task)] = attempt{agent: f.Agent, dispatched: at}
	case *schemas.TaskStarted:
		began := asked.of(f.Run, f.Task)
		if began.agent == "" || !began.started.IsZero() && !began.started.Before(began.dispatched) {
			return
		}
		began.started = at
		asked.began[asked.key(f.Run, f.Task)] = began
		k.count(began.agent, func(agent *Agent) { agent.Queue.Add(at, at.Sub(began.dispatched)) })
	case *schemas.TaskCompleted:
		if f.Reused == 0 {
			k.ended(asked.of(f.Run, f.Task), at, nil)
		}
		delete(asked.began, asked.key(f.Run, f.Task))
	case *schemas.TaskFailed:
		k.ended(asked.of(f.Run, f.Task), at, &Failure{At: at, Cause: f.Cause, Category: f.Category})
		delete(asked.began, asked.key(f.Run, f.Task))
	}
}

// ended counts an attempt; nil is a failure of none.
func (k *Keeper) ended(began attempt, at time.Time, failure *Failure) {
	if began.agent == "" {
		return // it was not asked
	}
	k.count(began.agent, func(agent *Agent) {
		switch {
		case failure != nil && failure.Cause == schemas.FailureNotStarted:
			agent.Queue.Add(at, at.Sub(began.dispatched))
		case began.started.Before(began.dispatched): // nothing was heard of it before
			agent.Work.Add(at, at.Sub(began.dispatched))
		default:
			agent.Work.Add(at, at.Sub(began.started))
		}
		if failure == nil {
			agent.Completed++
			return
		}
		agent.Failed++
		agent.LastFailure = failure
	})
}

func (k *Keeper) count(name string, change func(*Agent)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(k.agent(name))
}

// Waiting is told how many tasks of a shard wait for each agent to have room; agents for which none does may be missing.
func (k *Keeper) Waiting(shard int, ready map[string]int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.ready[shard]
	for name := range before {
		if ready[name] != before[name] {
			k.agent(name)
		}
	}
	for name := range ready {
		if ready[name] != before[name] {
			k.agent(name)
		}
	}
	k.ready[shard] = maps.Clone(ready)
}

// Agent returns what is counted of an agent at this moment.
func (k *Keeper) Agent(name string) Agent {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.copied(name)
}

func (k *Keeper) copied(name string) Agent {
	known := k.agents[name]
	if known == nil {
		return Agent{}
	}
	copied := *known
	copied.Queue, copied.Work = known.Queue.clone(), known.Work.clone()
	copied.Ready = 0
	for _, ready := range k.ready {
		copied.Ready += ready[name]
	}
	return copied
}

// Write puts into the ledger what has changed since it was written.
func (k *Keeper) Write(ctx context.Context, now time.Time) error {
	k.mu.Lock()
	changed := slices.Sorted(maps.Keys(k.changed))
	copies := make([]Agent, len(changed))
	for i, name := range changed {
		copies[i] = k.copied(name)
	}
	clear(k.changed)
	k.mu.Unlock()
	var failed []error
	for i, name := range changed {
		copies[i].Told = now.UTC()
		body, err := schemas.Marshal(copies[i])
		if err == nil {
			_, err = k.store.Put(ctx, prefix+name, body)
		}
		if err != nil {
			failed = append(failed, err)
			k.count(name, func(*Agent) {}) // it is tried again
		}
	}
	return errors.Join(failed...)
}
