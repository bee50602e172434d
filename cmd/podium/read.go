package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"podium/bus"
	"podium/bus/history"
	"podium/cmd/podium/service"
	"podium/schemas"
)

// ledger connects to the ledger that flags name, else to the running instance of the
// data directory, or opens the ledger at rest as it is told. Close it.
func (e *environment) ledger(atRest service.Opening) (*service.Ledger, error) {
	if err := e.place(); err != nil {
		return nil, err
	}
	if e.nats != nil {
		return service.Join(e.ctx, e.ledgerSettings(), e.log)
	}
	return service.Attach(e.ctx, e.data, atRest, e.log)
}

// withLedger reads something of the ledger and closes it. It changes no byte of one at rest.
func (e *environment) withLedger(do func(*service.Ledger) error) error {
	return e.onLedger(service.LookAtRest, do)
}

// changeLedger adds something to the ledger and closes it.
func (e *environment) changeLedger(do func(*service.Ledger) error) error {
	return e.onLedger(service.OpenAtRest, do)
}

func (e *environment) onLedger(atRest service.Opening, do func(*service.Ledger) error) error {
	ledger, err := e.ledger(atRest)
	if err != nil {
		return err
	}
	if lost := len(ledger.Losses.Open); lost > 0 {
		_, _ = fmt.Fprintf(e.stderr, "podium: the ledger has lost something in %d places, and what follows is what is left: podium ledger check --data %s\n", lost, e.data)
	}
	return errors.Join(do(ledger), ledger.Close())
}

// conversations folds every session of the ledger, in the order in which they began. Of
// one that the ledger has lost a part of it takes what stands before that, and says so.
func conversations(env *environment, core bus.Core) ([]*schemas.Conversation, error) {
	var all []*schemas.Conversation
	known := map[string]*schemas.Conversation{}
	damaged := map[string]bool{}
	for shard := range core.Shards() {
		for message, err := range core.Scan(env.ctx, bus.ShardStream(shard), 1, fmt.Sprintf("podium.session.%d.*", shard)) {
			if err != nil {
				return nil, err
			}
			record, err := history.ReadRecord(env.ctx, core, message)
			if err != nil {
				return nil, err
			}
			conversation := known[record.Session]
			if conversation == nil {
				conversation = &schemas.Conversation{Session: record.Session}
				known[record.Session] = conversation
				all = append(all, conversation)
			}
			err = conversation.Apply(record.Record)
			if errors.Is(err, schemas.ErrGrammar) && !damaged[record.Session] {
				damaged[record.Session] = true
				_, _ = fmt.Fprintf(env.stderr, "podium: conversation %s cannot be read behind record %d, and is shown up to there: %v; podium replay --verify says more\n",
					record.Session, conversation.Records, err)
			}
			if err != nil && !damaged[record.Session] {
				return nil, err
			}
		}
	}
	return all, nil
}

// readRun reads one run; nil when there is none of that number.
func readRun(ctx context.Context, core bus.Core, session string, number int) (*schemas.Run, error) {
	opened, err := history.OpenSession(ctx, core, session)
	if err != nil {
		return nil, err
	}
	excerpt := schemas.Excerpt{Session: session, Number: number}
	for record, err := range opened.Run(ctx, number) {
		if err == nil {
			err = excerpt.Apply(&record.Record)
		}
		if err != nil {
			return nil, err
		}
	}
	return excerpt.Run(), nil
}

// findRun reads the run that a person names: by its id, or by the beginning of
// one that no other run has.
func findRun(env *environment, core bus.Core, name string) (*schemas.Run, error) {
	if name == "" {
		return nil, &exitError{code: exitUsage, err: errors.New("the run's id is empty; `podium runs` lists the ids")}
	}
	if session, number, err := schemas.ParseRunID(name); err == nil {
		run, err := readRun(env.ctx, core, session, number)
		if err == nil && run == nil {
			err = notFound("there is no run %s; `podium runs` lists those that there are", name)
		}
		return run, err
	}
	all, err := conversations(env, core)
	if err != nil {
		return nil, err
	}
	var found []*schemas.Run
	for _, folded := range all {
		for i := range folded.Runs {
			if strings.HasPrefix(folded.Runs[i].ID, name) {
				found = append(found, &folded.Runs[i])
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, notFound("there is no run %s; `podium runs` lists those that there are", name)
	case 1:
		return found[0], nil
	}
	return nil, &exitError{code: exitUsage, err: fmt.Errorf("%d runs begin with %s; name one in full", len(found), name)}
}

// allRuns lists every run, the newest first.
func allRuns(env *environment, core bus.Core) ([]*schemas.Run, error) {
	all, err := conversations(env, core)
	if err != nil {
		return nil, err
	}
	var runs []*schemas.Run
	for _, folded := range all {
		for i := range folded.Runs {
			runs = append(runs, &folded.Runs[i])
		}
	}
	slices.SortStableFunc(runs, func(a, b *schemas.Run) int { return b.Started.Compare(a.Started) })
	return runs, nil
}
