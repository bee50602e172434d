package recovery

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded/filestore"
)

const (
	marksFile   = "high-water.json"
	asideFolder = "aside"
	tellEvery   = 3 * time.Second
)

// Config says where a ledger is.
type Config struct {
	Data  string // directory of the marks and of what is kept aside
	Store string // the server's store directory
	// Flushed says that the server flushes each message before it acknowledges it, in this
	// life.
	Flushed bool
	// AtRest says that no service runs on it in this life: whether the last one stopped in
	// order stays as it is.
	AtRest bool
	Logger zerolog.Logger
}

// A Recovery is one life of a ledger, from before its server starts until after it has
// stopped.
type Recovery struct {
	config  Config
	flusher *filestore.Flusher
	unclean bool

	mu    sync.Mutex
	marks *Marks
}

// A LossError refuses a ledger that has lost something.
type LossError struct {
	Data   string
	Losses []Loss
}

// Error implements error.
func (e *LossError) Error() string {
	lines := make([]string, 0, len(e.Losses))
	for i := range e.Losses {
		if i == 5 {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Losses)-i))
			break
		}
		lines = append(lines, e.Losses[i].String())
	}
	return fmt.Sprintf("the ledger in %s is damaged: %s. Nothing was changed. Restore the directory from a backup, "+
		"or go on without what is lost: podium ledger repair --data %s", e.Data, strings.Join(lines, "; "), e.Data)
}

// Begin looks at a ledger, makes it ready for a server, and marks it as in use. It is a
// *LossError, and nothing is changed, when something is lost that no loss of power explains.
func Begin(config Config) (*Recovery, error) {
	r := &Recovery{config: config, flusher: filestore.NewFlusher(config.Store)}
	var found bool
	var err error
	if r.marks, found, err = ReadMarks(r.marksFile()); err != nil {
		return nil, err
	}
	r.unclean = found && (!r.marks.Clean || r.marks.Crashed)
	store, err := r.read()
	if err != nil {
		return nil, err
	}
	if r.unclean || !found && len(store.Streams) > 0 {
		if store, err = r.afterCrash(store); err != nil {
			return nil, err
		}
	}
	losses := Judge(store, r.marks)
	if slices.ContainsFunc(losses, func(loss Loss) bool { return !loss.Power }) {
		return nil, &LossError{Data: config.Data, Losses: losses}
	}
	if len(losses) > 0 {
		if err = r.goOver(store, losses); err == nil {
			store, err = r.read()
		}
	}
	if err != nil {
		return nil, err
	}
	return r, r.use(store)
}

func (r *Recovery) marksFile() string { return filepath.Join(r.config.Data, marksFile) }

// read reads the whole ledger, and says so when that takes a while.
func (r *Recovery) read() (*filestore.Store, error) {
	var read int64
	told := time.Now()
	return filestore.Read(r.config.Store, r.marks.size, func(bytes int64) {
		if read += bytes; time.Since(told) > tellEvery {
			told = time.Now()
			r.config.Logger.Info().Int64("bytes", read).Msg("reading the ledger's files for damage")
		}
	})
}

// afterCrash makes a ledger ready that was not stopped in order.
func (r *Recovery) afterCrash(store *filestore.Store) (*filestore.Store, error) {
	if losses := Judge(store, r.marks); slices.ContainsFunc(losses, func(loss Loss) bool { return !loss.Power && loss.First != 0 }) {
		return store, nil // it will be refused, and is left as it is
	}
	consumers, err := afterCrash(store, r.marks)
	if len(consumers) > 0 {
		r.config.Logger.Warn().Int("consumers", len(consumers)).Msg("what some agents had taken could not be read after the last stop, which was not in order; their requests are handed out again")
	}
	if err != nil {
		return nil, fmt.Errorf("make the ledger ready after a stop that was not in order: %w", err)
	}
	for i := range store.Streams {
		if store.Streams[i].Meta != "" {
			return r.read() // its settings are there again, or the stream is gone
		}
	}
	return store, nil
}

// goOver goes on without what a loss of power has taken.
func (r *Recovery) goOver(store *filestore.Store, losses []Loss) error {
	now := time.Now()
	if err := goOver(store, losses, filepath.Join(r.config.Data, asideFolder), now); err != nil {
		return fmt.Errorf("go on without what is lost: %w", err)
	}
	for i := range losses {
		r.config.Logger.Error().Str("stream", losses[i].Stream).Uint64("first", losses[i].First).Uint64("messages", losses[i].Messages()).
			Str("kept", losses[i].Kept).Msg("the ledger has lost messages with the power")
		delete(r.marks.Streams, losses[i].Stream)
	}
	r.marks.Losses = append(r.marks.Losses, losses...)
	return nil
}

// use marks a ledger as in use, once everything of it is on the disk: from here on a stop
// is unclean until Stopped is called.
func (r *Recovery) use(store *filestore.Store) error {
	if err := os.MkdirAll(r.config.Store, 0o700); err != nil {
		return err
	}
	if err := r.flusher.All(); err != nil {
		return err
	}
	r.marks.Clean, r.marks.Crashed, r.marks.Flushing, r.marks.Time = false, r.unclean, r.config.Flushed, time.Now().UTC()
	r.marks.hold(store)
	return r.marks.Write(r.marksFile())
}

