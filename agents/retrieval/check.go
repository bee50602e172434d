package retrieval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"podium/bus/agent"
)

// Check reports whether the index is whole and can be opened. One that is not there yet is made when something is learned, and one
// that a request has open is well. Of a damaged one each answer says what to do.
func (a *Agent) Check(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
	default:
		return nil
	}
	defer func() { <-a.turn }()
	err := guarded(func() error {
		index, err := a.openIndex(ctx, false)
		if err != nil {
			return err
		}
		return index.Close()
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errInUse):
		return nil
	case errors.Is(err, errDamaged):
		return agent.StillAnswers(err)
	case err != nil:
		return fmt.Errorf("the index cannot be opened: %w", err)
	}
	return nil
}
