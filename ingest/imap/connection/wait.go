package connection

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2/imapclient"
)

// Wait implements MailSource. A connection on which nothing comes is asked for a
// sign of life every Config.Heartbeat: in IDLE a server may be silent for hours,
// and so may the place where it was.
func (c *client) Wait(ctx context.Context, limit time.Duration) error {
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		over, err := c.waitOnce(ctx, end.C)
		if over || err != nil {
			return err
		}
	}
}

// waitOnce waits until something was announced, the end, or the next sign of life.
func (c *client) waitOnce(ctx context.Context, end <-chan time.Time) (over bool, err error) {
	var idle *imapclient.IdleCommand
	if c.announces {
		err := c.run(ctx, "IDLE", func() (err error) {
			idle, err = c.imap.Idle()
			return err
		})
		if err != nil {
			return true, err
		}
	}
	beat := time.NewTimer(c.config.Heartbeat)
	defer beat.Stop()
	select {
	case <-c.wake:
		over = true
	case <-end:
		over = true
	case <-c.imap.Closed():
		over = true
	case <-beat.C:
	case <-ctx.Done():
		return true, ctx.Err()
	}
	if idle != nil {
		return over, c.run(ctx, "IDLE", func() error { return errors.Join(idle.Close(), idle.Wait()) })
	}
	if over {
		return true, nil
	}
	return false, c.run(ctx, "NOOP", func() error { return c.imap.Noop().Wait() })
}

// A sniffer sees what passes over the connection, decrypted, and keeps nothing
// of it but for one response code that the library drops.
type sniffer struct {
	mu        sync.Mutex
	listening bool
	line      []byte // the end of what was heard
	loose     bool   // UIDNOTSTICKY was heard
}

// snifferMemory is longer than the response code.
const snifferMemory = 64

// Write implements io.Writer.
func (s *sniffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listening && !s.loose {
		s.line = append(s.line, bytes.ToUpper(p)...)
		s.loose = bytes.Contains(s.line, []byte("NO [UIDNOTSTICKY]"))
		s.line = s.line[max(0, len(s.line)-snifferMemory):]
	}
	return len(p), nil
}

func (s *sniffer) listen(listening bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listening, s.line = listening, nil
}

func (s *sniffer) notSticky() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loose
}
