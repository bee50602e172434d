package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"podium/bus"
	"podium/cmd/podium/view"
	"podium/schemas"
)

// nestedRuns follows the runs that supervisors begin for the tasks of a run while that is
// watched, and those that are begun for these in turn.
type nestedRuns struct {
	core bus.Core
	show func(view.Place, *schemas.Record, *schemas.Run)

	following sync.WaitGroup
	mu        sync.Mutex
	profiles  map[string]string          // by agent; empty is no supervisor
	children  map[nestedTask]context.CancelFunc // ends the waiting for more
	closed    bool
	failed    []error
}

// A nestedTask is a task of a run, and the supervisor that does it by a run of its own.
type nestedTask struct {
	place view.Place
	agent string
}

func newNestedRuns(core bus.Core, show func(view.Place, *schemas.Record, *schemas.Run)) *nestedRuns {
	return &nestedRuns{core: core, show: show, profiles: make(map[string]string), children: make(map[nestedTask]context.CancelFunc)}
}

// look begins to follow the runs for those tasks of a run that were asked for. One whose
// task has ended is read as far as it is recorded.
func (n *nestedRuns) look(ctx context.Context, run *schemas.Run) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range run.Tasks {
		task := &run.Tasks[i]
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
		child := nestedTask{view.Place{Run: run.ID, Task: task.Task}, task.Agent}
		stop, known := n.children[child]
		if !known {
			var until context.Context
			until, stop = context.WithCancel(ctx)
			n.children[child] = stop
			session := childSession(run, task, profile)
			n.following.Go(func() { n.follow(ctx, until, session, child.place) })
		}
		if n.closed || task.State.Ended() {
			stop()
		}
	}
}

// follow shows the runs of a session until nothing more is waited for, and then what
// else has been recorded until then.
func (n *nestedRuns) follow(ctx, until context.Context, session string, place view.Place) {
	conversation, newest := schemas.Conversation{Session: session}, uint64(0)
	for record, err := range bus.FollowSession(until, n.core, session, 1) {
		if err == nil {
			newest, err = record.Sequence, n.take(ctx, &conversation, &record.Record, place)
		} else if until.Err() != nil {
			break
		}
		if err != nil {
			n.fail(session, err)
			return
		}
	}
	for record, err := range bus.LoadSession(ctx, n.core, session) {
		if err == nil && record.Sequence > newest {
			err = n.take(ctx, &conversation, &record.Record, place)
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
func (n *nestedRuns) take(ctx context.Context, conversation *schemas.Conversation, record *schemas.Record, place view.Place) error {
	if err := conversation.Apply(*record); err != nil {
		return err
	}
	shown := make(map[int]bool)
	for fact := range record.AllFacts() {
		run := conversation.Run(fact.Run())
		if run == nil || shown[run.Number] {
			continue
		}
		shown[run.Number] = true
		n.show(place, record, run)
		n.look(ctx, run)
	}
	return nil
}

func (n *nestedRuns) fail(session string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = append(n.failed, fmt.Errorf("session %s: %w", session, err))
}

// close shows what is recorded by now, and returns why that is not everything.
func (n *nestedRuns) close() error {
	n.mu.Lock()
	n.closed = true
	for _, stop := range n.children {
		stop()
	}
	n.mu.Unlock()
	n.following.Wait()
	return errors.Join(n.failed...)
}
