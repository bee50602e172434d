package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"podium/bus"
	"podium/bus/history"
	"podium/bus/intake"
	"podium/bus/registry"
	"podium/cmd/podium/chronicle"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/runlog"
	"podium/cmd/podium/taskplan"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/say"
	"podium/supervisor/score"
)

// runsCommand lists runs.
type runsCommand struct {
	ledgerFlags

	List   runsListCommand   `cmd:"" default:"withargs" help:"List the runs, the newest first."`
	Show   runsShowCommand   `cmd:"" help:"Show one run: its tasks, decisions, questions and answer."`
	Files  runsFilesCommand  `cmd:"" help:"List the files that a run has made, or write them into a directory."`
	Export runsExportCommand `cmd:"" help:"Write all that the ledger holds of a run into a ZIP file."`
	Watch  runsWatchCommand  `cmd:"" help:"Follow a run until it has ended."`
	Cancel runsCancelCommand `cmd:"" help:"Stop a run; whoever asked is told."`
	GiveUp runsGiveUpCommand `cmd:"" help:"Give up an answer that cannot be delivered."`
	Resend runsResendCommand `cmd:"" help:"Send an answer again that failed."`
	Retry  runsRetryCommand  `cmd:"" help:"Begin a run anew that has ended, with the results that it has."`
}

func (runsCommand) Help() string {
	return `Reads the ledger of a running instance, one at rest with --data, or with -c or --nats one on a NATS
server of its own, whether an instance runs or not.

  podium runs
  podium runs -c podium.yaml
  podium runs --nats nats://nats.example.org:4222 --credentials core.nk
  podium runs list --status failed -o json
  podium runs list --status answer-failed    # podium runs resend sends such an answer again
  podium runs show 5f0c        # the beginning of an id is enough`
}

type runsListCommand struct {
	runsFilter

	Limit int `help:"At most this many, the newest; that there are older ones is said on standard error." default:"50"`
}

func (runsListCommand) Help() string {
	return `Those that have not ended are among them. STATE is the phase of those (decomposing, routing, executing,
assembling: the work is done and the answer on its way), with what they wait for where that is a person, an agent that has
no room or that nobody serves, or what another task uses, and the status that the others ended with. "by a fallback" says that
the fallback of an agent has done a task. SENDER is who began the run; a mail address is confirmed when a mail server vouches for it.

Values of one flag are alternatives, and a run has to fit every flag. A time without a zone is local.

  podium runs --limit 10
  podium runs --status answer-failed   # nobody has got their answers
  podium runs --status open -o json    # one run a line
  podium runs --status failed,partial --since 7d --roots
  podium runs --from ada@example.org --profile desk --since 2026-11-27 --until 2026-11-28T12:00
  podium runs --agent translator --limit 500`
}

func (c *runsListCommand) Run(env *environment) error {
	if err := c.parse(time.Now()); err != nil {
		return err
	}
	return env.withLedger(func(ledger *installation.Ledger) error {
		runs, err := env.runLog(ledger.Core).Runs(env.ctx)
		if err != nil {
			return err
		}
		var chosen []*workflow.RunHistory
		more := 0
		for _, run := range runs {
			switch {
			case !c.fits(run):
			case len(chosen) < c.Limit:
				chosen = append(chosen, run)
			default:
				more++
			}
		}
		if env.json {
			return errors.Join(env.printLines(chosen), c.tellMore(env, more))
		}
		if err = env.runLog(ledger.Core).Fill(env.ctx, chosen); err != nil {
			return err
		}
		return errors.Join(env.printRuns(chosen), c.tellMore(env, more))
	})
}

// tellMore says that there are older runs than those that are listed; beside the output, which programs read.
func (c *runsListCommand) tellMore(env *environment, more int) error {
	if more == 0 {
		return nil
	}
	_, err := fmt.Fprintf(env.stderr, "%d older ones are not listed; --limit %d lists all\n", more, more+c.Limit)
	return err
}

// forPrograms returns a run as programs are told it: with the details of its error (G-28).
func forPrograms(run *workflow.RunHistory) *workflow.RunHistory {
	told := *run.WithoutSeal()
	told.Error = say.Error(told.Error)
	return &told
}

// printLines prints each run as one line of JSON.
func (e *environment) printLines(runs []*workflow.RunHistory) error {
	for _, run := range runs {
		if err := e.printLine(forPrograms(run)); err != nil {
			return err
		}
	}
	return nil
}

