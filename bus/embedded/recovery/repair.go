package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podium/bus/embedded/filestore"
)

// Repair makes a ledger one that goes on without what it has lost, and returns what that
// is. What it changes is kept as it was beside the ledger. What is lost is noted before
// anything is changed, so that a repair which is cut short is known of, and may be repeated.
// When ctx ends before that, nothing is changed.
func Repair(ctx context.Context, config Config) (losses []Loss, err error) {
	r := &Recovery{config: config, flusher: filestore.NewFlusher(config.Store)}
	if r.marks, _, err = ReadMarks(r.marksFile()); err != nil {
		return nil, err
	}
	if isThere(r.failedFile()) {
		r.marks.Clean = false
	}
	if err = r.readFromDisk(); err != nil {
		return nil, err
	}
	store, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // what is begun is ended
	accepted := r.accept()
	restored, err := r.restoreConsumers(store)
	if err != nil {
		return nil, err
	}
	r.note(restored)
	losses = Judge(store, r.marks)
	for i := range losses {
		losses[i].Accepted, losses[i].Power, losses[i].Promised = true, false, false
	}
	folder := r.note(losses)
	if err = r.marks.Write(r.marksFile()); err != nil {
		return nil, err
	}
	if err = r.repair(ctx, store, losses, folder); err != nil {
		return nil, fmt.Errorf("repair the ledger: %w", err)
	}
	return slices.Concat(restored, losses, accepted), nil
}

// accept accepts what the ledger goes on without already.
func (r *Recovery) accept() (accepted []Loss) {
	for i := range r.marks.Losses {
		if loss := &r.marks.Losses[i]; !loss.Accepted && !loss.Promised {
			loss.Accepted = true
			accepted = append(accepted, *loss)
		}
	}
	return accepted
}

// repair changes the files, and notes how far the streams go now. The next service still
// learns that the last one did not stop in order.
func (r *Recovery) repair(ctx context.Context, store *filestore.Store, losses []Loss, folder string) error {
	_, err := afterCrash(store, r.marks)
	if err = errors.Join(err, goOver(store, losses, folder)); err != nil {
		return err
	}
	r.noted(losses)
	if store, err = r.read(ctx); err != nil {
		return err
	}
	if err = leaveOutTorn(store, folder); err != nil {
		return err
	}
	if store, err = r.read(ctx); err != nil {
		return err
	}
	if err = r.flushAll(); err != nil {
		return err
	}
	for i := range store.Streams {
		if stream := &store.Streams[i]; stream.Bare { // it is made anew, and set as it is then
			mark := r.marks.Streams[stream.Name]
			mark.Settings, mark.Sum = "", ""
			r.marks.Streams[stream.Name] = mark
		}
	}
	r.marks.Crashed = r.marks.Crashed || !r.marks.Clean
	r.marks.Stopped(store, true, time.Now())
	if err = r.marks.rememberConsumers(store); err != nil {
		return err
	}
	if err = r.marks.Write(r.marksFile()); err != nil {
		return err
	}
	return r.forgetFailure()
}
