package verify_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/bustest"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/restore"
	"podium/supervisor/verify"
)

// instead verifies the messages, and decides them by other profiles as well.
func (s *shard) instead(others verify.Others) verify.Result {
	s.tb.Helper()
	ledger := memory.New(1)
	_, err := restore.NewProfiles(context.Background(), ledger.Artifacts(), []schemas.Profile{s.profile.Profile})
	s.must(err)
	for i := range s.messages {
		_, err := bus.Append(context.Background(), ledger, s.messages[i], bus.Expect{})
		s.must(err)
	}
	known, err := restore.NewProfiles(context.Background(), ledger.Artifacts(), nil)
	s.must(err)
	result, err := verify.Instead(context.Background(), ledger, known, 0, "", &others)
	s.must(err)
	return result
}

// desk is the profile of the shard, changed.
func desk(change func(*schemas.Profile)) verify.Others {
	profile := bustest.DeskProfile(1)
	if change != nil {
		change(&profile)
	}
	return verify.Others{Profiles: map[string]schemas.Profile{profile.Name: profile}}
}

// told is what differs and what is not decided, shortly.
func told(would *verify.WhatIf) string {
	var said []string
	run := func(id, session string) string {
		if id == "" {
			return "session"
		}
		return strings.TrimPrefix(id, session+"-")
	}
	for _, found := range would.Differences {
		said = append(said, run(found.Run, found.Session)+" "+found.Kind)
	}
	for _, open := range would.Undecided {
		said = append(said, run(open.Run, open.Session)+" not decided: "+string(open.Kind))
	}
	return strings.Join(said, ", ")
}

// TestWhatOtherProfilesWouldDecide: the first message begins run 1, and three wait behind it. Each change names the runs that it
// is about, and no other.
func TestWhatOtherProfilesWouldDecide_X07(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*schemas.Profile)
		want   string
	}{
		"nothing":                              {nil, ""},
		"a description that nobody goes by":    {func(p *schemas.Profile) { p.Agents[0].Description = "works" }, ""},
		"words for what has not happened":      {func(p *schemas.Profile) { p.Languages[0].Texts.Cancelled = "halted" }, ""},
		"another agent":                        {func(p *schemas.Profile) { p.Agents[0].Name, p.Routers[0].Agent = "clerk", "clerk" }, "1 task_routed"},
		"a shorter deadline":                   {func(p *schemas.Profile) { p.Deadlines.Queue /= 2 }, "1 task_dispatched"},
		"another language":                     {func(p *schemas.Profile) { p.Language, p.Languages[0].Tag = "de", "de" }, "1 run_started, 2 message_received, 3 message_received, 4 message_received"},
		"what comes meanwhile is put together": {func(p *schemas.Profile) { p.Conversation.WhileRunning = schemas.WhileRunningMerge }, "3 message_received, 2 message_received, 4 message_received"},
		"a profile of another name":            {func(p *schemas.Profile) { p.Name = "counter" }, "1 not decided: not_configured, 2 not decided: not_configured, 3 not decided: not_configured, 4 not decided: not_configured"},
		"a profile without words":              {func(p *schemas.Profile) { p.Languages = nil }, "1 not decided: invalid_profile, 2 not decided: invalid_profile, 3 not decided: invalid_profile, 4 not decided: invalid_profile"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := newShard(t).instead(desk(test.change))
			if got := told(result.WhatIf); got != test.want {
				t.Errorf("it says %q, want %q", got, test.want)
			}
			if len(result.Faults) > 0 || result.Records != 4 || result.WhatIf.Runs != 1 {
				t.Errorf("of what is on record it says %+v", result)
			}
		})
	}
}

// TestEveryDifferenceIsTold: the first of each run, or of every transition.
func TestEveryDifferenceIsTold(t *testing.T) {
	t.Parallel()
	// The fourth message is merged into run 2, and so is the third: two decisions that speak of it.
	others := desk(func(p *schemas.Profile) { p.Conversation.WhileRunning = schemas.WhileRunningMerge })
	first := newShard(t).instead(others).WhatIf
	others.All = true
	all := newShard(t).instead(others).WhatIf
	if len(first.Differences) >= len(all.Differences) || first.Differ != all.Differ {
		t.Errorf("of each run the first: %s; all: %s", told(first), told(all))
	}
	for _, found := range all.Differences {
		if len(found.Was)+len(found.Would) == 0 || found.Profile != "desk" || found.Record == 0 || found.Sequence == 0 || found.Time.IsZero() {
			t.Errorf("it does not say what and where: %+v", found)
		}
	}
}

// TestWhatIsDamagedIsNotJudged: where something is lost, the runs that it may be about are named as not decided, with the fault itself,
// and the others are judged.
func TestWhatIsDamagedIsNotJudged(t *testing.T) {
	t.Parallel()
	other := func(p *schemas.Profile) {
		p.Agents[0].Name, p.Routers[0].Agent = "clerk", "clerk" // differs for run 1
		p.Language, p.Languages[0].Tag = "de", "de"             // and for all
	}
	for name, test := range map[string]struct {
		change func(*shard)
		want   string
	}{
		"a record that nobody can read": {spoil(secondRecord), "1 run_started, session not decided: damaged, 3 not decided: damaged, 4 not decided: damaged"},
		"a record that is gone":         {erase(secondRecord), "1 run_started, 3 not decided: damaged, 4 not decided: damaged"},
		"a message that is damaged":     {spoil(secondInput), "1 run_started, 3 message_received, 4 message_received, 2 not decided: damaged"},
		"a profile that is lost": {
			rewrite(secondRecord, func(r *schemas.Record) { r.First().Cause.Profile = strings.Repeat("0", 64) }),
			"1 run_started, 4 not decided: damaged, 2 not decided: damaged, 3 not decided: damaged",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShard(t)
			test.change(s)
			result := s.instead(desk(other))
			if len(result.Faults) == 0 {
				t.Error("the ledger is not said to be damaged")
			}
			got, want := strings.Split(told(result.WhatIf), ", "), strings.Split(test.want, ", ")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("it says %q, want %q", got, want)
			}
		})
	}
}
