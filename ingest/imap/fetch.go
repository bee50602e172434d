package imap

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"podium/ingest/imap/connection"
)

const (
	batchCount  = 128     // messages described at once
	batchBytes  = 8 << 20 // of messages fetched at once
	largePrefix = 1 << 20 // bytes taken of a message over Config.MaxMessage

	// describedBreaks is how often the connection may end at a message before its
	// bytes are asked for alone: what the server says of it may be what breaks.
	describedBreaks = 3
)

// A batch is messages that are fetched together, and then dealt with together.
type batch struct {
	uids     []uint32            // ascending
	alone    bool                // the one message was asked for alone
	outcomes map[uint32]*outcome // one that is missing was not reached before err
	err      error               // that ended the fetching
}

// An outcome is what became of one message of a batch.
type outcome struct {
	kind      outcomeKind
	reason    string // of outcomeFailed: stable English, for log and ledger
	summary   connection.Summary
	content   *spool
	truncated bool
	canary    time.Time // when the adapter sent it to itself; zero for any other mail
	sender    string    // the address that it names, once it was read
}

type outcomeKind int

const (
	outcomeFetched outcomeKind = iota
	outcomeVanished
	outcomeOld
	outcomeFailed
)

// reached returns the messages before the first that was not reached.
func (b *batch) reached() []uint32 {
	for i, uid := range b.uids {
		if b.outcomes[uid] == nil {
			return b.uids[:i]
		}
	}
	return b.uids
}

// close frees what the messages took.
func (b *batch) close() {
	for _, one := range b.outcomes {
		if one.content != nil {
			_ = one.content.close() // at worst a temporary file stays
		}
	}
}

// size is how many bytes of messages are held.
func (b *batch) size() (bytes int64) {
	for _, one := range b.outcomes {
		if one.content != nil {
			bytes += one.content.size
		}
	}
	return bytes
}

// A fetcher takes messages off the connection. Of the ledger it knows only what
// does not change while it works, so that it may work while the ledger is written.
type fetcher struct {
	source  connection.MailSource
	config  Config
	backlog uint32    // messages below this UID were there before us,
	since   time.Time // and are wanted from then on
	// blind asks for the bytes of a single message without asking what the server
	// says of it.
	blind bool
}

// fetch gets the first of these messages, whose UIDs ascend: as many as fill a
// batch, but at least one.
func (f fetcher) fetch(ctx context.Context, uids []uint32) *batch {
	b := &batch{uids: uids, alone: len(uids) == 1, outcomes: make(map[uint32]*outcome, len(uids))}
	if f.blind && b.alone {
		b.err = f.undescribed(ctx, uids[0], b.outcomes)
		return b
	}
	summaries, err := f.source.Describe(ctx, uids)
	switch {
	case connection.Refused(err) && b.alone:
		b.outcomes[uids[0]] = &outcome{kind: outcomeFailed, reason: problem(err)}
	case connection.Refused(err):
		f.oneByOne(ctx, b)
	case err != nil:
		b.err = err
	default:
		b.err = f.described(ctx, b, summaries)
	}
	return b
}

// oneByOne asks for each message alone, until the batch is full.
func (f fetcher) oneByOne(ctx context.Context, b *batch) {
	for i, uid := range b.uids {
		one := f.fetch(ctx, []uint32{uid})
		maps.Copy(b.outcomes, one.outcomes)
		if b.err = one.err; b.err != nil {
			return
		}
		if b.size() > batchBytes {
			b.uids = b.uids[:i+1]
			return
		}
	}
}

// described gets messages of which the server has told the sizes. A large one is
// a batch of its own, so that what is held at once has a limit.
func (f fetcher) described(ctx context.Context, b *batch, summaries []connection.Summary) error {
	byUID := make(map[uint32]connection.Summary, len(summaries))
	for _, summary := range summaries {
		byUID[summary.UID] = summary
	}
	var small []uint32
	var size int64
	for i, uid := range b.uids {
		summary, known := byUID[uid]
		if !known {
			if err := f.missing(ctx, uid, b.outcomes); err != nil {
				return err
			}
			continue
		}
		if f.tooOld(summary) {
			b.outcomes[uid] = &outcome{kind: outcomeOld, summary: summary}
			continue
		}
		if size += summary.Size; size <= batchBytes {
			small = append(small, uid)
			continue
		}
		if len(small) == 0 {
			b.uids = b.uids[:i+1]
			return f.large(ctx, summary, b.outcomes)
		}
		b.uids = b.uids[:i]
		break
	}
	return f.small(ctx, small, byUID, b.outcomes)
}

