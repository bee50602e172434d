package imap

import (
	"context"
	"slices"

	"podium/ingest/imap/connection"
)

// flagProcessed flags or moves mail that is dealt with. The ledger has it by then, flushed, and
// names it until it is marked, so that a connection that breaks here leaves
// nothing behind. It is a courtesy: a refusal changes nothing else.
func (s *session) flagProcessed(ctx context.Context) error {
	p := &s.ledger.Cursor
	if s.config.ReadOnly {
		p.Unmarked, p.UnmarkedFailed, p.Canaries = nil, nil, nil
		return nil
	}
	if !s.flushed && len(p.Unmarked)+len(p.UnmarkedFailed)+len(p.Canaries) > 0 {
		if err := s.flush(ctx); err != nil { // an earlier connection has written it
			return err
		}
	}
	if len(p.Unmarked) > 0 {
		if err := s.flagOrMove(ctx, p.Unmarked); err != nil {
			return err
		}
		p.Unmarked = nil
	}
	if len(p.UnmarkedFailed) > 0 {
		if _, err := s.move(ctx, p.UnmarkedFailed, s.config.After.Failed); err != nil {
			return err
		}
		p.UnmarkedFailed = nil
	}
	if len(p.Canaries) > 0 {
		if err := s.tolerateRefusal(s.source.Remove(ctx, p.Canaries)); err != nil {
			return err
		}
		p.Canaries = nil
	}
	return nil
}

func (s *session) flagOrMove(ctx context.Context, uids []uint32) error {
	if s.config.After.Processed == ProcessingMove {
		if moved, err := s.move(ctx, uids, s.config.After.Folder); moved || err != nil {
			return err
		}
	}
	if s.flag == "" {
		return nil
	}
	err := s.source.Flag(ctx, uids, s.flag)
	if connection.Refused(err) {
		s.flag = ""
	}
	return s.tolerateRefusal(err)
}

// tolerateRefusal lets a refusal pass.
func (s *session) tolerateRefusal(err error) error {
	if !connection.Refused(err) {
		return err
	}
	s.adapter.log.Warn().Str("problem", problem(err)).Msg("the server does not let us mark mail that was dealt with")
	return nil
}

// move puts messages into another mailbox, which it makes if need be; those that are
// gone are left out. It returns false when the server refuses, and then asks no more
// on this connection.
func (s *session) move(ctx context.Context, uids []uint32, folder string) (moved bool, err error) {
	if folder == "" || s.refusedFolders[folder] {
		return false, nil
	}
	uids = slices.Clone(uids)
	if err = s.source.Move(ctx, uids, folder); connection.Refused(err) {
		uids, err = s.moveRest(ctx, uids, folder, err)
	}
	if len(uids) == 0 {
		return err == nil, err
	}
	if connection.Refused(err) {
		if err = s.source.Create(ctx, folder); err == nil {
			err = s.source.Move(ctx, uids, folder)
		}
	}
	if connection.Refused(err) {
		s.refusedFolders[folder] = true
		return false, s.tolerateRefusal(err)
	}
	return err == nil, err
}

// moveRest moves those that are still there, when others are what the server
// refused. It returns them; the refusal stays when all are there.
func (s *session) moveRest(ctx context.Context, uids []uint32, folder string, refusal error) (rest []uint32, err error) {
	there, err := s.source.Search(ctx, slices.Min(uids), slices.Max(uids))
	if err != nil {
		return nil, err
	}
	rest = slices.DeleteFunc(slices.Clone(uids), func(uid uint32) bool { return !slices.Contains(there, uid) })
	if len(rest) == len(uids) {
		return rest, refusal
	}
	if len(rest) == 0 {
		return nil, nil
	}
	return rest, s.source.Move(ctx, rest, folder)
}
