package recovery

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"podium/bus/embedded/filestore"
)

// mendMeta writes the files anew that describe a stream, where a crash has torn them.
// A stream that holds nothing is removed: it is made again.
func mendMeta(stream *filestore.Stream, mark Mark) error {
	switch {
	case stream.Meta == "":
		return nil
	case mark.Settings != "":
		return filestore.WriteMeta(stream.Folder, mark.Settings, mark.Sum)
	case stream.Whole || stream.Metadata != nil: // its settings can be read
		return filestore.WriteMeta(stream.Folder, stream.Settings, "")
	case stream.Last == 0:
		return os.RemoveAll(stream.Folder)
	default:
		return nil // it is judged
	}
}

// afterCrash makes a store that was not stopped in order one that a server opens without
// guessing. It removes nothing that was written by a client.
func afterCrash(store *filestore.Store, marks *Marks) (consumers []string, err error) {
	for i := range store.Streams {
		stream := &store.Streams[i]
		mended, failed := filestore.MendConsumers(stream.Folder)
		consumers = append(consumers, mended...)
		err = errors.Join(err, failed, mendMeta(stream, marks.Streams[stream.Name]), filestore.RemoveIndex(stream.Folder))
	}
	return consumers, err
}

// goOver makes a store one that goes on without what it has lost. What it changes is kept
// as it was in a folder of its own. A stream that forgets nothing goes back, after a loss of
// power, to the moment before the first message that is missing: what came later builds on it.
func goOver(store *filestore.Store, losses []Loss, aside string, now time.Time) error {
	folder := filepath.Join(aside, now.UTC().Format("20060102T150405.000Z"))
	back := map[string]bool{}
	for i := range losses {
		loss := &losses[i]
		loss.Found = now.UTC()
		stream := store.Stream(loss.Stream)
		if stream == nil {
			continue
		}
		var err error
		switch {
		case stream.Whole && loss.Power && loss.Cause != Shorter:
			if back[loss.Stream] {
				continue // everything behind the first loss is kept aside
			}
			back[loss.Stream] = true
			loss.Kept = filepath.Join(folder, loss.Stream)
			loss.Last = max(stream.Last, loss.Last)
			err = goBack(stream, loss, loss.Kept)
		case loss.Cause == Damaged && loss.First != 0 && loss.File != "":
			loss.Kept = filepath.Join(folder, loss.Stream)
			err = omit(stream, loss, losses)
		}
		if err = errors.Join(err, filestore.RemoveIndex(stream.Folder)); err != nil {
			return err
		}
	}
	return nil
}

// omit leaves what is damaged out of a block, once for all losses there.
func omit(stream *filestore.Stream, loss *Loss, losses []Loss) error {
	index := blockOf(stream, loss.File)
	if err := filestore.Keep(stream.Folder, index, loss.Kept); err != nil {
		return err
	}
	restored, err := filestore.OmitDamage(stream.Folder, index)
	for i := range losses {
		losses[i].Restored = losses[i].Restored || losses[i].File == loss.File && slices.Contains(restored, losses[i].Offset)
	}
	return err
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
