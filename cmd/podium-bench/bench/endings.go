package bench

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"podium/bus"
)

// endings sees on the ledger which runs have ended.
type endings struct {
	ends ends

	mu      sync.Mutex
	waiting map[string]func() // by key
}

func newEndings(of ends) *endings {
	return &endings{ends: of, waiting: map[string]func(){}}
}

// expect calls a function when a run has ended, once. It must not wait.
func (e *endings) expect(number uint64, ended func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting[e.ends.key(number)] = ended
}

// watch reads in a group until its context ends. When it returns, the end of
// every run that begins from now on will be seen.
func (e *endings) watch(ctx context.Context, core bus.Core, group *errgroup.Group) error {
	for stream, subjects := range e.ends.streams(core.Shards()) {
		state, err := core.State(ctx, stream)
		if err != nil {
			return err
		}
		reader, err := core.Read(ctx, stream, state.Last+1, subjects...)
		if err != nil {
			return err
		}
		group.Go(func() error {
			defer reader.Close()
			return e.read(ctx, reader)
		})
	}
	return nil
}

func (e *endings) read(ctx context.Context, reader bus.Reader) error {
	for ctx.Err() == nil {
		message, err := bus.Next(ctx, reader)
		if err == nil {
			if key, ended := e.ends.of(message); ended {
				e.end(key)
			}
		} else if ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func (e *endings) end(key string) {
	e.mu.Lock()
	ended := e.waiting[key]
	delete(e.waiting, key)
	e.mu.Unlock()
	if ended != nil {
		ended()
	}
}
