package artifact

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// What requests to the artifact service may take, so that memory is bounded and no
// agent keeps the others from their artifacts.
const (
	// artifactsAtWork requests of one agent are worked on at a time, and
	// artifactsWaiting wait for that; any further one is told to try again.
	artifactsAtWork  = 4
	artifactsWaiting = 12
	// artifactBytes are held by the requests of all agents that are worked on.
	artifactBytes = 64 << 20
	// spoolBytes is what a store keeps in memory of an artifact until it knows its
	// hash; more stands in a file.
	spoolBytes = 4 << 20
	// artifactRate is how many bytes a second one agent is given, artifactBurst how
	// many at once: what a slow reader has waiting for it grows no faster.
	artifactRate  = 32 << 20
	artifactBurst = 4 << 20
)

// artifactShares divides the artifact service among the agents.
type artifactShares struct {
	bytes  *semaphore.Weighted
	agents sync.Map // *artifactShare, by name
}

// An artifactShare is what one agent has under way, over all its connections. It
// is kept for as long as the service: there are as many as agents with a key.
type artifactShare struct {
	present atomic.Int32
	slots   chan struct{}
	given   *rate.Limiter
}

func (s *artifactShares) of(agent string) *artifactShare {
	share, _ := s.agents.LoadOrStore(agent, &artifactShare{slots: make(chan struct{}, artifactsAtWork), given: rate.NewLimiter(artifactRate, artifactBurst)})
	return share.(*artifactShare) //nolint:forcetypeassert // nothing else is stored
}

// enter waits until a request may hold so many bytes, which leave gives back. It
// fails with errBusy when the agent has too many of them already.
func (s *artifactShares) enter(ctx context.Context, share *artifactShare, bytes int64) (leave func(), err error) {
	if share.present.Add(1) > artifactsAtWork+artifactsWaiting {
		share.present.Add(-1)
		return nil, errBusy
	}
	select {
	case share.slots <- struct{}{}:
	case <-ctx.Done():
		share.present.Add(-1)
		return nil, errBusy
	}
	if s.bytes.Acquire(ctx, bytes) != nil {
		<-share.slots
		share.present.Add(-1)
		return nil, errBusy
	}
	return func() {
		s.bytes.Release(bytes)
		<-share.slots
		share.present.Add(-1)
	}, nil
}

// pace waits until the agent may be given so many bytes more.
func (s *artifactShare) pace(ctx context.Context, bytes int) error {
	if s.given.WaitN(ctx, bytes) != nil {
		return errBusy
	}
	return nil
}
