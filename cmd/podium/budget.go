package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"podium/bus"
	"podium/cmd/podium/config"
	"podium/cmd/podium/daybudget"
	"podium/cmd/podium/installation"
	"podium/schemas"
)

// budgetCommand says what runs have used of the budgets of a day.
type budgetCommand struct {
	ledgerFlags

	Profile string `arg:"" optional:"" help:"One profile alone."`
	Day     string `help:"Another day than today, as 2026-11-27 (UTC); days are kept for a month." placeholder:"DAY"`
}

func (budgetCommand) Help() string {
	return `Says what the runs of each profile that limits a day (budget.day, budget.agent_day) have used on it, and have reserved for
requests that are under way, all agents together and each of them. Days are those of UTC. LIMIT and LEFT are by -c, or else by the configuration of the instance
that runs on --data, or by podium.yaml where none runs: the last line says by which, and with -o json config does. A grant for one run stands at the run (podium runs show).

  podium budget
  podium budget team --day 2026-11-27 -o json
  nats kv watch PODIUM_BUDGETS                # the same accounts, as they change`
}

func (c *budgetCommand) Run(env *environment) error {
	day := c.Day
	if day == "" {
		day = schemas.Day(time.Now())
	} else if _, err := time.Parse(time.DateOnly, day); err != nil {
		return usage(fmt.Errorf("--day %s is no day; write it as 2026-11-27", day))
	}
	settings, file, err := env.limiting(c.Config)
	if err != nil {
		return err
	}
	if settings == nil {
		_, _ = fmt.Fprintln(env.stderr, "podium: no configuration is found, so that limits are not known: name it by -c")
	}
	return env.withLedger(func(ledger *installation.Ledger) error {
		limits, profiles := dayLimits(settings)
		lines, err := daybudget.Read(env.ctx, ledger.Core.KeyValue(bus.BudgetBucket), day, profiles, limits)
		if err != nil {
			return err
		}
		if c.Profile != "" {
			lines = slices.DeleteFunc(lines, func(line daybudget.Line) bool { return line.Profile != c.Profile })
		}
		switch {
		case len(lines) == 0:
			return notFound("nothing is counted for %s: a profile has budget.day or budget.agent_day, and has been asked something on that day", day)
		case !env.json:
			return env.print("%s%s", daybudget.Table(lines), limitedBy(file))
		}
		for i := range lines {
			lines[i].Config = file
			err = errors.Join(err, env.printLine(&lines[i]))
		}
		return err
	})
}

// limiting loads the configuration whose limits hold: the one that is named, else that of the instance that runs on the data directory, else the usual one.
// There is none, and no error, where none is found.
func (e *environment) limiting(named string) (settings *config.Config, file string, err error) {
	if file = named; file == "" {
		file = usualConfig
		instance, running, err := installation.FindInstance(e.data)
		switch {
		case err != nil:
			return nil, "", err
		case running && instance.Config != "" && e.named.NATS == "":
			file = instance.Config
		}
	}
	if _, err = os.Stat(file); named == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	settings, err = loadConfig(file)
	return settings, file, err
}

func limitedBy(file string) string {
	if file == "" {
		return ""
	}
	return "limits by " + file + "\n"
}

// dayLimits are the limits of a day by a configuration, and the profiles that have some.
func dayLimits(settings *config.Config) (limits daybudget.Limits, profiles []string) {
	known := map[string]*schemas.Budget{}
	if settings != nil {
		for _, name := range slices.Sorted(maps.Keys(settings.Profiles)) {
			profile := settings.Profile(name)
			if policy := profile.Budget; policy != nil && (policy.Day != (schemas.Usage{}) || len(policy.DayAgents) > 0) {
				known[name], profiles = policy, append(profiles, name)
			}
		}
	}
	return func(profile string) *schemas.Budget { return known[profile] }, profiles
}