func (e *environment) printRuns(runs []*workflow.RunHistory) error {
	if len(runs) == 0 {
		return e.tellNothing("there is no such run; podium send and messages that come in begin one")
	}
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "RUN\tCHANNEL\tSENDER\tSTATE\tDONE\tSTARTED\tTOOK\tASKED")
	for _, run := range runs {
		state, took, sender := view.State(run), "", view.RequesterOf(&run.Message)
		if run.Phase == workflow.PhaseComplete {
			switch {
			case run.Withheld != nil:
				state += ", answer withheld"
			case run.AnswerFailed():
				state += ", answer failed"
			case run.Reason == schemas.StopGivenUp:
				state += ", answer given up"
			}
			if run.ResendRequested {
				state += ", to be sent again"
			}
		}
		if hasFallbackResult(run) {
			state += ", by a fallback"
		}
		if !run.Ended.IsZero() {
			took = run.Ended.Sub(run.Started).Round(time.Millisecond).String()
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d%%\t%s\t%s\t%s\n", run.ID, run.Message.Channel, sender.Line(), state, run.Percentage,
			run.Started.Local().Format(time.DateTime), took, view.Asked(run))
	}
	return table.Flush()
}

type runsShowCommand struct {
	ID  string `arg:"" name:"run" help:"The run's id, or its beginning."`
	Why bool   `help:"Also each event of the run with the rule that has led to it, found by deciding the records again."`
}

func (runsShowCommand) Help() string {
	return `Says what was asked and by whom, who did what and why, when and for how long, each attempt with what it has failed by, what came
of it, and the runs that supervisors among the agents have begun for it. With -o json attempts are in attempts. Names and addresses of senders are for whoever may read the ledger.

  podium runs show 5f0c
  podium runs show 5f0c --why      # [start] is the rule of that name, [input] what the input itself says
  podium runs show 5f0c -o json`
}

func (c *runsShowCommand) Run(env *environment) error {
	return env.withLedger(c.show(env))
}

// show prints a run of a ledger.
func (c *runsShowCommand) show(env *environment) func(*installation.Ledger) error {
	return func(ledger *installation.Ledger) error {
		run, err := env.runLog(ledger.Core).Run(env.ctx, c.ID)
		if err != nil {
			return err
		}
		running, err := env.served(ledger)
		if err != nil {
			return err
		}
		if err = waitsNow(run, running, func(agent string) (registry.Presence, error) {
			return registry.PresenceOf(env.ctx, ledger.Core, agent, time.Now())
		}); err != nil {
			return err
		}
		beside, err := env.runLog(ledger.Core).Around(env.ctx, run)
		if err != nil {
			return err
		}
		path, err := taskplan.Path(ledger.Data, run)
		if err != nil {
			return err
		}
		kept, said, err := env.chronicle(ledger.Core, run)
		if err != nil {
			return err
		}
		why, err := c.why(env, ledger.Core, run)
		if err != nil {
			return err
		}
		if env.json {
			return env.printLine(struct {
				*workflow.RunHistory
				*runlog.Surroundings

				Attempts     []chronicle.Attempt `json:"attempts,omitzero"`
				TaskPlanPath string              `json:"task_plan_path,omitzero"`
				Rules        []string            `json:"rules,omitzero"`
			}{forPrograms(run), &beside, kept.Attempts, path, why})
		}
		if err = env.runLog(ledger.Core).Fill(env.ctx, []*workflow.RunHistory{run}); err != nil {
			return err
		}
		answer, err := history.AnswerText(env.ctx, ledger.Core, *run)
		if err != nil {
			return err
		}
		about := beside.Lines()
		if path != "" {
			about = append(about, [2]string{"plan file", path})
		}
		if running {
			full, err := env.full(ledger.Core, run)
			if err != nil {
				return err
			}
			about = append(about, full...)
		}
		about = append(about, said...)
		if err = env.print("%s", view.Run(run, kept, answer, about...)); err != nil || len(why) == 0 {
			return err
		}
		return env.print("\nrules\n  %s\n", strings.Join(why, "\n  "))
	}
}

// why returns the events of a run, each with its time and the rule that has led to it; none unless that is wanted.
func (c *runsShowCommand) why(env *environment, core bus.Core, run *workflow.RunHistory) (told []string, err error) {
	if !c.Why {
		return nil, nil
	}
	rules, err := env.rulesOf(core, run.Session)
	if err != nil {
		return nil, err
	}
	err = env.runLog(core).FoldRun(env.ctx, run, func(record *schemas.Record) {
		for _, line := range view.LinesWhy(record, run.Number, rules[record.Number]) {
			told = append(told, record.Transitions[0].Cause.Time.Local().Format(time.DateTime)+"  "+line)
		}
	})
	return told, err
}

