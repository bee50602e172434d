package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"podium/bus/registry"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/supervisor/statistics"
)

// agentsCommand is about the agents of an installation.
type agentsCommand struct {
	List   agentsListCommand   `cmd:"" default:"withargs" help:"List them, and how each is. It is what podium agents does by itself."`
	Add    agentsAddCommand    `cmd:"" help:"Take in an external agent, while the instance runs."`
	Revoke agentsRevokeCommand `cmd:"" help:"Cut off an external agent at once, and for good."`
	Reset  agentsResetCommand  `cmd:"" help:"Close the circuit breaker of an agent, so that it is asked again at once."`
}

func (agentsCommand) Help() string {
	return `  podium agents
  podium agents -o json
  podium agents add summary
  podium agents revoke summary
  podium agents reset summary

To remove an agent for good, cut it off by podium agents revoke (an external one), take it out of podium.yaml, from agents and from every
profile that names it, see by podium check that nothing else does, and start podium up again.`
}

type agentsListCommand struct{ ledgerFlags }

func (agentsListCommand) Help() string {
	return `Lists every agent of the configuration, whether it is there or not. One that is taken out of podium.yaml is forgotten at the next start.

STATE is ok; degraded, when it cannot do its work at present by its own word; late, when nobody serves it any more; never, when none of its processes has ever taken a request or announced itself;
failing, while its breaker is open or half open; revoked, when it may not take part any more. AT A TIME is how many requests it works
on, over all its PROCESSES, which are those that are alive. READY are tasks that wait until it has room, as of a few seconds ago, QUEUED requests that wait for somebody to
take them, IN FLIGHT those that somebody has taken. WAITED and WORKED are how long requests have waited and were worked on, half of them and 99 of 100 at most, over the
last one to two days. FAILED are attempts over the ledger's life, with what the newest of them has failed by. BREAKER
is closed while the agent does its work; open while nobody asks it, because it has failed several times in a row: requests fail
at once then; and half_open when the next request decides. An agent of kind person has the people who do its tasks, and how many they are asked to
do at present. Below the table stands what there is to be said of single agents.

With -o json each agent is one line, with served while an instance runs; one of kind person has people and asked instead.

  podium agents
  podium agents -o json`
}

func (c *agentsListCommand) Run(env *environment) error {
	return env.withLedger(func(ledger *installation.Ledger) error {
		now := time.Now()
		entries, err := registry.List(env.ctx, ledger.Core, now)
		if err != nil {
			return err
		}
		counted, err := statistics.Read(env.ctx, ledger.Core)
		if err != nil {
			return err
		}
		instance, running, err := installation.FindInstance(env.data)
		if err != nil {
			return err
		}
		asked, err := env.asked(ledger, instance.People, running)
		if err != nil {
			return err
		}
		rows := make([]agentRow, 0, len(entries))
		for i := range entries {
			name := entries[i].Name
			if people, are := instance.People[name]; are && running {
				open := asked[name]
				rows = append(rows, agentRow{Entry: registry.Entry{Agent: schemas.Agent{Name: name, Kind: string(config.KindPerson)}}, People: people, Asked: &open})
				continue
			}
			if entries[i].Kind == string(config.KindPerson) {
				continue // at rest nobody is asked
			}
			rows = append(rows, newAgentRow(&entries[i], counted[name], running, now))
		}
		if env.json {
			for i := range rows {
				if err := env.printLine(&rows[i]); err != nil {
					return err
				}
			}
			return nil
		}
		return env.tellAgents(rows, now)
	})
}

// An agentRow is an agent, and what the bus knows of it.
type agentRow struct {
	registry.Entry

	Served *bool `json:"served,omitzero"` // only while an instance runs
	// People do its tasks, and Asked is how many they are asked to do at present; nil for an agent that is none.
	People []string `json:"people,omitzero"`
	Asked  *int     `json:"asked,omitzero"`

	Alive    int     `json:"alive,omitzero"`     // processes
	Ready    int     `json:"ready,omitzero"`     // tasks that wait until it has room
	Queued   uint64  `json:"queued,omitzero"`    // requests that wait for somebody to take them
	InFlight int     `json:"in_flight,omitzero"` // requests that somebody has taken
	Waited   figures `json:"waited,omitzero"`    // how long requests have waited
	Worked   figures `json:"worked,omitzero"`    // and were worked on

	Completed   uint64              `json:"completed,omitzero"`
	Failed      uint64              `json:"failed,omitzero"`
	LastFailure *statistics.Failure `json:"last_failure,omitzero"`
}

