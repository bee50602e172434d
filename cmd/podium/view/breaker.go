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

// OpenBreaker says that the circuit breaker of an agent is not closed, since when, when the next probe may go, and what has opened it; empty when it
// is closed.
func OpenBreaker(agent string, breaker *schemas.Breaker, now time.Time) string {
	if breaker == nil || breaker.At(now) == schemas.BreakerClosed {
		return ""
	}
	told := "circuit breaker of " + Line(agent, shortLength) + " open since " + at(breaker.Since)
	switch {
	case breaker.State == schemas.BreakerHalfOpen && now.Before(breaker.Until):
		told += ", a probe is under way until " + at(breaker.Until)
	case now.Before(breaker.Until):
		told += ", next probe at " + at(breaker.Until)
	default:
		told += ", the next request is the probe"
	}
	if opened := breaker.Opened; opened != nil && opened.Cause != "" {
		told += "; opened by failures in a row, the newest " + Spoken(opened.Cause)
		if opened.Run != "" {
			told += " (podium runs show " + Line(opened.Run, shortLength) + ")"
		}
	}
	return told
}

// BreakerRemark tells of a breaker that is open, or that a person has closed; empty is nothing.
func BreakerRemark(agent string, breaker *schemas.Breaker, now time.Time) string {
	if told := OpenBreaker(agent, breaker, now); told != "" {
		return told + "; podium agents reset " + agent + " closes it"
	}
	if breaker == nil || breaker.Reset == nil {
		return ""
	}
	told := "circuit breaker closed at " + at(breaker.Since) + " by " + atCommandLine(breaker.Reset.By, breaker.Reset.As)
	if reason := Line(breaker.Reset.Reason, detailLength); reason != "" {
		told += ": " + reason
	}
	return told
}