// chronicle reads what the records of a run say beside its state, and tells which run it replaces and what people have said of it as a whole.
func (e *environment) chronicle(core bus.Core, run *workflow.RunHistory) (kept *chronicle.Run, said [][2]string, err error) {
	kept, reader := &chronicle.Run{}, e.runLog(core)
	if err = reader.FoldRun(e.ctx, run, func(record *schemas.Record) { kept.Apply(record, run.Number) }); err != nil {
		return nil, nil, err
	}
	if kept.Retries > 0 {
		said = append(said, [2]string{"retries", "run " + schemas.RunID(run.Session, kept.Retries)})
	}
	for _, sequence := range kept.Controls {
		control, err := reader.Control(e.ctx, run, sequence)
		if err != nil {
			return nil, nil, err
		}
		if control != nil {
			said = append(said, [2]string{"told", view.Control(control)})
		}
	}
	return kept, said, nil
}

// full says of each agent that a run waits for why it has no room, as far as that is known now.
func (e *environment) full(core bus.Core, run *workflow.RunHistory) (told [][2]string, err error) {
	awaited := view.Awaited(run)
	if len(awaited) == 0 {
		return nil, nil
	}
	agents, err := registry.Agents(e.ctx, core)
	if err != nil {
		return nil, err
	}
	for _, name := range awaited {
		pool, err := core.PoolState(e.ctx, name)
		if errors.Is(err, bus.ErrNotFound) {
			continue // it is none of the configuration any more
		}
		if err != nil {
			return nil, err
		}
		var breaker *schemas.Breaker
		if at := slices.IndexFunc(agents, func(known schemas.Agent) bool { return known.Name == name }); at >= 0 {
			breaker = agents[at].Breaker
		}
		told = append(told, [2]string{"waits", view.Full(name, pool.Size, breaker, time.Now())})
	}
	return told, nil
}

// waitsNow brings what a run says of agents that nobody serves up to date: one that
// came without beginning is on no record. At rest nobody serves anything.
func waitsNow(run *workflow.RunHistory, running bool, look func(agent string) (registry.Presence, error)) error {
	for task := range run.All {
		if task.Unserved == nil {
			continue
		}
		found, err := look(task.Agent)
		if err != nil {
			return err
		}
		switch {
		case running && found.Served:
			task.Unserved = nil
		case found.LastSeen.After(task.Unserved.Since):
			task.Unserved = &workflow.Unserved{Since: found.LastSeen}
		}
	}
	return nil
}

type runsCancelCommand struct {
	speakerFlags

	ID     string `arg:"" name:"run" help:"The run's id, or its beginning."`
	Reason string `help:"Why; it stays on the ledger, and podium runs show tells it." placeholder:"WORDS"`
}

func (runsCancelCommand) Help() string {
	return `Asks for it on the ledger: the run stops as soon as the supervisor reads that. At work on a ledger at
rest, that is when the service starts. A run that has ended is left as it is, with exit code 1. So is one whose work is done and
whose answer is being delivered, or cannot be delivered now: podium runs give-up gives up the answer.

  podium runs cancel 5f0c --reason "asked twice"`
}

func (c *runsCancelCommand) Run(env *environment) error {
	return env.changeLedger(func(ledger *installation.Ledger) error {
		run, err := env.runLog(ledger.Core).Run(env.ctx, c.ID)
		if err != nil {
			return err
		}
		if err = notCancelled(run); err != nil {
			return err
		}
		control := schemas.Control{Action: schemas.ControlCancel, Run: run.ID, Reason: c.Reason}
		c.signs(&control)
		if err = env.control(ledger.Core, schemas.ShardOf(run.Session, ledger.Core.Shards()), control); err != nil {
			return err
		}
		return env.print("asked to stop run %s; `podium runs show %s` says what came of it\n", run.ID, run.ID)
	})
}

// control publishes a person's word to a shard.
func (e *environment) control(core bus.Core, shard int, control schemas.Control) error {
	_, err := intake.NewIntake(core).SubmitControl(e.ctx, controlSource, shard, &control)
	return err
}

// controlSource is the CloudEvents source of what people say by the command line.
const controlSource = "/podium/command-line"

// planCommand shows the plan of a run as a document.
type planCommand struct {
	ledgerFlags

	ID  string `arg:"" name:"run" help:"The run's id, or its beginning."`
	Out string `help:"Write it into this directory instead, as outputs.plans of a profile has it written." placeholder:"DIR"`
}

