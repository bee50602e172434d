package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// runsFilter is which runs are listed. Values of one flag are alternatives; a run fits every flag that is given.
type runsFilter struct {
	Status  []string `help:"Only runs that ended so: completed, partial, failed, blocked or cancelled; or open; or those whose answer is answer-failed or answer-withheld. Several are alternatives." placeholder:"STATUS"`
	Profile []string `help:"Only runs of this profile." placeholder:"NAME"`
	Agent   []string `help:"Only runs with a task of this agent, or one that it gave up to its fallback." placeholder:"NAME"`
	From    []string `help:"Only runs that this mail address or chat user has begun, or this agent." placeholder:"ADDRESS"`
	Since   string   `help:"Only runs that began then or later: how long ago, such as 24h or 7d, or 2026-11-27, or 2026-11-27T15:04 with or without a zone." placeholder:"TIME"`
	Until   string   `help:"Only runs that began before then, written as for --since." placeholder:"TIME"`
	Roots   bool     `help:"Only runs that people have begun: none that an agent or another supervisor asked for."`

	since, until time.Time
}

// runStatuses returns the values of --status.
func runStatuses() []string {
	return []string{
		"open", string(schemas.RunCompleted), string(schemas.RunPartial), string(schemas.RunFailed),
		string(schemas.RunBlocked), string(schemas.RunCancelled), "answer-failed", "answer-withheld",
	}
}

// parse reads the values of the flags that are words.
func (f *runsFilter) parse(now time.Time) (err error) {
	for _, status := range f.Status {
		if !slices.Contains(runStatuses(), status) {
			return usage(fmt.Errorf("--status %q is no status; name one of %s", status, strings.Join(runStatuses(), ", ")))
		}
	}
	if f.since, err = timeOf("--since", f.Since, now); err == nil {
		f.until, err = timeOf("--until", f.Until, now)
	}
	if err == nil && f.Since != "" && f.Until != "" && !f.since.Before(f.until) {
		return usage(fmt.Errorf("--since %s is not before --until %s; swap them", f.Since, f.Until))
	}
	return err
}

// mostDays bounds the days of a time that is given as an age.
const mostDays = 36500

// timeOf reads a time of the command line; one without a zone is local. The zero time is an empty value.
func timeOf(flag, value string, now time.Time) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(value, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= mostDays {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if ago, err := time.ParseDuration(value); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return at, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if at, err := time.ParseInLocation(layout, value, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, usage(fmt.Errorf("%s %q is no time; write 24h, 7d, 2026-11-27, 2026-11-27T15:04 or 2026-11-27T15:04:05Z", flag, value))
}

// fits reports whether a run is one of those that are asked for.
func (f *runsFilter) fits(run *workflow.RunHistory) bool {
	is := func(status string) bool { return hasStatus(run, status) }
	uses := func(agent string) bool { return usesAgent(run, agent) }
	begun := func(who string) bool { return isBegunBy(run, who) }
	switch {
	case f.Roots && !isRoot(&run.Message):
	case !f.since.IsZero() && run.Started.Before(f.since):
	case !f.until.IsZero() && !run.Started.Before(f.until):
	case len(f.Profile) > 0 && !slices.Contains(f.Profile, run.Profile):
	case len(f.Status) > 0 && !slices.ContainsFunc(f.Status, is):
	case len(f.Agent) > 0 && !slices.ContainsFunc(f.Agent, uses):
	case len(f.From) > 0 && !slices.ContainsFunc(f.From, begun):
	default:
		return true
	}
	return false
}

// isRoot reports whether a person has begun a run by a message: by mail, in a chat, or with a plan at the command line.
func isRoot(message *schemas.Incoming) bool {
	return message.Upstream == nil || message.Upstream.From == commandLine
}

func hasStatus(run *workflow.RunHistory, status string) bool {
	switch status {
	case "open":
		return run.Phase != workflow.PhaseComplete
	case "answer-failed":
		return run.AnswerFailed()
	case "answer-withheld":
		return run.Withheld != nil
	}
	return status == string(run.Status)
}

func usesAgent(run *workflow.RunHistory, agent string) bool {
	return slices.ContainsFunc(run.Tasks, func(task *workflow.Task) bool { return task.Agent == agent || task.PreviousAgent == agent })
}

func isBegunBy(run *workflow.RunHistory, who string) bool {
	by := view.RequesterOf(&run.Message)
	return who != "" && (strings.EqualFold(who, by.Address) || who == by.User || who == by.Program)
}

// hasFallbackResult reports whether a fallback has done a task of a run.
func hasFallbackResult(run *workflow.RunHistory) bool {
	return slices.ContainsFunc(run.Tasks, func(task *workflow.Task) bool {
		return task.State == workflow.TaskCompleted && task.PreviousAgent != ""
	})
}