// figures say how long something took, in seconds.
type figures struct {
	Count uint64  `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
}

func figuresOf(of *statistics.Histogram, now time.Time) figures {
	return figures{Count: of.Count(now), P50: of.Quantile(now, 0.5).Seconds(), P99: of.Quantile(now, 0.99).Seconds()}
}

func (f figures) String() string {
	if f.Count == 0 {
		return ""
	}
	short := func(seconds float64) string {
		took := time.Duration(seconds * float64(time.Second))
		for _, unit := range [...]time.Duration{time.Minute, time.Second, 10 * time.Millisecond} {
			if took >= 100*unit {
				return took.Round(unit).String()
			}
		}
		return took.Round(time.Millisecond).String()
	}
	return short(f.P50) + "/" + short(f.P99)
}

// newAgentRow tells of one agent. What the bus enforces counts, whatever the agent says of how many requests it works on.
func newAgentRow(entry *registry.Entry, counted *statistics.Agent, running bool, now time.Time) agentRow {
	row := agentRow{Entry: *entry, Alive: entry.Alive(now)}
	breaker := *row.Breaker
	breaker.State = breaker.At(now)
	row.Breaker = &breaker
	if pool := entry.Pool; pool != nil {
		if row.Concurrency == 0 || row.Concurrency > pool.Size {
			row.Concurrency = pool.Size
		}
		row.Queued, row.InFlight = pool.Pending, pool.Working
	}
	presence := entry.Presence(now)
	row.LastSeen = presence.LastSeen
	if running {
		row.Served = &presence.Served
	}
	if counted != nil {
		row.Waited, row.Worked = figuresOf(&counted.Queue, now), figuresOf(&counted.Work, now)
		row.Completed, row.Failed, row.LastFailure = counted.Completed, counted.Failed, counted.LastFailure
		if running {
			row.Ready = counted.Ready
		}
	}
	return row
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
			if task := run.Task(inquiry.Task); inquiry.Open() && inquiry.Kind.IsWork() && task != nil {
				asked[task.Agent]++
			}
		}
	}
	return asked, nil
}

func (e *environment) tellAgents(rows []agentRow, now time.Time) error {
	if len(rows) == 0 {
		return e.tellNothing("the ledger knows no agents; podium up makes those of its configuration known")
	}
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "AGENT\tKIND\tSTATE\tAT A TIME\tPROCESSES\tREADY\tQUEUED\tIN FLIGHT\tWAITED\tWORKED\tFAILED\tBREAKER\tLAST SEEN\tWHAT IT DOES")
	for i := range rows {
		r := &rows[i]
		if r.Asked != nil {
			_, _ = fmt.Fprintf(table, "%s\t%s\t\t\t\t\t\t\t\t\t\t\t\tpeople: %s; asked to do at present: %d\n",
				r.Name, r.Kind, view.Line(strings.Join(r.People, ", "), 0), *r.Asked)
			continue
		}
		does, atATime, seen, failed := r.Description, "", "never", strconv.FormatUint(r.Failed, 10)
		if r.Announced.IsZero() {
			if does = "has not connected"; r.Pool.HasWorked() {
				does = "has not announced itself"
			}
		}
		if r.Concurrency > 0 {
			atATime = strconv.Itoa(r.Concurrency)
		}
		switch {
		case !r.LastSeen.IsZero():
			seen = r.LastSeen.Local().Format(time.DateTime)
		case r.Pool.HasWorked():
			seen = "before the start"
		}
		if r.LastFailure != nil {
			failed += ", " + cmp.Or(string(r.LastFailure.Category), string(r.LastFailure.Cause))
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, view.Line(r.Kind, 0), r.State, atATime, r.Alive,
			r.Ready, r.Queued, r.InFlight, r.Waited, r.Worked, failed, view.Breaker(r.Breaker, now), seen, view.Line(does, 0))
	}
	for i := range rows {
		for _, remark := range rows[i].remarks(now) {
			_, _ = fmt.Fprintf(table, "%s: %s\n", rows[i].Name, remark)
		}
	}
	return table.Flush()
}

// remarks say what there is to be said of a single agent.
func (r *agentRow) remarks(now time.Time) (remarks []string) {
	if told := view.BreakerRemark(r.Name, r.Breaker, now); told != "" {
		remarks = append(remarks, told)
	}
	if r.Revoked != nil {
		why := "by an operator"
		if r.Revoked.Reason == schemas.RevokedForFlood {
			why = "by Podium itself, because it went on for a minute to send what nobody had asked for, or nobody can read"
		}
		remarks = append(remarks, fmt.Sprintf("revoked %s, %s; podium agents add %s takes it in again, with another key",
			r.Revoked.At.Local().Format(time.DateTime), why, r.Name))
	}
	for i := range r.Instances {
		if one := &r.Instances[i]; one.Health != nil && now.Sub(one.LastSeen) <= registry.AliveWithin {
			remarks = append(remarks, fmt.Sprintf("process %s cannot do its work since %s: %s", one.ID, one.Health.Since.Local().Format(time.DateTime), view.Line(one.Health.Problem, 0)))
		}
	}
	if len(r.Drift) > 0 {
		remarks = append(remarks, "says otherwise than podium.yaml, which holds: "+strings.Join(r.Drift, ", "))
	}
	return remarks
}

type agentsAddCommand struct {
	Name string `arg:"" help:"The agent, which podium.yaml has as kind external."`
}

func (agentsAddCommand) Help() string {
	return `Takes an external agent into the running instance: makes its key, and lets it connect. Nobody else notices. podium.yaml is read again
for it, and the profiles there that name it come into force, for runs that begin from now on; all else in the file takes effect with the next start.
An agent that was revoked is taken in again, with another key. What is in podium.yaml when an instance starts is taken in by itself.

  podium agents add summary

On a ledger that is on a NATS server of its own, it also writes the accounts that the server has to be told of, and says how.`
}

func (c *agentsAddCommand) Run(env *environment) error {
	done, err := installation.AskInstance(env.ctx, env.data, installation.VerbAdd, c.Name, env.log)
	if err != nil {
		return err
	}
	said := fmt.Sprintf("agent %s is taken in; its key is %s\n", c.Name, done.Seed)
	switch {
	case len(done.Profiles) > 0:
		said += "it is asked by " + strings.Join(done.Profiles, ", ") + "\n"
	case len(done.Waiting) == 0:
		said += "no profile names it: add it to the agents of one in podium.yaml, and add it again\n"
	}
	if len(done.Waiting) > 0 {
		said += "profile " + strings.Join(done.Waiting, ", ") + " names further agents that are not taken in: it comes into force when they are added\n"
	}
	return env.answer(&done, "%s%s", said, toldServer(&done))
}

// toldServer says how a server of one's own is told.
func toldServer(done *installation.Member) string {
	if done.Accounts == "" {
		return ""
	}
	return "the accounts of the NATS server are now those in " + done.Accounts + ": copy that file to where its configuration includes it, since nats-server looks for it beside its own, and reload it twice (nats-server --signal reload), " +
		"since it reaches what a new account imports only the second time\n"
}

type agentsRevokeCommand struct {
	Name string `arg:"" help:"The external agent."`
}

func (agentsRevokeCommand) Help() string {
	return `Cuts an external agent off: its connections end at once, its key is destroyed, nobody asks it any more, and nothing that it says is taken, also
after a restart. podium agents add takes it in again, with another key. What it was asked is tried again, or falls back, as the profile says.

  podium agents revoke summary`
}

func (c *agentsRevokeCommand) Run(env *environment) error {
	done, err := installation.AskInstance(env.ctx, env.data, installation.VerbRevoke, c.Name, env.log)
	if err != nil {
		return err
	}
	return env.answer(&done, "agent %s is revoked, and cut off\n%s", c.Name, toldServer(&done))
}

type agentsResetCommand struct {
	ledgerFlags
	speakerFlags

	Name   string `arg:"" help:"The agent."`
	Reason string `help:"Why; it stays on the ledger, and podium agents tells it." placeholder:"WORDS"`
}

func (agentsResetCommand) Help() string {
	return `Closes the circuit breaker of an agent: it is asked again at once, and not only when the time of the breaker is over. Failures in a row
count anew. Who has done it is on record, and podium agents tells it until the next failure. Where the breaker is closed there is nothing to do,
with exit code 1. podium agents says what has opened it.

  podium agents                                     # which breakers are open, since when and why
  podium agents reset summary --reason "the model is back"
  podium agents reset summary --as anna -o json`
}

func (c *agentsResetCommand) Run(env *environment) error {
	return env.changeLedger(func(ledger *installation.Ledger) error {
		agents, err := registry.Agents(env.ctx, ledger.Core)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(agents, func(known schemas.Agent) bool { return known.Name == c.Name }) {
			return notFound("there is no agent %q; `podium agents` lists those there are", c.Name)
		}
		control := schemas.Control{Action: schemas.ControlResetBreaker, Target: c.Name, Reason: c.Reason}
		c.signs(&control)
		reset := schemas.BreakerReset{By: control.By, As: control.As, Reason: c.Reason}
		before, err := registry.ResetBreaker(env.ctx, ledger.Core, c.Name, reset, time.Now())
		if errors.Is(err, registry.ErrBreakerClosed) {
			return fmt.Errorf("the circuit breaker of agent %s is closed: it is asked as any other, and there is nothing to reset", c.Name)
		}
		if err != nil {
			return err
		}
		if err = env.control(ledger.Core, schemas.ShardOf(c.Name, ledger.Core.Shards()), control); err != nil {
			return err
		}
		return env.answer(map[string]string{"agent": c.Name, "asked": string(control.Action)},
			"the circuit breaker of agent %s was %s, and is closed now\n", c.Name, view.Breaker(&before, time.Now()))
	})
}