func (planCommand) Help() string {
	return `Prints the plan in Markdown: the question, and the steps with who does them and how far they are. A step that does not
wait for its turn carries its state; below it stand its id, the steps that it builds on, and why it was skipped, has failed, or is not right.
In -o json status is one of four words, in which what was skipped has failed, and state is the state as it is.
With --out it is written to DIR/task_plan_TIME_RUN.md, and the path printed. A run of one task has a plan of one step.

  podium plan 5f0c
  podium plan 5f0c --out workspace
  podium plan 5f0c -o json | jq '.tasks[] | select(.state == "skipped") | {task_id, dependencies, reason}'`
}

func (c *planCommand) Run(env *environment) error {
	return env.withLedger(func(ledger *installation.Ledger) error {
		reader := env.runLog(ledger.Core)
		run, err := reader.Run(env.ctx, c.ID)
		if err != nil {
			return err
		}
		if c.Out != "" {
			path, err := taskplan.Write(env.ctx, reader, run, c.Out)
			if err != nil {
				return err
			}
			return env.answer(map[string]string{"task_plan_path": path}, "%s\n", path)
		}
		plan, err := taskplan.Of(env.ctx, reader, run)
		if err != nil {
			return err
		}
		if env.json {
			return env.printLine(plan)
		}
		return env.print("%s", plan.Markdown())
	})
}

// scoreCommand says how well runs went.
type scoreCommand struct {
	ledgerFlags

	Profile  string `help:"Only the runs of this profile." placeholder:"NAME"`
	Rows     string `help:"A row for each run instead: csv." enum:",csv" default:"" placeholder:"FORMAT"`
	ErrorsOf string `help:"With --rows: only the errors of this agent, in a column of its name." placeholder:"AGENT"`
}

func (scoreCommand) Help() string {
	return `Counts, for each profile, what the records of its runs say, beside the goals of the requirements: how many tasks were
completed, how much time went by while nobody was asked for anything, how many failed tasks were mended without a person, how many errors
checks have found before people did, how far estimates were off, and how long nothing was heard. docs/operations.md says how each
is counted. Runs whose outcome is open do not count.

With --rows csv there is a row for each run, the oldest first: query, attempts, completed, errors_present and errors, of at most 500
characters. With --errors-of AGENT the last column is AGENT_errors, and has what AGENT has failed of.

  podium score
  podium score --profile office -o json                # one profile a line
  podium score --rows csv --errors-of calculator > runs.csv`
}

func (c *scoreCommand) Run(env *environment) error {
	if c.ErrorsOf != "" && c.Rows == "" {
		return usage(errors.New("--errors-of goes with --rows: it is about the column of errors"))
	}
	return env.withLedger(func(ledger *installation.Ledger) error {
		reader := env.runLog(ledger.Core)
		sessions, err := scored(env.ctx, reader)
		if err != nil {
			return err
		}
		if c.Rows != "" {
			return c.rows(env, reader, score.Rows(sessions, c.ErrorsOf))
		}
		profiles := score.Profiles(sessions)
		if c.Profile != "" {
			profiles = slices.DeleteFunc(profiles, func(p score.Profile) bool { return p.Name != c.Profile })
			if len(profiles) == 0 {
				return notFound("no run of a profile %q has an outcome yet; `podium runs` lists those that there are", c.Profile)
			}
		}
		for i := range profiles {
			if env.json {
				err = errors.Join(err, env.printLine(&profiles[i]))
			} else {
				err = errors.Join(err, env.print("%s", view.Score(&profiles[i])))
			}
		}
		return err
	})
}

// scored counts what all sessions of a ledger say.
func scored(ctx context.Context, reader runlog.Reader) ([]*score.Session, error) {
	var all []*score.Session
	known := map[string]*score.Session{}
	err := reader.Fold(ctx, func(record *schemas.Record) error {
		session := known[record.Session]
		if session == nil {
			session = new(score.Session)
			known[record.Session], all = session, append(all, session)
		}
		return session.Apply(record)
	})
	return all, err
}

// rows prints a table with a line for each run.
func (c *scoreCommand) rows(env *environment, reader runlog.Reader, rows []score.Row) error {
	column := "errors"
	if c.ErrorsOf != "" {
		column = c.ErrorsOf + "_errors"
	}
	table := csv.NewWriter(env.stdout)
	err := table.Write([]string{"query", "attempts", "completed", "errors_present", column})
	for i := range rows {
		row := &rows[i]
		if c.Profile != "" && row.Run.Profile != c.Profile {
			continue
		}
		words, unread := reader.Words(env.ctx, row.Run)
		err = errors.Join(err, unread, table.Write([]string{
			words, strconv.Itoa(row.Attempts), strconv.FormatBool(row.Completed), strconv.FormatBool(row.Errors != ""), row.Errors,
		}))
	}
	table.Flush()
	return errors.Join(err, table.Error())
}
