package taskplan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"podium/bus"
	"podium/bus/embedded/wholefile"
	"podium/bus/history"
	"podium/cmd/podium/runlog"
	"podium/schemas"
)

// keepEvery is after how many records that are about no plan the place is kept all the same.
const keepEvery = 1000

// A Follower writes the plans of one shard's runs, from where it was before.
type Follower struct {
	Core    bus.Core
	Shard   int
	Folders Folders
	Data    string // the directory of the ledger's data, where the place is kept
}

// A place is how far a follower is, and which runs of before go on.
type place struct {
	Next uint64   `json:"next"` // the sequence of the next message
	Open []string `json:"open,omitempty"`
}

// Run writes until ctx ends, or until a file cannot be written or a record be read. What it has not written it writes at the next call.
func (f *Follower) Run(ctx context.Context) error {
	at, err := f.load(ctx)
	if err != nil {
		return err
	}
	reader := runlog.Reader{Core: f.Core, Warnings: io.Discard}
	unkept := 0
	for record, err := range history.FollowShard(ctx, f.Core, f.Shard, at.Next) {
		if err != nil {
			if ctx.Err() != nil {
				return f.keep(at)
			}
			return errors.Join(err, f.keep(at))
		}
		wrote := false
		for _, run := range at.take(&record.Record) {
			if err = f.write(ctx, reader, run, &at); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
			wrote = true
		}
		at.Next = record.Sequence + 1
		if unkept++; wrote || unkept >= keepEvery {
			if err = f.keep(at); err != nil {
				return err
			}
			unkept = 0
		}
	}
	return nil
}

// take returns the runs with a plan that a record is about, each once, and notes those that begin to have one.
func (p *place) take(record *schemas.Record) (runs []string) {
	for fact := range record.AllFacts() {
		number := schemas.RunOf(fact)
		if number == 0 {
			continue
		}
		id := schemas.RunID(record.Session, number)
		if made, is := fact.(*schemas.PlanCreated); is && planned(made.Source) && !slices.Contains(p.Open, id) {
			p.Open = append(p.Open, id)
		}
		if slices.Contains(p.Open, id) && !slices.Contains(runs, id) {
			runs = append(runs, id)
		}
	}
	return runs
}

// write brings the file of one run up to date. A run of a profile whose plans are not written, and one that has ended, is not looked at any more.
func (f *Follower) write(ctx context.Context, reader runlog.Reader, id string, at *place) error {
	run, err := reader.Run(ctx, id)
	if err != nil {
		return fmt.Errorf("the plan of run %s: %w", id, err)
	}
	folder, kept := f.Folders[run.Profile]
	if kept {
		if _, err = Write(ctx, reader, run, folder); err != nil {
			return fmt.Errorf("the plan of run %s: %w", id, err)
		}
	}
	if !kept || !run.Settled.IsZero() {
		at.Open = slices.DeleteFunc(at.Open, func(open string) bool { return open == id })
	}
	return nil
}

func (f *Follower) file() string {
	return filepath.Join(f.Data, folderName, fmt.Sprintf("shard-%d.json", f.Shard))
}

// load reads how far it was. Without a place, and with one that lies behind the end of the ledger, it begins with the first record.
func (f *Follower) load(ctx context.Context) (at place, err error) {
	body, err := os.ReadFile(f.file())
	if errors.Is(err, fs.ErrNotExist) {
		return place{Next: 1}, nil
	}
	if err != nil {
		return at, err
	}
	if err = json.Unmarshal(body, &at); err != nil {
		return place{Next: 1}, nil //nolint:nilerr // what it has written is written again
	}
	state, err := f.Core.State(ctx, bus.ShardStream(f.Shard))
	if err != nil {
		return at, err
	}
	if at.Next > state.Last+1 {
		return place{Next: 1}, nil
	}
	return at, nil
}

func (f *Follower) keep(at place) error {
	body, err := json.Marshal(at)
	if err != nil {
		return err
	}
	return wholefile.Replace(f.file(), body)
}
