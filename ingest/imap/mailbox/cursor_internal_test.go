package mailbox

import (
	"testing"
	"time"
)

// TestClockThatWasAhead: a message that is to be tried again at a time far in the
// future, since the clock was wrong when that was noted, is tried now.
func TestClockThatWasAhead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	p := Cursor{Open: []OpenUID{
		{UID: 1, Due: now.AddDate(4, 0, 0)},
		{UID: 2, Due: now.Add(30 * time.Minute)},
		{UID: 3, Due: now.Add(-time.Minute)},
	}}
	uids, next := p.Due(now, LongestWait(time.Minute))
	if len(uids) != 2 || uids[0] != 1 || uids[1] != 3 || !next.Equal(now.Add(30*time.Minute)) {
		t.Errorf("due %v, next %v", uids, next)
	}
}
