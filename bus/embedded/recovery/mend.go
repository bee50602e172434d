package recovery

// What is done to the files after a crash and by a repair; judge.go says what has to be.

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"podium/bus/embedded/filestore"
)

// mendMeta writes the files anew that describe a stream, where they are torn or gone. A
// stream of which nobody knows them is made anew when the ledger is opened: with its
// messages, if it has any.
func mendMeta(stream *filestore.Stream, mark Mark) error {
	switch {
	case stream.Meta == "" && !(stream.Bare && mark.Settings != ""):
		return nil
	case mark.Settings != "":
		return filestore.WriteMeta(stream.Folder, mark.Settings, mark.Sum)
	case stream.Whole || stream.Metadata != nil: // its settings can be read
		return filestore.WriteMeta(stream.Folder, stream.Settings, "")
	case stream.Last == 0:
		return os.RemoveAll(stream.Folder)
	default:
		return filestore.RemoveMeta(stream.Folder)
	}
}

// afterCrash makes a store that was not stopped in order one that a server opens without
// guessing. It removes nothing that was written by a client.
func afterCrash(store *filestore.Store, marks *Marks) (consumers []string, err error) {
	for i := range store.Streams {
		stream := &store.Streams[i]
		mended, failed := filestore.MendConsumers(stream.Folder)
		consumers = append(consumers, mended...)
		for _, was := range marks.Streams[stream.Name].Consumers {
			if slices.Contains(mended, was.Name) { // what it had taken by then is not handed out again
				failed = errors.Join(failed, filestore.RestoreConsumer(stream.Folder, was))
			}
		}
		err = errors.Join(err, failed, mendMeta(stream, marks.Streams[stream.Name]), filestore.RemoveIndex(stream.Folder))
	}
	return consumers, err
}

// goOver makes a store one that goes on without what it has lost, but for flipped bits,
// which it flips back. What it changes is kept as it was in a folder of its own. A stream
// that forgets nothing goes back, after a loss of power, to the moment before the first message
// that is missing: what came later builds on it.
func goOver(store *filestore.Store, losses []Loss, folder string) error {
	back := map[string]bool{}
	for i := range losses {
		loss := &losses[i]
		stream := store.Stream(loss.Stream)
		if stream == nil {
			continue
		}
		inBlock := loss.Cause == Damaged && loss.First != 0 && loss.File != ""
		if inBlock && loss.Kept == "" {
			if err := flipBack(stream, loss, losses, filepath.Join(folder, loss.Stream)); err != nil {
				return err
			}
		}
		var err error
		switch {
		case loss.Restored || back[loss.Stream]: // everything behind the first loss is kept aside
		case stream.Whole && loss.Power && loss.Cause != Shorter:
			back[loss.Stream] = true
			loss.Kept = filepath.Join(folder, loss.Stream)
			loss.Last = max(stream.Last, loss.Last)
			err = goBack(stream, loss, loss.Kept)
		case inBlock:
			err = filestore.OmitDamage(stream.Folder, blockOf(stream, loss.File))
		}
		if err = errors.Join(err, filestore.RemoveIndex(stream.Folder)); err != nil {
			return err
		}
	}
	return nil
}

// flipBack keeps a block aside, and restores there what one flipped bit has damaged.
func flipBack(stream *filestore.Stream, loss *Loss, losses []Loss, aside string) error {
	index := blockOf(stream, loss.File)
	if err := filestore.Keep(stream.Folder, index, aside); err != nil {
		return err
	}
	restored, err := filestore.FlipBack(stream.Folder, index)
	for i := range losses {
		if losses[i].File == loss.File {
			losses[i].Kept, losses[i].Restored = aside, slices.Contains(restored, losses[i].Offset)
		}
	}
	return err
}

// leaveOutTorn leaves out what was being written when a process ended, so that a store counts
// as one that was stopped in order.
func leaveOutTorn(store *filestore.Store, folder string) error {
	for i := range store.Streams {
		stream := &store.Streams[i]
		for _, block := range stream.Blocks {
			if len(block.Damages) == 0 {
				continue
			}
			if err := filestore.Keep(stream.Folder, block.Index, filepath.Join(folder, stream.Name)); err != nil {
				return err
			}
			if err := filestore.OmitDamage(stream.Folder, block.Index); err != nil {
				return err
			}
		}
	}
	return nil
}

// goBack ends a stream before a loss.
func goBack(stream *filestore.Stream, loss *Loss, aside string) error {
	for i := range stream.Blocks {
		block := &stream.Blocks[i]
		if block.Last != 0 && block.Last < loss.First && filestore.BlockFile(stream.Folder, block.Index) != loss.File {
			continue
		}
		if err := filestore.Keep(stream.Folder, block.Index, aside); err != nil {
			return err
		}
		var err error
		if block.First != 0 && block.First < loss.First || loss.Cause == Damaged && filestore.BlockFile(stream.Folder, block.Index) == loss.File {
			err = filestore.CutBehind(stream.Folder, block.Index, loss.First)
		} else {
			err = filestore.RemoveBlock(stream.Folder, block.Index)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func blockOf(stream *filestore.Stream, file string) uint32 {
	for i := range stream.Blocks {
		if filestore.BlockFile(stream.Folder, stream.Blocks[i].Index) == file {
			return stream.Blocks[i].Index
		}
	}
	return 0
}
