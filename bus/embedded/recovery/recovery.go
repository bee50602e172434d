package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded/filestore"
	"podium/bus/embedded/wholefile"
)

// MarksFile is where a data directory keeps the marks.
const MarksFile = "high-water.json"

const (
	asideFolder = "aside"
	failedFile  = "failed" // is in the data directory once its disk has failed
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
// When ctx ends while the ledger is read for the first time, nothing is changed either.
func Begin(ctx context.Context, config Config) (*Recovery, error) {
	r := &Recovery{config: config, flusher: filestore.NewFlusher(config.Store)}
	var found bool
	var err error
	if r.marks, found, err = ReadMarks(r.marksFile()); err != nil {
		return nil, err
	}
	if isThere(r.failedFile()) {
		r.marks.Clean = false
	}
	r.unclean = found && (!r.marks.Clean || r.marks.Crashed)
	if err = r.readFromDisk(); err != nil {
		return nil, err
	}
	store, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // what is begun is ended
	if r.unclean || !found && len(store.Streams) > 0 {
		if store, err = r.afterCrash(ctx, store); err != nil {
			return nil, err
		}
	}
	losses := Judge(store, r.marks)
	if slices.ContainsFunc(losses, func(loss Loss) bool { return !loss.Power }) {
		return nil, &LossError{Data: config.Data, Losses: losses}
	}
	if len(losses) > 0 {
		if err = r.goOver(store, losses); err == nil {
			store, err = r.read(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	restored, err := r.restoreConsumers(store)
	if err != nil {
		return nil, err
	}
	if len(restored) > 0 {
		r.note(restored)
		config.Logger.Warn().Int("consumers", len(restored)).Msg("what some agents had taken was damaged since the last stop, and is restored as it was")
	}
	if err = r.use(store); err != nil {
		return nil, err
	}
	return r, r.forgetFailure()
}

// forgetFailure is for a ledger that was read from its disk and flushed.
func (r *Recovery) forgetFailure() error {
	if err := os.Remove(r.failedFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the note that the ledger's disk has failed: %w", err)
	}
	return nil
}

// readFromDisk makes sure that what is read and judged next is on the disk, unless the ledger was
// stopped in order: everything was flushed then.
func (r *Recovery) readFromDisk() error {
	if r.marks.Clean {
		return nil
	}
	return filestore.ReadFromDisk(r.config.Store, r.marksFile())
}

// Fail ends the life of a ledger whose disk did not keep what was written: nothing is flushed or marked
// any more, and the next start reads the disk. A file says so, if the disk takes it.
func (r *Recovery) Fail(reason error) {
	if r.flusher.Failed() != nil && isThere(r.failedFile()) {
		return
	}
	r.flusher.Fail(reason)
	content := time.Now().UTC().Format(time.RFC3339) + " " + reason.Error() + "\n"
	if err := wholefile.Replace(r.failedFile(), []byte(content)); err != nil {
		r.config.Logger.Warn().Err(err).Msg("that the ledger's disk has failed cannot be noted there; the next start sees that the stop was not in order")
	}
}

// flushAll flushes everything; an error ends the ledger's life.
func (r *Recovery) flushAll() error {
	err := r.flusher.All()
	if err != nil {
		r.Fail(err)
	}
	return err
}

func isThere(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

func (r *Recovery) failedFile() string { return filepath.Join(r.config.Data, failedFile) }

func (r *Recovery) marksFile() string { return filepath.Join(r.config.Data, MarksFile) }

// read reads the whole ledger, and says so when that takes a while.
func (r *Recovery) read(ctx context.Context) (*filestore.Store, error) {
	var read int64
	told := time.Now()
	return filestore.Read(ctx, r.config.Store, r.marks.size, func(bytes int64) {
		if read += bytes; time.Since(told) > tellEvery {
			told = time.Now()
			r.config.Logger.Info().Int64("bytes", read).Msg("reading the ledger's files for damage")
		}
	})
}

// afterCrash makes a ledger ready that was not stopped in order.
func (r *Recovery) afterCrash(ctx context.Context, store *filestore.Store) (*filestore.Store, error) {
	if losses := Judge(store, r.marks); slices.ContainsFunc(losses, func(loss Loss) bool { return !loss.Power && loss.Cause != Unset }) {
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
		if store.Streams[i].Meta != "" || store.Streams[i].Bare {
			return r.read(ctx) // its settings are there again, or the stream is gone
		}
	}
	return store, nil
}

// goOver goes on without what a loss of power has taken. It is noted before it is done: a
// process that ends in between leaves a ledger of which it is known.
func (r *Recovery) goOver(store *filestore.Store, losses []Loss) error {
	folder := r.note(losses)
	if err := r.marks.Write(r.marksFile()); err != nil {
		return err
	}
	if err := goOver(store, losses, folder); err != nil {
		return fmt.Errorf("go on without what is lost: %w", err)
	}
	r.noted(losses)
	for i := range losses {
		r.config.Logger.Error().Str("stream", losses[i].Stream).Uint64("first", losses[i].First).Uint64("messages", losses[i].Messages()).
			Bool("restored", losses[i].Restored).Str("kept", losses[i].Kept).Msg("the ledger has lost messages at a stop that was not in order")
	}
	return nil
}

// note adds losses to those of the ledger's life, and names the folder for what is kept.
func (r *Recovery) note(losses []Loss) (folder string) {
	now := time.Now().UTC()
	for i := range losses {
		losses[i].Found = now
	}
	r.marks.Losses = append(r.marks.Losses, losses...)
	return filepath.Join(r.config.Data, asideFolder, now.Format("20060102T150405.000Z"))
}

// noted says what has become of the newest losses. How far their streams go is seen anew.
func (r *Recovery) noted(losses []Loss) {
	copy(r.marks.Losses[len(r.marks.Losses)-len(losses):], losses)
	for _, loss := range losses {
		mark := r.marks.Streams[loss.Stream]
		r.marks.Streams[loss.Stream] = Mark{Settings: mark.Settings, Sum: mark.Sum}
	}
}

// use marks a ledger as in use, once everything of it is on the disk: from here on a stop
// is unclean until Stopped is called.
func (r *Recovery) use(store *filestore.Store) error {
	if err := os.MkdirAll(r.config.Store, 0o700); err != nil {
		return err
	}
	if err := r.flushAll(); err != nil {
		return err
	}
	r.marks.Clean, r.marks.Crashed, r.marks.Flushing, r.marks.Time = false, r.unclean, r.config.Flushed, time.Now().UTC()
	r.marks.hold(store, true)
	return r.marks.Write(r.marksFile())
}

// Settle notes how the streams are set, once they are made: files that a crash tears are
// written anew from that.
func (r *Recovery) Settle() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	streams, err := filestore.ReadMeta(r.config.Store)
	if err != nil {
		return err
	}
	changed := false
	for i := range streams {
		mark := r.marks.Streams[streams[i].Name]
		if streams[i].Meta != "" || mark.Settings == streams[i].Settings {
			continue
		}
		mark.Settings, mark.Sum = streams[i].Settings, streams[i].Sum
		changed, r.marks.Streams[streams[i].Name] = true, mark
	}
	if !changed {
		return nil
	}
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
	if r.flusher.Failed() != nil {
		return nil // what the server says of its files is not believed any more
	}
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

// Stopped marks a clean stop, once the server has ended: everything is on the disk. Last is
// how far the streams went by the server's word, nil when it was not asked. It is a
// *LossError, and the stop counts as none in order, when the files end before that.
func (r *Recovery) Stopped(last map[string]uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.flushAll(); err != nil {
		return err
	}
	store, err := filestore.ReadEnds(r.config.Store)
	if err != nil {
		return err
	}
	if losses := r.short(store, last); len(losses) > 0 {
		return errors.Join(&LossError{Data: r.config.Data, Losses: losses}, r.marks.Write(r.marksFile()))
	}
	r.marks.Crashed = r.config.AtRest && r.unclean
	r.marks.Stopped(store, false, time.Now())
	if err = r.marks.rememberConsumers(store); err != nil {
		return err
	}
	return r.marks.Write(r.marksFile())
}

// Remember notes how far the streams go by the word of a server that is about to stop. What of it is
// on the disk, a flush alone says. It writes nothing, since the disk may be full.
func (r *Recovery) Remember(last map[string]uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remember(last)
}

func (r *Recovery) remember(last map[string]uint64) {
	for name, sequence := range last {
		mark := r.marks.Streams[name]
		mark.Last = max(mark.Last, sequence)
		r.marks.Streams[name] = mark
	}
}

// short says which streams end before they did, or hold damage where they were read.
func (r *Recovery) short(store *filestore.Store, last map[string]uint64) (losses []Loss) {
	r.remember(last)
	for _, name := range slices.Sorted(maps.Keys(r.marks.Streams)) {
		mark, end := r.marks.Streams[name], uint64(0)
		if stream := store.Stream(name); stream != nil {
			end = stream.Last
		}
		if end < mark.Last {
			losses = append(losses, Loss{Stream: name, Cause: Shorter, First: end + 1, Last: mark.Last, Detail: "it went while the server ran"})
		}
	}
	for i := range store.Streams {
		j := &judgement{name: store.Streams[i].Name, mark: r.marks.Streams[store.Streams[i].Name], marks: r.marks}
		for k := range store.Streams[i].Blocks {
			j.damages(&store.Streams[i], &store.Streams[i].Blocks[k], 0, time.Time{})
		}
		losses = append(losses, j.losses...)
	}
	return losses
}

// Look says what a ledger has lost, and changes nothing: what is new, and what was gone
// over before.
func Look(ctx context.Context, config Config) (store *filestore.Store, found, known []Loss, err error) {
	r := &Recovery{config: config}
	var marked bool
	if r.marks, marked, err = ReadMarks(r.marksFile()); err != nil {
		return nil, nil, nil, err
	}
	if isThere(r.failedFile()) {
		r.marks.Clean = false
	}
	if err = r.readFromDisk(); err != nil {
		return nil, nil, nil, err
	}
	if store, err = r.read(ctx); err != nil {
		return nil, nil, nil, err
	}
	consumers, err := r.changedConsumers(store)
	if err != nil {
		return nil, nil, nil, err
	}
	found = append(Judge(store, r.marks), consumers...)
	if marked && !r.marks.Clean {
		found = slices.DeleteFunc(found, func(loss Loss) bool { return loss.Cause == Unset }) // the next start mends it
	}
	return store, found, r.marks.Losses, nil
}

// NotStarted gives a ledger back on which no server was started: how it was stopped
// before counts.
func (r *Recovery) NotStarted() error {
	if r.unclean {
		return nil
	}
	return r.Stopped(nil)
}

// Known returns what was lost and gone over in the ledger of a data directory, whether a
// service runs on it or not.
func Known(data string) ([]Loss, error) {
	marks, _, err := ReadMarks(filepath.Join(data, MarksFile))
	if err != nil {
		return nil, err
	}
	return marks.Losses, nil
}

// Marked reports whether there was a ledger in a data directory, even if it is gone.
func Marked(data string) bool {
	_, err := os.Stat(filepath.Join(data, MarksFile))
	return err == nil
}
