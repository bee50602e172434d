package recovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"podium/bus/embedded/filestore"
)

// Judge says what a store has lost: what its files show, and what they lack of its
// marks. What was accepted before is not said again. A write that a crash has torn, and
// that nobody was told of, is no loss.
func Judge(store *filestore.Store, marks *Marks) []Loss {
	names := slices.Collect(maps.Keys(marks.Streams))
	for i := range store.Streams {
		names = append(names, store.Streams[i].Name)
	}
	slices.Sort(names)
	var losses []Loss
	for _, name := range slices.Compact(names) {
		mark := marks.Streams[name]
		j := &judgement{name: name, mark: mark, marks: marks}
		if stream := store.Stream(name); stream != nil {
			j.stream(stream)
		} else if mark.Last > 0 {
			j.lose(Loss{Cause: Missing, First: 1, Last: mark.Last, Detail: "its folder is gone"})
		}
		losses = append(losses, j.losses...)
	}
	return losses
}

// known reports whether a gap was gone over before.
func (j *judgement) known(first, last uint64) bool {
	return slices.Contains(j.mark.Gaps, filestore.Gap{First: first, Last: last})
}

// A judgement is on one stream.
type judgement struct {
	name   string
	mark   Mark
	marks  *Marks // Clean says that it was stopped in order
	losses []Loss
}

// bucket is how the streams of buckets are named. Their server keeps the newest value of a
// key only: at the roll of a block it removes the flushed value before the new one is flushed,
// and it writes flushed values again without flushing them.
const bucket = "KV_"

// lose adds a loss. After an unclean stop, what was not flushed by the last marks may be
// gone with the power, and of a bucket any of its values.
func (j *judgement) lose(loss Loss) {
	loss.Stream = j.name
	torn := loss.First != 0 && loss.File != "" || loss.Cause == Shorter
	crashed := !j.marks.Clean && !j.marks.Time.IsZero() // as the marks say; without marks nobody knows
	loss.Power = crashed && (loss.First > j.mark.Flushed || torn && !j.marks.Flushing && strings.HasPrefix(j.name, bucket))
	loss.Promised = loss.Power && !j.marks.Flushing
	j.losses = append(j.losses, loss)
}

func (j *judgement) stream(s *filestore.Stream) {
	if s.Bare && j.marks.Clean && j.mark.Settings != "" {
		j.lose(Loss{Cause: Unset, Detail: "the files of its settings are gone", File: s.Folder})
	}
	if s.Meta != "" && (s.Last > 0 || j.mark.Last > 0) {
		j.lose(Loss{Cause: Unset, Detail: s.Meta, File: s.Folder})
	}
	var last uint64
	var since time.Time
	for i := range s.Blocks {
		block := &s.Blocks[i]
		j.block(s, block, last, since)
		if block.First != 0 {
			last, since = block.Last, time.Unix(0, block.LastTime)
		}
	}
	if s.Last < j.mark.Last {
		j.shorter(s, since)
	}
	j.losses = slices.DeleteFunc(j.losses, func(loss Loss) bool { return j.torn(&loss) })
	if (j.marks.Clean || s.Whole) && len(j.losses) == 0 {
		j.files(s)
	}
}

// block adds what a block has lost, between it and the one before too.
func (j *judgement) block(s *filestore.Stream, block *filestore.Block, last uint64, since time.Time) {
	file := filestore.BlockFile(s.Folder, block.Index)
	begins := len(block.Damages) > 0 && block.Damages[0].After == 0 // with the damage that is said below
	if s.Whole && block.First > last+1 && !begins && !j.continued(last+1, block.First) && !j.known(last+1, block.First-1) {
		j.lose(Loss{Cause: Missing, First: last + 1, Last: block.First - 1, Behind: block.First, Since: since, Detail: "what stood between two others is gone"})
	}
	j.damages(s, block, last, since)
	if !s.Whole {
		return
	}
	for _, gap := range block.Gaps {
		if j.known(gap.First, gap.Last) {
			continue
		}
		j.lose(Loss{Cause: Missing, First: gap.First, Last: gap.Last, Behind: gap.Last + 1, File: file, Since: since, Detail: "what stood between two others is gone"})
	}
}

// damages adds what cannot be read of a block.
func (j *judgement) damages(s *filestore.Stream, block *filestore.Block, last uint64, since time.Time) {
	file := filestore.BlockFile(s.Folder, block.Index)
	for _, damage := range block.Damages {
		loss := Loss{Cause: Damaged, First: max(last, damage.After) + 1, Behind: damage.Before, File: file, Offset: damage.Offset, Detail: damage.Reason, Since: since}
		if damage.Before > 0 {
			loss.Last = damage.Before - 1
		}
		if damage.After > 0 {
			loss.Since = time.Unix(0, damage.AfterTime)
		}
		j.lose(loss)
	}
}

// continued ends a loss at the end of a block, when there is one, where the next block begins.
func (j *judgement) continued(first, behind uint64) bool {
	if len(j.losses) == 0 {
		return false
	}
	open := &j.losses[len(j.losses)-1]
	if open.Cause != Damaged || open.Behind != 0 || open.First > first {
		return false
	}
	open.Last, open.Behind = behind-1, behind
	return true
}

// shorter adds that the stream ends before its mark.
func (j *judgement) shorter(s *filestore.Stream, since time.Time) {
	if at := len(j.losses) - 1; at >= 0 && j.losses[at].Behind == 0 && j.losses[at].Cause == Damaged && j.losses[at].First == s.Last+1 {
		j.losses[at].Last = j.mark.Last
		return
	}
	j.lose(Loss{Cause: Shorter, First: s.Last + 1, Last: j.mark.Last, Since: since, Detail: fmt.Sprintf("it ends at message %d, and %d was there", s.Last, j.mark.Last)})
}

// torn reports what was being written when the process ended: behind it stands nothing,
// and nobody has seen it. In a store that was stopped in order nothing is torn.
func (j *judgement) torn(loss *Loss) bool {
	return !j.marks.Clean && loss.Cause == Damaged && loss.First > j.mark.Last && loss.Last == 0 && loss.Behind == 0 && loss.Offset >= 0 && loss.First != 0
}

// files compares the files with those there were. A stream that lets go of messages has
// other ones by right, but not between a clean stop and the next start; one that does not
// only adds to them.
func (j *judgement) files(s *filestore.Stream) {
	for _, was := range j.mark.Blocks {
		file := filestore.BlockFile(s.Folder, was.Index)
		at := slices.IndexFunc(s.Blocks, func(b filestore.Block) bool { return b.Index == was.Index })
		switch {
		case was.Size == 0: // a server leaves it behind
		case at < 0:
			j.lose(Loss{Cause: Missing, File: file, Detail: "a file is gone"})
		case s.Blocks[at].Size < was.Size:
			j.lose(Loss{Cause: Shorter, File: file, Detail: fmt.Sprintf("a file has %d bytes, and had %d", s.Blocks[at].Size, was.Size)})
		case was.Digest != "" && s.Blocks[at].Before != was.Digest, s.Blocks[at].Size == was.Size && s.Blocks[at].Checksum != was.Checksum:
			j.lose(Loss{Cause: Damaged, File: file, Detail: "a file is another than it was"})
		}
	}
}
