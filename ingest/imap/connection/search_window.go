package connection

import "context"

// SearchWindow is how many UIDs are compared with a ledger at once, at least.
const SearchWindow = 50_000

const widestWindow = 1 << 22 // UIDs of one search at most: so many an answer may list

// A Window goes over UIDs in stretches, each of which takes one search. Where
// there is little mail the next stretch is twice as wide: some servers number
// mail by the time, and a few messages then lie billions apart.
type Window struct {
	from, end   uint64 // what is left; end is beyond it
	Size, least uint64
}

// NewWindow goes from one UID to before another; a stretch is least wide, or more.
func NewWindow(from, end, least uint64) *Window {
	return &Window{from: from, end: end, Size: least, least: least}
}

// Left is how many UIDs there are still to go over.
func (w *Window) Left() uint64 { return max(w.end, w.from) - w.from }

// Search returns the messages of the next stretch, and its last UID. There must
// be something left.
func (w *Window) Search(ctx context.Context, source MailSource) (uids []uint32, last uint32, err error) {
	last = uint32(min(w.from+w.Size, w.end) - 1) //nolint:gosec // the end is at most one beyond the last UID
	uids, err = source.Search(ctx, uint32(w.from), last)
	if err != nil {
		return nil, 0, err
	}
	w.from = uint64(last) + 1
	if uint64(len(uids)) < w.least/4 {
		w.Size = min(2*w.Size, widestWindow)
	} else {
		w.Size = w.least
	}
	return uids, last, nil
}
