package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/service"
	"podium/ingest/imap"
	"podium/ingest/imap/audit"
)

// mailAuditCommand accounts for every message of the mailboxes.
type mailAuditCommand struct {
	Account string `arg:"" optional:"" help:"Only this account."`
	Config  string `help:"The configuration. Default: podium.yaml, else that of the instance that runs on --data." short:"c" placeholder:"FILE"`
	Offline bool   `help:"Leave the mail server out: compare the mailbox ledger with the events and the runs only."`
}

func (mailAuditCommand) Help() string {
	return `Compares what the mail server has with the mailbox ledger, and that with the events and the runs. Every
message is accounted for once: as a run, as ignored with its reason, as quarantined, as failed (it could
not be had in several tries) or as pending. Anything else is a gap. The mailbox is opened for reading only,
and nothing is written. It works while podium up runs, and on the ledger at rest in --data.

  podium mail audit
  podium mail audit support -o json     # one mailbox a line
  podium mail audit --offline

Exit codes:
  0  every message is accounted for
  1  a mailbox could not be audited
  2  the command line or the configuration is wrong
  3  there is no such account, file or ledger
  4  there are gaps; each is listed with what to do`
}

// audited is one line of -o json.
type audited struct {
	*audit.Report
	Clean bool   `json:"clean"`
	Error string `json:"error,omitempty"` // why it could not be audited
}

func (c *mailAuditCommand) Run(env *environment) error {
	settings, err := env.configInForce(c.Config)
	if err != nil {
		return err
	}
	accounts, err := chooseAccounts(settings, c.Account)
	if err != nil {
		return err
	}
	env.use(settings)
	return env.withLedger(func(ledger *installation.Ledger) error {
		var lines []audited
		for _, account := range accounts {
			for _, mailbox := range account.IMAP.Mailboxes {
				lines = append(lines, c.audit(env, ledger, settings, account, mailbox))
			}
		}
		return c.print(env, lines)
	})
}

// missing is how many messages are not accounted for.
func (a *audited) missing() (messages uint64) {
	for _, gap := range a.Gaps {
		messages += gap.Messages()
	}
	return messages
}

func chooseAccounts(settings *config.Config, name string) ([]*config.Account, error) {
	var chosen []*config.Account
	var names []string
	for i := range settings.Mail.Accounts {
		account := &settings.Mail.Accounts[i]
		names = append(names, account.Name)
		if name == "" || account.Name == name {
			chosen = append(chosen, account)
		}
	}
	switch {
	case len(names) == 0:
		return nil, notFound("the configuration has no mail account")
	case len(chosen) == 0:
		return nil, notFound("there is no mail account %q; there are: %s", name, strings.Join(names, ", "))
	}
	return chosen, nil
}

func (c *mailAuditCommand) audit(env *environment, ledger *installation.Ledger, settings *config.Config, account *config.Account, mailbox string) audited {
	report, err := c.reconcile(env, ledger, settings, account, mailbox)
	if err != nil {
		return audited{
			Report: &audit.Report{Account: account.Name, Mailbox: mailbox, Present: -1, Tallies: []audit.Tally{}, Gaps: []audit.Gap{}},
			Error:  err.Error(),
		}
	}
	return audited{Report: report, Clean: report.Clean()}
}

func (c *mailAuditCommand) reconcile(env *environment, ledger *installation.Ledger, settings *config.Config, account *config.Account, mailbox string) (*audit.Report, error) {
	about, err := service.MailboxConfig(settings, env.data, account, mailbox)
	if err != nil {
		return nil, err
	}
	about.ReadOnly = true
	if c.Offline {
		return audit.Reconcile(env.ctx, about.Config, ledger.Core, nil)
	}
	source, err := imap.Connect(env.ctx, about)
	if err != nil {
		return nil, fmt.Errorf("%w; --offline leaves the mail server out", err)
	}
	report, err := audit.Reconcile(env.ctx, about.Config, ledger.Core, source)
	return report, errors.Join(err, source.Close())
}

func (c *mailAuditCommand) print(env *environment, lines []audited) error {
	if env.json {
		for _, line := range lines {
			if err := json.NewEncoder(env.stdout).Encode(line); err != nil {
				return err
			}
		}
	} else if err := printAudits(env, lines); err != nil {
		return err
	}
	failed, gaps := 0, uint64(0)
	for _, line := range lines {
		if line.Error != "" {
			failed++
		}
		gaps += line.missing()
	}
	switch {
	case gaps > 0:
		return &exitError{code: exitDiffers, err: fmt.Errorf("%d messages are not accounted for", gaps)}
	case failed > 0:
		return &exitError{code: exitFailed, err: fmt.Errorf("%d mailboxes could not be audited", failed)}
	}
	return env.tell("Every message is accounted for.\n")
}

func printAudits(env *environment, lines []audited) error {
	if len(lines) == 0 {
		return env.tellNothing("there is no mailbox to audit: no account of the configuration has one, and the ledger knows none")
	}
	table := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ACCOUNT\tMAILBOX\tMESSAGES\tON SERVER\tRUN\tIGNORED\tQUARANTINED\tFAILED\tPENDING\tGAPS")
	for _, line := range lines {
		present := "not asked"
		if line.Present >= 0 {
			present = strconv.Itoa(line.Present)
		}
		if line.Error != "" {
			_, _ = fmt.Fprintf(table, "%s\t%s\tnot audited\n", line.Account, line.Mailbox)
			continue
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n", line.Account, line.Mailbox, line.Messages, present,
			line.Count(audit.OutcomeRun), line.Count(audit.OutcomeIgnored), line.Count(audit.OutcomeQuarantined),
			line.Count(audit.OutcomeFailed), line.Count(audit.OutcomePending), line.missing())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, line := range lines {
		if line.Error != "" {
			_, _ = fmt.Fprintf(env.stdout, "\n%s %s: %s\n", line.Account, line.Mailbox, line.Error)
		}
		for _, tally := range line.Tallies {
			if tally.Outcome != audit.OutcomeRun && tally.Outcome != audit.OutcomeFailed {
				_, _ = fmt.Fprintf(env.stdout, "%s %s: %d %s: %s\n", line.Account, line.Mailbox, tally.Messages, tally.Outcome, tally.Reason)
			}
		}
		for _, gap := range line.Gaps {
			_, _ = fmt.Fprintf(env.stdout, "%s %s: GAP %s: UIDs %d to %d\n  %s\n", line.Account, line.Mailbox, gap.Kind, gap.First, gap.Last, gap.Advice)
		}
	}
	return nil
}
