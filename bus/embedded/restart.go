package embedded

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"podium/bus"
)

// errRestarting is what a connection meets while the server is started anew.
var errRestarting = errors.New("the ledger's server is starting again")

// A WriteError reports a stream that the server cannot write any more: it answers no
// append to it until it is started anew.
type WriteError struct {
	Detail string // in the server's words
	Full   bool   // a write found no room; then Restart helps once there is some
}

func (e *WriteError) Error() string { return "the ledger's server cannot write: " + e.Detail }

// Unwrap returns bus.ErrFailed unless there was no room.
func (e *WriteError) Unwrap() error {
	if e.Full {
		return bus.ErrFull
	}
	return bus.ErrFailed
}

// CheckWrites returns a *WriteError when the server has given up writing a stream, or a flush has
// failed. One that is not Full ends the ledger's life in this process: see Fail.
func (s *Server) CheckWrites() error {
	if failed, is := errors.AsType[*WriteError](s.Failed()); is {
		s.Fail(failed.Detail)
		return failed
	}
	err := s.checkWrites()
	if failed, is := errors.AsType[*WriteError](err); is && !failed.Full {
		s.Fail(failed.Detail)
		return s.Failed()
	}
	return err
}

// Failed returns why nothing is stored until the process is started again: a *WriteError, or nil.
func (s *Server) Failed() error {
	if s.recovery == nil {
		return nil
	}
	reason := s.recovery.Flusher().Failed()
	if reason == nil {
		return nil
	}
	if failed, is := errors.AsType[*WriteError](reason); is {
		return failed
	}
	return &WriteError{Detail: reason.Error()}
}

// Fail ends the ledger's life in this process after an error of its disk: what the disk did not take
// may look whole until the power goes, and a later write or flush that succeeds does not bring it back.
// The server refuses what it has not yet begun to store, stops its streams, and is not started again; the next process
// reads the disk.
func (s *Server) Fail(detail string) {
	if s.recovery == nil {
		return
	}
	s.failing.Do(func() {
		s.config.Logger.Error().Str("why", detail).Msg("the ledger's disk has failed: nothing is stored until podium is started again")
		s.recovery.Flusher().Fail(&WriteError{Detail: detail})
		if running := s.reached.Load(); running != nil {
			s.refuse(running)
			go func() { _ = running.ShutdownJetStream() }() // a disk that hangs must not delay the rest
		}
		s.recovery.Fail(s.Failed())
	})
}

// refuse makes the server refuse every message that it has not begun to store. A stop of the streams takes milliseconds,
// and new limits of their account hold at once: these have one tier, to which no stream belongs.
func (s *Server) refuse(running *server.Server) {
	account, err := running.LookupAccount(coreAccount)
	if err == nil {
		err = account.UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits{"failed": {}})
	}
	if err != nil {
		s.config.Logger.Error().Err(err).Msg("the ledger may acknowledge messages until its streams have stopped")
	}
}

func (s *Server) checkWrites() error {
	if s.reached.Load() == nil {
		return nil // it is not there to write
	}
	health := s.server.Healthz(&server.HealthzOptions{Details: true})
	var failed *WriteError
	for _, found := range health.Errors {
		if strings.Contains(found.Error, "write error") && (failed == nil || failed.Full) {
			_, detail, _ := strings.Cut(found.Error, "write error: ")
			failed = &WriteError{Detail: found.Stream + ": " + detail, Full: roomless(detail)}
		}
	}
	if failed != nil {
		return failed
	}
	if !s.server.JetStreamEnabled() {
		return &WriteError{Detail: "JetStream has stopped"}
	}
	return nil
}

// roomless reports whether a write found no room, in which case nothing of it was taken. A flush that
// finds none has lost what earlier writes were acknowledged for.
func roomless(detail string) bool {
	return (strings.HasPrefix(detail, "write ") || strings.HasPrefix(detail, "open ")) &&
		(strings.Contains(detail, "no space left") || strings.Contains(detail, "quota exceeded"))
}

// CheckStreams returns a *bus.LostError when what a stream is has gone from under the server. Its directory alone says
// nothing: the server makes it anew for a consumer.
func (s *Server) CheckStreams(streams ...string) error {
	account := filepath.Join(s.store, server.JetStreamStoreDir, coreAccount, "streams")
	for _, stream := range streams {
		if _, err := os.Stat(filepath.Join(account, stream, server.JetStreamMetaFile)); errors.Is(err, fs.ErrNotExist) {
			return &bus.LostError{Stream: stream, Gone: true}
		}
	}
	return nil
}

// Restart stops the server and starts it again at the same address: what it has
// given up it takes up again. Its connections are cut, and come back by themselves.
// After an error there is no server; it may be tried again. Nobody else calls the
// server meanwhile, but for those who connect.
//
// It is for a server that found no room. After a failure of the disk it is an error, and one in
// which a flush fails makes it such a failure.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Failed(); err != nil {
		return err
	}
	if s.reached.Load() != nil {
		s.unwatch() // before the lock, which those who watch take
		s.watching.Wait()
	}
	s.members.Lock() // agents that come or go meanwhile do so afterwards
	defer s.members.Unlock()
	if s.recovery != nil && s.reached.Load() != nil {
		if err := s.recovery.Flusher().All(); err != nil { // while the server's files are open
			s.Fail(err.Error())
			return s.Failed()
		}
	}
	if s.reached.Swap(nil) != nil {
		s.config.Listen = s.server.Addr().String() // others know it
		if last, err := s.lastSequences(); err == nil && s.recovery != nil {
			s.recovery.Remember(last)
		}
		s.stop()
	}
	if s.recovery != nil {
		if err := s.recovery.Again(ctx); err != nil {
			if s.recovery.Flusher().Failed() != nil {
				s.Fail(err.Error())
				return s.Failed()
			}
			return err
		}
	}
	return s.start(ctx)
}
