package view

import (
	"fmt"
	"strings"
	"time"

	"podium/schemas"
)

// Breaker tells the state of an agent's circuit breaker at a moment, since when it
// is so, and until when (M-28).
func Breaker(breaker *schemas.Breaker, now time.Time) string {
	if breaker == nil {
		return string(schemas.BreakerClosed)
	}
	state := breaker.At(now)
	var b strings.Builder
	b.WriteString(string(state))
	switch {
	case state == schemas.BreakerClosed && len(breaker.Failures) > 0:
		_, _ = fmt.Fprintf(&b, ", %d failed in a row", len(breaker.Failures))
	case state != breaker.State: // nobody has asked since its time is over
		_, _ = fmt.Fprintf(&b, " since %s", breaker.Until.Local().Format(time.TimeOnly))
	case state != schemas.BreakerClosed:
		_, _ = fmt.Fprintf(&b, " since %s until %s", breaker.Since.Local().Format(time.TimeOnly), breaker.Until.Local().Format(time.TimeOnly))
	}
	return b.String()
}
