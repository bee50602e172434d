package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"podium/bus"
	"podium/bus/registry"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/view"
	"podium/schemas"
)

// agentsCommand lists the agents that have announced themselves.
type agentsCommand struct{ ledgerFlags }

func (agentsCommand) Help() string {
	return `Lists every agent that has announced itself, how many requests it works on at a time, over all its
processes, and when it was last alive; while an instance runs, also the others of its configuration, and
whether anybody serves each. The breaker is closed while an agent does its work, open while nobody asks it
because it has failed, and half open when one request decides. With -o json each agent is one line, with served
while an instance runs.

  podium agents
  podium agents -o json`
}

func (c *agentsCommand) Run(env *environment) error {
	return env.withLedger(func(ledger *installation.Ledger) error {
		agents, err := registry.Agents(env.ctx, ledger.Core)
		if err != nil {
			return err
		}
		expected, running, err := env.expectedAgents()
		if err != nil {
			return err
		}
		rows := make([]agentRow, 0, len(agents)+len(expected))
		for i := range agents {
			rows = append(rows, agentRow{Agent: agents[i]})
			expected = slices.DeleteFunc(expected, func(name string) bool { return name == agents[i].Name })
		}
		for _, name := range expected {
			rows = append(rows, agentRow{Agent: schemas.Agent{Name: name}})
		}
		slices.SortFunc(rows, func(a, b agentRow) int { return strings.Compare(a.Name, b.Name) })
		for i := range rows {
			if err := rows[i].look(env, ledger, running); err != nil {
				return err
			}
		}
		if env.json {
			return env.printAgents(rows)
		}
		return env.tellAgents(rows)
	})
}

// expectedAgents lists the agents of the instance that runs; none when none does.
func (e *environment) expectedAgents() (names []string, running bool, err error) {
	instance, running, err := installation.FindInstance(e.data)
	if err != nil || !running {
		return nil, false, err
	}
	return slices.Clone(instance.Agents), true, nil
}

// An agentRow is an agent, and what the bus knows of it.
type agentRow struct {
	schemas.Agent
	served string // yes or no, while an instance runs
	seen   time.Time
}

// look finds out how many requests the agent works on at a time at most, which the bus
// enforces whatever the agent says, and whether anybody serves it.
func (r *agentRow) look(env *environment, ledger *installation.Ledger, running bool) error {
	pool, err := ledger.Core.PoolState(env.ctx, r.Name)
	switch {
	case errors.Is(err, bus.ErrNotFound): // it is none of the configuration any more
	case err != nil:
		return err
	case r.Concurrency == 0 || r.Concurrency > pool.Size:
		r.Concurrency = pool.Size
	}
	r.seen = r.LastSeen
	if !running {
		return nil
	}
	presence, err := registry.PresenceOf(env.ctx, ledger.Core, r.Name, time.Now())
	if err != nil {
		return err
	}
	r.seen, r.served = presence.LastSeen, "no"
	if presence.Served {
		r.served = "yes"
	}
	return nil
}

func (e *environment) tellAgents(rows []agentRow) error {
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "AGENT\tKIND\tAT A TIME\tSERVED\tLAST SEEN\tBREAKER\tWHAT IT DOES")
	for i := range rows {
		r := &rows[i]
		does, atATime, seen := r.Description, "", "never"
		if r.Announced.IsZero() {
			does = unconnected
		}
		if r.Concurrency > 0 {
			atATime = strconv.Itoa(r.Concurrency)
		}
		if !r.seen.IsZero() {
			seen = r.seen.Local().Format(time.DateTime)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, view.Line(r.Kind, 0), atATime, r.served, seen,
			view.Breaker(r.Breaker, time.Now()), view.Line(does, 0))
	}
	return table.Flush()
}

// printAgents prints each agent as one line of JSON.
func (e *environment) printAgents(rows []agentRow) error {
	for i := range rows {
		row := struct {
			schemas.Agent

			Served *bool `json:"served,omitzero"` // only while an instance runs
		}{Agent: rows[i].Agent}
		breaker := schemas.Breaker{State: schemas.BreakerClosed}
		if row.Breaker != nil {
			breaker = *row.Breaker
			breaker.State = breaker.At(time.Now())
		}
		row.Breaker, row.LastSeen = &breaker, rows[i].seen
		if rows[i].served != "" {
			row.Served = new(rows[i].served == "yes")
		}
		if err := e.printLine(row); err != nil {
			return err
		}
	}
	return nil
}

// unconnected is what is known of an agent that has never announced itself.
const unconnected = "has not connected"
