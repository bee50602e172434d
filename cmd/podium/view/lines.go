// Package view shows runs to people: as plain lines, and live in a terminal.
package view

import (
	"fmt"
	"strings"
	"time"

	"podium/schemas"
)

// Lines tells a record in plain lines, one for each fact, without the time.
func Lines(record *schemas.Record) []string {
	var lines []string
	for i := range record.Facts {
		if line := factLine(&record.Facts[i], record.Cause.Time); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func factLine(f *schemas.Fact, now time.Time) string {
	switch {
	case f.MessageReceived != nil:
		return messageLine(f.MessageReceived)
	case f.RunStarted != nil:
		return fmt.Sprintf("run %d started with profile %s, answers in %s",
			f.RunStarted.Run, f.RunStarted.Profile, f.RunStarted.Message.Language)
	case f.ComplexityAssessed != nil:
		if f.ComplexityAssessed.Complexity.Complex {
			return "several steps: " + f.ComplexityAssessed.Complexity.Reason
		}
		return "one step: " + f.ComplexityAssessed.Complexity.Reason
	case f.PlanCreated != nil:
		return planLine(f.PlanCreated)
	case f.TaskRouted != nil:
		return routeLine(f.TaskRouted)
	case f.RunSettled != nil:
		return "settled: " + because(f.RunSettled.Status, f.RunSettled.Reason)
	case f.RunEnded != nil:
		if f.RunEnded.Replied != "" {
			return fmt.Sprintf("ended: %s, answered as %s", f.RunEnded.Status, f.RunEnded.Replied)
		}
		return "ended: " + because(f.RunEnded.Status, f.RunEnded.Reason)
	}
	return taskLine(f, now)
}

func taskLine(f *schemas.Fact, now time.Time) string {
	switch {
	case f.TaskDispatched != nil:
		return fmt.Sprintf("%s: request to %s, attempt %d", f.TaskDispatched.Task, f.TaskDispatched.Agent, f.TaskDispatched.Attempt)
	case f.TaskStarted != nil:
		return f.TaskStarted.Task + ": the agent works on it"
	case f.TaskProgressed != nil:
		return strings.TrimSpace(fmt.Sprintf("%s: %d %% %s", f.TaskProgressed.Task, f.TaskProgressed.Percentage, f.TaskProgressed.Message))
	case f.TaskCompleted != nil:
		return f.TaskCompleted.Task + ": done" + quoted(f.TaskCompleted.Result)
	case f.TaskFailed != nil:
		return failureLine(f.TaskFailed, now)
	case f.TaskSkipped != nil:
		return f.TaskSkipped.Task + ": skipped, " + f.TaskSkipped.Reason
	case f.TaskCancelled != nil:
		return f.TaskCancelled.Task + ": cancelled"
	case f.ResponseLate != nil:
		return fmt.Sprintf("%s: an answer to attempt %d came too late to count", f.ResponseLate.Task, f.ResponseLate.Attempt)
	}
	return ""
}

func messageLine(f *schemas.MessageReceived) string {
	switch f.Disposition {
	case schemas.DispositionStarted:
		return fmt.Sprintf("message received: starts run %d", f.Run)
	case schemas.DispositionQueued:
		return fmt.Sprintf("message received: waits as run %d", f.Run)
	case schemas.DispositionControl:
		return fmt.Sprintf("a person stops run %d", f.Run)
	case schemas.DispositionIgnored, schemas.DispositionRefused:
	}
	return fmt.Sprintf("message %s: %s", f.Disposition, f.Reason)
}

func planLine(f *schemas.PlanCreated) string {
	if len(f.Tasks) == 1 {
		return "plan: one task"
	}
	names := make([]string, len(f.Tasks))
	for i := range f.Tasks {
		names[i] = f.Tasks[i].Task
	}
	return fmt.Sprintf("plan: %d tasks, %s", len(f.Tasks), strings.Join(names, " → "))
}

func routeLine(f *schemas.TaskRouted) string {
	agent := f.Decision.NextAgent
	if agent == "" {
		agent = "nobody"
	}
	return fmt.Sprintf("%s → %s: %s", f.Task, agent, f.Decision.Reasoning)
}

func failureLine(f *schemas.TaskFailed, now time.Time) string {
	line := fmt.Sprintf("%s: attempt %d failed (%s)", f.Task, f.Attempt, f.Cause)
	if f.Attempt == 0 {
		line = fmt.Sprintf("%s: failed (%s)", f.Task, f.Cause)
	}
	if f.Detail != "" {
		line += ": " + short(f.Detail)
	}
	if !f.RetryAt.IsZero() {
		line += fmt.Sprintf("; again in %s", f.RetryAt.Sub(now).Round(100*time.Millisecond))
	}
	return line
}

func quoted(body schemas.Body) string {
	if text := short(body.Text); text != "" {
		return ": " + text
	}
	return ""
}

// shortLength is how much of a text stands in one line, in characters.
const shortLength = 90

func short(text string) string { return shorten(text, shortLength) }

func shorten(text string, length int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > length {
		return string(runes[:length-1]) + "…"
	}
	return text
}