// tooOld tells whether mail that was there before us is older than what was
// asked for. Mail of unknown age is not.
func (f fetcher) tooOld(summary connection.Summary) bool {
	return summary.UID < f.backlog && !summary.Received.IsZero() && summary.Received.Before(f.since)
}

// missing decides about a message that the server found and then did not hand
// over: when it does not find it any more, someone has removed it.
func (f fetcher) missing(ctx context.Context, uid uint32, outcomes map[uint32]*outcome) error {
	uids, err := f.source.Search(ctx, uid, uid)
	if err != nil {
		return err
	}
	outcomes[uid] = &outcome{kind: outcomeVanished}
	if slices.Contains(uids, uid) {
		outcomes[uid] = &outcome{kind: outcomeFailed, reason: "the server lists it but does not hand it over"}
	}
	return nil
}

// small fetches several messages with one command. When the server refuses
// it, each is asked for alone.
func (f fetcher) small(ctx context.Context, uids []uint32, byUID map[uint32]connection.Summary, outcomes map[uint32]*outcome) error {
	if len(uids) == 0 {
		return nil
	}
	err := f.source.Fetch(ctx, uids, func(uid uint32, content io.Reader) error {
		if !slices.Contains(uids, uid) || outcomes[uid] != nil {
			_, err := io.Copy(io.Discard, content)
			return err
		}
		one := &outcome{summary: byUID[uid], content: newSpool(f.config.Spool, byUID[uid].Size)}
		n, err := io.Copy(one.content, io.LimitReader(content, f.config.MaxMessage+1))
		if err == nil {
			_, err = io.Copy(io.Discard, content)
		}
		if err != nil {
			return errors.Join(err, one.content.close())
		}
		one.truncated = n > f.config.MaxMessage
		outcomes[uid] = one
		return nil
	})
	if err != nil && !connection.Refused(err) {
		return err
	}
	for _, uid := range uids {
		if outcomes[uid] != nil {
			continue
		}
		switch {
		case connection.Refused(err) && len(uids) == 1:
			outcomes[uid] = &outcome{kind: outcomeFailed, reason: problem(err)}
		case connection.Refused(err):
			if err := f.small(ctx, []uint32{uid}, byUID, outcomes); err != nil {
				return err
			}
		default:
			if err := f.missing(ctx, uid, outcomes); err != nil {
				return err
			}
		}
	}
	return nil
}

// large fetches one message in pieces, and only the beginning of one that is too
// large.
func (f fetcher) large(ctx context.Context, summary connection.Summary, outcomes map[uint32]*outcome) error {
	one, whole, err := f.one(ctx, summary)
	switch {
	case connection.Refused(err):
		outcomes[summary.UID] = &outcome{kind: outcomeFailed, reason: problem(err)}
		return one.content.close()
	case err != nil:
		return errors.Join(err, one.content.close())
	case !whole:
		return errors.Join(f.missing(ctx, summary.UID, outcomes), one.content.close())
	}
	outcomes[summary.UID] = one
	return nil
}

// one fetches as much of a message as is to be taken; whole is false when the server had
// less of it to give. The content is to be closed, whatever came of it.
func (f fetcher) one(ctx context.Context, summary connection.Summary) (one *outcome, whole bool, err error) {
	one = &outcome{summary: summary, content: newSpool(f.config.Spool, summary.Size), truncated: summary.Size > f.config.MaxMessage}
	limit := f.config.MaxMessage
	if one.truncated {
		limit = min(limit, largePrefix)
	}
	err = f.source.FetchLarge(ctx, summary.UID, limit, one.content)
	return one, one.content.size > 0 && (one.truncated || !cutShort(one.content.size, summary.Size)), err
}

// cutShort tells whether a message ended between two pieces, before its size: then
// the server had no more of it to give, since somebody removed it meanwhile. Sizes
// that a server guesses end inside a piece.
func cutShort(size, announced int64) bool { return size < announced && size%connection.ChunkSize == 0 }

// undescribed fetches a message without asking what the server says of it.
func (f fetcher) undescribed(ctx context.Context, uid uint32, outcomes map[uint32]*outcome) error {
	unknown := connection.Summary{UID: uid} // of unknown size and date
	if err := f.large(ctx, unknown, outcomes); err != nil || outcomes[uid] == nil || outcomes[uid].content == nil {
		return err
	}
	one := outcomes[uid]
	one.truncated = one.content.size >= f.config.MaxMessage // or just as large, which nobody knows
	return nil
}
