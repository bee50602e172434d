package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// TestRunsAreFiltered: each flag of runs list chooses by what it names; values of one flag are alternatives, and flags add up.
func TestRunsAreFiltered(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	run := &workflow.RunHistory{Started: now.Add(-2 * time.Hour), Run: workflow.Run{
		Profile: "desk", Phase: workflow.PhaseComplete, Status: schemas.RunFailed,
		Message: schemas.Incoming{Channel: schemas.ChannelEmail, Author: &schemas.Author{Address: "Ada@example.org"}},
		Tasks:   []*workflow.Task{{Agent: "second", PreviousAgent: "first"}},
	}}
	asked := *run
	asked.Message = schemas.Incoming{Channel: "agent", Upstream: &schemas.Upstream{From: "planner"}}
	typed := *run
	typed.Message = schemas.Incoming{Channel: "agent", Upstream: &schemas.Upstream{From: commandLine}}
	for name, c := range map[string]struct {
		filter runsFilter
		run    *workflow.RunHistory
		want   bool
	}{
		"no flag":               {runsFilter{}, run, true},
		"one of two statuses":   {runsFilter{Status: []string{"partial", "failed"}}, run, true},
		"another status":        {runsFilter{Status: []string{"open", "completed"}}, run, false},
		"its profile":           {runsFilter{Profile: []string{"other", "desk"}}, run, true},
		"another profile":       {runsFilter{Profile: []string{"other"}}, run, false},
		"its agent":             {runsFilter{Agent: []string{"second"}}, run, true},
		"the agent that failed": {runsFilter{Agent: []string{"first"}}, run, true},
		"another agent":         {runsFilter{Agent: []string{"third"}}, run, false},
		"its sender":            {runsFilter{From: []string{"ada@Example.org"}}, run, true},
		"another sender":        {runsFilter{From: []string{"da@example.org"}}, run, false},
		"an empty sender":       {runsFilter{From: []string{""}}, run, false},
		"the agent that asked":  {runsFilter{From: []string{"planner"}}, &asked, true},
		"a root":                {runsFilter{Roots: true}, run, true},
		"no root":               {runsFilter{Roots: true}, &asked, false},
		"a plan of a person":    {runsFilter{Roots: true}, &typed, true},
		"since hours ago":       {runsFilter{Since: "3h"}, run, true},
		"since too late":        {runsFilter{Since: "1h"}, run, false},
		"since days ago":        {runsFilter{Since: "1d"}, run, true},
		"since the very moment": {runsFilter{Since: "2026-11-28T10:00"}, run, true},
		"until the very moment": {runsFilter{Until: "2026-11-28T10:00:00Z"}, run, false},
		"until later":           {runsFilter{Since: "2026-11-28", Until: "2026-11-28T10:01"}, run, true},
		"one flag does not fit": {runsFilter{Profile: []string{"desk"}, Agent: []string{"third"}}, run, false},
	} {
		if err := c.filter.parse(now); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := c.filter.fits(c.run); got != c.want {
			t.Errorf("%s: chosen is %t", name, got)
		}
	}
	for _, wrong := range []runsFilter{
		{Since: "yesterday"}, {Until: "2026-13-01"}, {Since: "-1h"}, {Since: "99999999d"}, {Since: "1h", Until: "2h"}, {Status: []string{"done"}},
	} {
		var exit *exitError
		if err := wrong.parse(now); !errors.As(err, &exit) || exit.code != exitUsage {
			t.Errorf("%+v: %v is no fault of usage", wrong, err)
		}
	}
}

// TestRunsNameSenderAndFallback: the list says who began a run, and that a fallback has done a task of it.
func TestRunsNameSenderAndFallback(t *testing.T) {
	t.Parallel()
	run := &workflow.RunHistory{Run: workflow.Run{
		Phase: workflow.PhaseComplete, Status: schemas.RunCompleted,
		Message: schemas.Incoming{Channel: schemas.ChannelEmail, Author: &schemas.Author{Address: "ada@example.org"}},
		Tasks:   []*workflow.Task{{Agent: "second", PreviousAgent: "first", State: workflow.TaskCompleted}},
	}}
	var out bytes.Buffer
	if err := (&environment{stdout: &out}).printRuns([]*workflow.RunHistory{run}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  SENDER  ", "  ada@example.org (unconfirmed)  ", "  completed, by a fallback  "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
