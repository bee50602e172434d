// Package daybudget shows what runs have used of the budgets of a day, as bus.BudgetBucket has it.
package daybudget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"podium/bus"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/supervisor/budget"
)

// A Line is what the runs of a profile have used on one day (UTC), all its agents together or one of them.
type Line struct {
	Profile  string        `json:"profile"`
	Day      string        `json:"day"`
	Agent    string        `json:"agent,omitzero"` // none: all together
	Used     schemas.Usage `json:"used"`
	Reserved schemas.Usage `json:"reserved"`        // for requests that are under way
	Requests int           `json:"requests"`        // that are under way
	Limit    schemas.Usage `json:"limit,omitzero"`  // 0 is none
	Config   string        `json:"config,omitzero"` // the file that the limit is by
}

// Limits returns the budget of a profile as its configuration has it, or nil.
type Limits func(profile string) *schemas.Budget

// Read returns the accounts that there are of a day, and of each profile that has limits, by the names of profiles and agents.
func Read(ctx context.Context, store bus.KeyValue, day string, profiles []string, limits Limits) ([]Line, error) {
	keys, err := store.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the budgets of days: %w", err)
	}
	accounts := map[string]*budget.DayAccount{}
	for _, profile := range profiles {
		accounts[profile] = &budget.DayAccount{}
	}
	for _, key := range keys {
		profile, of := strings.CutSuffix(key, budget.DayKey("", day))
		if !of {
			continue
		}
		body, _, err := store.Get(ctx, key)
		if errors.Is(err, bus.ErrNotFound) {
			continue
		}
		account := &budget.DayAccount{}
		if err == nil {
			err = schemas.Unmarshal(body, account)
		}
		if err != nil {
			return nil, fmt.Errorf("read the budget %s: %w", key, err)
		}
		accounts[profile] = account
	}
	var lines []Line
	for profile, account := range accounts {
		lines = append(lines, linesOf(profile, day, account, limits(profile))...)
	}
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Agent, b.Agent))
	})
	return lines, nil
}

// linesOf is the line of a profile, and one of each agent that has used or reserved something, or has a limit of its own.
func linesOf(profile, day string, account *budget.DayAccount, policy *schemas.Budget) []Line {
	agents := map[string]schemas.Usage{"": {}}
	for i := range account.Used {
		agents[account.Used[i].Agent] = schemas.Usage{}
	}
	for i := range account.Open {
		agents[account.Open[i].Agent] = schemas.Usage{}
	}
	if policy != nil {
		maps.Copy(agents, policy.DayAgents)
		agents[""] = policy.Day
	}
	lines := make([]Line, 0, len(agents))
	for agent, limit := range agents {
		line := Line{Profile: profile, Day: day, Agent: agent, Reserved: account.Reserved(agent), Limit: limit}
		line.Used = account.Taken(agent).Less(line.Reserved)
		for i := range account.Open {
			if agent == "" || account.Open[i].Agent == agent {
				line.Requests++
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// Table is lines for people to read.
func Table(lines []Line) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "PROFILE\tAGENT\tUSED\tRESERVED\tLIMIT\tLEFT")
	for i := range lines {
		line := &lines[i]
		limit, left := "none", ""
		if line.Limit != (schemas.Usage{}) {
			limit, left = view.Amount(line.Limit), leftOf(line)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", line.Profile, cmp.Or(line.Agent, "(all)"), view.Amount(line.Used), view.Amount(line.Reserved), limit, left)
	}
	_ = table.Flush()
	return text.String()
}

// leftOf is what is left of what is limited, also where that is nothing.
func leftOf(line *Line) string {
	left := line.Limit.Less(line.Used.Plus(line.Reserved))
	var parts []string
	if line.Limit.Tokens > 0 && left.Tokens == 0 {
		parts = append(parts, "no tokens")
	}
	if line.Limit.Milliseconds > 0 && left.Milliseconds == 0 {
		parts = append(parts, "no time")
	}
	if line.Limit.CostMicros > 0 && left.CostMicros == 0 {
		parts = append(parts, "no money")
	}
	if left != (schemas.Usage{}) {
		parts = append(parts, view.Amount(left))
	}
	return strings.Join(parts, ", ")
}
