package imap

import (
	"context"
	"errors"

	"podium/ingest/imap/mailbox"
)

// ingestAll deals with messages in batches, whose UIDs ascend. While one is dealt
// with the next is fetched, unless a connection has ended among several messages.
// It returns false when it has stopped because too many wait for another try.
func (s *session) ingestAll(ctx context.Context, uids []uint32) (all bool, err error) {
	s.reportLag(len(uids))
	for len(uids) > 0 {
		size := s.room(len(uids), 0)
		if size == 0 {
			return false, nil
		}
		if uids, err = s.ingestBatches(ctx, s.fetch(ctx, uids[:size]), uids); err != nil {
			return false, err
		}
	}
	s.adapter.singly = false
	return true, nil
}

// ingestBatches deals with a batch that is on its way, and with those after it as long
// as it can look ahead. It returns what is left.
func (s *session) ingestBatches(ctx context.Context, under *fetching, uids []uint32) (left []uint32, err error) {
	for under != nil {
		current := under.wait()
		uids, under = uids[len(current.uids):], nil
		if size := s.room(len(uids), len(current.uids)); size > 0 && current.err == nil && !s.adapter.singly {
			under = s.fetch(ctx, uids[:size])
		}
		if err := s.finish(ctx, current); err != nil {
			under.abandon()
			return nil, err
		}
		s.reportLag(len(uids))
		// The connection is free again when the next batch is here. Should it have ended,
		// what that batch has is dealt with all the same, and the marks wait.
		if next := under.wait(); next == nil || next.err == nil {
			if err := s.flagProcessed(ctx); err != nil {
				under.abandon()
				return nil, err
			}
		}
	}
	return uids, nil
}

// room is how many messages the next batch may have, of those that are left; each
// of those under way may come to wait for another try.
func (s *session) room(left, underWay int) int {
	size := min(batchCount, mailbox.MaxOpen-len(s.ledger.Cursor.Open)-underWay, left)
	if s.adapter.singly {
		size = min(size, 1)
	}
	return max(size, 0)
}

// ingestOne deals with one message, asked for alone.
func (s *session) ingestOne(ctx context.Context, uid uint32) error {
	if err := s.finish(ctx, s.fetch(ctx, []uint32{uid}).wait()); err != nil {
		return err
	}
	return s.flagProcessed(ctx)
}

// A fetching is a batch on its way. Nobody else uses the connection until wait or
// abandon has returned. Nil is none.
type fetching struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it is fetched
	batch  *batch
}

// fetch begins to fetch the first of these messages.
func (s *session) fetch(ctx context.Context, uids []uint32) *fetching {
	p := &s.ledger.Cursor
	from := fetcher{
		source: s.source, config: s.config, backlog: p.Backlog, since: p.Since,
		blind: len(uids) == 1 && p.Breaks(uids[0]) >= describedBreaks,
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &fetching{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		f.batch = from.fetch(ctx, uids)
	}()
	return f
}

// wait returns the batch when it is fetched, however often; of none it is nil. Whoever
// deals with it closes it.
func (f *fetching) wait() *batch {
	if f == nil {
		return nil
	}
	<-f.done
	f.cancel()
	return f.batch
}

// abandon ends a fetching whose messages nobody wants any more: nothing is noted
// of them, and nobody is blamed. The connection may be lost then.
func (f *fetching) abandon() {
	if f != nil {
		f.cancel()
		f.wait().close()
	}
}

// finish publishes what was fetched and notes it, also when the connection or the
// ledger fails on the way. A message that was asked for alone when the connection
// ended counts a try; among several nobody knows which it was, so that the next
// time each is asked for alone.
func (s *session) finish(ctx context.Context, b *batch) error {
	defer b.close()
	if err := s.publish(ctx, b); err != nil {
		return errors.Join(err, s.commit(ctx))
	}
	if b.err != nil && ctx.Err() == nil && !errors.Is(b.err, errSpool) {
		s.adapter.singly = true
		if b.alone && b.outcomes[b.uids[0]] == nil {
			s.fail(b.uids[0], "the connection ended while it was fetched", true)
		}
	}
	return errors.Join(b.err, s.commit(ctx))
}

// fail counts a try.
func (s *session) fail(uid uint32, reason string, broke bool) {
	passedOver := s.ledger.Fail(uid, reason, broke, s.config.Clock().UTC(), s.config.RetryAfter)
	if passedOver && s.config.After.Failed != "" {
		s.ledger.Cursor.UnmarkedFailed = append(s.ledger.Cursor.UnmarkedFailed, uid)
	}
	s.adapter.log.Warn().Uint32("uid", uid).Uint32("uid_validity", s.mailbox.UIDValidity).Str("reason", reason).
		Bool("passed_over", passedOver).Msg("a message could not be taken")
}
