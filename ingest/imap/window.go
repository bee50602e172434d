package imap

import "context"

const (
	searchWindow  = 50_000  // UIDs that are compared with the ledger at once, at least
	contactWindow = 20_000  // UIDs that are passed over at once, at least
	widestWindow  = 1 << 22 // UIDs of one search at most: so many an answer may list
)

// A window goes over UIDs in stretches, each of which takes one search. Where
// there is little mail the next stretch is twice as wide: some servers number
// mail by the time, and a few messages then lie billions apart.
type window struct {
	from, end   uint64 // what is left; end is beyond it
	size, least uint64
}

func newWindow(from, end, least uint64) *window {
	return &window{from: from, end: end, size: least, least: least}
}

func (w *window) left() uint64 { return max(w.end, w.from) - w.from }

// search returns the messages of the next stretch, and its last UID. There must
// be something left.
func (w *window) search(ctx context.Context, source MailSource) (uids []uint32, last uint32, err error) {
	last = uint32(min(w.from+w.size, w.end) - 1) //nolint:gosec // the end is at most one beyond the last UID
	uids, err = source.Search(ctx, uint32(w.from), last)
	if err != nil {
		return nil, 0, err
	}
	w.from = uint64(last) + 1
	if uint64(len(uids)) < w.least/4 {
		w.size = min(2*w.size, widestWindow)
	} else {
		w.size = w.least
	}
	return uids, last, nil
}
