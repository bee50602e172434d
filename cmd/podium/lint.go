package main

import (
	"errors"
	"slices"
	"strconv"

	"podium/bus"
	"podium/cmd/podium/installation"
	"podium/supervisor/plan"
	"podium/supervisor/route"
)

// linted is what route --lint prints.
type linted struct {
	Profile  string          `json:"profile"`
	Ledger   string          `json:"ledger,omitzero"` // its directory or server; absent when there is none
	Requests int             `json:"requests"`        // how many were read
	Findings []route.Finding `json:"findings"`
}

// lint looks for doubtful keywords of a profile.
func (c *routeCommand) lint(env *environment, profile *plan.Profile) error {
	report := linted{Profile: profile.Name, Ledger: env.data}
	if env.nats != nil {
		report.Ledger = env.nats.Servers()
	}
	var history []string
	err := env.withLedger(func(ledger *installation.Ledger) (err error) {
		history, err = requests(env, ledger.Core, profile.Name, c.Last)
		return err
	})
	if errors.Is(err, installation.ErrNoLedger) && !env.given {
		err, report.Ledger = nil, ""
	}
	if err != nil {
		return err
	}
	report.Requests, report.Findings = len(history), profile.Router().Lint(history)
	if err = report.print(env); err != nil {
		return err
	}
	if slices.ContainsFunc(report.Findings, route.Finding.Conflict) {
		return &exitError{code: exitDiffers}
	}
	return nil
}

func (l *linted) print(env *environment) error {
	if env.json {
		return env.printLine(l)
	}
	from := "no ledger, so what never hits is not known"
	if l.Ledger != "" {
		from = "requests read from " + l.Ledger + ": " + strconv.Itoa(l.Requests)
	}
	err := env.print("profile %s, findings %d; %s\n", l.Profile, len(l.Findings), from)
	for i := range l.Findings {
		err = errors.Join(err, env.print("%-8s %s\n", l.Findings[i].Kind, l.Findings[i]))
	}
	return err
}

// requests returns what the newest runs of a profile were asked, the newest
// first.
func requests(env *environment, core bus.Core, profile string, most int) ([]string, error) {
	runs, err := env.runLog(core).Runs(env.ctx)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, run := range runs {
		if run.Profile != profile || len(words) >= most {
			continue
		}
		text, err := env.runLog(core).Words(env.ctx, run)
		if err != nil {
			return nil, err
		}
		words = append(words, text)
	}
	return words, nil
}
