package llm

import (
	"context"
	"errors"
	nethttp "net/http"
	"strconv"
	"strings"
	"time"

	"podium/schemas"
)

// patience is how long a request waits in all for servers that have no room. It has a slot of the agent meanwhile, so that whoever is told to
// wait longer is asked again by the core.
const patience = 3 * time.Second

// waitForRoom waits for as long as a server without room has asked to, and reports whether it may be asked again: within patience,
// and if the time of the request suffices.
func (s *asking) waitForRoom(ctx context.Context, err error) bool {
	refused, is := errors.AsType[*statusError](err)
	if !is || !refused.busy() || refused.after <= 0 || s.waited+refused.after > patience {
		return false
	}
	if due, bounded := ctx.Deadline(); bounded && time.Until(due) <= refused.after {
		return false
	}
	s.waited += refused.after
	timer := time.NewTimer(refused.after)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// retryAfter reads a header of that name: seconds, or a moment (RFC 9110, 10.2.3). What cannot be read is 0. It returns at most
// schemas.MaxRetryWait: the core waits no longer.
func retryAfter(header string) time.Duration {
	header = strings.TrimSpace(header)
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second //nolint:gosec // it has 31 bits
	} else if at, err := nethttp.ParseTime(header); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), time.Duration(schemas.MaxRetryWait))
}
