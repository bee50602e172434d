package carddav_test

import (
	"strconv"
	"sync"
	"testing"

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
