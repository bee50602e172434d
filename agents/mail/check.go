package mail

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"time"
)

// checkTimeout bounds the look at one server, where the caller sets no bound.
const checkTimeout = 10 * time.Second

// Check reports whether the server of any account greets: mail of the others may go out. Nothing is sent, and nobody
// logs in.
func (a *Agent) Check(ctx context.Context) error {
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(a.accounts)) {
		err := a.accounts[name].greeted(ctx)
		if err == nil {
			return nil
		}
		failed = append(failed, fmt.Errorf("the mail server of account %s does not answer: %w", name, err))
	}
	return errors.Join(failed...)
}

// greeted returns nil once the server has said that it takes mail (RFC 5321, section 4.2).
func (s *sender) greeted(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	connection, err := s.dial(ctx, "tcp")
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	reader := textproto.NewReader(bufio.NewReader(connection))
	if _, _, err = reader.ReadResponse(greeting); err != nil {
		if refused, ok := errors.AsType[*textproto.Error](err); ok {
			return fmt.Errorf("it greets with %d", refused.Code)
		}
		return err
	}
	_, _ = connection.Write([]byte("QUIT\r\n"))
	return nil
}

// greeting is the code by which a server says that it is ready.
const greeting = 220
