package carddav_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"podium/agents/dav/radicale"
)

// TestNobodyIsCreatedTwiceAtOnce: of several requests at once for the same name one makes the contact, and the others are told that it is there.
func TestNobodyIsCreatedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			_, _ = made.Handle(t.Context(), asked("e"+strconv.Itoa(i), "create", `{"name":"Anna Weber"}`), silent)
		})
	}
	all.Wait()
	if n := stored(t, server); n != 1 {
		t.Errorf("the address book has %d of her", n)
	}
}

// TestGivenUpWhileAnotherCreates: a request that nobody waits for any more returns, although another one waits for its permit.
func TestGivenUpWhileAnotherCreates(t *testing.T) {
	t.Parallel()
	made := newAgent(t, radicale.Start(t).URL)
	handled(t, made, asked("e1", "create", `{"name":"Anna Weber"}`).WithPermit(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		if _, err := made.Handle(ctx, asked("e2", "create", `{"name":"Bert Braun"}`), silent); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		return nil
	}))
}
