package runlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"podium/bus"
	"podium/bus/history"
	"podium/bus/keyring"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/restore"
)

// A Reader reads the history that a ledger holds.
type Reader struct {
	Core     bus.Core
	Warnings io.Writer // is told of sessions that cannot be read whole
}

// ErrNoRun reports that there is no run of a name.
var ErrNoRun = errors.New("there is no run")

func noRun(name string) error {
	return fmt.Errorf("%w %s; `podium runs` lists those that there are", ErrNoRun, name)
}

// A NameError reports that a name does not tell which run is meant.
type NameError struct{ reason string }

// Error implements error.
func (e *NameError) Error() string { return e.reason }

// sessions folds every session of the ledger, in the order in which they began. Of
// one that the ledger has lost a part of it takes what stands before that, and says so.
func (r Reader) sessions(ctx context.Context) ([]*workflow.SessionHistory, error) {
	var all []*workflow.SessionHistory
	known := map[string]*workflow.SessionHistory{}
	err := r.Fold(ctx, func(record *schemas.Record) error {
		folded := known[record.Session]
		if folded == nil {
			folded = &workflow.SessionHistory{Session: record.Session}
			known[record.Session] = folded
			all = append(all, folded)
		}
		return folded.Apply(*record)
	})
	return all, err
}

// Fold gives apply every record of the ledger, those of each session in their order. A session whose record it refuses with
// workflow.ErrGrammar has lost a part: that is said, and of it apply gets no more.
func (r Reader) Fold(ctx context.Context, apply func(*schemas.Record) error) error {
	damaged := map[string]bool{}
	for shard := range r.Core.Shards() {
		for message, err := range r.Core.Scan(ctx, bus.ShardStream(shard), 1, fmt.Sprintf("podium.session.%d.*", shard)) {
			if err != nil {
				return err
			}
			record, err := history.ReadRecord(ctx, r.Core, message)
			if err != nil {
				return err
			}
			if damaged[record.Session] {
				continue
			}
			err = apply(&record.Record)
			if errors.Is(err, workflow.ErrGrammar) {
				damaged[record.Session] = true
				_, _ = fmt.Fprintf(r.Warnings, "podium: session %s cannot be read behind record %d, and is shown up to there: %v; podium replay --verify says more\n",
					record.Session, record.Number-1, err)
				err = nil
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// run reads one run; nil when there is none of that number. The error is a QueuedError when a message of that number waits.
func (r Reader) run(ctx context.Context, session string, number int) (*workflow.RunHistory, error) {
	opened, err := history.OpenSession(ctx, r.Core, session)
	if err != nil {
		return nil, err
	}
	excerpt := workflow.Excerpt{Session: session, Number: number}
	for record, err := range opened.Run(ctx, number) {
		if err == nil {
			err = excerpt.Apply(&record.Record)
		}
		if err != nil {
			return nil, err
		}
	}
	if excerpt.Run() == nil && excerpt.Known() {
		return nil, r.queued(ctx, session, number)
	}
	return excerpt.Run(), nil
}

// FoldRun gives apply every record that speaks of a run, in their order.
func (r Reader) FoldRun(ctx context.Context, run *workflow.RunHistory, apply func(*schemas.Record)) error {
	opened, err := history.OpenSession(ctx, r.Core, run.Session)
	if err != nil {
		return err
	}
	for record, err := range opened.Run(ctx, run.Number) {
		if err != nil {
			return err
		}
		apply(&record.Record)
	}
	return nil
}

// Run reads the run that a person names: by its id, or by the beginning of one that no
// other run has, or by what stands for it or its conversation in the log. The error is ErrNoRun or a NameError when that fails.
func (r Reader) Run(ctx context.Context, name string) (*workflow.RunHistory, error) {
	if name == "" {
		return nil, &NameError{"the run's id is empty; `podium runs` lists the ids"}
	}
	if session, number, err := schemas.ParseRunID(name); err == nil {
		run, err := r.run(ctx, session, number)
		if err == nil && run == nil {
			err = noRun(name)
		}
		return run, err
	}
	all, err := r.Runs(ctx)
	if err != nil {
		return nil, err
	}
	begins, verb := func(run *workflow.RunHistory) bool { return strings.HasPrefix(run.ID, name) }, "begin with"
	if strings.HasPrefix(name, keyring.PseudonymPrefix) {
		keys, err := keyring.Existing(ctx, r.Core)
		if err != nil {
			return nil, err
		}
		begins, verb = func(run *workflow.RunHistory) bool {
			return slices.Contains(keys.Pseudonyms(run.ID), name) || slices.Contains(keys.Pseudonyms(run.Session), name)
		}, "are in the conversation"
	}
	found := slices.DeleteFunc(all, func(run *workflow.RunHistory) bool { return !begins(run) })
	switch len(found) {
	case 0:
		return nil, noRun(name)
	case 1:
		return found[0], nil
	}
	ids := make([]string, len(found))
	for i, run := range found {
		ids[i] = run.ID
	}
	return nil, &NameError{fmt.Sprintf("%d runs %s %s; name one in full: %s", len(found), verb, name, listed(ids))}
}

// mostListed bounds the ids that an error lists.
const mostListed = 5

func listed(ids []string) string {
	if len(ids) > mostListed {
		ids = append(slices.Clone(ids[:mostListed]), "…")
	}
	return strings.Join(ids, ", ")
}

// Runs lists every run, the newest first.
func (r Reader) Runs(ctx context.Context) ([]*workflow.RunHistory, error) {
	all, err := r.sessions(ctx)
	if err != nil {
		return nil, err
	}
	var runs []*workflow.RunHistory
	for _, folded := range all {
		for i := range folded.Runs {
			runs = append(runs, &folded.Runs[i])
		}
	}
	slices.SortStableFunc(runs, func(a, b *workflow.RunHistory) int { return b.Started.Compare(a.Started) })
	return runs, nil
}

// Fill reads the words of runs that have no subject and stand elsewhere than in their
// record, as far as a line shows them.
func (r Reader) Fill(ctx context.Context, runs []*workflow.RunHistory) error {
	for _, run := range runs {
		if run.Message.Text.Text != "" || strings.TrimSpace(run.Message.Subject) != "" || run.Message.Text.Sequence == 0 {
			continue
		}
		words, err := r.Words(ctx, run)
		if err != nil {
			return err
		}
		run.Message.Text.Text = head(words)
	}
	return nil
}

// Words returns what a run was asked. Words too large for its record are read from the
// message that brought them.
func (r Reader) Words(ctx context.Context, run *workflow.RunHistory) (string, error) {
	if run.Message.Text.Sequence == 0 {
		return run.Message.Text.Text, nil
	}
	input, err := restore.ReadInput(ctx, r.Core, schemas.ShardOf(run.Session, r.Core.Shards()), run.Message.Text.Sequence)
	if err == nil && input.Read.Message == nil {
		err = errors.New("they are not in a message that starts a run")
	}
	if err != nil {
		return "", fmt.Errorf("the words of run %s: %w", run.ID, err)
	}
	return input.Content.Text, nil
}

// headLength bounds the words that a list tells, in bytes.
const headLength = 4 << 10

func head(text string) string {
	if len(text) <= headLength {
		return text
	}
	return strings.ToValidUTF8(text[:headLength], "")
}
