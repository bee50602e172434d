package imap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"podium/bus"
	"podium/schemas"
)

const (
	batchCount  = 64      // messages described at once
	batchBytes  = 8 << 20 // of messages fetched at once
	largePrefix = 1 << 20 // bytes taken of a message over Config.MaxMessage

	// describedBreaks is how often the connection may end at a message before its
	// bytes are asked for alone: what the server says of it may be what breaks.
	describedBreaks = 3
)

// An outcome is what became of one message of a batch.
type outcome struct {
	kind      outcomeKind
	reason    string // of outcomeFailed: stable English, for log and ledger
	summary   Summary
	content   *spool
	truncated bool
	canary    time.Time // when the door sent it to itself; zero for any other mail
}

type outcomeKind int

const (
	outcomeFetched outcomeKind = iota
	outcomeVanished
	outcomeOld
	outcomeFailed
)

// take deals with messages, whose UIDs ascend. When the connection or the
// ledger fails on the way, what was dealt with until then is noted. A message
// that was asked for alone when the connection failed counts a try; among
// several nobody knows which it was, so that the next time each is asked for alone.
func (s *session) take(ctx context.Context, uids []uint32) error {
	outcomes, fetchErr := s.fetch(ctx, uids)
	defer func() {
		for _, one := range outcomes {
			if one.content != nil {
				_ = one.content.close() // at worst a temporary file stays
			}
		}
	}()
	if err := s.publish(ctx, uids, outcomes); err != nil {
		return errors.Join(err, s.commit(ctx))
	}
	if fetchErr != nil && ctx.Err() == nil && !errors.Is(fetchErr, errSpool) {
		s.door.careful = true
		if len(uids) == 1 && outcomes[uids[0]] == nil {
			s.fail(uids[0], "the connection ended while it was fetched", true)
		}
	}
	if err := s.commit(ctx); err != nil {
		return errors.Join(fetchErr, err)
	}
	if fetchErr != nil {
		return fetchErr
	}
	return s.mark(ctx)
}

// fail counts a try.
func (s *session) fail(uid uint32, reason string, broke bool) {
	passedOver := s.ledger.fail(uid, reason, broke, s.config.Clock().UTC(), s.config.RetryAfter)
	if passedOver && s.config.After.Failed != "" {
		s.ledger.position.UnmarkedFailed = append(s.ledger.position.UnmarkedFailed, uid)
	}
	s.door.log.Warn().Uint32("uid", uid).Uint32("uid_validity", s.mailbox.UIDValidity).Str("reason", reason).
		Bool("passed_over", passedOver).Msg("a message could not be taken")
}

// fetch returns what is known of each message; one that is missing in the
// answer was not reached before the error.
func (s *session) fetch(ctx context.Context, uids []uint32) (map[uint32]*outcome, error) {
	outcomes := make(map[uint32]*outcome, len(uids))
	if len(uids) == 1 && s.ledger.position.breaks(uids[0]) >= describedBreaks {
		return outcomes, s.fetchUndescribed(ctx, uids[0], outcomes)
	}
	summaries, err := s.source.Describe(ctx, uids)
	if refused(err) && len(uids) == 1 {
		outcomes[uids[0]] = &outcome{kind: outcomeFailed, reason: problem(err)}
		return outcomes, nil
	}
	if refused(err) {
		return outcomes, s.oneByOne(ctx, uids, outcomes)
	}
	if err != nil {
		return outcomes, err
	}
	byUID := make(map[uint32]Summary, len(summaries))
	for _, summary := range summaries {
		byUID[summary.UID] = summary
	}
	var small []uint32
	var size int64
	for i, uid := range uids {
		summary, known := byUID[uid]
		isLarge := known && summary.Size > batchBytes
		if known && !isLarge && !s.tooOld(summary) {
			small, size = append(small, uid), size+summary.Size
		}
		if isLarge || size > batchBytes || i == len(uids)-1 {
			if err := s.fetchSmall(ctx, small, byUID, outcomes); err != nil {
				return outcomes, err
			}
			small, size = nil, 0
		}
		switch {
		case !known:
			err = s.missing(ctx, uid, outcomes)
		case s.tooOld(summary):
			outcomes[uid] = &outcome{kind: outcomeOld, summary: summary}
		case isLarge:
			err = s.fetchLarge(ctx, summary, outcomes)
		}
		if err != nil {
			return outcomes, err
		}
	}
	return outcomes, nil
}

func (s *session) oneByOne(ctx context.Context, uids []uint32, outcomes map[uint32]*outcome) error {
	for _, uid := range uids {
		one, err := s.fetch(ctx, []uint32{uid})
		maps.Copy(outcomes, one)
		if err != nil {
			return err
		}
	}
	return nil
}

// tooOld tells whether mail that was there before us is older than what was
// asked for. Mail of unknown age is not.
func (s *session) tooOld(summary Summary) bool {
	p := &s.ledger.position
	return summary.UID < p.Backlog && !summary.Received.IsZero() && summary.Received.Before(p.Since)
}

// missing decides about a message that the server found and then did not hand
// over: when it does not find it any more, someone has removed it.
func (s *session) missing(ctx context.Context, uid uint32, outcomes map[uint32]*outcome) error {
	uids, err := s.source.Search(ctx, uid, uid)
	if err != nil {
		return err
	}
	outcomes[uid] = &outcome{kind: outcomeVanished}
	if slices.Contains(uids, uid) {
		outcomes[uid] = &outcome{kind: outcomeFailed, reason: "the server lists it but does not hand it over"}
	}
	return nil
}

