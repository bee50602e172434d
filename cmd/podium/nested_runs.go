package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"podium/bus"
	"podium/bus/history"
	"podium/cmd/podium/view"
	"podium/schemas"
)

// A family follows the runs that supervisors begin for the tasks of a run while that is
// watched, and those that are begun for these in turn.
type family struct {
	core bus.Core
	show func(view.Place, *schemas.Record, *schemas.Run)

	following sync.WaitGroup
	mu        sync.Mutex
	profiles  map[string]string          // by agent; empty is no supervisor
	children  map[kin]context.CancelFunc // ends the waiting for more
	closed    bool
	failed    []error
}

// kin is whoever does a task.
type kin struct {
	place view.Place
	agent string
}

func newFamily(core bus.Core, show func(view.Place, *schemas.Record, *schemas.Run)) *family {
	return &family{core: core, show: show, profiles: make(map[string]string), children: make(map[kin]context.CancelFunc)}
}

// look begins to follow the runs for those tasks of a run that were asked for. One whose
// task has ended is read as far as it is recorded.
func (f *family) look(ctx context.Context, run *schemas.Run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range run.Tasks {
		task := &run.Tasks[i]
		if task.Attempt == 0 {
			continue
		}
		profile, known := f.profiles[task.Agent]
		if !known {
			var err error
			if profile, err = profileOf(ctx, f.core, task.Agent); err != nil {
				f.failed = append(f.failed, fmt.Errorf("agent %s: %w", task.Agent, err))
			}
			f.profiles[task.Agent] = profile
		}
		if profile == "" {
			continue
		}
		child := kin{view.Place{Run: run.ID, Task: task.Task}, task.Agent}
		stop, known := f.children[child]
		if !known {
			var until context.Context
			until, stop = context.WithCancel(ctx)
			f.children[child] = stop
			session := childSession(run, task, profile)
			f.following.Go(func() { f.follow(ctx, until, session, child.place) })
		}
		if f.closed || task.State.Ended() {
			stop()
		}
	}
}

// follow shows the runs of a session until nothing more is waited for, and then what
// else has been recorded until then.
func (f *family) follow(ctx, until context.Context, session string, place view.Place) {
	conversation, newest := schemas.Conversation{Session: session}, uint64(0)
	for record, err := range history.FollowSession(until, f.core, session, 1) {
		if err == nil {
			newest, err = record.Sequence, f.take(ctx, &conversation, &record.Record, place)
		} else if until.Err() != nil {
			break
		}
		if err != nil {
			f.fail(session, err)
			return
		}
	}
	for record, err := range history.LoadSession(ctx, f.core, session) {
		if err == nil && record.Sequence > newest {
			err = f.take(ctx, &conversation, &record.Record, place)
		}
		if err != nil {
			if ctx.Err() == nil {
				f.fail(session, err)
			}
			return
		}
	}
}

// take shows what a record says of each run.
func (f *family) take(ctx context.Context, conversation *schemas.Conversation, record *schemas.Record, place view.Place) error {
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
		f.show(place, record, run)
		f.look(ctx, run)
	}
	return nil
}

func (f *family) fail(session string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = append(f.failed, fmt.Errorf("session %s: %w", session, err))
}

// close shows what is recorded by now, and returns why that is not everything.
func (f *family) close() error {
	f.mu.Lock()
	f.closed = true
	for _, stop := range f.children {
		stop()
	}
	f.mu.Unlock()
	f.following.Wait()
	return errors.Join(f.failed...)
}
