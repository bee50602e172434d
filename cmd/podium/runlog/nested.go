package runlog

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"podium/bus"
	"podium/bus/history"
	"podium/schemas"
	"podium/schemas/workflow"
)

// NestedRuns follows the runs that supervisors begin for the tasks of a run while that is
// watched, and those that are begun for these in turn.
type NestedRuns struct {
	core bus.Core
	show Show

	following sync.WaitGroup
	mu        sync.Mutex
	profiles  map[string]string                 // by agent; empty is no supervisor
	children  map[nestedTask]context.CancelFunc // ends the waiting for more
	closed    bool
	failed    []error
}

// A nestedTask is a task of a run, and the supervisor that does it by a run of its own.
type nestedTask struct{ run, task, agent string }

// Show is told what a record says of a run that was begun for a task of a parent.
type Show func(parent, task string, record *schemas.Record, run *workflow.RunHistory)

// NewNestedRuns follows none yet. Show may be called by several goroutines at once.
func NewNestedRuns(core bus.Core, show Show) *NestedRuns {
	return &NestedRuns{core: core, show: show, profiles: make(map[string]string), children: make(map[nestedTask]context.CancelFunc)}
}

// Look begins to follow the runs for those tasks of a run that were asked for. One whose
// task has ended is read as far as it is recorded.
func (n *NestedRuns) Look(ctx context.Context, run *workflow.RunHistory) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, task := range run.Tasks {
		if task.Attempt == 0 {
			continue
		}
		profile, known := n.profiles[task.Agent]
		if !known {
			var err error
			if profile, err = profileOf(ctx, n.core, task.Agent); err != nil {
				n.failed = append(n.failed, fmt.Errorf("agent %s: %w", task.Agent, err))
			}
			n.profiles[task.Agent] = profile
		}
		if profile == "" {
			continue
		}
		child := nestedTask{run.ID, task.ID, task.Agent}
		stop, known := n.children[child]
		if !known {
			var until context.Context
			until, stop = context.WithCancel(ctx)
			n.children[child] = stop
			session := childSession(run, task, profile)
			n.following.Go(func() { n.follow(ctx, until, session, child) })
		}
		if n.closed || task.State.Ended() {
			stop()
		}
	}
}

// follow shows the runs of a session until nothing more is waited for, and then what
// else has been recorded until then.
func (n *NestedRuns) follow(ctx, until context.Context, session string, of nestedTask) {
	folded, newest := workflow.SessionHistory{Session: session}, uint64(0)
	for record, err := range history.FollowSession(until, n.core, session, 1) {
		if err == nil {
			newest, err = record.Sequence, n.take(ctx, &folded, &record.Record, of)
		} else if until.Err() != nil {
			break
		}
		if err != nil {
			n.fail(session, err)
			return
		}
	}
	for record, err := range history.LoadSession(ctx, n.core, session) {
		if err == nil && record.Sequence > newest {
			err = n.take(ctx, &folded, &record.Record, of)
		}
		if err != nil {
			if ctx.Err() == nil {
				n.fail(session, err)
			}
			return
		}
	}
}

// take shows what a record says of each run.
func (n *NestedRuns) take(ctx context.Context, folded *workflow.SessionHistory, record *schemas.Record, of nestedTask) error {
	if err := folded.Apply(*record); err != nil {
		return err
	}
	shown := make(map[int]bool)
	for fact := range record.AllFacts() {
		run := folded.Run(schemas.RunOf(fact))
		if run == nil || shown[run.Number] {
			continue
		}
		shown[run.Number] = true
		n.show(of.run, of.task, record, run)
		n.Look(ctx, run)
	}
	return nil
}

func (n *NestedRuns) fail(session string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = append(n.failed, fmt.Errorf("session %s: %w", session, err))
}

// Close shows what is recorded by now, and returns why that is not everything.
func (n *NestedRuns) Close() error {
	n.mu.Lock()
	n.closed = true
	for _, stop := range n.children {
		stop()
	}
	n.mu.Unlock()
	n.following.Wait()
	return errors.Join(n.failed...)
}