// fetchSmall fetches several messages with one command. When the server refuses
// it, each is asked for alone.
func (s *session) fetchSmall(ctx context.Context, uids []uint32, byUID map[uint32]Summary, outcomes map[uint32]*outcome) error {
	if len(uids) == 0 {
		return nil
	}
	err := s.source.Fetch(ctx, uids, func(uid uint32, content io.Reader) error {
		if !slices.Contains(uids, uid) || outcomes[uid] != nil {
			_, err := io.Copy(io.Discard, content)
			return err
		}
		one := &outcome{summary: byUID[uid], content: newSpool(s.config.Spool)}
		n, err := io.Copy(one.content, io.LimitReader(content, s.config.MaxMessage+1))
		if err == nil {
			_, err = io.Copy(io.Discard, content)
		}
		if err != nil {
			return errors.Join(err, one.content.close())
		}
		one.truncated = n > s.config.MaxMessage
		outcomes[uid] = one
		return nil
	})
	if err != nil && !refused(err) {
		return err
	}
	for _, uid := range uids {
		if outcomes[uid] != nil {
			continue
		}
		switch {
		case refused(err) && len(uids) == 1:
			outcomes[uid] = &outcome{kind: outcomeFailed, reason: problem(err)}
		case refused(err):
			if err := s.fetchSmall(ctx, []uint32{uid}, byUID, outcomes); err != nil {
				return err
			}
		default:
			if err := s.missing(ctx, uid, outcomes); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) fetchLarge(ctx context.Context, summary Summary, outcomes map[uint32]*outcome) error {
	one := &outcome{summary: summary, content: newSpool(s.config.Spool), truncated: summary.Size > s.config.MaxMessage}
	limit := s.config.MaxMessage
	if one.truncated {
		limit = min(limit, largePrefix)
	}
	err := s.source.FetchLarge(ctx, summary.UID, limit, one.content)
	switch {
	case refused(err):
		outcomes[summary.UID] = &outcome{kind: outcomeFailed, reason: problem(err)}
		return one.content.close()
	case err != nil:
		return errors.Join(err, one.content.close())
	case one.content.size == 0, !one.truncated && cutShort(one.content.size, summary.Size):
		return errors.Join(s.missing(ctx, summary.UID, outcomes), one.content.close())
	}
	outcomes[summary.UID] = one
	return nil
}

// cutShort tells whether a message ended between two pieces, before its size: then
// the server had no more of it to give, since somebody removed it meanwhile. Sizes
// that a server guesses end inside a piece.
func cutShort(size, announced int64) bool { return size < announced && size%chunkSize == 0 }

// fetchUndescribed fetches a message without asking what the server says of it.
func (s *session) fetchUndescribed(ctx context.Context, uid uint32, outcomes map[uint32]*outcome) error {
	unknown := Summary{UID: uid} // of unknown size, date and flags
	if err := s.fetchLarge(ctx, unknown, outcomes); err != nil || outcomes[uid] == nil || outcomes[uid].content == nil {
		return err
	}
	one := outcomes[uid]
	one.truncated = one.content.size >= s.config.MaxMessage // or just as large, which nobody knows
	return nil
}

// publish deals with outcomes in the order of UIDs, so that the mails of one
// conversation keep their order, and ends before the first that is missing.
func (s *session) publish(ctx context.Context, uids []uint32, outcomes map[uint32]*outcome) error {
	prepared, err := s.prepareAll(ctx, uids, outcomes)
	if err != nil {
		return err
	}
	for _, uid := range uids {
		one := outcomes[uid]
		if one == nil {
			break
		}
		switch one.kind {
		case outcomeVanished:
			s.ledger.settle(uid, fateVanished)
		case outcomeOld:
			s.ledger.settle(uid, fateOld)
		case outcomeFailed:
			s.fail(uid, one.reason, false)
		case outcomeFetched:
			if err := s.publishOne(ctx, uid, one, prepared[uid]); err != nil {
				return err
			}
		}
	}
	return nil
}

// publishOne puts the event of one message on the ledger, if it has one.
func (s *session) publishOne(ctx context.Context, uid uint32, one *outcome, event *schemas.Event) error {
	p := &s.ledger.position
	switch {
	case !one.canary.IsZero():
		s.ledger.settle(uid, fateCanary)
		p.Canaries = append(p.Canaries, uid)
		s.door.canaryArrived(one.canary)
		return nil
	case event == nil:
		s.ledger.settle(uid, fateKnown)
	default:
		_, err := s.door.dependencies.Intake.Submit(ctx, doorName, *event)
		if errors.Is(err, bus.ErrTooLarge) || errors.Is(err, schemas.ErrInvalidEvent) {
			s.fail(uid, "the ledger refuses its event", false)
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errLedger, err)
		}
		s.ledger.remember(one.content.sha256())
		if hash := one.content.sha256(); !slices.Contains(s.door.unnoted, hash) {
			s.door.unnoted = append(s.door.unnoted, hash)
		}
		s.ledger.settle(uid, fatePublished)
	}
	p.Unmarked = append(p.Unmarked, uid)
	return nil
}

// received returns when a message came in, as the server says, or now.
func (s *session) received(summary Summary) time.Time {
	if summary.Received.IsZero() {
		return s.config.Clock().UTC()
	}
	return summary.Received
}
