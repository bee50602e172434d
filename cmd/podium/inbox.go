package main

import (
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"podium/cmd/podium/installation"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// inboxCommand lists what people are asked.
type inboxCommand struct {
	ledgerFlags
}

func (inboxCommand) Help() string {
	return `Lists the questions of runs that wait for a person's word, the oldest first: by mail or chat the
requester is asked, and whoever may read the ledger can answer here. ID is what podium answer takes. Without an UNTIL
nobody was told of the question yet.

  podium inbox
  podium inbox -o json          # one question a line, whole
  podium answer 5f0c.1 "Rue de la Paix 3"`
}

// An openInquiry is a question that waits, for programs.
type openInquiry struct {
	ID       string              `json:"id"`
	Run      string              `json:"run"`
	Task     string              `json:"task"`
	Kind     schemas.InquiryKind `json:"kind"`
	Profile  string              `json:"profile"`
	Channel  string              `json:"channel"`
	Asked    string              `json:"asked"` // who
	Question string              `json:"question"`
	Needs    []schemas.Need      `json:"needs,omitzero"`
	Since    time.Time           `json:"since"`
	Until    time.Time           `json:"until,omitzero"`
	Reminded bool                `json:"reminded,omitzero"`
}

func (inboxCommand) Run(env *environment) error {
	return env.withLedger(func(ledger *installation.Ledger) error {
		runs, err := env.runLog(ledger.Core).Runs(env.ctx)
		if err != nil {
			return err
		}
		open := openInquiries(runs)
		if env.json {
			for i := range open {
				if err = env.printLine(&open[i]); err != nil {
					return err
				}
			}
			return nil
		}
		return env.printInbox(open)
	})
}

// openInquiries are those of runs that are given with the newest first, the oldest run's first.
func openInquiries(runs []*workflow.RunHistory) []openInquiry {
	var open []openInquiry
	for _, run := range slices.Backward(runs) {
		for _, inquiry := range run.Inquiries {
			if !inquiry.Open() {
				continue
			}
			open = append(open, openInquiry{
				ID: schemas.InquiryID(run.ID, inquiry.Inquiry), Run: run.ID, Task: inquiry.Task, Kind: inquiry.Kind, Profile: run.Profile,
				Channel: run.Message.Channel, Asked: view.Person(run, inquiry), Question: inquiry.Question, Needs: inquiry.Needs,
				Since: inquiry.Opened, Until: inquiry.Expires(), Reminded: inquiry.Notices > 1,
			})
		}
	}
	return open
}

func (e *environment) printInbox(open []openInquiry) error {
	if len(open) == 0 {
		return e.print("nobody is asked anything\n")
	}
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tSINCE\tUNTIL\tPROFILE\tKIND\tASKED\tQUESTION")
	for i := range open {
		asked, until := &open[i], ""
		if !asked.Until.IsZero() {
			until = asked.Until.Local().Format(time.DateTime)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", asked.ID, asked.Since.Local().Format(time.DateTime), until,
			asked.Profile, asked.Kind, asked.Asked, view.Line(asked.Question, 0))
	}
	return table.Flush()
}
