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
	Full   bool   // it found no room; then Restart helps once there is some
}

func (e *WriteError) Error() string { return "the ledger's server cannot write: " + e.Detail }

// CheckWrites returns a *WriteError when the server has given up writing a stream.
func (s *Server) CheckWrites() error {
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

// roomless reports whether a failed write found no room.
func roomless(detail string) bool {
	return strings.Contains(detail, "no space left") || strings.Contains(detail, "quota exceeded")
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
func (s *Server) Restart(ctx context.Context) error {
	if s.reached.Swap(nil) != nil {
		s.config.Listen = s.server.Addr().String() // others know it
		s.unwatch()
		s.watching.Wait()
		if last, err := s.lastSequences(); err == nil && s.recovery != nil {
			s.recovery.Remember(last)
		}
		s.stop()
	}
	if s.recovery != nil {
		if err := s.recovery.Again(ctx); err != nil {
			return err
		}
	}
	return s.start(ctx)
}