// Flusher flushes the ledger's files.
func (r *Recovery) Flusher() *filestore.Flusher { return r.flusher }

// Unclean reports whether the last stop was not in order.
func (r *Recovery) Unclean() bool { return r.unclean }

// Losses returns what the ledger has lost over its life, as far as it was seen.
func (r *Recovery) Losses() []Loss {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.marks.Losses)
}

// Mark notes how far the streams go, by name. Those that are flushed survive a loss of
// power.
func (r *Recovery) Mark(last map[string]uint64, flushed bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := false
	for name, sequence := range last {
		mark := r.marks.Streams[name]
		before := mark
		mark.Last = max(mark.Last, sequence)
		if flushed || r.config.Flushed {
			mark.Flushed = max(mark.Flushed, sequence)
		}
		if mark.Last != before.Last || mark.Flushed != before.Flushed {
			changed, r.marks.Streams[name] = true, mark
		}
	}
	if !changed {
		return nil
	}
	r.marks.Time = time.Now().UTC()
	return r.marks.Write(r.marksFile())
}

// Stopped marks a clean stop, once the server has ended: everything is on the disk.
func (r *Recovery) Stopped() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.flusher.All(); err != nil {
		return err
	}
	store, err := filestore.ReadEnds(r.config.Store)
	if err != nil {
		return err
	}
	r.marks.Crashed = r.config.AtRest && r.unclean
	r.marks.Stopped(store, time.Now())
	return r.marks.Write(r.marksFile())
}

// Look says what a ledger has lost, and changes nothing: what is new, and what was gone
// over before.
func Look(config Config) (store *filestore.Store, found, known []Loss, err error) {
	r := &Recovery{config: config}
	var marked bool
	if r.marks, marked, err = ReadMarks(r.marksFile()); err != nil {
		return nil, nil, nil, err
	}
	if store, err = r.read(); err != nil {
		return nil, nil, nil, err
	}
	found = Judge(store, r.marks)
	if marked && !r.marks.Clean {
		found = slices.DeleteFunc(found, func(loss Loss) bool { return loss.First == 0 }) // the next start mends it
	}
	return store, found, r.marks.Losses, nil
}

// NotStarted gives a ledger back on which no server was started: how it was stopped
// before counts.
func (r *Recovery) NotStarted() error {
	if r.unclean {
		return nil
	}
	return r.Stopped()
}

// Repair makes a ledger one that goes on without what it has lost, and returns what that
// is. What it changes is kept as it was beside the ledger.
func Repair(config Config) (losses []Loss, err error) {
	r := &Recovery{config: config, flusher: filestore.NewFlusher(config.Store)}
	if r.marks, _, err = ReadMarks(r.marksFile()); err != nil {
		return nil, err
	}
	store, err := r.read()
	if err != nil {
		return nil, err
	}
	for i := range store.Streams {
		err = errors.Join(err, mendMeta(&store.Streams[i], r.marks.Streams[store.Streams[i].Name]))
	}
	losses = Judge(store, r.marks)
	for i := range losses {
		losses[i].Accepted, losses[i].Power, losses[i].Promised = true, false, false
	}
	if err = errors.Join(err, goOver(store, losses, filepath.Join(config.Data, asideFolder), time.Now())); err != nil {
		return nil, fmt.Errorf("repair the ledger: %w", err)
	}
	for i := range r.marks.Losses {
		if !r.marks.Losses[i].Accepted && !r.marks.Losses[i].Promised {
			r.marks.Losses[i].Accepted = true
			losses = append(losses, r.marks.Losses[i])
		}
	}
	return losses, r.repaired(losses)
}

// repaired notes what was accepted, and how far the streams go now. Whether the last stop
// was in order stays as it was.
func (r *Recovery) repaired(losses []Loss) error {
	store, err := r.read()
	if err != nil {
		return err
	}
	for _, loss := range losses {
		if !slices.Contains(r.marks.Losses, loss) {
			r.marks.Losses = append(r.marks.Losses, loss)
		}
		delete(r.marks.Streams, loss.Stream)
	}
	r.marks.Crashed = r.marks.Crashed || !r.marks.Clean
	if err = r.flusher.All(); err != nil {
		return err
	}
	r.marks.Stopped(store, time.Now())
	return r.marks.Write(r.marksFile())
}

// Known returns what was lost and gone over in the ledger of a data directory, whether a
// service runs on it or not.
func Known(data string) ([]Loss, error) {
	marks, _, err := ReadMarks(filepath.Join(data, marksFile))
	if err != nil {
		return nil, err
	}
	return marks.Losses, nil
}

// Marked reports whether there was a ledger in a data directory, even if it is gone.
func Marked(data string) bool {
	_, err := os.Stat(filepath.Join(data, marksFile))
	return err == nil
}
