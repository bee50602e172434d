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
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/view"
	"podium/schemas"
)

// agentsCommand lists the agents that have announced themselves.
type agentsCommand struct{ ledgerFlags }

func (agentsCommand) Help() string {
	return `Lists every agent that has announced itself; while an instance runs, also the others of its configuration.
AT A TIME is how many requests it works on, over all its processes: what comes beyond that waits, and podium runs says so. SERVED is
whether a process is there that takes its requests, while an instance runs. LAST SEEN is when one was last alive. BREAKER
is closed while the agent does its work; open while nobody asks it, because it has failed several times in a row: requests fail
at once then; and half_open when the next request decides. An agent of kind person has the people who do its tasks, and how many they are asked to
do at present.

With -o json each agent is one line, with served while an instance runs; one of kind person has people and asked instead.

  podium agents
  podium agents -o json`
}

func (c *agentsCommand) Run(env *environment) error {
	return env.withLedger(func(ledger *installation.Ledger) error {
		agents, err := registry.Agents(env.ctx, ledger.Core)
		if err != nil {
			return err
		}
		instance, running, err := installation.FindInstance(env.data)
		if err != nil {
			return err
		}
		for _, name := range instance.Agents {
			if running && !slices.ContainsFunc(agents, func(known schemas.Agent) bool { return known.Name == name }) {
				agents = append(agents, schemas.Agent{Name: name})
			}
		}
		slices.SortFunc(agents, func(a, b schemas.Agent) int { return strings.Compare(a.Name, b.Name) })
		rows := make([]agentRow, len(agents))
		asked, err := env.asked(ledger, instance.People, running)
		if err != nil {
			return err
		}
		for i := range rows {
			rows[i].Agent = agents[i]
			if people, are := instance.People[agents[i].Name]; are && running {
				open := asked[agents[i].Name]
				rows[i].Kind, rows[i].People, rows[i].Asked = string(config.KindPerson), people, &open
				continue
			}
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

// An agentRow is an agent, and what the bus knows of it.
type agentRow struct {
	schemas.Agent

	Served *bool `json:"served,omitzero"` // only while an instance runs
	// People do its tasks, and Asked is how many they are asked to do at present; nil for an agent that is none.
	People []string `json:"people,omitzero"`
	Asked  *int     `json:"asked,omitzero"`
}

// asked counts the tasks that people are asked to do at present, by agent. Nothing is read where there are no people.
func (e *environment) asked(ledger *installation.Ledger, people map[string][]string, running bool) (map[string]int, error) {
	asked := map[string]int{}
	if !running || len(people) == 0 {
		return asked, nil
	}
	runs, err := e.runLog(ledger.Core).Runs(e.ctx)
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		for _, inquiry := range run.Inquiries {
			if task := run.Task(inquiry.Task); inquiry.Open() && inquiry.Kind == schemas.InquiryWork && task != nil {
				asked[task.Agent]++
			}
		}
	}
	return asked, nil
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
	if !running {
		return nil
	}
	presence, err := registry.PresenceOf(env.ctx, ledger.Core, r.Name, time.Now())
	if err != nil {
		return err
	}
	r.LastSeen, r.Served = presence.LastSeen, &presence.Served
	return nil
}

func (e *environment) tellAgents(rows []agentRow) error {
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "AGENT\tKIND\tAT A TIME\tSERVED\tLAST SEEN\tBREAKER\tWHAT IT DOES")
	for i := range rows {
		r := &rows[i]
		if r.Asked != nil {
			_, _ = fmt.Fprintf(table, "%s\t%s\t\t\t\t\tpeople: %s; asked to do at present: %d\n",
				r.Name, r.Kind, view.Line(strings.Join(r.People, ", "), 0), *r.Asked)
			continue
		}
		does, atATime, served, seen := r.Description, "", "", "never"
		if r.Announced.IsZero() {
			does = "has not connected"
		}
		if r.Concurrency > 0 {
			atATime = strconv.Itoa(r.Concurrency)
		}
		if r.Served != nil {
			served = map[bool]string{true: "yes", false: "no"}[*r.Served]
		}
		if !r.LastSeen.IsZero() {
			seen = r.LastSeen.Local().Format(time.DateTime)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, view.Line(r.Kind, 0), atATime, served, seen,
			view.Breaker(r.Breaker, time.Now()), view.Line(does, 0))
	}
	return table.Flush()
}

// printAgents prints each agent as one line of JSON.
func (e *environment) printAgents(rows []agentRow) error {
	for _, row := range rows {
		if row.Asked != nil { // nobody keeps a breaker of people
			if err := e.printLine(row); err != nil {
				return err
			}
			continue
		}
		breaker := schemas.Breaker{State: schemas.BreakerClosed}
		if row.Breaker != nil {
			breaker = *row.Breaker
			breaker.State = breaker.At(time.Now())
		}
		row.Breaker = &breaker
		if err := e.printLine(row); err != nil {
			return err
		}
	}
	return nil
}
