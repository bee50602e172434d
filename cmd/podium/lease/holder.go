package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"podium/bus"
)

// key is that of the ledger's lease in bus.LeaseBucket. Those of resources are
// hashes.
const key = "ledger"

// A Holder is a process that has the lease, or wants it.
type Holder struct {
	ID    string    `json:"id"` // of this start of the process
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Data  string    `json:"data"` // its data directory
	Since time.Time `json:"since"`
	// Place names the data directory for as long as the machine runs: the same
	// place cannot be held twice. Empty where the system does not tell.
	Place string `json:"place,omitzero"`
	// Renewed is when it last gave a sign of life, by its own clock: for people.
	Renewed time.Time `json:"renewed"`
	// Released says that it has given the lease back.
	Released bool `json:"released,omitzero"`
}

// Myself describes this process. The lock is the file by which it holds its data
// directory.
func Myself(data, lock string) Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return Holder{ID: uuid.NewString(), PID: os.Getpid(), Host: host, Data: data, Since: time.Now().UTC().Truncate(time.Second), Place: placeOf(lock)}
}

// String names the holder for people.
func (h Holder) String() string {
	return fmt.Sprintf("process %d on %s, with its data in %s, since %s", h.PID, h.Host, h.Data, h.Since.Local().Format(time.DateTime))
}

// free reports whether a process may take what this one holds without watching it.
func (h Holder) free(by Holder) bool {
	return h.Released || h.Place != "" && h.Place == by.Place
}

// Find returns who has the lease, and whether it has given a sign of life lately.
// It is for people: it compares clocks.
func Find(ctx context.Context, store bus.KeyValue) (holder Holder, lives bool, err error) {
	holder, _, err = read(ctx, store)
	return holder, err == nil && !holder.Released && time.Since(holder.Renewed) < 2*Time, err
}

// read returns the lease and its revision. One that there is not is free, at revision 0.
func read(ctx context.Context, store bus.KeyValue) (holder Holder, revision uint64, err error) {
	value, revision, err := store.Get(ctx, key)
	if errors.Is(err, bus.ErrNotFound) {
		return Holder{Released: true}, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(value, &holder)
	}
	if err != nil {
		return holder, 0, fmt.Errorf("read the lease of the ledger: %w", err)
	}
	return holder, revision, nil
}

func write(ctx context.Context, store bus.KeyValue, holder Holder, revision uint64) (uint64, error) {
	holder.Renewed = time.Now().UTC().Truncate(time.Millisecond)
	value, err := json.Marshal(holder)
	if err != nil {
		return 0, err
	}
	if revision, err = store.Update(ctx, key, value, revision); err != nil {
		return 0, fmt.Errorf("write the lease of the ledger: %w", err)
	}
	return revision, nil
}

// A HeldError reports that another process works on the ledger.
type HeldError struct{ Holder Holder }

func (e *HeldError) Error() string {
	return fmt.Sprintf("the ledger is held by %s; one process works on a ledger at a time: stop that one first, or use a ledger of its own", e.Holder)
}

// A LostError reports that another process has taken the lease over.
type LostError struct{ Holder Holder }

func (e *LostError) Error() string {
	return fmt.Sprintf("the ledger was taken over by %s, because this process gave no sign of life for %s; it stops, and the other one goes on with what was under way",
		e.Holder, Time)
}
